// Complex numbers of the CUDA Toolkit: pairs of floats or doubles, and functions for host and device code.
//
// Meanings as in C99's <complex.h>. The last bit of a quotient or of an absolute value may differ from a GPU's.
#pragma once

#include "cpu_device/instrumented.h"
#include "cpu_device/standard_math.h"
#include "cpu_device/vector_types.h"

// ---- single precision ------------------------------------------------------------------------------------

typedef float2 cuFloatComplex;

CPU_DEVICE_UNSEEN inline cuFloatComplex make_cuFloatComplex(float re, float im) { return {re, im}; }
CPU_DEVICE_UNSEEN inline float cuCrealf(cuFloatComplex z) { return z.x; }
CPU_DEVICE_UNSEEN inline float cuCimagf(cuFloatComplex z) { return z.y; }

CPU_DEVICE_UNSEEN inline cuFloatComplex cuConjf(cuFloatComplex z) { return {z.x, -z.y}; }
CPU_DEVICE_UNSEEN inline cuFloatComplex cuCaddf(cuFloatComplex a, cuFloatComplex b) { return {a.x + b.x, a.y + b.y}; }
CPU_DEVICE_UNSEEN inline cuFloatComplex cuCsubf(cuFloatComplex a, cuFloatComplex b) { return {a.x - b.x, a.y - b.y}; }
CPU_DEVICE_UNSEEN inline cuFloatComplex cuCmulf(cuFloatComplex a, cuFloatComplex b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
/// a / b. Both are scaled by the size of b first, so that its square neither overflows nor vanishes.
CPU_DEVICE_UNSEEN inline cuFloatComplex cuCdivf(cuFloatComplex a, cuFloatComplex b) {
    const float scale = 1.0f / (std::abs(b.x) + std::abs(b.y));
    const cuFloatComplex top = {a.x * scale, a.y * scale};
    const cuFloatComplex bottom = {b.x * scale, b.y * scale};
    const float square = bottom.x * bottom.x + bottom.y * bottom.y;
    const cuFloatComplex product = cuCmulf(top, cuConjf(bottom));
    return {product.x / square, product.y / square};
}
/// The absolute value, without overflow or underflow on the way.
CPU_DEVICE_UNSEEN inline float cuCabsf(cuFloatComplex z) { return std::hypot(z.x, z.y); }
/// a * b + c.
CPU_DEVICE_UNSEEN inline cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c) {
    return {std::fma(-a.y, b.y, std::fma(a.x, b.x, c.x)), std::fma(a.y, b.x, std::fma(a.x, b.y, c.y))};
}

// ---- double precision ------------------------------------------------------------------------------------

typedef double2 cuDoubleComplex;

CPU_DEVICE_UNSEEN inline cuDoubleComplex make_cuDoubleComplex(double re, double im) { return {re, im}; }
CPU_DEVICE_UNSEEN inline double cuCreal(cuDoubleComplex z) { return z.x; }
CPU_DEVICE_UNSEEN inline double cuCimag(cuDoubleComplex z) { return z.y; }

CPU_DEVICE_UNSEEN inline cuDoubleComplex cuConj(cuDoubleComplex z) { return {z.x, -z.y}; }
CPU_DEVICE_UNSEEN inline cuDoubleComplex cuCadd(cuDoubleComplex a, cuDoubleComplex b) { return {a.x + b.x, a.y + b.y}; }
CPU_DEVICE_UNSEEN inline cuDoubleComplex cuCsub(cuDoubleComplex a, cuDoubleComplex b) { return {a.x - b.x, a.y - b.y}; }
CPU_DEVICE_UNSEEN inline cuDoubleComplex cuCmul(cuDoubleComplex a, cuDoubleComplex b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
/// a / b. Both are scaled by the size of b first, so that its square neither overflows nor vanishes.
CPU_DEVICE_UNSEEN inline cuDoubleComplex cuCdiv(cuDoubleComplex a, cuDoubleComplex b) {
    const double scale = 1.0 / (std::abs(b.x) + std::abs(b.y));
    const cuDoubleComplex top = {a.x * scale, a.y * scale};
    const cuDoubleComplex bottom = {b.x * scale, b.y * scale};
    const double square = bottom.x * bottom.x + bottom.y * bottom.y;
    const cuDoubleComplex product = cuCmul(top, cuConj(bottom));
    return {product.x / square, product.y / square};
}
/// The absolute value, without overflow or underflow on the way.
CPU_DEVICE_UNSEEN inline double cuCabs(cuDoubleComplex z) { return std::hypot(z.x, z.y); }
/// a * b + c.
CPU_DEVICE_UNSEEN inline cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c) {
    return {std::fma(-a.y, b.y, std::fma(a.x, b.x, c.x)), std::fma(a.y, b.x, std::fma(a.x, b.y, c.y))};
}

// ---- the default, and conversions ---------------------------------------------------------------------------------

typedef cuFloatComplex cuComplex;

CPU_DEVICE_UNSEEN inline cuComplex make_cuComplex(float re, float im) { return {re, im}; }

CPU_DEVICE_UNSEEN inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
CPU_DEVICE_UNSEEN inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
    return {static_cast<float>(z.x), static_cast<float>(z.y)};
}
