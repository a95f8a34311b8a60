#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <regex>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"2_memory_model", "read_only_laplace"};

namespace {

// Values are at most 1, so the Laplace is at most 4, and that of the Laplace 16. Two
// roundings of 4 for the first one; for the second one four times their error and two
// roundings of 16, or six roundings with all five points in one sum.
constexpr warpwise::Tolerance once{.absolute = 12.0 / (1 << 24)};
constexpr warpwise::Tolerance twice{.absolute = 128.0 / (1 << 24)};

std::vector<double> laplace_of(const std::vector<double>& x) {
    const std::size_t count = x.size();
    std::vector<double> y(count);
    for (std::size_t i = 0; i < count; ++i)
        y[i] = x[(i + count - 1) % count] - 2 * x[i] + x[(i + 1) % count];
    return y;
}

std::vector<double> laplace_of(const std::vector<float>& x) {
    return laplace_of(std::vector<double>(x.begin(), x.end()));
}

/// The same with other neighbors at the two ends of the array.
std::vector<double> laplace_with_ends(const std::vector<float>& x, double before_first,
                                      double after_last) {
    std::vector<double> y = laplace_of(x);
    if (x.empty()) return y;
    y.front() += before_first - double{x.back()};
    y.back() += after_last - double{x.front()};
    return y;
}

void check_values(const grading::Guarded<float>& d_y, const std::vector<float>& x) {
    const double first = x.empty() ? 0 : x.front();
    const double last = x.empty() ? 0 : x.back();
    CHECK_THAT(
        d_y,
        grading::CloseTo(laplace_of(x), once)
            .when(grading::equals(laplace_with_ends(x, 0, 0)),
                  "There the neighbor outside of the array counts as 0. Which element is "
                  "the left neighbor "
                  "of element 0, and which one the right neighbor of the last element?")
            .when(grading::equals(laplace_with_ends(x, first, last)),
                  "There the first or the last element is its own neighbor. Which element "
                  "is the left "
                  "neighbor of element 0?"));
}

/// What both functions have in common. Textures are allowed, and what is read by them is
/// not known: so nobody may take the data to the host and back.
void check_work(const grading::Instrumented& instrumented,
                const grading::Guarded<float>& d_y, std::size_t threads,
                std::size_t blocks) {
    if (d_y.size() == 0) return;
    CHECK_THAT(d_y, grading::WrittenByThreads(threads));
    CHECK_THAT(d_y, grading::WrittenByBlocks(blocks));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
}

// Checks the results, and returns what the kernels did.
grading::Instrumented check_laplace(std::size_t count, std::size_t threads = 0,
                                    std::size_t blocks = 0) {
    INFO("laplace for a ring of " << grading::counted(count, "element"));
    const std::vector<float> x = grading::random_floats(count, count);
    const grading::Guarded<float> d_x(x);
    grading::Guarded<float> d_y(count);
    grading::Instrumented instrumented = grading::instrument(
        [&] { laplace(d_x.data(), d_y.data(), static_cast<int>(count)); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(d_y, x);
    CHECK_THAT(d_y, grading::StaysInside());
    CHECK_THAT(d_x, grading::Unchanged());
    check_work(instrumented, d_y, threads, blocks);
    return instrumented;
}

grading::Instrumented check_laplace_twice(std::size_t count, std::size_t threads = 0,
                                          std::size_t blocks = 0) {
    INFO("laplace_twice for a ring of " << grading::counted(count, "element"));
    const std::vector<float> x = grading::random_floats(count, count + 1);
    const grading::Guarded<float> d_x(x);
    grading::Guarded<float> d_work(count);
    grading::Guarded<float> d_y(count);
    grading::Instrumented instrumented = grading::instrument([&] {
        laplace_twice(d_x.data(), d_work.data(), d_y.data(), static_cast<int>(count));
    });
    REQUIRE_THAT(
        grading::finish(),
        grading::Succeeds().when(
            {"data race"},
            "Which array does this launch read, and which does it write? A barrier "
            "orders the\nthreads of one block only, and neighbors may be in another "
            "block."));
    CHECK_THAT(d_y, grading::CloseTo(laplace_of(laplace_of(x)), twice)
                        .when(grading::equals(laplace_of(x)),
                              "These are the results of applying the operator once."));
    CHECK_THAT(d_y, grading::StaysInside());
    CHECK_THAT(d_work, grading::StaysInside());
    CHECK_THAT(d_x, grading::Unchanged());
    check_work(instrumented, d_y, threads, blocks);
    return instrumented;
}

}  // namespace

TEST_CASE("closes the ring") {
    for (const std::size_t count : {256, 5, 33, 100, 255}) check_laplace(count);
}

TEST_CASE("takes neighbors from other blocks") {
    for (const std::size_t count : {512, 4096, 100000}) check_laplace(count);
}

TEST_CASE("handles a last block that is not full") {
    for (const std::size_t count : grading::sizes({257, 1000, 1009, 4099}, 4, 20'000))
        check_laplace(count);
}

// In a ring of one or two elements both neighbors are the same element.
TEST_CASE("handles the smallest rings") {
    for (const std::size_t count : {1, 2, 3}) check_laplace(count);
}

TEST_CASE("handles a ring without elements") {
    check_laplace(0);
    check_laplace_twice(0);
}

TEST_CASE("applies the operator twice") {
    for (const std::size_t count :
         grading::sizes({256, 1, 2, 3, 33, 1009, 4096}, 2, 10'000))
        check_laplace_twice(count);
}

TEST_CASE("shares the elements among many threads") {
    check_laplace(16'384, 1024, 4);
    check_laplace_twice(16'384, 1024, 4);
}

// The loads of a warp touch 4, 5 and 5 sectors, where 4 are needed.
TEST_CASE("reads neighbors side by side") {
    for (const std::size_t count : {4096, 10007}) {
        CHECK_THAT(check_laplace(count), grading::GlobalEfficiencyAtLeast(0.75));
        CHECK_THAT(check_laplace_twice(count), grading::GlobalEfficiencyAtLeast(0.75));
    }
}

// The CPU device has one path only, so the source has to tell.
TEST_CASE("reads x by the read-only path") {
    const grading::Instrumented instrumented = check_laplace(1000);
    if (!instrumented.countable) {
        grading::note_left_out();
        return;
    }
    REQUIRE(!instrumented.launches.empty());
    const std::string code = grading::code_of(instrumented.launches.front().file);
    REQUIRE(!code.empty());
    const std::regex ways(
        R"(__ldg\s*\(|\bconst\b[^,;(){}]*\*\s*(const\s+)?__restrict(__)?|\btex1D)"
        R"(|ld\.global\.nc|LOAD_LDG)");
    if (!std::regex_search(code, ways)) {
        FAIL(
            "Your source has neither __ldg( nor a pointer `const ... * __restrict__` nor a "
            "texture.\nHow does the compiler know that nothing writes to x while the "
            "kernel "
            "runs?");
    }
}

TEST_CASE("handles a large ring") {
    // Not instrumented: what it costs was judged above, and here it would take seconds.
    const std::vector<float> x = grading::random_floats(300'007);
    const grading::Guarded<float> d_x(x);
    grading::Guarded<float> d_y(x.size());
    laplace(d_x.data(), d_y.data(), static_cast<int>(x.size()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(d_y, x);
    grading::Guarded<float> d_work(x.size()), d_z(x.size());
    laplace_twice(d_x.data(), d_work.data(), d_z.data(), static_cast<int>(x.size()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_z, grading::CloseTo(laplace_of(laplace_of(x)), twice));
}
