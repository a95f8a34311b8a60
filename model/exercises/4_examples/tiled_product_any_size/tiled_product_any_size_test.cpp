#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/instrument.h"

const grading::Exercise grading::exercise{"4_examples", "tiled_product_any_size"};

namespace {

constexpr std::size_t side = 16;  // of a tile, in the stub

/// A product of random matrices, with the result as it should be, and as some mistakes make
/// it.
struct Product {
    Product(int rows, int cols, int terms)
        : m(static_cast<std::size_t>(rows)),
          n(static_cast<std::size_t>(cols)),
          k(static_cast<std::size_t>(terms)),
          a(grading::random_floats(m * k, 1)),
          b(grading::random_floats(k * n, 2)) {}

    /// The sum of the first `terms` terms. Further ones repeat the last one.
    std::vector<double> sum_of(std::size_t terms) const {
        std::vector<double> c(m * n);
        for (std::size_t row = 0; row < m; ++row) {
            for (std::size_t p = 0; p < terms && k > 0; ++p) {
                const std::size_t term = p < k ? p : k - 1;
                for (std::size_t col = 0; col < n; ++col)
                    c[row * n + col] += double{a[row * k + term]} * b[term * n + col];
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

/// The wrong elements are those of another array, up to a rounding that is larger than that
/// of the right sums.
grading::Cause are_about(std::vector<double> other) {
    return [other = std::move(other)](const grading::MismatchedArray& mismatch) {
        return std::all_of(
            mismatch.wrong.begin(), mismatch.wrong.end(),
            [&](std::size_t i) { return std::fabs(mismatch.got[i] - other[i]) <= 1e-4; });
    };
}

void check_values(const Product& product, const grading::Guarded<float>& d_c) {
    const std::size_t whole = product.k / side * side,
                      filled = (product.k + side - 1) / side * side;
    CHECK_THAT(d_c, grading::CloseTo(product.sum_of(product.k), product.tolerance())
                        .when(are_about(product.sum_of(whole)),
                              "These sums have only the terms of the whole tiles. Who adds "
                              "the terms after them?")
                        .when(are_about(product.sum_of(filled)),
                              "The last term was added again for each place of the tile "
                              "that has no element."));
}

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
    check_values(product, d_c);
    CHECK_THAT(d_c, grading::StaysInside());
    CHECK_THAT(d_a, grading::Unchanged());
    CHECK_THAT(d_b, grading::Unchanged());
    if (d_c.size() > 0 && k > 0) {
        CHECK_THAT(d_c, grading::WrittenByThreads(d_c.size() / 16));
        CHECK_THAT(d_c, grading::WrittenByBlocks(d_c.size() / 4096));
        CHECK_THAT(instrumented, grading::UsesSharedMemory());
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
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
    for (const int extent : {16, 32, 64}) check_product(extent, extent, extent);
    check_product(32, 64, 96);
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

// With tiles of 16 x 16, each of m * n * k multiply-adds needs a 16th of an element of A
// and of B. Twice as much is allowed: rows of 31 floats do not begin at sectors. Terms that
// bypass the tiles take more.
TEST_CASE("loads all elements through tiles") {
    struct Extents {
        int m, n, k;
    };
    for (const Extents& x : {Extents{96, 96, 96}, {96, 96, 31}, {90, 96, 95}}) {
        const grading::Instrumented instrumented = check_product(x.m, x.n, x.k);
        INFO("m = " << x.m << ", n = " << x.n << ", k = " << x.k);
        const double loads_of_tiles =
            2.0 * 96 * 96 * ((x.k + 15) / 16 * 16) / 16 * sizeof(float);
        const double stores = 96.0 * 96 * sizeof(float);
        CHECK_THAT(instrumented, grading::BytesMovedAtMost(2 * loads_of_tiles + stores));
        if (x.k == 96) CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
    }
}

// For the model answer only, because answers with a grid of two dimensions are right for
// all smaller matrices.
TEST_CASE("multiplies very long and very wide matrices", "[.very_large]") {
    // Not instrumented: these are 34 million threads. One shape in the first run, and the
    // other one in further runs.
    const warpwise::Instrumentation not_instrumented({});
    const int m = grading::is_further_run() ? 1 : 2'100'000,
              n = grading::is_further_run() ? 2'100'000 : 1;
    INFO("m = " << m << ", n = " << n << ", k = 1");
    const Product product(m, n, 1);
    const grading::Guarded<float> d_a(product.a), d_b(product.b);
    grading::Guarded<float> d_c(product.m * product.n);
    multiply(d_a.data(), d_b.data(), d_c.data(), m, n, 1);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(product, d_c);
}
