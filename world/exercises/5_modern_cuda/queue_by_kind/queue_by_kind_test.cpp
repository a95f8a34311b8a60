#include "exercises/5_modern_cuda/queue_by_kind/queue_by_kind.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"5_modern_cuda", "queue_by_kind"};

namespace {

constexpr unsigned empty = 4'000'000'000;      // in the places of the queues
constexpr unsigned left_by_earlier_call = 77;  // in the sizes
constexpr std::size_t most_threads = 1024;     // of the launch

std::vector<unsigned> random_kinds(std::size_t count, unsigned first, unsigned last,
                                   std::uint64_t stream) {
    const std::vector<int> kinds_of = grading::random_ints(count, static_cast<int>(first),
                                                           static_cast<int>(last), stream);
    return {kinds_of.begin(), kinds_of.end()};
}

/// For each 32 neighbors, how many kinds are among them; the sum of all.
double additions_needed(const std::vector<unsigned>& ray_kinds) {
    double additions = 0;
    for (std::size_t begin = 0; begin < ray_kinds.size(); begin += 32) {
        const std::size_t end = std::min(begin + 32, ray_kinds.size());
        std::array<bool, kinds> there{};
        for (std::size_t i = begin; i < end; ++i) there[ray_kinds[i]] = true;
        additions += static_cast<double>(std::count(there.begin(), there.end(), true));
    }
    return additions;
}

void check_queues(const std::vector<unsigned>& ray_kinds) {
    const std::size_t count = ray_kinds.size();
    INFO(grading::counted(count, "ray"));
    const grading::Guarded<unsigned> d_kinds(ray_kinds);
    grading::Guarded<unsigned> d_queues(std::vector<unsigned>(kinds * count, empty));
    grading::Guarded<unsigned> d_sizes(std::vector<unsigned>(kinds, left_by_earlier_call));
    const grading::Instrumented instrumented = grading::instrument([&] {
        queue_rays(d_kinds.data(), static_cast<unsigned>(count), d_queues.data(),
                   d_sizes.data());
    });
    REQUIRE_THAT(
        grading::finish(),
        grading::Succeeds().when(
            {"data race"},
            "Two rays have the same place, or two threads change a size at the same "
            "time. How does each ray get a place of its own?"));

    std::array<std::vector<double>, kinds> expected;
    for (std::size_t i = 0; i < count; ++i)
        expected[ray_kinds[i]].push_back(static_cast<double>(i));
    std::vector<double> sizes;
    for (const std::vector<double>& queue : expected)
        sizes.push_back(static_cast<double>(queue.size()));
    CHECK_THAT(d_sizes, grading::EqualTo(sizes));
    CHECK_THAT(d_sizes, grading::StaysInside());
    CHECK_THAT(d_queues, grading::StaysInside());
    CHECK_THAT(d_kinds, grading::Unchanged());

    // In any order: sorted, with the places that have to stay empty at the end.
    const std::vector<unsigned> places = d_queues.download();
    for (unsigned kind = 0; kind < kinds; ++kind) {
        INFO("the queue of kind " << kind << ", sorted; " << empty
                                  << " stands for a place that nobody wrote");
        const auto begin = places.begin() + static_cast<std::ptrdiff_t>(kind * count);
        std::vector<double> queue(begin, begin + static_cast<std::ptrdiff_t>(count));
        const auto end = queue.begin() + static_cast<std::ptrdiff_t>(expected[kind].size());
        if (std::any_of(queue.begin(), end, [](double ray) { return ray == empty; }) &&
            std::any_of(end, queue.end(), [](double ray) { return ray != empty; })) {
            FAIL_CHECK("The queue of kind "
                       << kind << " has gaps: rays stand after places that are empty.\n"
                       << "How many rays of the kind are before this one in its group?");
            continue;
        }
        std::sort(queue.begin(), queue.end());
        std::vector<double> wanted = expected[kind];
        wanted.resize(count, empty);
        CHECK_THAT(queue, grading::EqualTo(wanted));
    }
    if (count == 0) return;
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(d_kinds, grading::ReadByThreads(std::min(count, most_threads)));
    CHECK_THAT(instrumented,
               grading::AtomicsAtMost(
                   additions_needed(ray_kinds),
                   "How many additions does a warp need for all its rays of one kind?"));
}

}  // namespace

TEST_CASE("queues the rays of a warp") { check_queues(random_kinds(32, 0, kinds - 1, 1)); }

TEST_CASE("queues rays of a single kind") {
    for (const std::size_t count : {32, 100})
        for (unsigned kind = 0; kind < kinds; ++kind)
            check_queues(std::vector<unsigned>(count, kind));
}

TEST_CASE("handles no ray at all") { check_queues({}); }

TEST_CASE("handles any number of rays") {
    for (const std::size_t count :
         grading::sizes({1, 2, 31, 32, 33, 127, 128, 129, 1009}, 3, 3000))
        check_queues(random_kinds(count, 0, kinds - 1, count));
}

TEST_CASE("handles more rays than threads") {
    for (const std::size_t count : {1025, 5003, 20'011})
        check_queues(random_kinds(count, 0, kinds - 1, count));
}

TEST_CASE("handles neighbors of different kinds") {
    std::vector<unsigned> ray_kinds(2000);
    for (unsigned i = 0; i < ray_kinds.size(); ++i) ray_kinds[i] = i % kinds;
    check_queues(ray_kinds);
}

TEST_CASE("handles kinds that are missing") {
    check_queues(random_kinds(1500, 1, 2, 1));
    check_queues(random_kinds(1500, 0, 1, 2));
}

TEST_CASE("handles long runs of one kind") {
    std::vector<unsigned> ray_kinds(3000);
    for (unsigned i = 0; i < ray_kinds.size(); ++i) ray_kinds[i] = i / 75 % kinds;
    check_queues(ray_kinds);
}
