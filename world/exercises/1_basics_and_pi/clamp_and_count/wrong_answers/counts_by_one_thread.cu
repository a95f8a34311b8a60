// Wrong answer: a second kernel of one thread counts
// Rejected by: shares the elements among many threads
// Message: thread
#include "exercises/1_basics_and_pi/clamp_and_count/clamp_and_count.h"

__constant__ float limits[2];
__device__ unsigned outside;

__global__ void clamp_elements(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fminf(fmaxf(in[i], limits[0]), limits[1]);
}

__global__ void count_elements(const float* in, int n) {
    unsigned count = 0;
    for (int i = 0; i < n; ++i) count += in[i] < limits[0] || in[i] > limits[1];
    outside = count;
}

unsigned clamp_and_count(const float* d_in, float* d_out, int n, float low, float high) {
    if (n == 0) return 0;
    const float both[] = {low, high};
    cudaMemcpyToSymbol(limits, both, sizeof both);
    clamp_elements<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
    count_elements<<<1, 1>>>(d_in, n);
    unsigned count;
    cudaMemcpyFromSymbol(&count, outside, sizeof count);
    return count;
}
