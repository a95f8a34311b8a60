// Solution: limits in constant memory, and a counter that outlives its kernel.
//
// `limits` and `clamped` are variables of the device. In host code their names stand for no
// device address, so the host copies by symbol: cudaMemcpyToSymbol writes a variable, and
// cudaMemcpyFromSymbol reads it. Both wait until the kernels before them have ended.
//
// Both variables live as long as the program. For the limits that means: each call sets its
// own, or it works with those of the call before. For the counter it means: each call sets
// it to 0 first, or it returns the sum of all calls so far.
//
// All lanes of a warp read the same limit, which is what constant memory is good at. Many
// threads add to one counter, which takes an atomic operation: with ++clamped, two threads
// could read the same number, and one count would be lost.
#include "exercises/1_basics_and_pi/clamp_and_count/clamp_and_count.h"

struct Limits {
    float low, high;
};

__constant__ Limits limits;
__device__ unsigned clamped;

__device__ float clamp_to_limits(float value) {
    if (value < limits.low) return limits.low;
    if (value > limits.high) return limits.high;
    return value;
}

__global__ void clamp_elements(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float value = in[i];
    const float inside = clamp_to_limits(value);
    if (inside != value) atomicAdd(&clamped, 1u);
    out[i] = inside;
}

unsigned clamp_and_count(const float* d_in, float* d_out, int n, float low, float high) {
    if (n == 0) return 0;  // a grid without blocks cannot be launched
    const Limits of_this_call = {low, high};
    cudaMemcpyToSymbol(limits, &of_this_call, sizeof of_this_call);
    unsigned count = 0;
    cudaMemcpyToSymbol(clamped, &count, sizeof count);

    const int threads_per_block = 256;
    const int blocks = (n + threads_per_block - 1) / threads_per_block;
    clamp_elements<<<blocks, threads_per_block>>>(d_in, d_out, n);

    cudaMemcpyFromSymbol(&count, clamped, sizeof count);
    return count;
}
