// Correct answer: blocks bring their elements and two neighbors into shared memory
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

constexpr int threads = 128;

__global__ void laplace_in_tiles(const float* __restrict__ x, float* __restrict__ y,
                                 int count) {
    __shared__ float tile[threads + 2];
    const int begin = blockIdx.x * threads;
    const int here = min(threads, count - begin);  // elements of this block, at least one
    const int t = threadIdx.x;
    if (t < here) tile[t + 1] = __ldg(x + begin + t);
    if (t == 0) {
        tile[0] = __ldg(x + (begin == 0 ? count - 1 : begin - 1));
        tile[here + 1] = __ldg(x + (begin + here == count ? 0 : begin + here));
    }
    __syncthreads();
    if (t < here) y[begin + t] = tile[t] - 2 * tile[t + 1] + tile[t + 2];
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    laplace_in_tiles<<<(count + threads - 1) / threads, threads>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
