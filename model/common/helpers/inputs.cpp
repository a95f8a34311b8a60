#include "common/helpers/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/helpers/parallel_for.h"

namespace warpwise {
namespace {

/// Spreads every input bit over all output bits.
std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

template <class T>
void require_order(T low, T high) {
    if (!(low <= high)) throw std::invalid_argument("random inputs: low is above high");
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15u;
    // The seed is mixed too: neighboring seeds must not give the same stream, shifted.
    return mix(mix(seed + golden_gamma) + (index + 1) * golden_gamma);
}

template <class T>
std::vector<T> uniform(std::size_t n, std::uint64_t seed, T low, T high) {
    require_order(low, high);
    constexpr int bits = std::numeric_limits<T>::digits;
    const T step = std::ldexp(T(1), -bits);
    std::vector<T> values(n);
    parallel_for(n, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const T fraction = static_cast<T>(random_bits(seed, i) >> (64 - bits)) * step;  // [0, 1), exact
            values[i] = std::min(high, low + (high - low) * fraction);
        }
    });
    return values;
}

template std::vector<float> uniform(std::size_t, std::uint64_t, float, float);
template std::vector<double> uniform(std::size_t, std::uint64_t, double, double);

std::vector<int> uniform_integers(std::size_t n, std::uint64_t seed, int low, int high) {
    require_order(low, high);
    const std::uint64_t count = static_cast<std::uint64_t>(std::int64_t{high} - low) + 1;
    std::vector<int> values(n);
    parallel_for(n, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            // 32 random bits times at most 2^32 values, of which the upper half is kept: no value is more than
            // count / 2^32 likelier than another.
            const std::uint64_t offset = ((random_bits(seed, i) >> 32) * count) >> 32;
            values[i] = static_cast<int>(low + static_cast<std::int64_t>(offset));
        }
    });
    return values;
}

}  // namespace warpwise
