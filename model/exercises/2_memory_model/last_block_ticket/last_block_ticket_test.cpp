#include "exercises/2_memory_model/last_block_ticket/last_block_ticket.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/execution.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "last_block_ticket"};

namespace {

constexpr unsigned threads_per_block = 128;

// From so many elements on, all blocks have to read some: a thread may take several at a
// time.
constexpr std::size_t many_per_block = 1024;

/// The counter that calls share: set to zero here and never again.
using Counter = grading::Guarded<unsigned>;
Counter new_counter() { return Counter(std::vector<unsigned>{0}); }

/// Who did what in the last call, as far as a device tells.
void check_activity(const grading::Guarded<float>& d_values,
                    const grading::Guarded<float>& d_block_sums, const Counter& d_drawn,
                    const grading::Guarded<float>& d_sum) {
    const std::size_t blocks = d_block_sums.size();
    CHECK_THAT(d_block_sums, grading::WrittenByBlocks(blocks));
    CHECK_THAT(d_drawn, grading::WrittenByKernels());
    CHECK_THAT(d_sum, grading::WrittenByKernels());
    CHECK_THAT(d_sum, grading::WrittenOnce());
    if (d_values.size() >= many_per_block * blocks) {
        CHECK_THAT(d_values, grading::ReadByBlocks(blocks));
        CHECK_THAT(d_values, grading::ReadByThreads(blocks * threads_per_block / 2));
    }
    const std::vector<grading::ElementActivity> of_drawn = grading::activity_of(d_drawn);
    if (of_drawn.empty()) return;
    if (of_drawn[0].reads < blocks || of_drawn[0].reads > blocks + 1) {
        FAIL_CHECK(grading::counted(blocks, "block")
                   << " read the counter " << grading::counted(of_drawn[0].reads, "time")
                   << ", draws included.\n"
                      "A block draws one ticket and does not look at the counter again; "
                      "the last one may set it back.\n"
                      "Which value tells a block whether it is the last one?");
    }
    if (blocks == 1) return;
    const std::uint64_t finisher = grading::activity_of(d_sum)[0].written_by.block;
    for (const grading::ElementActivity& block_sum : grading::activity_of(d_block_sums)) {
        if (block_sum.reads > 0 && block_sum.read_by.block == finisher) continue;
        FAIL("Block " << finisher
                      << " writes the sum, but it does not read all block sums.\n"
                         "Which block may add up the sums of all blocks?");
    }
}

/// One call, judged. `call` counts from 1 for those that share a counter.
void check_call(Counter& d_drawn, std::size_t count, std::size_t blocks, std::size_t call) {
    INFO("call " << call << ": " << grading::counted(count, "element")
                 << ", blocks: " << blocks);
    const std::vector<float> values = grading::random_floats(count, call);
    const grading::Guarded<float> d_values(values);
    grading::Guarded<float> d_block_sums(
        std::vector<float>(blocks, 1 << 20));  // what it holds does not matter
    grading::Guarded<float> d_sum(1);
    const grading::Instrumented instrumented = grading::instrument([&] {
        add_up(d_values.data(), static_cast<int>(count), d_block_sums.data(),
               d_drawn.data(), d_sum.data(), static_cast<int>(blocks));
    });
    CHECK_THAT(
        instrumented,
        grading::NoRace("Which fence, barrier, or ticket orders these two accesses?"));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double expected = std::accumulate(values.begin(), values.end(), 0.0);
    CHECK_THAT(d_sum, grading::CloseTo(std::vector<double>{expected},
                                       grading::sum_tolerance_of(values))
                          .when(grading::never_written(),
                                "*d_sum holds NaN before the call. Did a block take itself "
                                "for the last one, and write the sum?"));
    CHECK_THAT(d_sum, grading::StaysInside());
    CHECK_THAT(d_block_sums, grading::StaysInside());
    CHECK_THAT(d_values, grading::Unchanged());
    CHECK_THAT(instrumented,
               grading::LaunchesExactly(
                   1, "The block that comes last does what a second launch would do."));
    CHECK_THAT(instrumented, grading::EveryLaunchHas({static_cast<unsigned>(blocks), 1, 1},
                                                     {threads_per_block, 1, 1}));
    for (const warpwise::ApiCall& made : instrumented.calls) {
        if (made.direction.empty() && !made.function.starts_with("cudaMemset")) continue;
        FAIL(made.function
             << " was called: only the kernel works on the sums and on the counter.\nWhich "
                "block knows that all block sums are there?");
    }
    check_activity(d_values, d_block_sums, d_drawn, d_sum);
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

TEST_CASE("adds up in the first call") {
    for (const std::size_t blocks : {1, 2, 7, 64}) {
        Counter d_drawn = new_counter();
        check_call(d_drawn, 1000, blocks, 1);
    }
}

TEST_CASE("adds up whatever block comes last") {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
        INFO("blocks in the order of seed " << seed);
        const Order order(seed);
        for (const std::size_t blocks : {2, 3, 11}) {
            Counter d_drawn = new_counter();
            check_call(d_drawn, 2000, blocks, 1);
        }
    }
}

TEST_CASE("adds up in every call with the same counter") {
    for (const std::size_t blocks : {2, 1, 7}) {
        Counter d_drawn = new_counter();
        for (std::size_t call = 1; call <= 2 * blocks + 3; ++call) {
            if (call > 1)
                UNSCOPED_INFO(
                    "Calls share the counter: nobody but the kernel sets it back to 0.");
            check_call(d_drawn, 1500, blocks, call);
        }
    }
}

TEST_CASE("adds up when the number of blocks changes from call to call") {
    Counter d_drawn = new_counter();
    std::size_t call = 0;
    for (const std::size_t blocks : {5, 2, 9, 1, 1, 300, 3})
        check_call(d_drawn, 4000, blocks, ++call);
}

TEST_CASE("adds up with more blocks than a block has threads") {
    Counter d_drawn = new_counter();
    check_call(d_drawn, 60'000, 300, 1);
    check_call(d_drawn, 140'000, 1000, 2);
    std::size_t call = 2;
    for (const std::size_t count : grading::sizes({}, 3, 50'000)) {
        check_call(d_drawn, count, grading::random_size(1, 700, count), ++call);
    }
}

TEST_CASE("handles fewer elements than threads or blocks") {
    Counter d_drawn = new_counter();
    std::size_t call = 0;
    for (const std::size_t count : {0, 1, 31, 127, 129, 1009})
        check_call(d_drawn, count, 6, ++call);
}

TEST_CASE("lets all blocks share the work") {
    Counter d_drawn = new_counter();
    check_call(d_drawn, 20'000, 12, 1);
    check_call(d_drawn, 20'000, 2, 2);
}
