#include "exercises/4_examples/register_tile/register_tile.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"

const grading::Exercise grading::exercise{"4_examples", "register_tile"};

namespace {

/// A product of random matrices.
struct Product {
    Product(int rows, int cols, int terms)
        : m(static_cast<std::size_t>(rows)),
          n(static_cast<std::size_t>(cols)),
          k(static_cast<std::size_t>(terms)),
          a(grading::random_floats(m * k, 1)),
          b(grading::random_floats(k * n, 2)) {}

    std::vector<double> sums() const {
        std::vector<double> c(m * n);
        for (std::size_t row = 0; row < m; ++row) {
            for (std::size_t p = 0; p < k; ++p) {
                for (std::size_t col = 0; col < n; ++col)
                    c[row * n + col] += double{a[row * k + p]} * b[p * n + col];
            }
        }
        return c;
    }

    /// The terms are products of numbers between 1/4 and 1 with signs: their sums grow with
    /// the root of k, and rounding errors of about so many sums add up.
    warpwise::Tolerance tolerance() const {
        return {.absolute = 6 * std::numeric_limits<float>::epsilon() / 2 *
                            static_cast<double>(k + 1)};
    }

    std::size_t m, n, k;
    std::vector<float> a, b;
};

/// Checks a product and that kernels computed it in tiles, and returns what they did.
grading::Instrumented check_product(int m, int n, int k) {
    INFO("m = " << m << ", n = " << n << ", k = " << k << ": A has "
                << grading::counted(m, "row") << " of " << k << ", B has "
                << grading::counted(k, "row") << " of " << n);
    const Product product(m, n, k);
    const grading::Guarded<float> d_a(product.a), d_b(product.b);
    grading::Guarded<float> d_c(product.m * product.n);
    d_c.show_as_rows_of(product.n);
    const grading::Instrumented instrumented =
        grading::instrument([&] { multiply(d_a.data(), d_b.data(), d_c.data(), m, n, k); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_c, grading::CloseTo(product.sums(), product.tolerance()));
    CHECK_THAT(d_c, grading::StaysInside());
    CHECK_THAT(d_a, grading::Unchanged());
    CHECK_THAT(d_b, grading::Unchanged());
    if (d_c.size() > 0 && k > 0) {
        CHECK_THAT(d_c, grading::WrittenByThreads(d_c.size() / 64));
        CHECK_THAT(d_c, grading::WrittenByBlocks(d_c.size() / 16384));
        CHECK_THAT(instrumented, grading::UsesSharedMemory());
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

int random_extent(int stream) {
    return static_cast<int>(
        grading::random_size(2, 90, static_cast<std::uint64_t>(stream)));
}

}  // namespace

TEST_CASE("multiplies matrices of whole tiles") {
    for (const int extent : {16, 64, 128}) check_product(extent, extent, extent);
    check_product(64, 128, 32);
}

TEST_CASE("adds up the right terms when k cuts the tiles short") {
    for (const int k : {1, 15, 17, 31, 33, 63}) check_product(32, 64, k);
}

TEST_CASE("multiplies when the edges of C cut tiles short") {
    for (const int m : {1, 31, 33}) check_product(m, 64, 32);
    for (const int n : {1, 31, 33}) check_product(64, n, 32);
    check_product(33, 45, 64);
}

TEST_CASE("multiplies matrices of any size") {
    for (const int extent : {1, 31, 33, 50}) {
        check_product(extent, 37, 23);
        check_product(37, extent, 23);
        check_product(37, 23, extent);
    }
    for (const int stream : {10, 20, 30}) {
        check_product(random_extent(stream), random_extent(stream + 1),
                      random_extent(stream + 2));
    }
    check_product(127, 129, 65);
    check_product(1, 257, 3);
    check_product(257, 1, 3);
    check_product(2, 3, 1009);
}

TEST_CASE("handles matrices without elements") {
    check_product(0, 5, 7);
    check_product(5, 0, 7);
    check_product(5, 7, 0);
    check_product(0, 0, 0);
}

// One element per thread loads 2 floats per multiply-add, 4 x 4 elements 0.5, 2 x 8 0.625,
// 8 x 8 0.25.
TEST_CASE("loads at most two thirds of a float per multiply-add") {
    struct Extents {
        int m, n, k;
    };
    for (const Extents& x : {Extents{128, 128, 64}, {128, 256, 32}, {256, 128, 96}}) {
        const grading::Instrumented instrumented = check_product(x.m, x.n, x.k);
        if (!instrumented.countable) continue;
        const warpwise::Counts counts = warpwise::sum_of(instrumented.launches);
        const double floats =
            (counts.shared_load.bytes + counts.shared_atomic.bytes) / sizeof(float);
        const double terms = 1.0 * x.m * x.n * x.k;
        INFO("m = " << x.m << ", n = " << x.n << ", k = " << x.k << ": "
                    << static_cast<long>(terms) << " multiply-adds");
        CHECK_THAT(
            grading::figure("floats loaded from shared memory per multiply-add",
                            floats / terms, {.call = instrumented.name}),
            grading::AtMost(0.67,
                            "For how many multiply-adds does a thread use a float that it "
                            "has loaded from a tile?"));
    }
}

// With tiles of C of 32 x 32, each multiply-add needs a 32nd of an element of A and of B. A
// fourth more is allowed.
TEST_CASE("loads all elements through tiles of at least 32 x 32") {
    for (const int n : {128, 256}) {
        const grading::Instrumented instrumented = check_product(128, n, 64);
        INFO("m = 128, n = " << n << ", k = 64");
        const double least = (2.0 * 128 * n * 64 / 32 + 128.0 * n) * sizeof(float);
        CHECK_THAT(instrumented, grading::BytesMovedAtMost(1.25 * least));
        CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
    }
}

#ifndef __CPU_DEVICE__
// In a cycle, the shared memory of an SM delivers 32 floats to a warp. With two of them per
// multiply-add, as in the stub, 32 multiply-adds take two cycles at least.
TEST_CASE("takes less than 1.5 cycles of an SM for 32 multiply-adds") {
    constexpr int n = 2048;
    warpwise::DeviceBuffer<float> d_a(std::size_t{n} * n), d_b(d_a.size()), d_c(d_a.size());
    d_a.fill_bytes(0);
    d_b.fill_bytes(0);
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] { multiply(d_a.data(), d_b.data(), d_c.data(), n, n, n); }, false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    int processors = 0, kilohertz = 0;
    warpwise::check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    warpwise::check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
    const double cycles = timings[0].median * 1e3 * kilohertz * processors;
    const double multiply_adds = 1.0 * n * n * n;
    CHECK_THAT(grading::figure("cycles of an SM per 32 multiply-adds",
                               32 * cycles / multiply_adds),
               grading::AtMost(1.5,
                               "For how many multiply-adds does a thread use a float that "
                               "it has loaded from a tile?"));
}
#endif
