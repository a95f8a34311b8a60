#include "exercises/5_modern_cuda/scope_of_a_flag/scope_of_a_flag.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/execution.h"
#endif

const grading::Exercise grading::exercise{"5_modern_cuda", "scope_of_a_flag"};

namespace {

constexpr unsigned threads_per_block = 128;
constexpr float left_by_earlier_call = 1 << 20;  // in the sums of the blocks

/// The counter that calls share: set to zero here and never again.
using Counter = grading::Guarded<unsigned>;
Counter new_counter() { return Counter(std::vector<unsigned>{0}); }

void check_call(Counter& d_done, std::size_t count, std::size_t blocks, std::size_t call) {
    INFO("call " << call << ": " << grading::counted(count, "element")
                 << ", blocks: " << blocks);
    const std::vector<float> values = grading::random_floats(count, call);
    const grading::Guarded<float> d_values(values);
    grading::Guarded<float> d_block_sums(std::vector<float>(blocks, left_by_earlier_call));
    grading::Guarded<float> d_sum(1);
    const grading::Instrumented instrumented = grading::instrument([&] {
        add_up_in_one_launch(d_values.data(), static_cast<int>(count), d_block_sums.data(),
                             d_done.data(), d_sum.data(), static_cast<int>(blocks));
    });
    CHECK_THAT(instrumented,
               grading::NoRace("Who reads what was stored before this counter went up, and "
                               "does the scope include that thread?"));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double expected = std::accumulate(values.begin(), values.end(), 0.0);
    CHECK_THAT(d_sum, grading::CloseTo(std::vector<double>{expected},
                                       grading::sum_tolerance_of(values))
                          .when(grading::never_written(),
                                "*d_sum holds NaN before the call. Did a block take itself "
                                "for the last one, and store the sum?"));
    CHECK_THAT(d_sum, grading::StaysInside());
    CHECK_THAT(d_block_sums, grading::StaysInside());
    CHECK_THAT(d_done, grading::StaysInside());
    CHECK_THAT(d_values, grading::Unchanged());
    CHECK_THAT(instrumented,
               grading::LaunchesExactly(
                   1, "The block that is done last does what a second launch would do."));
    CHECK_THAT(instrumented, grading::EveryLaunchHas({static_cast<unsigned>(blocks), 1, 1},
                                                     {threads_per_block, 1, 1}));
    for (const warpwise::ApiCall& made : instrumented.calls) {
        if (made.direction.empty() && !made.function.starts_with("cudaMemset")) continue;
        FAIL(made.function << " was called: only the kernel works on the sums and on the "
                              "counter.\nWho can set the counter back for the next call?");
    }
    CHECK_THAT(d_block_sums, grading::WrittenByBlocks(blocks));
    CHECK_THAT(d_block_sums, grading::WrittenOnce());
    CHECK_THAT(d_done, grading::WrittenByKernels());
    CHECK_THAT(d_sum, grading::WrittenOnce());
    if (count >= blocks * threads_per_block)
        CHECK_THAT(d_values, grading::ReadByBlocks(blocks));
    const std::vector<grading::ElementActivity> of_sum = grading::activity_of(d_sum);
    if (of_sum.empty()) return;
    for (const grading::ElementActivity& block_sum : grading::activity_of(d_block_sums)) {
        if (blocks == 1 ||
            (block_sum.reads > 0 && block_sum.read_by.block == of_sum[0].written_by.block))
            continue;
        FAIL("Block " << of_sum[0].written_by.block
                      << " stores the total, but it does not read the sums of all blocks.\n"
                         "Which block may add up the sums of all blocks?");
    }
}

/// Threads and blocks of launches run in the order of a seed, for as long as this lives.
class Order {
public:
#ifdef __CPU_DEVICE__
    explicit Order(std::uint64_t seed) { cpu_device::set_schedule_seed(seed); }
    ~Order() {
        const char* const of_grader = std::getenv("CPU_DEVICE_SEED");
        cpu_device::set_schedule_seed(
            of_grader == nullptr ? 0 : std::strtoull(of_grader, nullptr, 10));
    }
#else
    explicit Order(std::uint64_t) {}
#endif
    Order(const Order&) = delete;
    Order& operator=(const Order&) = delete;
};

}  // namespace

TEST_CASE("adds up with a single block") {
    for (const std::size_t count : {0, 1, 31, 33, 128, 1000}) {
        Counter d_done = new_counter();
        check_call(d_done, count, 1, 1);
    }
}

TEST_CASE("adds up with several blocks") {
    for (const std::size_t blocks : {2, 3, 7}) {
        Counter d_done = new_counter();
        check_call(d_done, 1009, blocks, 1);
    }
}

TEST_CASE("adds up in each of several calls") {
    Counter d_done = new_counter();
    for (const std::size_t call : {1, 2, 3}) check_call(d_done, 2000 + call, 5, call);
}

TEST_CASE("adds up whatever block comes last") {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
        INFO("blocks in the order of seed " << seed);
        const Order order(seed);
        for (const std::size_t blocks : {2, 3, 11}) {
            Counter d_done = new_counter();
            check_call(d_done, 1009, blocks, seed);
            check_call(d_done, 500, blocks, seed + 1);
        }
    }
}

TEST_CASE("adds up many elements with many blocks") {
    for (const std::size_t blocks : {31, 33, 64}) {
        Counter d_done = new_counter();
        check_call(d_done, 100'003, blocks, 1);
    }
}
