// Exercise: numbers whose order is that of floats.
// The task: ./warpwise task float_keys
#include <cuda_runtime.h>

#include "exercises/4_examples/float_keys/float_keys.h"

constexpr int threads_per_block = 256;

/// The number of a float: the larger one of two floats has the larger number.
__device__ unsigned number_of(float value) {
    // TODO 1: which bits have to change, for a positive float and for a negative one?
    return 0;
}

/// The float that has this number.
__device__ float float_of(unsigned number) {
    // TODO 2: undo what number_of did. How does one see which case it was?
    return 0;
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
