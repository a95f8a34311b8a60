// Inputs that no answer can have been made for: sizes and values depend on a seed, and no element is special.
//
//     for (const std::size_t n : grading::sizes({0, 1, 31, 32, 33, 1000}, 4, 100'000)) {
//         const std::vector<float> values = grading::random_floats(n);
//
// The seed is 1, unless the environment says otherwise (WARPWISE_GRADING_SEED). An answer that passes is graded again
// with further seeds, drawn at random, and a failure comes with the command that repeats it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/helpers/compare.h"

namespace grading {

inline constexpr const char* grading_seed_variable = "WARPWISE_GRADING_SEED";

std::uint64_t seed();

/// True when the environment names the seed: then no other is tried.
bool seed_is_given();

/// True in the runs after the first one, which only change inputs and the order of threads: what takes seconds and
/// depends on neither can be left out there.
bool is_further_run();

/// The fixed sizes, and `random` further ones from 1 to `limit`, most of which are divisible by nothing that a block's
/// size is. `stream`: calls with different ones give different sizes.
std::vector<std::size_t> sizes(std::vector<std::size_t> fixed, std::size_t random, std::size_t limit,
                               std::uint64_t stream = 0);

/// One number from `low` to `high`.
std::size_t random_size(std::size_t low, std::size_t high, std::uint64_t stream = 0);

/// Values from -1 to 1, never 0, and no whole numbers: magnitudes from 2^-10 to 1, with all 24 bits of a float in use,
/// so that rounding shows. Element i depends on the seed, the stream, and i.
std::vector<float> random_floats(std::size_t n, std::uint64_t stream = 0);
std::vector<double> random_doubles(std::size_t n, std::uint64_t stream = 0);

/// The same, but positive: for sums in which nothing cancels.
std::vector<float> random_positive_floats(std::size_t n, std::uint64_t stream = 0);

/// Integers from `low` to `high`. With `nonzero` no element is 0.
std::vector<int> random_ints(std::size_t n, int low, int high, std::uint64_t stream = 0, bool nonzero = false);

/// Whole numbers as floats, from 1 to `high` and never 0: where results are to be exact.
std::vector<float> random_whole_floats(std::size_t n, int high, std::uint64_t stream = 0);

/// For tasks that say "any input": `values` with some elements, spread by the seed, replaced by the values at the ends
/// of the range: infinities, the largest and smallest numbers, denormals, both zeros, and NaN where asked for.
std::vector<float> with_extremes(std::vector<float> values, bool with_nan, std::uint64_t stream = 0);
/// INT_MIN, INT_MAX, their neighbors, -1, 0, 1.
std::vector<int> with_extremes(std::vector<int> values, std::uint64_t stream = 0);

/// What a sum of these random values may differ from the exact one when it is computed in T: `safety` standard
/// deviations of the rounding error, if chains of `chain` additions are made one after the other (0: all values in one
/// chain) and their results are added pairwise. Every order fits that leaves the partial sums as large as the order of
/// the array does, so any order does for random values. Where signs are mixed, partial sums stay small, and one value
/// of random_floats that was left out or added twice shows up to a million values. Values of one sign need `chain` for
/// that.
template <class T>
warpwise::Tolerance sum_tolerance_of(const std::vector<T>& values, std::size_t chain = 0, double safety = 6);
extern template warpwise::Tolerance sum_tolerance_of(const std::vector<float>&, std::size_t, double);
extern template warpwise::Tolerance sum_tolerance_of(const std::vector<double>&, std::size_t, double);

}  // namespace grading
