#include "fourier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace cpu_device::fourier {
namespace {

constexpr int largest_direct_factor = 31;  // a factor p costs p operations for each value

Complex times(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// exp(2 pi i numerator / denominator).
Complex root(std::int64_t numerator, std::int64_t denominator) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(denominator);
    return {std::cos(angle), std::sin(angle)};
}

std::vector<int> factors_of(int length) {
    std::vector<int> factors;
    for (int factor = 2; length > 1; ++factor) {
        while (length % factor == 0) {
            factors.push_back(factor);
            length /= factor;
        }
        if (factor > largest_direct_factor && length > 1) return {};
    }
    return factors;
}

}  // namespace

Transform::Transform(int length, int sign) : length_(length), factors_(factors_of(length)) {
    const auto n = static_cast<std::size_t>(length);
    if (length == 1) return;
    if (!factors_.empty()) {
        copy_.resize(n);
        roots_.reserve(n);
        for (int k = 0; k < length; ++k) roots_.push_back(root(std::int64_t{sign} * k, length));
        return;
    }
    // j k = (j^2 + k^2 - (k - j)^2) / 2: a convolution with exp(-sign pi i j^2 / n).
    int longer = 1;
    while (longer < 2 * length - 1) longer *= 2;
    for (std::int64_t k = 0; k < length; ++k) chirp_.push_back(root(sign * (k * k % (2 * length)), 2 * length));
    inner_.reserve(2);
    inner_.emplace_back(longer, -1);
    inner_.emplace_back(longer, 1);
    filter_.resize(static_cast<std::size_t>(longer));
    for (std::size_t k = 0; k < n; ++k) {
        filter_[k] = std::conj(chirp_[k]);
        if (k > 0) filter_[filter_.size() - k] = filter_[k];
    }
    inner_[0](filter_.data());
    copy_.resize(filter_.size());
}

void Transform::operator()(Complex* values) {
    if (length_ == 1) return;
    if (factors_.empty()) return by_convolution(values);
    std::copy(values, values + length_, copy_.begin());
    mixed(copy_.data(), 1, values, length_, 0);
}

/// Transforms `length` values that lie `stride` apart: as many parts as the factor says, and then these put together.
void Transform::mixed(const Complex* in, std::ptrdiff_t stride, Complex* out, int length, std::size_t factor) const {
    if (length == 1) {
        *out = *in;
        return;
    }
    const int parts = factors_[factor];
    const int part = length / parts;
    const std::ptrdiff_t turn = length_ / length;  // in roots_, of this length's root
    for (int r = 0; r < parts; ++r) mixed(in + r * stride, stride * parts, out + r * part, part, factor + 1);
    std::array<Complex, largest_direct_factor + 1> terms;
    for (int k = 0; k < part; ++k) {
        for (int r = 0; r < parts; ++r) {
            terms[static_cast<std::size_t>(r)] =
                times(out[r * part + k], roots_[static_cast<std::size_t>(turn * r * k)]);
        }
        if (parts == 2) {
            out[k] = terms[0] + terms[1];
            out[part + k] = terms[0] - terms[1];
            continue;
        }
        for (int q = 0; q < parts; ++q) {
            Complex sum = terms[0];
            for (int r = 1; r < parts; ++r) {
                const int place = q * r % parts * (length_ / parts);
                sum += times(terms[static_cast<std::size_t>(r)], roots_[static_cast<std::size_t>(place)]);
            }
            out[q * part + k] = sum;
        }
    }
}

void Transform::by_convolution(Complex* values) {
    std::fill(copy_.begin(), copy_.end(), Complex());
    const auto n = static_cast<std::size_t>(length_);
    for (std::size_t k = 0; k < n; ++k) copy_[k] = times(values[k], chirp_[k]);
    inner_[0](copy_.data());
    for (std::size_t k = 0; k < copy_.size(); ++k) copy_[k] = times(copy_[k], filter_[k]);
    inner_[1](copy_.data());
    const double scale = 1.0 / static_cast<double>(copy_.size());
    for (std::size_t k = 0; k < n; ++k) values[k] = times(copy_[k], chirp_[k]) * scale;
}

}  // namespace cpu_device::fourier
