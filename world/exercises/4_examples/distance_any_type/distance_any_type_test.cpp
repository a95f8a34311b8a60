#include "exercises/4_examples/distance_any_type/distance_any_type.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"4_examples", "distance_any_type"};

namespace {

constexpr int least_int = std::numeric_limits<int>::min();
constexpr int most_int = std::numeric_limits<int>::max();
constexpr std::size_t threads_per_block = 256;
constexpr std::size_t threads_of_grid = most_blocks * threads_per_block;

template <class T>
constexpr const char* type_name = std::is_same_v<T, float>    ? "float"
                                  : std::is_same_v<T, double> ? "double"
                                                              : "int";

template <class T>
constexpr double relative = std::is_same_v<T, float> ? 1e-5 : 1e-12;

/// The distance of the elements from `first` up to, but not including, `last`.
template <class T>
double distance_of(const std::vector<T>& a, const std::vector<T>& b, std::size_t first,
                   std::size_t last) {
    long double squares = 0;
    for (std::size_t i = first; i < std::min(last, a.size()); ++i) {
        const long double difference =
            static_cast<long double>(a[i]) - static_cast<long double>(b[i]);
        squares += difference * difference;
    }
    return static_cast<double>(std::sqrt(squares));
}

/// What comes out when the root is taken in every tile of 256 elements.
template <class T>
double sum_of_roots(const std::vector<T>& a, const std::vector<T>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); i += threads_per_block)
        sum += distance_of(a, b, i, i + threads_per_block);
    return sum;
}

/// What comes out for ints when they are subtracted as ints, and when squares are added up
/// in unsigned 64 bits.
double subtracted_as_ints(const std::vector<int>& a, const std::vector<int>& b) {
    long double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto bits =
            static_cast<std::uint32_t>(a[i]) - static_cast<std::uint32_t>(b[i]);
        const auto difference = static_cast<long double>(static_cast<std::int32_t>(bits));
        squares += difference * difference;
    }
    return static_cast<double>(std::sqrt(squares));
}
double added_in_64_bits(const std::vector<int>& a, const std::vector<int>& b) {
    std::uint64_t squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto difference = static_cast<std::uint64_t>(std::int64_t{a[i]} - b[i]);
        squares += difference * difference;
    }
    return std::sqrt(static_cast<double>(squares));
}

/// The first five digits are right, so that only the precision is too low.
bool is_imprecise(const grading::MismatchedArray& mismatch) {
    return std::fabs(mismatch.got[0] - mismatch.expected[0]) <=
           1e-5 * std::fabs(mismatch.expected[0]);
}

template <class T>
void check_value(const std::vector<T>& a, const std::vector<T>& b,
                 const grading::Guarded<double>& d_distance) {
    const double expected = distance_of(a, b, 0, a.size());
    double as_ints = expected, in_64_bits = expected;
    if constexpr (std::is_same_v<T, int>) {
        as_ints = subtracted_as_ints(a, b);
        in_64_bits = added_in_64_bits(a, b);
    }
    CHECK_THAT(
        d_distance,
        grading::CloseTo({expected}, {.relative = relative<T>})
            .when(grading::never_written(),
                  "The distance was not written, or it is not a number.")
            .when(grading::equals({expected * expected}),
                  "That is the square of the distance.")
            .when(grading::equals({distance_of(a, b, 0, threads_of_grid)}),
                  "That is the distance of the first 64 * 256 elements. Which thread takes "
                  "the later ones?")
            .when(grading::equals({distance_of(a, b, 0, threads_per_block)}),
                  "That is the distance of the first 256 elements. Who adds the sums of "
                  "the other blocks?")
            .when(grading::equals({sum_of_roots(a, b)}),
                  "That is a sum of roots, one per block. The root is taken once, of the "
                  "sum of all blocks.")
            .when(grading::equals({as_ints}),
                  "That comes out when two ints are subtracted as ints. Is the difference "
                  "of any two ints an int?")
            .when(grading::equals({in_64_bits}),
                  "That comes out when the squares are added up in 64 bits. What is the "
                  "largest square of a "
                  "difference, and what is twice that?")
            .when(
                is_imprecise,
                "The first five digits are right. In which type does each step compute?"));
}

/// Checks one distance and that kernels computed it, and returns what they did.
template <class T>
grading::Instrumented check_distance(const std::vector<T>& a, const std::vector<T>& b) {
    const std::size_t count = a.size();
    INFO("two vectors of " << grading::counted(count, "element") << " of type "
                           << type_name<T>);
    const grading::Guarded<T> d_a(a), d_b(b);
    grading::Guarded<double> d_block_sums(most_blocks), d_distance(1);
    const grading::Instrumented instrumented = grading::instrument([&] {
        euclidean_distance(d_a.data(), d_b.data(), count, d_block_sums.data(),
                           d_distance.data());
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_value(a, b, d_distance);
    CHECK_THAT(d_distance, grading::StaysInside());
    CHECK_THAT(d_block_sums, grading::StaysInside());
    CHECK_THAT(d_a, grading::Unchanged());
    CHECK_THAT(d_b, grading::Unchanged());

    CHECK_THAT(d_distance, grading::WrittenByKernels());
    // A thread may take four neighboring elements at once, and a block has at most 1024
    // threads.
    const std::size_t threads = std::min(count, threads_of_grid) / 4;
    CHECK_THAT(d_a, grading::ReadByThreads(threads));
    CHECK_THAT(d_b, grading::ReadByThreads(threads));
    CHECK_THAT(d_a,
               grading::ReadByBlocks(std::min<std::size_t>(count / 1024, most_blocks / 4)));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

/// Checks the value only, without instrumenting, which is cheap for long vectors.
template <class T>
void check_long_distance(const std::vector<T>& a, const std::vector<T>& b) {
    INFO("two vectors of " << grading::counted(a.size(), "element") << " of type "
                           << type_name<T>);
    const grading::Guarded<T> d_a(a), d_b(b);
    grading::Guarded<double> d_block_sums(most_blocks), d_distance(1);
    euclidean_distance(d_a.data(), d_b.data(), a.size(), d_block_sums.data(),
                       d_distance.data());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_value(a, b, d_distance);
}

/// Numbers of each type that fill their bits. One element weighs as much as all others, and
/// its place is random: five digits of a float would not show that a single one of many
/// equal elements is missing.
template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t stream) {
    if constexpr (std::is_same_v<T, int>) {
        return grading::random_ints(count, -20'000, 20'000, stream, true);
    } else {
        std::vector<T> values;
        if constexpr (std::is_same_v<T, float>) {
            values = grading::random_floats(count, stream);
        } else {
            values = grading::random_doubles(count, stream);
        }
        if (count > 0) {
            const auto weight = static_cast<T>(std::sqrt(static_cast<double>(count)));
            values[grading::random_size(0, count - 1, stream)] *= weight;
            values[count - 1] *= weight;
        }
        return values;
    }
}

template <class T>
grading::Instrumented check_numbers(std::size_t count) {
    return check_distance(numbers<T>(count, 2 * count + 1),
                          numbers<T>(count, 2 * count + 2));
}

void check_all_types(std::size_t count) {
    check_numbers<float>(count);
    check_numbers<double>(count);
    check_numbers<int>(count);
}

}  // namespace

TEST_CASE("adds up a block") {
    check_distance<float>({0.5f, 0.25f}, {3.5f, 4.25f});
    for (const std::size_t count : {1, 2, 31, 32, 33, 100, 255, 256})
        check_all_types(count);
}

TEST_CASE("adds up several blocks") {
    for (const std::size_t count : grading::sizes({257, 512, 1009, 5000}, 2, 16'000))
        check_all_types(count);
}

TEST_CASE("handles more elements than threads") {
    check_all_types(threads_of_grid + 1);
    check_all_types(grading::random_size(17'000, 40'000));
}

TEST_CASE("handles empty vectors and equal ones") {
    check_all_types(0);
    const std::vector<int> ints =
        grading::with_extremes(grading::random_ints(1000, least_int, most_int));
    check_distance(ints, ints);
    const std::vector<float> floats = numbers<float>(1000, 5);
    check_distance(floats, floats);
}

TEST_CASE("keeps the digits of doubles") {
    check_distance(numbers<double>(20'000, 3), numbers<double>(20'000, 4));
    check_distance<double>({1e100, 3e-200}, {-1e100, 2e-200});
}

TEST_CASE("handles large and small numbers") {
    // Neither a square nor the sum of all squares leaves the range of the type.
    for (const float unit : {1e18f, 1e-15f}) {
        std::vector<float> a = grading::random_floats(20, 5),
                           b = grading::random_floats(20, 6);
        for (float& value : a) value *= unit;
        for (float& value : b) value *= unit;
        check_distance(a, b);
    }
    for (const double unit : {1e153, 1e-140}) {
        std::vector<double> a = grading::random_doubles(20, 7),
                            b = grading::random_doubles(20, 8);
        for (double& value : a) value *= unit;
        for (double& value : b) value *= unit;
        check_distance(a, b);
    }
}

TEST_CASE("handles ints whose squares are no ints") {
    check_distance<int>({46341}, {0});
    check_distance<int>({-100'000, 5}, {100'000, 5});
    check_distance(grading::random_ints(10'000, -1'000'000, 1'000'000, 5),
                   grading::random_ints(10'000, -1'000'000, 1'000'000, 6));
}

TEST_CASE("handles the smallest int against the largest") {
    check_distance<int>({least_int}, {0});
    check_distance<int>({0, 1}, {least_int, 0});
    check_distance<int>({least_int}, {most_int});
    check_distance<int>({most_int, least_int}, {least_int, most_int});
    for (const std::size_t count : {3, 256, 1000, 30'000}) {
        check_distance(std::vector<int>(count, least_int),
                       std::vector<int>(count, most_int));
    }
    check_distance(
        grading::with_extremes(grading::random_ints(10'000, least_int, most_int, 7), 9),
        grading::with_extremes(grading::random_ints(10'000, least_int, most_int, 8), 10));
}

TEST_CASE("handles millions of elements") {
    const std::size_t count = 2'100'000 + grading::random_size(0, 255);
    check_long_distance(numbers<float>(count, 11), numbers<float>(count, 12));
    check_long_distance(std::vector<int>(count, most_int),
                        std::vector<int>(count, least_int));
}

TEST_CASE("reads each element once") {
    const std::size_t count = 65'536 + grading::random_size(1, 255);
    const auto check_reads = [count](const grading::Instrumented& instrumented,
                                     double bytes_of_two) {
        INFO(grading::counted(count, "element") << " of each vector");
        CHECK_THAT(instrumented,
                   grading::GlobalEfficiencyAtLeast(0.8, grading::Accesses::loads));
        CHECK_THAT(instrumented, grading::BytesMovedAtMost(1.1 * bytes_of_two *
                                                           static_cast<double>(count)));
    };
    check_reads(check_numbers<float>(count), 2 * sizeof(float));
    check_reads(check_numbers<double>(count), 2 * sizeof(double));
    check_reads(check_numbers<int>(count), 2 * sizeof(int));
}
