// Random inputs that are the same on every machine.
//
//     std::vector<float> a = uniform<float>(n, 1);          // seed 1; in [-1, 1]
//     std::vector<int> keys = uniform_integers(n, 2, 0, 255);
//
// Element i depends on the seed and on i only: neither on the number of host cores nor on the elements before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpwise {

/// 64 random bits for element `index` of the stream `seed`: the output function of SplitMix64 (G. L. Steele, D. Lea,
/// C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014), with the index as its counter.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);

/// `n` values evenly distributed over [low, high]. T: float or double. Throws std::invalid_argument unless
/// low <= high.
template <class T>
std::vector<T> uniform(std::size_t n, std::uint64_t seed, T low = -1, T high = 1);

extern template std::vector<float> uniform(std::size_t, std::uint64_t, float, float);
extern template std::vector<double> uniform(std::size_t, std::uint64_t, double, double);

/// `n` integers from `low` to `high`, both included. Throws std::invalid_argument unless low <= high.
std::vector<int> uniform_integers(std::size_t n, std::uint64_t seed, int low, int high);

}  // namespace warpwise
