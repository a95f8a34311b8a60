#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"
#include "common/helpers/device_buffer.h"

const grading::Exercise grading::exercise{"4_examples", "tiled_product_any_size"};

namespace {

constexpr const char* about_terms =
    "Does each sum have its k terms, and no more? Behind the end of a row of A begins the next row, and below the "
    "last row of B is memory of others. What has to stand in the tiles instead?";
constexpr const char* about_edges =
    "At the right and lower edge of C, tiles are cut short. Which element of A does a thread load, which of B, and "
    "which "
    "of their rows and columns may be outside? Do all threads of the block still come to the barriers?";

// What lies before and behind A and B. Sums that have something of it are far too large, on a GPU too.
constexpr int outside = 1000000;

std::vector<float> surrounded(const std::vector<float>& values, std::size_t margin) {
    std::vector<float> all(margin + values.size() + margin, static_cast<float>(outside));
    std::copy(values.begin(), values.end(), all.begin() + static_cast<std::ptrdiff_t>(margin));
    return all;
}

// A product of small whole numbers: every sum is exact.
struct Product {
    std::size_t m, n, k;
    std::vector<float> a, b;

    Product(int rows, int cols, int terms)
        : m(static_cast<std::size_t>(rows)),
          n(static_cast<std::size_t>(cols)),
          k(static_cast<std::size_t>(terms)),
          a(m * k),
          b(k * n) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(1 + i * 7 % 11);
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(1 + i * 5 % 13) - 4;
    }

    std::vector<double> expected() const {
        std::vector<double> c(m * n);
        for (std::size_t row = 0; row < m; ++row) {
            for (std::size_t p = 0; p < k; ++p) {
                for (std::size_t col = 0; col < n; ++col)
                    c[row * n + col] += static_cast<double>(a[row * k + p]) * b[p * n + col];
            }
        }
        return c;
    }
};

std::string text_of(int m, int n, int k) {
    return "m = " + std::to_string(m) + ", n = " + std::to_string(n) + ", k = " + std::to_string(k);
}

// Checks a product, and returns what the kernels did.
grading::Watched check_product(int m, int n, int k, const std::string& hint) {
    INFO(text_of(m, n, k) << ": A has " << m << " rows of " << k << ", B has " << k << " rows of " << n
                          << "; around A and B all is " << outside);
    INFO(hint);
    const Product product(m, n, k);
    const std::size_t margin = 64 * (std::max({product.m, product.n, product.k}) + 64);  // some rows of whole tiles
    const grading::Guarded<float> d_a(surrounded(product.a, margin)), d_b(surrounded(product.b, margin));
    grading::Guarded<float> d_c(product.m * product.n, margin);
    d_c.show_as_rows_of(product.n);
    grading::Watched watched =
        grading::watch([&] { multiply(d_a.data() + margin, d_b.data() + margin, d_c.data(), m, n, k); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_c, grading::StaysInside());
    CHECK_THAT(d_c, grading::WrittenEverywhere());
    CHECK_THAT(d_c, grading::EqualTo(product.expected()));
    CHECK_THAT(d_a, grading::Unchanged());
    CHECK_THAT(d_b, grading::Unchanged());
    return watched;
}

}  // namespace

TEST_CASE("multiplies matrices of whole tiles") {
    for (const int side : {16, 32, 64}) check_product(side, side, side, "This was right before. What has changed?");
    check_product(32, 64, 96, "This was right before. What has changed?");
}

TEST_CASE("adds up the right terms when k cuts the tiles short") {
    for (const int k : {1, 15, 17, 31, 33, 63}) check_product(32, 64, k, about_terms);
}

TEST_CASE("multiplies when the edges of C cut tiles short") {
    for (const int m : {1, 31, 33}) check_product(m, 64, 32, about_edges);
    for (const int n : {1, 31, 33}) check_product(64, n, 32, about_edges);
    check_product(33, 45, 64, about_edges);
}

TEST_CASE("multiplies matrices of any size") {
    for (const int extent : {1, 31, 33, 50}) {
        check_product(extent, 37, 23, about_edges);
        check_product(37, extent, 23, about_edges);
        check_product(37, 23, extent, about_terms);
    }
    check_product(127, 129, 65, about_terms);
    check_product(1, 257, 3, about_edges);
    check_product(257, 1, 3, about_edges);
    check_product(2, 3, 1009, about_terms);
}

TEST_CASE("handles matrices without elements") {
    check_product(0, 5, 7, "C has no elements: there is nothing to do, and a grid of 0 blocks is an error.");
    check_product(5, 0, 7, "C has no elements: there is nothing to do, and a grid of 0 blocks is an error.");
    check_product(5, 7, 0, "Every element of C is a sum of no terms: 0.");
    check_product(0, 0, 0, "There is nothing to do, and a grid of 0 blocks is an error.");
}

// What is loaded and then not used does not show in the result. Here A and B end where their memory ends.
TEST_CASE("loads nothing from outside of A and B") {
    struct Extents {
        int m, n, k;
    };
    for (const Extents& x : {Extents{33, 32, 32}, {32, 33, 32}, {32, 32, 33}, {45, 50, 70}, {1, 1, 1}}) {
        INFO(text_of(x.m, x.n, x.k));
        INFO("A thread at the edge has a place in the tile, but no element to load for it: then it must not load.");
        const Product product(x.m, x.n, x.k);
        const warpwise::DeviceBuffer<float> d_a(product.a), d_b(product.b);
        grading::Guarded<float> d_c(product.m * product.n);
        d_c.show_as_rows_of(product.n);
        const grading::Watched watched =
            grading::watch([&] { multiply(d_a.data(), d_b.data(), d_c.data(), x.m, x.n, x.k); });
        CHECK_THAT(watched, grading::CleanMemory());
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        CHECK_THAT(d_c, grading::EqualTo(product.expected()));
    }
}

// What the tiles are for has to survive the repair: with tiles of 16 x 16, each of 96^3 multiply-adds asks for a 16th
// of an element of A and of B. Twice as much is allowed.
TEST_CASE("still loads each element once for a whole tile") {
    const grading::Watched watched = check_product(96, 96, 96, about_terms);
    const double loads_of_tiles = 2.0 * 96 * 96 * 96 / 16 * sizeof(float);
    const double stores = 96.0 * 96 * sizeof(float);
    CHECK_THAT(watched, grading::BytesMovedAtMost(2 * loads_of_tiles + stores,
                                                  "Do the threads of a block still share what they load?"));
    CHECK_THAT(watched, grading::SectorsPerRequestAtMost(4.5, "Do neighboring threads use neighboring elements?"));
}
