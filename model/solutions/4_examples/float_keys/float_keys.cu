// Solution: numbers whose order is that of floats.
//
// The bits of a float are a sign, an exponent, and a fraction, in this order. So of two
// positive floats the larger one has the larger bits. Their sign bit is 0, and has to be
// set so that they come after all negative floats.
//
// A negative float has the sign bit 1, and the larger its magnitude, the smaller it is.
// With all bits changed, its sign bit is 0, and the order of the others is reversed.
//
// A number whose highest bit is set belongs to a positive float, so float_of knows which
// case it was. Only bits decide, and not value < 0: -0.0 is not below 0, and a NaN is not,
// either.
#include <cuda_runtime.h>

#include "exercises/4_examples/float_keys/float_keys.h"

constexpr int threads_per_block = 256;
constexpr unsigned sign_bit = 0x80000000;

/// The number of a float: the larger one of two floats has the larger number.
__device__ unsigned number_of(float value) {
    const unsigned bits = __float_as_uint(value);
    return (bits & sign_bit) != 0 ? ~bits : bits | sign_bit;
}

/// The float that has this number.
__device__ float float_of(unsigned number) {
    const unsigned bits = (number & sign_bit) != 0 ? number & ~sign_bit : ~number;
    return __uint_as_float(bits);
}

__global__ void find_numbers(const float* values, int count, unsigned* numbers) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) numbers[i] = number_of(values[i]);
}

__global__ void find_floats(const unsigned* numbers, int count, float* values) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = float_of(numbers[i]);
}

void numbers_of_floats(const float* d_values, int count, unsigned* d_numbers) {
    if (count == 0) return;
    const int blocks = (count + threads_per_block - 1) / threads_per_block;
    find_numbers<<<blocks, threads_per_block>>>(d_values, count, d_numbers);
}

void floats_of_numbers(const unsigned* d_numbers, int count, float* d_values) {
    if (count == 0) return;
    const int blocks = (count + threads_per_block - 1) / threads_per_block;
    find_floats<<<blocks, threads_per_block>>>(d_numbers, count, d_values);
}
