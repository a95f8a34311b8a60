#include "exercises/3_optimization/divide_by_multiplying/divide_by_multiplying.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"3_optimization", "divide_by_multiplying"};

#ifdef __CPU_DEVICE__

namespace {

// Blocks may run in several threads of the host.
struct Counters {
    std::atomic<long> divisions, upper_halves, others;
    std::atomic<long> opened, opened_uncomputed;

    void clear() { divisions = upper_halves = others = opened = opened_uncomputed = 0; }
    long price() const { return 24 * divisions + 4 * upper_halves + 2 * others; }
};
Counters counters;

std::atomic<unsigned> next_seal = 1;

/// Each number is encrypted with other bits, so that arithmetic on its bytes is of no use.
unsigned bits_of(unsigned seal) {
    std::uint64_t bits = (seal + 0x5bd1e995u) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    return seal == 0 ? 0 : static_cast<unsigned>(bits >> 32);
}

}  // namespace

/// Reaches what an Index holds.
class Seal {
public:
    static Index close(unsigned value, bool computed) {
        Index result;
        result.seal_ = next_seal++;
        result.value_ = value ^ bits_of(result.seal_);
        result.computed_ = computed;
        return result;
    }
    static unsigned open(Index x) { return x.value_ ^ bits_of(x.seal_); }
    static bool is_computed(Index x) { return x.computed_ != 0; }
};

namespace {

template <class Operation>
Index computed(std::atomic<long>& kind, Index a, Index b, const Operation& operation) {
    ++kind;
    return Seal::close(operation(Seal::open(a), Seal::open(b)), true);
}
template <class Operation>
bool compared(Index a, Index b, const Operation& operation) {
    return ++counters.others, operation(Seal::open(a), Seal::open(b));
}

}  // namespace

Index::Index(unsigned value) { *this = Seal::close(value, false); }

// A GPU gives all bits for a quotient by zero, and does not stop.
Index operator/(Index a, Index b) {
    return computed(counters.divisions, a, b,
                    [](unsigned x, unsigned y) { return y == 0 ? ~0u : x / y; });
}
Index operator%(Index a, Index b) {
    return computed(counters.divisions, a, b,
                    [](unsigned x, unsigned y) { return y == 0 ? x : x % y; });
}
Index operator*(Index a, Index b) {
    return computed(counters.others, a, b, [](unsigned x, unsigned y) { return x * y; });
}
Index operator+(Index a, Index b) {
    return computed(counters.others, a, b, [](unsigned x, unsigned y) { return x + y; });
}
Index operator-(Index a, Index b) {
    return computed(counters.others, a, b, [](unsigned x, unsigned y) { return x - y; });
}
Index operator<<(Index a, Index b) {
    return computed(counters.others, a, b,
                    [](unsigned x, unsigned y) { return y < 32 ? x << y : 0; });
}
Index operator>>(Index a, Index b) {
    return computed(counters.others, a, b,
                    [](unsigned x, unsigned y) { return y < 32 ? x >> y : 0; });
}
Index operator&(Index a, Index b) {
    return computed(counters.others, a, b, [](unsigned x, unsigned y) { return x & y; });
}
Index operator|(Index a, Index b) {
    return computed(counters.others, a, b, [](unsigned x, unsigned y) { return x | y; });
}
Index operator^(Index a, Index b) {
    return computed(counters.others, a, b, [](unsigned x, unsigned y) { return x ^ y; });
}
bool operator<(Index a, Index b) {
    return compared(a, b, [](unsigned x, unsigned y) { return x < y; });
}
bool operator<=(Index a, Index b) {
    return compared(a, b, [](unsigned x, unsigned y) { return x <= y; });
}
bool operator>(Index a, Index b) {
    return compared(a, b, [](unsigned x, unsigned y) { return x > y; });
}
bool operator>=(Index a, Index b) {
    return compared(a, b, [](unsigned x, unsigned y) { return x >= y; });
}
bool operator==(Index a, Index b) {
    return compared(a, b, [](unsigned x, unsigned y) { return x == y; });
}
bool operator!=(Index a, Index b) {
    return compared(a, b, [](unsigned x, unsigned y) { return x != y; });
}
Index upper_half(Index a, Index b) {
    return computed(counters.upper_halves, a, b, [](unsigned x, unsigned y) {
        return static_cast<unsigned>(std::uint64_t{x} * y >> 32);
    });
}
unsigned opened(Index x) {
    ++counters.opened;
    if (!Seal::is_computed(x)) ++counters.opened_uncomputed;
    return Seal::open(x);
}

#endif

namespace {

constexpr unsigned numbers_end = 1u << 31;

unsigned place(const Picture& picture, unsigned number) {
    const unsigned pixel = number / picture.planes;
    return number % picture.planes * picture.plane_stride +
           pixel / picture.cols * picture.row_stride + pixel % picture.cols;
}

std::string text_of(const Picture& picture) {
    return grading::counted(picture.planes, "plane") + ", " +
           grading::counted(picture.cols, "column");
}

/// Strides that no mistake can hide behind: with odd ones, any wrong row, column, or plane
/// gives another place.
Picture picture_of(unsigned planes, unsigned cols, unsigned stream = 1) {
    return {planes, cols,
            static_cast<unsigned>(grading::random_size(1u << 28, 1u << 30, stream)) * 2 + 1,
            static_cast<unsigned>(grading::random_size(cols, cols + 1000, stream + 1))};
}

/// Numbers on both sides of multiples of the divisors, where quotients change, from the
/// first sample to the last that is possible, and random ones.
std::vector<unsigned> numbers_for(const Picture& picture) {
    std::vector<unsigned> numbers;
    const auto around = [&](std::uint64_t number) {
        for (int k = -2; k <= 2; ++k) {
            const std::int64_t near = static_cast<std::int64_t>(number) + k;
            if (near >= 0 && near < std::int64_t{numbers_end})
                numbers.push_back(static_cast<unsigned>(near));
        }
    };
    const std::uint64_t row = std::uint64_t{picture.planes} * picture.cols;
    for (const std::uint64_t step : {std::uint64_t{picture.planes}, row}) {
        if (step >= numbers_end) continue;
        const std::uint64_t last = (numbers_end - 1) / step;
        for (std::uint64_t k = 0; k < 20; ++k) {
            around(std::min(k, last) * step);
            around((last - std::min(k, last)) * step);
            around(grading::random_size(0, last, 100 + k) * step);
        }
    }
    for (unsigned bit = 0; bit < 32; ++bit) around(std::uint64_t{1} << bit);
    for (std::uint64_t k = 0; k < 200; ++k) {
        numbers.push_back(
            static_cast<unsigned>(grading::random_size(0, numbers_end - 1, 1000 + k)));
    }
    return numbers;
}

void check_places(const Picture& picture, const std::vector<unsigned>& numbers) {
    INFO(text_of(picture));
    std::vector<double> expected;
    for (const unsigned number : numbers) expected.push_back(place(picture, number));
    const grading::Guarded<unsigned> d_numbers(numbers);
    grading::Guarded<unsigned> d_places(numbers.size());
    const auto n = static_cast<unsigned>(numbers.size());
    const grading::Instrumented instrumented = grading::instrument(
        [&] { find_places(picture, d_numbers.data(), d_places.data(), n); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const std::vector<unsigned> got = d_places.download();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (got[i] == place(picture, numbers[i])) continue;
        FAIL("sample " << numbers[i] << ": the place is " << got[i] << ", should be "
                       << place(picture, numbers[i]) << "\nplane "
                       << numbers[i] % picture.planes << ", row "
                       << numbers[i] / picture.planes / picture.cols << ", column "
                       << numbers[i] / picture.planes % picture.cols
                       << ": which of the two quotients is wrong?");
    }
    CHECK_THAT(instrumented, grading::LaunchesExactly(n == 0 ? 0 : 1));
    CHECK_THAT(d_places, grading::WrittenByThreads(numbers.size()));
    CHECK_THAT(d_numbers, grading::Unchanged());
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
}

void check_places(const Picture& picture) { check_places(picture, numbers_for(picture)); }

const std::array<unsigned, 16> divisors = {
    1, 2, 3, 4, 5, 6, 7, 10, 640, 641, 999, 1023, 1024, 65'537, 1'000'003, 16'777'216};

}  // namespace

TEST_CASE("finds the places of samples in pictures with three planes") {
    check_places(picture_of(3, 5), {0, 1, 2, 3, 4, 14, 15, 16, 29, 30, 31, 1000});
    check_places(picture_of(3, 640));
    check_places(picture_of(3, 1000));
}

TEST_CASE("divides by any number of planes and columns") {
    for (const unsigned divisor : divisors) {
        check_places(picture_of(3, divisor));
        check_places(picture_of(divisor, 7));
    }
}

TEST_CASE("divides by one and by powers of two") {
    for (const unsigned planes : {1u, 2u, 4u})
        for (const unsigned cols : {1u, 2u, 4096u}) check_places(picture_of(planes, cols));
}

TEST_CASE("divides by numbers that nobody foresees") {
    for (std::uint64_t k = 0; k < 40; k += 2) {
        check_places(
            picture_of(static_cast<unsigned>(grading::random_size(1, 100, 2000 + k)),
                       static_cast<unsigned>(grading::random_size(1, 100'000, 2001 + k)),
                       static_cast<unsigned>(k)));
    }
}

TEST_CASE("divides by very large numbers") {
    // Larger than 2^24, which is where floats end, up to the largest picture.
    for (const unsigned cols : {16'777'217u, 715'827'882u, 715'827'883u, 1u << 30,
                                (1u << 30) + 1, (1u << 31) - 1})
        check_places(picture_of(1, cols));
    check_places(picture_of((1u << 31) - 1, 1));
    check_places(picture_of((1u << 30) + 1, 1));
}

TEST_CASE("does nothing without samples") { check_places(picture_of(3, 5), {}); }

TEST_CASE("prepares each call anew") {
    check_places(picture_of(3, 640));
    check_places(picture_of(4, 11));
    check_places(picture_of(3, 640));
}

#ifdef __CPU_DEVICE__

TEST_CASE("pays at most 40 per sample") {
    for (const Picture& picture :
         {picture_of(3, 640), picture_of(4, 1000), picture_of(1, 1), picture_of(7, 1024)}) {
        const std::vector<unsigned> numbers = numbers_for(picture);
        const auto n = static_cast<long>(numbers.size());
        const grading::Guarded<unsigned> d_numbers(numbers);
        grading::Guarded<unsigned> d_places(numbers.size());
        // What the host computes with an Index when it prepares costs nothing.
        counters.clear();
        static_cast<void>(prepare(picture));
        const long prepared = counters.price();
        const long prepared_divisions = counters.divisions;
        counters.clear();
        find_places(picture, d_numbers.data(), d_places.data(), static_cast<unsigned>(n));
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        INFO(text_of(picture));
        if (counters.opened != n || counters.opened_uncomputed > 0) {
            FAIL(
                "places are computed without the operations of Index, or numbers were "
                "opened\nArithmetic with an opened number is not counted, so an answer "
                "may not use it. Which operations of Index do the same?");
        }
        const long price = counters.price() - prepared;
        // The guide shows it beside that of the stub.
        static_cast<void>(
            grading::figure("cost of the operations per sample",
                            static_cast<double>(price) / static_cast<double>(n)));
        if (price <= 40 * n) continue;
        const auto per_sample = [n](long count) {
            std::ostringstream text;
            text.precision(3);
            text << static_cast<double>(count) / static_cast<double>(n);
            return text.str();
        };
        const long divisions = counters.divisions - prepared_divisions;
        FAIL("a sample costs "
             << per_sample(price) << ", at most 40 are allowed\nper sample: "
             << per_sample(divisions) << " divisions and remainders at 24, "
             << per_sample(counters.upper_halves) << " upper halves at 4, "
             << per_sample(counters.others) << " other operations at 2\n"
             << (divisions > 2 * n ? "Which of these divisions give the same quotient, and "
                                     "which remainder follows from a quotient?"
                 : divisions > 0   ? "Which number, prepared by the host, replaces the "
                                     "division that is left?"
                                   : "Which operations does a quotient not need?"));
    }
}

#endif
