#include "exercises/4_examples/double_buffer/double_buffer.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/grading/warp_trace.h"

const grading::Exercise grading::exercise{"4_examples", "double_buffer"};

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

/// What a warp does with global and shared memory between barriers.
struct Turns {
    std::size_t barriers = 0;
    std::size_t computing = 0;  // turns in which it reads shared memory
    std::size_t waiting = 0;    // times that loads are stored to shared memory with
                                // nothing computed in between
    std::string first_wait;     // beyond those that are allowed
};

constexpr std::size_t waits_allowed = 2;

Turns turns_of(const grading::WarpTrace& warp) {
    using Kind = grading::WarpEvent::Kind;
    Turns turns;
    bool reads = false, loaded = false, counted = false;
    for (const grading::WarpEvent& event : warp.events) {
        switch (event.kind) {
            case Kind::barrier:
                ++turns.barriers;
                reads = counted = false;
                break;
            case Kind::shared_load:
                if (!reads) ++turns.computing;
                reads = true;
                loaded = counted = false;
                break;
            case Kind::global_load:
                loaded = true;
                break;
            case Kind::shared_store:
                if (!loaded || counted) break;
                counted = true;
                if (++turns.waiting == waits_allowed + 1)
                    turns.first_wait = grading::place_text(event);
                break;
            default:
                break;
        }
    }
    return turns;
}

/// Looks at what the warps of the first blocks do, in their order. Nothing where no traces
/// are kept.
std::vector<Turns> turns_of_product() {
    const int m = 32, n = 32, k = 512;
    INFO("m = " << m << ", n = " << n << ", k = " << k);
    const Product product(m, n, k);
    const grading::Guarded<float> d_a(product.a), d_b(product.b);
    grading::Guarded<float> d_c(product.m * product.n);
    const std::vector<grading::WarpTrace> warps =
        grading::trace_warps([&] { multiply(d_a.data(), d_b.data(), d_c.data(), m, n, k); },
                             {.blocks = 2, .events = 20'000});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    std::vector<Turns> turns;
    for (const grading::WarpTrace& warp : warps) turns.push_back(turns_of(warp));
    return turns;
}

/// Of the warp that has most.
grading::Figure barriers_of(const Turns& turns) {
    return grading::figure(
        "barriers of a warp", static_cast<double>(turns.barriers),
        {.lines = "it computes with tiles in " + std::to_string(turns.computing) +
                  " of the turns between them: one barrier per turn, and one more"});
}

grading::Figure waits_of(const Turns& turns) {
    return grading::figure(
        "waits of a warp for tiles without computing meanwhile",
        static_cast<double>(turns.waiting),
        {.lines = turns.first_wait.empty() ? ""
                                           : "it stores what it has loaded; the first time "
                                             "too many at\n    " +
                                                 turns.first_wait});
}

std::size_t barriers_too_many(const Turns& turns) {
    return turns.barriers - std::min(turns.barriers, turns.computing + 1);
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
// and of B. A half more is allowed.
TEST_CASE("loads all elements through tiles") {
    const grading::Instrumented instrumented = check_product(96, 96, 96);
    const double least = (2.0 * 96 * 96 * 96 / 16 + 96.0 * 96) * sizeof(float);
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(1.5 * least));
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
}

TEST_CASE("takes at most 48 KiB of shared memory") {
    const grading::Instrumented instrumented = check_product(32, 32, 512);
    for (const warpwise::LaunchCounts& launch : instrumented.launches) {
        CHECK_THAT(
            grading::figure("shared memory per block",
                            static_cast<double>(launch.shared_bytes), {.unit = "bytes"}),
            grading::AtMost(48 * 1024,
                            "How many tiles does a block hold at a time, and how "
                            "many bytes does each of them have?"));
    }
}

TEST_CASE("passes one barrier per tile") {
    const std::vector<Turns> turns = turns_of_product();
    if (turns.empty()) return;
    const Turns& worst = *std::max_element(
        turns.begin(), turns.end(), [](const Turns& one, const Turns& other) {
            return barriers_too_many(one) < barriers_too_many(other);
        });
    waits_of(worst);
    CHECK_THAT(barriers_of(worst),
               grading::AtMost(static_cast<double>(worst.computing) + 1,
                               "Which two turns does each of the barriers keep apart, if "
                               "one pair of tiles is read while the other is written?"));
}

TEST_CASE("computes while the next tiles are loaded") {
    const std::vector<Turns> turns = turns_of_product();
    if (turns.empty()) return;
    const Turns& worst = *std::max_element(
        turns.begin(), turns.end(),
        [](const Turns& one, const Turns& other) { return one.waiting < other.waiting; });
    barriers_of(worst);
    CHECK_THAT(waits_of(worst),
               grading::AtMost(static_cast<double>(waits_allowed),
                               "Which multiply-adds could stand between the loads of the "
                               "next tiles and this store?"));
}
