// Correct answer: after each addition the pair is normalized: lost is at most half an ulp
#include <cuda_runtime.h>

#include "exercises/3_optimization/compensated_sum/compensated_sum.h"

struct DoubleFloat {
    float hi = 0, lo = 0;
};

__device__ DoubleFloat exact_sum(float a, float b) {
    DoubleFloat r;
    r.hi = a + b;
    const float c = r.hi - a;
    r.lo = (a - (r.hi - c)) + (b - c);
    return r;
}

__device__ DoubleFloat plus(DoubleFloat a, DoubleFloat b) {
    const DoubleFloat high = exact_sum(a.hi, b.hi);
    const DoubleFloat low = exact_sum(a.lo, b.lo);
    const DoubleFloat r = exact_sum(high.hi, high.lo + low.hi);
    return exact_sum(r.hi, r.lo + low.lo);
}

constexpr int block_size = 128;

__device__ DoubleFloat block_total(DoubleFloat x) {
    __shared__ float hi[block_size];
    __shared__ float lo[block_size];
    const int t = threadIdx.x;
    for (int n = block_size; n > 1; n /= 2) {
        hi[t] = x.hi;
        lo[t] = x.lo;
        __syncthreads();
        if (t < n / 2) x = plus(x, {hi[t + n / 2], lo[t + n / 2]});
        __syncthreads();
    }
    return x;  // of thread 0
}

__global__ void sum_blocks(const float* values, int count, float* block_hi,
                           float* block_lo) {
    DoubleFloat x;
    const int threads = gridDim.x * block_size;
    for (int i = blockIdx.x * block_size + threadIdx.x; i < count; i += threads) {
        x = plus(x, {values[i], 0.0f});
    }
    x = block_total(x);
    if (threadIdx.x != 0) return;
    block_hi[blockIdx.x] = x.hi;
    block_lo[blockIdx.x] = x.lo;
}

__global__ void add_blocks(const float* block_hi, const float* block_lo, int blocks,
                           float* sum) {
    DoubleFloat x;
    for (int i = threadIdx.x; i < blocks; i += block_size) {
        x = plus(x, {block_hi[i], block_lo[i]});
    }
    x = block_total(x);
    if (threadIdx.x == 0) *sum = x.hi + x.lo;
}

void add_up(const float* d_values, int count, float* d_block_sums, float* d_block_lost,
            float* d_sum, int blocks) {
    sum_blocks<<<blocks, block_size>>>(d_values, count, d_block_sums, d_block_lost);
    add_blocks<<<1, block_size>>>(d_block_sums, d_block_lost, blocks, d_sum);
}
