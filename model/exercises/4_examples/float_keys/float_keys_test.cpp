#include "exercises/4_examples/float_keys/float_keys.h"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <limits>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/inputs.h"

const grading::Exercise grading::exercise{"4_examples", "float_keys"};

namespace {

using Bits = std::vector<unsigned>;

constexpr unsigned sign_bit = 0x80000000;
constexpr std::size_t most_at_once = 4;  // elements that a thread may write

// The floats in their order are the bits from 0xffffffff down to 0x80000000, and then those
// from 0 up to 0x7fffffff.
unsigned number_of(unsigned bits) {
    return bits >= sign_bit ? 0xffffffff - bits : bits + sign_bit;
}

std::vector<double> expected_of(const Bits& all, unsigned (*of)(unsigned)) {
    std::vector<double> expected;
    for (const unsigned bits : all) expected.push_back(of(bits));
    return expected;
}

Bits bits_of(const std::vector<float>& values) {
    Bits all;
    for (const float value : values) all.push_back(std::bit_cast<unsigned>(value));
    return all;
}

// Bits of all kinds: of every exponent, denormals and NaNs included.
Bits random_bits(std::size_t count, std::uint64_t stream = 0) {
    Bits all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(static_cast<unsigned>(
            warpwise::random_bits(1000 * grading::seed() + stream, i)));
    return all;
}

void check_launches(const grading::Instrumented& instrumented) {
    CHECK_THAT(instrumented, grading::LaunchesAtMost(1));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
}

// The arrays hold bits, so that NaNs can be compared: floats only pass through the kernels.
grading::Instrumented check_numbers(const Bits& bits) {
    INFO(grading::counted(bits.size(), "float"));
    const grading::Guarded<unsigned> d_bits(bits);
    grading::Guarded<unsigned> d_numbers(bits.size());
    grading::Instrumented instrumented = grading::instrument([&] {
        numbers_of_floats(reinterpret_cast<const float*>(d_bits.data()),
                          static_cast<int>(bits.size()), d_numbers.data());
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_numbers, grading::WrittenEverywhere());
    CHECK_THAT(
        d_numbers,
        grading::EqualTo(expected_of(bits, number_of))
            .when(grading::equals(expected_of(bits, [](unsigned) { return sign_bit; })),
                  "This is the number of +0.0. Which of its bits tells -0.0 from it?")
            .when(grading::equals(expected_of(bits, [](unsigned b) { return b; })),
                  "These are the bits as they are. Which of two floats of different sign "
                  "has the larger bits?")
            .when(
                grading::equals(expected_of(bits, [](unsigned b) { return b ^ sign_bit; })),
                "Only the sign bit was changed. Which one of -1 and -2 has the larger "
                "number now?")
            .when(grading::equals(expected_of(bits, [](unsigned b) { return 0u - b; })),
                  "These are the negated bits, 1 more than with all bits changed. Which "
                  "number is left for -0.0?"));
    CHECK_THAT(d_numbers, grading::StaysInside());
    CHECK_THAT(d_bits, grading::Unchanged());
    check_launches(instrumented);
    return instrumented;
}

// The floats of these numbers, as bits.
grading::Instrumented check_floats(const Bits& numbers) {
    INFO(grading::counted(numbers.size(), "number"));
    const grading::Guarded<unsigned> d_numbers(numbers);
    grading::Guarded<unsigned> d_bits(numbers.size());
    grading::Instrumented instrumented = grading::instrument([&] {
        floats_of_numbers(d_numbers.data(), static_cast<int>(numbers.size()),
                          reinterpret_cast<float*>(d_bits.data()));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const auto bits_with = [](unsigned number) {
        return number >= sign_bit ? number - sign_bit : 0xffffffff - number;
    };
    CHECK_THAT(d_bits, grading::WrittenEverywhere());
    CHECK_THAT(
        d_bits,
        grading::EqualTo(expected_of(numbers, bits_with))
            .when(grading::equals(expected_of(numbers, number_of)),
                  "These are the bits that number_of gives for the number. Which bit of a "
                  "number tells whether its float is positive?")
            .when(grading::equals(expected_of(numbers, [](unsigned n) { return n; })),
                  "These bits are the numbers themselves. Is the sign bit of a "
                  "positive float set?"));
    CHECK_THAT(d_bits, grading::StaysInside());
    CHECK_THAT(d_numbers, grading::Unchanged());
    check_launches(instrumented);
    return instrumented;
}

Bits numbers_of(Bits bits) {
    for (unsigned& one : bits) one = number_of(one);
    return bits;
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest = std::numeric_limits<float>::max();
constexpr float smallest = std::numeric_limits<float>::denorm_min();

}  // namespace

TEST_CASE("gives positive floats numbers in their order") {
    check_numbers(bits_of({smallest, 1e-30f, 0.5f, 1, 1.5f, 2, 1e30f, largest}));
    check_numbers(bits_of(grading::random_positive_floats(1000)));
}

TEST_CASE("gives negative floats smaller numbers in their order") {
    check_numbers(bits_of({-largest, -1e30f, -2, -1.5f, -1, -0.5f, -1e-30f, -smallest}));
    check_numbers(bits_of(grading::random_floats(1000)));
}

TEST_CASE("keeps the two zeros apart") { check_numbers(bits_of({-0.0f, 0.0f})); }

TEST_CASE("puts infinities and NaNs at the ends") {
    check_numbers(bits_of({-infinity, infinity}));
    // NaNs with the smallest and the largest payload, of either sign.
    check_numbers({0xffffffff, 0xffc00000, 0xff800001, 0x7f800001, 0x7fc00000, 0x7fffffff});
}

TEST_CASE("gives each float its bits back") {
    check_floats(numbers_of(bits_of({-infinity, -2, -1, -0.0f, 0.0f, 1, 2, infinity})));
    check_floats(numbers_of({0xffffffff, 0xff800001, 0x7f800001, 0x7fffffff}));
    check_floats(numbers_of(bits_of(grading::random_floats(1000))));
}

TEST_CASE("does both for any number of elements") {
    for (const std::size_t count :
         grading::sizes({1, 31, 32, 33, 255, 256, 257, 1009}, 3, 10'000)) {
        check_numbers(random_bits(count, 2 * count));
        check_floats(random_bits(count, 2 * count + 1));
    }
}

TEST_CASE("handles an empty array") {
    check_numbers({});
    check_floats({});
}

TEST_CASE("shares the elements among many threads") {
    constexpr std::size_t count = 100'003;
    const Bits bits = random_bits(count);
    const grading::Guarded<unsigned> d_bits(bits);
    grading::Guarded<unsigned> d_numbers(count), d_back(count);
    grading::Instrumented instrumented = grading::instrument([&] {
        numbers_of_floats(reinterpret_cast<const float*>(d_bits.data()),
                          static_cast<int>(count), d_numbers.data());
        floats_of_numbers(d_numbers.data(), static_cast<int>(count),
                          reinterpret_cast<float*>(d_back.data()));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_numbers, grading::EqualTo(expected_of(bits, number_of)));
    CHECK_THAT(d_back, grading::EqualTo(expected_of(bits, [](unsigned b) { return b; })));
    CHECK_THAT(d_numbers, grading::WrittenByThreads(count / most_at_once));
    CHECK_THAT(d_back, grading::WrittenByThreads(count / most_at_once));
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
}
