#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "grid_stride"};

namespace {

// A thread may take so many neighboring elements at once (a float4), so fewer threads than
// elements may be busy.
constexpr int most_at_once = 4;

struct Data {
    explicit Data(int n)
        : a(grading::random_floats(1, 1)[0]),
          x(grading::random_floats(static_cast<std::size_t>(n), 2)),
          y(grading::random_floats(static_cast<std::size_t>(n), 3)) {}

    /// y after a * x was added so many times.
    std::vector<double> after(int times) const {
        std::vector<double> values;
        for (std::size_t i = 0; i < x.size(); ++i)
            values.push_back(y[i] + times * (double{a} * x[i]));
        return values;
    }

    float a;
    std::vector<float> x, y;
};

void check_values(const Data& data, const grading::Guarded<float>& d_y) {
    // One rounding of a product and one of a sum, both below 2; with a fused multiply-add
    // one less.
    const warpwise::Tolerance rounding{.absolute = 2.0 / (1 << 23)};
    CHECK_THAT(
        d_y,
        grading::CloseTo(data.after(1), rounding)
            .when(grading::equals(data.after(0)),
                  "These elements still hold the old y. Which thread should take them, and "
                  "in which turn?")
            .when(grading::equals(data.after(2)),
                  "a * x was added twice there. Which two threads took these elements?"));
}

/// Whether the whole grid moves on together: the thread of element i also takes element i +
/// w * threads, where w is the number of elements per turn. The last n % w elements may
/// have any thread: float4 leaves them out.
grading::Judgement judge_strides(const grading::GuardedMemory& y, std::size_t threads) {
    const std::vector<grading::ElementActivity> elements = grading::activity_of(y);
    std::string text;
    for (std::size_t at_once = 1; at_once <= most_at_once; ++at_once) {
        const std::size_t step = at_once * threads;
        const std::size_t end = elements.size() / at_once * at_once;
        std::size_t i = 0;
        while (i + step < end && elements[i].written_by == elements[i + step].written_by)
            ++i;
        if (i + step >= end) return {true, "threads go on by the size of the grid"};
        if (at_once == 1) {
            text = "elements " + std::to_string(i) + " and " + std::to_string(i + step) +
                   " belong to two threads, but the grid has " +
                   grading::counted(threads, "thread") +
                   ": after each turn a thread should go on by as many elements";
        }
    }
    return {false, text};
}

auto WrittenInGridStrides(std::size_t threads) {
    return grading::BufferMatcher(
        [threads](const grading::GuardedMemory& y) { return judge_strides(y, threads); },
        "Which element comes next for the thread of element 0?");
}

/// Calls the answer and judges all that the task demands, but for the distance between
/// neighboring threads.
grading::Instrumented check_sum(int n, int blocks, int threads_per_block) {
    INFO(grading::counted(n, "element")
         << ", launched with <<<" << blocks << ", " << threads_per_block << ">>>");
    const Data data(n);
    grading::Guarded<float> d_x(data.x);
    grading::Guarded<float> d_y(data.y);
    const grading::Instrumented instrumented = grading::instrument([&] {
        scale_and_add(data.a, d_x.data(), d_y.data(), n, blocks, threads_per_block);
    });
    REQUIRE_THAT(grading::finish(),
                 grading::Succeeds().when(
                     {"data race"},
                     "Which two threads take this element, and in which turn of the loop? "
                     "How far does each\nthread move on after a turn?"));
    check_values(data, d_y);
    CHECK_THAT(d_y, grading::StaysInside());
    CHECK_THAT(d_x, grading::Unchanged());

    const auto grid = static_cast<unsigned>(blocks);
    const auto block = static_cast<unsigned>(threads_per_block);
    CHECK_THAT(instrumented,
               grading::LaunchesAtMost(
                   1, "One launch has to cover the array, however long it is."));
    if (n > 0) {
        const std::size_t threads = static_cast<std::size_t>(blocks) * block;
        const std::size_t busy = std::min(threads, data.x.size() / most_at_once);
        CHECK_THAT(instrumented, grading::EveryLaunchHas({grid, 1, 1}, {block, 1, 1}));
        CHECK_THAT(d_y, grading::WrittenOnce());
        CHECK_THAT(d_y, grading::WrittenByThreads(busy));
        CHECK_THAT(d_x, grading::ReadByThreads(busy));
        CHECK_THAT(d_y, WrittenInGridStrides(threads));
        CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    }
    return instrumented;
}

}  // namespace

TEST_CASE("covers the array when the grid is large enough") {
    check_sum(256, 4, 64);
    check_sum(1000, 4, 256);
}

TEST_CASE("lets one block do a long array") { check_sum(96, 1, 32); }

TEST_CASE("shares the elements between several blocks") {
    check_sum(64, 2, 32);
    check_sum(4096, 4, 64);
    check_sum(70'000, 300, 33);  // more blocks than any small table has
}

TEST_CASE("handles sizes that the grid does not divide") {
    check_sum(100, 3, 32);
    check_sum(1009, 5, 96);
    for (const std::size_t n : grading::sizes({}, 4, 20'000)) {
        const auto blocks = static_cast<int>(grading::random_size(1, 12, n));
        const auto threads_per_block =
            static_cast<int>(grading::random_size(1, 1024, n + 1));
        check_sum(static_cast<int>(n), blocks, threads_per_block);
    }
}

TEST_CASE("lets a single thread do everything") { check_sum(1009, 1, 1); }

TEST_CASE("handles arrays about as short as a warp") {
    for (int n : {1, 31, 32, 33}) check_sum(n, 2, 32);
}

TEST_CASE("stays inside the arrays") {
    check_sum(1009, 2, 64);
    check_sum(5, 8, 128);
}

TEST_CASE("does nothing for empty arrays") { check_sum(0, 2, 32); }

TEST_CASE("neighboring threads go on with neighboring elements") {
    for (const int n : {8192, 10'000}) {
        const grading::Instrumented instrumented = check_sum(n, 4, 128);
        INFO(grading::counted(n, "element") << ", launched with <<<4, 128>>>");
        CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
    }
}

TEST_CASE("covers a million elements with a small grid") {
    // Not instrumented: who does what was judged above, and here it would take a second.
    for (const int blocks : {16, 600}) {  // 600 x 128 threads are more than 16 bits count
        const int n = (1 << 20) + 17;
        INFO(grading::counted(n, "element")
             << ", launched with <<<" << blocks << ", 128>>>");
        const Data data(n);
        grading::Guarded<float> d_x(data.x);
        grading::Guarded<float> d_y(data.y);
        scale_and_add(data.a, d_x.data(), d_y.data(), n, blocks, 128);
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        check_values(data, d_y);
    }
}
