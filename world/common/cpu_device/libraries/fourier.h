// Discrete Fourier transforms of any length, in double precision.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace cpu_device::fourier {

using Complex = std::complex<double>;

/// Transforms of one length: out[k] is the sum of in[j] exp(sign 2 pi i j k / length).
class Transform {
public:
    /// `sign`: -1 forward, 1 backward.
    Transform(int length, int sign);

    /// In place; `values` holds `length` of them.
    void operator()(Complex* values);

private:
    void mixed(const Complex* in, std::ptrdiff_t stride, Complex* out, int length, std::size_t factor) const;
    void by_convolution(Complex* values);

    int length_;
    std::vector<Complex> roots_;  ///< exp(sign 2 pi i k / length)
    std::vector<int> factors_;    ///< of the length, smallest first; empty where it is done by a convolution
    std::vector<Complex> copy_;
    // A length with a large prime factor (Bluestein): a convolution of twice that length or more, a power of two.
    std::vector<Complex> chirp_;
    std::vector<Complex> filter_;   ///< transformed
    std::vector<Transform> inner_;  ///< forward and backward
};

}  // namespace cpu_device::fourier
