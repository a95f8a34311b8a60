// Wrong answer: the host computes in managed memory, between two kernels that copy
// Rejected by: clamps and counts in the first call
// Message: __managed__
#include "exercises/1_basics_and_pi/clamp_and_count/clamp_and_count.h"

__managed__ float values[1 << 18];
__constant__ float zero;
__device__ unsigned outside;

__global__ void fetch(const float* in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = in[i] + zero;
}

__global__ void store(float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = values[i];
}

unsigned clamp_and_count(const float* d_in, float* d_out, int n, float low, float high) {
    if (n == 0) return 0;
    const float nothing = 0;
    cudaMemcpyToSymbol(zero, &nothing, sizeof nothing);
    fetch<<<(n + 255) / 256, 256>>>(d_in, n);
    cudaDeviceSynchronize();
    unsigned count = 0;
    for (int i = 0; i < n; ++i) {
        count += values[i] < low || values[i] > high;
        values[i] = values[i] < low ? low : values[i] > high ? high : values[i];
    }
    store<<<(n + 255) / 256, 256>>>(d_out, n);
    cudaMemcpyToSymbol(outside, &count, sizeof count);
    cudaMemcpyFromSymbol(&count, outside, sizeof count);
    return count;
}
