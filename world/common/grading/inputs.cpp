#include "common/grading/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "common/grading/supervisor.h"
#include "common/helpers/inputs.h"

namespace grading {
namespace {

/// 64 random bits, which depend on the grader's seed as well.
std::uint64_t bits(std::uint64_t stream, std::uint64_t index) {
    return warpwise::random_bits(warpwise::random_bits(seed(), stream), index);
}

/// From `low` to `high`, both included.
std::uint64_t number_between(std::uint64_t low, std::uint64_t high, std::uint64_t random) {
    return low + static_cast<std::uint64_t>(static_cast<unsigned __int128>(random) * (high - low + 1) >> 64);
}

/// 1/4 to 1 with an odd last bit, so neither 0 nor a whole number. T has `digits` bits.
template <class T>
T magnitude(std::uint64_t random) {
    constexpr int digits = std::numeric_limits<T>::digits;
    const int exponent = -static_cast<int>(random & 1);
    const std::uint64_t mantissa = random >> (64 - digits) | std::uint64_t{1} << (digits - 1) | 1;
    return std::ldexp(static_cast<T>(mantissa), exponent - digits);
}

template <class T>
std::vector<T> random_values(std::size_t n, std::uint64_t stream, bool positive) {
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t random = bits(stream, i);
        values[i] = magnitude<T>(random);
        if (!positive && (random >> 4 & 1) != 0) values[i] = -values[i];
    }
    return values;
}

/// Each of the `extremes` replaces at least one element where there are enough; about one element of 16 in all.
template <class T>
std::vector<T> with_some_replaced(std::vector<T> values, const std::vector<T>& extremes, std::uint64_t stream) {
    if (values.empty()) return values;
    const std::size_t count = std::max(extremes.size(), values.size() / 16);
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t at = number_between(0, values.size() - 1, bits(~stream, k));
        values[at] = extremes[k % extremes.size()];
    }
    return values;
}

}  // namespace

bool seed_is_given() {
    const char* text = std::getenv(grading_seed_variable);
    return text != nullptr && *text != '\0';
}

bool is_further_run() { return std::getenv(further_run_variable) != nullptr; }

std::uint64_t seed() {
    static const std::uint64_t value = [] {
        const char* text = std::getenv(grading_seed_variable);
        return text == nullptr || *text == '\0' ? std::uint64_t{1} : std::strtoull(text, nullptr, 10);
    }();
    return value;
}

std::size_t random_size(std::size_t low, std::size_t high, std::uint64_t stream) {
    return static_cast<std::size_t>(number_between(low, high, bits(stream ^ 0x5155, 0)));
}

std::vector<std::size_t> sizes(std::vector<std::size_t> fixed, std::size_t random, std::size_t limit,
                               std::uint64_t stream) {
    for (std::size_t k = 0; k < random; ++k) {
        // Evenly spread over the orders of magnitude: small sizes are where tails are.
        const double part = static_cast<double>(bits(stream ^ 0x5155, k) >> 11) / 9007199254740992.0;
        auto size = static_cast<std::size_t>(std::exp(part * std::log(static_cast<double>(limit))));
        if (size % 4 == 0) ++size;
        fixed.push_back(std::clamp<std::size_t>(size, 1, limit));
    }
    return fixed;
}

std::vector<float> random_floats(std::size_t n, std::uint64_t stream) { return random_values<float>(n, stream, false); }

std::vector<double> random_doubles(std::size_t n, std::uint64_t stream) {
    return random_values<double>(n, stream, false);
}

std::vector<float> random_positive_floats(std::size_t n, std::uint64_t stream) {
    return random_values<float>(n, stream, true);
}

std::vector<int> random_ints(std::size_t n, int low, int high, std::uint64_t stream, bool nonzero) {
    std::vector<int> values(n);
    const auto span = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low);
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = static_cast<int>(low + static_cast<std::int64_t>(number_between(0, span, bits(stream, i))));
        if (nonzero && values[i] == 0) values[i] = high != 0 ? high : low;
    }
    return values;
}

std::vector<float> random_whole_floats(std::size_t n, int high, std::uint64_t stream) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = static_cast<float>(number_between(1, static_cast<std::uint64_t>(high), bits(stream, i)));
    }
    return values;
}

std::vector<float> with_extremes(std::vector<float> values, bool with_nan, std::uint64_t stream) {
    using Limits = std::numeric_limits<float>;
    std::vector<float> extremes = {Limits::infinity(),
                                   -Limits::infinity(),
                                   Limits::max(),
                                   Limits::lowest(),
                                   Limits::min(),
                                   -Limits::min(),
                                   Limits::denorm_min(),
                                   -Limits::denorm_min(),
                                   0.0f,
                                   -0.0f};
    if (with_nan) extremes.push_back(Limits::quiet_NaN());
    return with_some_replaced(std::move(values), extremes, stream);
}

std::vector<int> with_extremes(std::vector<int> values, std::uint64_t stream) {
    using Limits = std::numeric_limits<int>;
    return with_some_replaced(std::move(values),
                              {Limits::min(), Limits::max(), Limits::min() + 1, Limits::max() - 1, -1, 0, 1}, stream);
}

template <class T>
warpwise::Tolerance sum_tolerance_of(const std::vector<T>& values, std::size_t chain, double safety) {
    if (chain == 0) chain = std::max<std::size_t>(values.size(), 1);
    double squares = 0;  // of all intermediate results: each was rounded by up to half a unit of its last place
    std::vector<double> sums;
    for (std::size_t first = 0; first < values.size(); first += chain) {
        double sum = 0;
        for (std::size_t i = first; i < std::min(first + chain, values.size()); ++i) {
            sum += static_cast<double>(values[i]);
            squares += sum * sum;
        }
        sums.push_back(sum);
    }
    while (sums.size() > 1) {
        const std::size_t half = (sums.size() + 1) / 2;
        for (std::size_t i = 0; i + half < sums.size(); ++i) {
            sums[i] += sums[i + half];
            squares += sums[i] * sums[i];
        }
        sums.resize(half);
    }
    const double rounding = std::numeric_limits<T>::epsilon() / 2;
    return {.absolute = safety * rounding * std::sqrt(squares)};
}

template warpwise::Tolerance sum_tolerance_of(const std::vector<float>&, std::size_t, double);
template warpwise::Tolerance sum_tolerance_of(const std::vector<double>&, std::size_t, double);

}  // namespace grading
