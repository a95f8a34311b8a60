#include "exercises/4_examples/look_back_order/look_back_order.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/grading/warp_trace.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/execution.h"
#endif

const grading::Exercise grading::exercise{"4_examples", "look_back_order"};

namespace {

constexpr std::size_t tile = 128;            // floats, and threads of a block
constexpr std::size_t most_at_once = 4;      // results that a thread may write
constexpr float left_by_earlier_call = 1e6;  // in the sums and prefixes

// Magnitudes from 1/2 to 1 and both signs, so that every value shows in its sums.
std::vector<float> make_values(std::size_t count) {
    std::vector<float> values = grading::random_floats(count);
    for (float& value : values) value = std::copysign(0.5f + 0.5f * std::abs(value), value);
    return values;
}

struct Call {
    std::vector<float> values;
    grading::Guarded<float> d_values, d_results, d_sums, d_prefixes;
    grading::Guarded<unsigned> d_states, d_drawn;
    grading::Instrumented instrumented;

    explicit Call(std::size_t count)
        : values(make_values(count)),
          d_values(values),
          d_results(count),
          d_sums(std::vector<float>(tiles(), left_by_earlier_call)),
          d_prefixes(std::vector<float>(tiles(), left_by_earlier_call)),
          d_states(std::vector<unsigned>(tiles(), 0)),
          d_drawn(std::vector<unsigned>{0}),
          instrumented(grading::instrument([&] {
              prefix_sums(d_values.data(), static_cast<int>(count), d_results.data(),
                          d_sums.data(), d_prefixes.data(), d_states.data(),
                          d_drawn.data());
          })) {}

    std::size_t tiles() const { return (values.size() + tile - 1) / tile; }
};

// Checks the results of a call, and what the kernels did.
void check_call(const Call& call) {
    const std::size_t count = call.values.size();
    INFO(grading::counted(count, "float"));
    CHECK_THAT(call.instrumented,
               grading::NoRace("Which store has to come before which, so that whoever sees "
                               "the state can read the number?"));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    std::vector<double> expected;
    double sum = 0;
    for (const float value : call.values) expected.push_back(sum += value);
    CHECK_THAT(
        call.d_results,
        grading::CloseTo(
            expected, grading::sum_tolerance_of(call.values),
            "To which tile do the floats, the state, and the results of a block belong?"));
    CHECK_THAT(call.d_results, grading::StaysInside());
    CHECK_THAT(call.d_sums, grading::StaysInside());
    CHECK_THAT(call.d_prefixes, grading::StaysInside());
    CHECK_THAT(call.d_states, grading::StaysInside());
    CHECK_THAT(call.d_values, grading::Unchanged());
    CHECK_THAT(call.instrumented, grading::LaunchesAtMost(1));
    CHECK_THAT(call.instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(call.instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    if (count > 0) {
        CHECK_THAT(call.instrumented,
                   grading::EveryLaunchHas({static_cast<unsigned>(call.tiles()), 1, 1},
                                           {static_cast<unsigned>(tile), 1, 1},
                                           "How many tiles of 128 floats are there?"));
        CHECK_THAT(call.d_results, grading::WrittenByThreads(count / most_at_once));
        CHECK_THAT(call.d_results, grading::WrittenByBlocks(call.tiles()));
    }
}

void check_sums(std::size_t count) { check_call(Call(count)); }

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

TEST_CASE("computes the prefix sums of one tile") {
    for (const std::size_t count : {1, 31, 32, 33, 127, 128}) check_sums(count);
}

TEST_CASE("handles an empty array") { check_sums(0); }

TEST_CASE("draws the number of each tile") {
    const Call call(1000);
    check_call(call);
    const std::vector<grading::ElementActivity> of_drawn =
        grading::activity_of(call.d_drawn);
    if (of_drawn.empty()) return;
    if (of_drawn[0].reads != call.tiles() || of_drawn[0].writes != call.tiles()) {
        FAIL_CHECK(grading::counted(call.tiles(), "block")
                   << " drew " << grading::counted(of_drawn[0].writes, "number")
                   << " from the counter, and read it "
                   << grading::counted(of_drawn[0].reads, "time")
                   << ", draws included.\n"
                      "Each block draws the number of its tile once.\n"
                      "Which blocks are sure to run, so that another one may wait for "
                      "them?");
    }
}

TEST_CASE("computes the prefix sums of several tiles") {
    for (const std::size_t count : grading::sizes({129, 256, 257, 1009}, 3, 3'000))
        check_sums(count);
}

TEST_CASE("computes the same in any order of the blocks") {
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
        INFO("blocks in the order of seed " << seed);
        const Order order(seed);
        for (const std::size_t count : {300, 640, 1009}) check_sums(count);
    }
}

TEST_CASE("tells the sum of a tile before it waits") {
    const Call call(1000);
    check_call(call);
    const std::vector<grading::ElementActivity> of_states =
        grading::activity_of(call.d_states);
    const std::vector<grading::ElementActivity> of_sums = grading::activity_of(call.d_sums);
    for (std::size_t t = 1; t < of_states.size(); ++t) {
        if (of_states[t].writes >= 2 && of_sums[t].writes >= 1) continue;
        FAIL(
            "Tile " << t << " changed its state "
                    << grading::counted(of_states[t].writes, "time")
                    << " and stored its sum " << grading::counted(of_sums[t].writes, "time")
                    << ".\n"
                       "What can a block tell the others before it knows what comes before "
                       "its tile?");
    }
}

// Each change of a tile's state tells one number, which has to be stored before. (A block
// of the CPU device finds the prefix of the tile before it at its first look, so nobody
// reads the sums, and a sum that comes too late is no race there.)
TEST_CASE("stores each number before it tells the state") {
    constexpr std::size_t count = 1000, tiles = 8;
    const grading::Guarded<float> d_values(make_values(count));
    grading::Guarded<float> d_results(count);
    // Of different sizes, by which the trace tells them apart.
    grading::Guarded<float> d_sums(std::vector<float>(tiles + 1024, left_by_earlier_call)),
        d_prefixes(std::vector<float>(tiles + 2048, left_by_earlier_call));
    grading::Guarded<unsigned> d_states(std::vector<unsigned>(tiles + 4096, 0)),
        d_drawn(std::vector<unsigned>{0});
    const std::vector<grading::WarpTrace> warps = grading::trace_warps(
        [&] {
            prefix_sums(d_values.data(), static_cast<int>(count), d_results.data(),
                        d_sums.data(), d_prefixes.data(), d_states.data(), d_drawn.data());
        },
        {.blocks = tiles});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const auto is_in = [](const grading::WarpEvent& event, const auto& buffer) {
        return event.array_bytes == 4 * buffer.size();
    };
    for (const grading::WarpTrace& warp : warps) {
        // The tile of this warp is the one whose prefix it stores.
        std::int64_t own = -1;
        for (const grading::WarpEvent& event : warp.events) {
            if (is_in(event, d_prefixes) && !event.lanes.empty() &&
                event.kind == grading::WarpEvent::Kind::global_store)
                own = event.lanes[0].second;
        }
        if (own < 0) continue;
        unsigned stored = 0, told = 0;
        for (const grading::WarpEvent& event : warp.events) {
            if (event.lanes.empty()) continue;
            const bool loads = event.kind == grading::WarpEvent::Kind::global_load;
            const bool is_own = event.lanes[0].second == own && event.lanes.size() == 1;
            const bool of_states = is_in(event, d_states);
            if (!loads && is_own && (is_in(event, d_sums) || is_in(event, d_prefixes)))
                ++stored;
            if (!of_states) continue;
            if (!is_own && told == 0) {
                FAIL("Tile " << own / 4
                             << " looks at other tiles before it has told its sum.\n"
                             << grading::place_text(event)
                             << "\nWhat can a block tell before it knows what comes before "
                                "its tile?");
            }
            if (loads || !is_own || ++told <= stored) continue;
            FAIL("Tile " << own / 4 << " tells a state before it has stored the number.\n"
                         << grading::place_text(event)
                         << "\nWhat can another block read right after this line?");
        }
    }
}

TEST_CASE("scans many tiles") { check_sums(100'003); }

TEST_CASE("reads and writes each element once") {
    const Call call(12'800);
    check_call(call);
    CHECK_THAT(call.instrumented,
               grading::BytesMovedAtMost(1.2 * 2 * 4 * 12'800 + 100 * 640));
    CHECK_THAT(call.instrumented, grading::BarriersAtMost(5));
}
