#include "exercises/2_memory_model/last_block_ticket/last_block_ticket.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/execution.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "last_block_ticket"};

namespace {

constexpr std::size_t most_blocks = 300;

/// What all calls share: the counter, which is set to zero here and never again, and room for the block sums, which
/// holds numbers of nobody in the beginning.
struct Workspace {
    grading::Guarded<float> d_block_sums{std::vector<float>(most_blocks, 1 << 20)};
    grading::Guarded<unsigned> d_drawn{std::vector<unsigned>{0}};
};

/// Values of one call: whole numbers, so that sums are exact; none is 0, and those of another call are others.
std::vector<float> values_of_call(int count, int call) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(1 + (i * 37 + call * 11) % 101));
    return values;
}

double sum_of(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += value;
    return sum;
}

/// Why the sum of a call is not right, as far as the number of the call tells.
std::string likely_mistake(int call) {
    if (call == 1) {
        return "Is one block sure to come after all others have written their sums? Blocks come in any order, and only "
               "the\nticket that a block drew tells how many have been there before.";
    }
    return "Call 1 was right, and calls share the counter: what does it hold when call " + std::to_string(call) +
           " begins?\nNobody but the kernel sets it back to 0.";
}

constexpr const char* what_may_race =
    "Is it the counter, *drawn? Between a block's draw and its look at the counter others draw, so that several\n"
    "blocks can see the full number. What atomicInc returned to the block stays the same.\n"
    "Is it block_sums? A block's sum has to be there before its ticket is drawn: that is what the __threadfence()\n"
    "between the two is for. And only the block with the last ticket may read the sums.";

/// One call, checked. `call` counts from 1 for those that share a workspace.
void check_call(Workspace& workspace, int count, int blocks, int call) {
    INFO("call " << call << ": " << count << " elements, blocks: " << blocks);
    const std::vector<float> values = values_of_call(count, call);
    const grading::Guarded<float> d_values(values);
    grading::Guarded<float> d_sum(1);
    const grading::Watched watched = grading::watch([&] {
        add_up(d_values.data(), count, workspace.d_block_sums.data(), workspace.d_drawn.data(), d_sum.data(), blocks);
    });
    const grading::Outcome outcome = grading::finish();
    if (outcome.status != cudaSuccess) REQUIRE_THAT(outcome, grading::Succeeds());
    CHECK_THAT(d_sum, grading::WrittenEverywhere("No block took itself for the last one.\n" + likely_mistake(call)));
    CHECK_THAT(d_sum, grading::EqualTo({sum_of(values)}, likely_mistake(call)));
    CHECK_THAT(d_sum, grading::StaysInside("There is one sum."));
    CHECK_THAT(workspace.d_block_sums, grading::StaysInside("There is one sum a block."));
    CHECK_THAT(d_values, grading::Unchanged());
    CHECK_THAT(watched, grading::CleanMemory());
    CHECK_THAT(watched, grading::LaunchesAtMost(1, "The block that comes last does what a second launch would do."));
}

/// Threads and blocks of launches run in the order of a seed, for as long as this lives.
class Order {
public:
#ifdef __CPU_DEVICE__
    explicit Order(std::uint64_t seed) { cpu_device::set_schedule_seed(seed); }
    ~Order() {
        const char* const of_grader = std::getenv("CPU_DEVICE_SEED");
        cpu_device::set_schedule_seed(of_grader == nullptr ? 0 : std::strtoull(of_grader, nullptr, 10));
    }
#else
    explicit Order(std::uint64_t) {}
#endif
    Order(const Order&) = delete;
    Order& operator=(const Order&) = delete;
};

}  // namespace

TEST_CASE("adds up in the first call") {
    for (const int blocks : {1, 2, 7, 64}) {
        Workspace workspace;
        check_call(workspace, 1000, blocks, 1);
    }
}

TEST_CASE("adds up whatever block comes last") {
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
        INFO("blocks in the order of seed " << seed);
        const Order order(seed);
        Workspace workspace;
        check_call(workspace, 2000, 11, 1);
    }
}

TEST_CASE("adds up in every call with the same counter") {
    for (const int blocks : {2, 1, 7}) {
        Workspace workspace;
        for (int call = 1; call <= 2 * blocks + 3; ++call) check_call(workspace, 1500, blocks, call);
    }
}

TEST_CASE("adds up when the number of blocks changes from call to call") {
    Workspace workspace;
    int call = 0;
    for (const int blocks : {5, 2, 9, 1, 1, 300, 3}) check_call(workspace, 4000, blocks, ++call);
}

TEST_CASE("handles fewer elements than threads or blocks") {
    Workspace workspace;
    int call = 0;
    for (const int count : {0, 1, 31, 127, 129, 1009}) check_call(workspace, count, 6, ++call);
}

// Results do not show everything: two blocks that both finish write the same sum, and a fence that is missing is missed
// once in a million calls.
TEST_CASE("asks the ticket and not the counter") {
    Workspace workspace;
    const std::vector<float> values = values_of_call(3000, 1);
    const grading::Guarded<float> d_values(values);
    for (const int blocks : {12, 2, 300}) {
        INFO(values.size() << " elements, blocks: " << blocks);
        grading::Guarded<float> d_sum(1);
        const grading::Watched watched = grading::watch([&] {
            add_up(d_values.data(), static_cast<int>(values.size()), workspace.d_block_sums.data(),
                   workspace.d_drawn.data(), d_sum.data(), blocks);
        });
        CHECK_THAT(watched, grading::NoRace(what_may_race));
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        CHECK_THAT(d_sum, grading::EqualTo({sum_of(values)}));
    }
}
