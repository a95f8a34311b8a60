#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

const grading::Exercise grading::exercise{"2_memory_model", "read_only_laplace"};

namespace {

// Whole numbers, so that all results are exact. Neighbors differ by amounts of their own.
std::vector<float> make_values(int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(1 + i * 61 % 127);
    return values;
}

// The values with others around them that belong to nobody, and that no result hides. A texture has to begin at a
// multiple of 512 bytes, and may do so here.
constexpr std::size_t margin = 1024;

std::vector<float> with_margins(const std::vector<float>& values) {
    std::vector<float> padded(margin + values.size() + margin, 1 << 20);
    std::copy(values.begin(), values.end(), padded.begin() + margin);
    return padded;
}

std::vector<double> laplace_of(const std::vector<double>& x) {
    const std::size_t count = x.size();
    std::vector<double> y(count);
    for (std::size_t i = 0; i < count; ++i) y[i] = x[(i + count - 1) % count] - 2 * x[i] + x[(i + 1) % count];
    return y;
}

std::vector<double> laplace_of(const std::vector<float>& x) {
    return laplace_of(std::vector<double>(x.begin(), x.end()));
}

// Checks the results, and returns what the kernels did.
grading::Watched check_laplace(int count, const std::string& hint) {
    INFO("a ring of " << count << " elements");
    const std::vector<float> x = make_values(count);
    const grading::Guarded<float> d_x(with_margins(x));
    grading::Guarded<float> d_y(x.size());
    grading::Watched watched = grading::watch([&] { laplace(d_x.data() + margin, d_y.data(), count); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_y, grading::WrittenEverywhere("Does every element have a thread?"));
    CHECK_THAT(d_y, grading::EqualTo(laplace_of(x), hint));
    CHECK_THAT(d_y, grading::StaysInside("There is one result an element."));
    CHECK_THAT(d_x, grading::Unchanged());
    return watched;
}

void check_laplace_twice(int count) {
    INFO("a ring of " << count << " elements");
    const std::vector<float> x = make_values(count);
    const grading::Guarded<float> d_x(with_margins(x));
    grading::Guarded<float> d_work(x.size());
    grading::Guarded<float> d_y(x.size());
    laplace_twice(d_x.data() + margin, d_work.data(), d_y.data(), count);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_y, grading::WrittenEverywhere("Does the second launch write d_y?"));
    CHECK_THAT(d_y, grading::EqualTo(laplace_of(laplace_of(x)), "Is d_y the Laplace of the Laplace of d_x?"));
    CHECK_THAT(d_y, grading::StaysInside("There is one result an element."));
    CHECK_THAT(d_work, grading::StaysInside("The working array is as long as the ring."));
    CHECK_THAT(d_x, grading::Unchanged());
}

constexpr const char* about_the_ends =
    "Which element is the left neighbor of element 0? Which element is the right neighbor of the last one?";

}  // namespace

TEST_CASE("closes the ring") {
    for (const int count : {256, 5, 33, 100, 255}) check_laplace(count, about_the_ends);
}

TEST_CASE("takes neighbors from other blocks") {
    for (const int count : {512, 4096, 100000}) {
        check_laplace(count, "Is the ring closed around the whole array, and only there?");
    }
}

TEST_CASE("handles a last block that is not full") {
    for (const int count : {257, 1000, 1009, 4099}) check_laplace(count, about_the_ends);
}

TEST_CASE("handles the smallest rings") {
    for (const int count : {1, 2, 3}) {
        check_laplace(count, "In a ring of one or two elements both neighbors are the same element.");
    }
}

TEST_CASE("handles a ring without elements") {
    check_laplace(0, "");
    check_laplace_twice(0);
}

TEST_CASE("applies the operator twice") {
    for (const int count : {256, 1, 2, 3, 33, 1009, 4096}) check_laplace_twice(count);
}

// The loads of a warp touch 4, 5 and 5 sectors.
TEST_CASE("reads neighbors side by side") {
    for (const int count : {4096, 10007}) {
        const grading::Watched watched = check_laplace(count, about_the_ends);
        INFO("a ring of " << count << " elements");
        CHECK_THAT(watched, grading::SectorsPerRequestAtMost(5.1, "Do neighboring threads read neighboring elements?"));
    }
}
