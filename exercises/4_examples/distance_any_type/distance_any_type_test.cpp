#include "exercises/4_examples/distance_any_type/distance_any_type.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"
#include "common/helpers/inputs.h"

const grading::Exercise grading::exercise{"4_examples", "distance_any_type"};

namespace {

constexpr int least_int = std::numeric_limits<int>::min();
constexpr int most_int = std::numeric_limits<int>::max();

template <class T>
constexpr const char* type_name = std::is_same_v<T, float>    ? "float"
                                  : std::is_same_v<T, double> ? "double"
                                                              : "int";

// Checks one distance, and returns what the kernels did.
template <class T>
grading::Watched check_distance(const std::vector<T>& a, const std::vector<T>& b, const std::string& hint) {
    INFO("two vectors of " << a.size() << " elements of type " << type_name<T>);
    long double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const long double difference = static_cast<long double>(a[i]) - static_cast<long double>(b[i]);
        squares += difference * difference;
    }
    const auto expected = static_cast<double>(std::sqrt(squares));
    const grading::Guarded<T> d_a(a), d_b(b);
    grading::Guarded<double> d_block_sums(most_blocks), d_distance(1);
    grading::Watched watched = grading::watch(
        [&] { euclidean_distance(d_a.data(), d_b.data(), a.size(), d_block_sums.data(), d_distance.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_distance, grading::WrittenEverywhere("Does one thread write the distance?"));
    const double relative = std::is_same_v<T, float> ? 1e-5 : 1e-12;
    CHECK_THAT(d_distance, grading::CloseTo({expected}, {.relative = relative}, hint));
    CHECK_THAT(d_distance, grading::StaysInside("There is one distance."));
    CHECK_THAT(d_block_sums, grading::StaysInside("There is one sum a block."));
    CHECK_THAT(d_a, grading::Unchanged());
    CHECK_THAT(d_b, grading::Unchanged());
    return watched;
}

// Small whole numbers for every type.
template <class T>
std::vector<T> small_numbers(std::size_t count, std::uint64_t seed) {
    const std::vector<int> values = warpwise::uniform_integers(count, seed, -9, 9);
    return {values.begin(), values.end()};
}

template <class T>
grading::Watched check_small_numbers(std::size_t count, const std::string& hint) {
    return check_distance(small_numbers<T>(count, 1), small_numbers<T>(count, 2), hint);
}

void check_all_types(std::size_t count, const std::string& hint) {
    check_small_numbers<float>(count, hint);
    check_small_numbers<double>(count, hint);
    check_small_numbers<int>(count, hint);
}

const std::string about_int =
    "Is the difference of any two ints an int? Is their square? What is the largest square of a difference, and what "
    "is twice that?";

}  // namespace

TEST_CASE("adds up a block") {
    check_distance<float>({0, 0}, {3, 4}, "The sides 3 and 4 have the hypotenuse 5.");
    for (const std::size_t count : {1, 2, 31, 32, 33, 100, 255, 256}) {
        check_all_types(count, "Are the sums of all 256 threads added up?");
    }
}

TEST_CASE("adds up several blocks") {
    for (const std::size_t count : {257, 512, 1009, 5000}) {
        check_all_types(count, "The root is taken once, of the sum of all blocks.");
    }
}

TEST_CASE("handles more elements than threads") {
    for (const std::size_t count : {64 * 256, 64 * 256 + 1, 50021}) {
        check_all_types(count, "Does every element have a thread? The grid has at most 64 * 256 of them.");
    }
}

TEST_CASE("handles empty vectors and equal ones") {
    check_all_types(0, "Without elements the distance is 0.");
    const std::vector<int> extremes = {least_int, most_int, 0, least_int};
    check_distance(extremes, extremes, "The distance of a vector from itself is 0.");
}

TEST_CASE("keeps the digits of doubles") {
    const std::size_t count = 20000;
    check_distance(warpwise::uniform<double>(count, 3), warpwise::uniform<double>(count, 4),
                   "Which type has 12 digits?");
    check_distance<double>({1e100, 3e-200}, {-1e100, 2e-200}, "Which type has numbers like 1e200?");
}

TEST_CASE("handles ints whose squares are no ints") {
    const std::string hint = "Which is the largest int whose square is an int? In which type are the squares added up?";
    check_distance<int>({46341}, {0}, hint);
    check_distance<int>({-100000, 5}, {100000, 5}, hint);
    check_distance(warpwise::uniform_integers(10000, 5, -1000000, 1000000),
                   warpwise::uniform_integers(10000, 6, -1000000, 1000000), hint);
}

TEST_CASE("handles the smallest int against the largest") {
    check_distance<int>({least_int}, {0}, about_int);
    check_distance<int>({0, 1}, {least_int, 0}, about_int);
    check_distance<int>({least_int}, {most_int}, about_int);
    check_distance<int>({most_int, least_int}, {least_int, most_int}, about_int);
    for (const std::size_t count : {3, 256, 1000, 30000}) {
        check_distance(std::vector<int>(count, least_int), std::vector<int>(count, most_int), about_int);
    }
    check_distance(warpwise::uniform_integers(10000, 7, least_int, most_int),
                   warpwise::uniform_integers(10000, 8, least_int, most_int), about_int);
}

// Two elements are 8 or 16 bytes; the block sums are read and written besides.
TEST_CASE("reads each element once") {
    constexpr std::size_t count = 65536;
    const std::string hint = "Do neighboring threads read neighboring elements, and each of them once?";
    INFO(count << " elements of each vector");
    CHECK_THAT(check_small_numbers<float>(count, hint), grading::BytesMovedAtMost(8.0 * count * 1.1, hint));
    CHECK_THAT(check_small_numbers<double>(count, hint), grading::BytesMovedAtMost(16.0 * count * 1.1, hint));
    CHECK_THAT(check_small_numbers<int>(count, hint), grading::BytesMovedAtMost(8.0 * count * 1.1, hint));
}
