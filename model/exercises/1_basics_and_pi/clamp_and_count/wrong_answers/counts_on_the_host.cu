// Wrong answer: copies the elements back and counts on the host
// Rejected by: clamps and counts in the first call
// Message: from the device to the host; at most 16 are allowed
#include "exercises/1_basics_and_pi/clamp_and_count/clamp_and_count.h"

#include <vector>

__constant__ float low_limit, high_limit;
__device__ unsigned unused;

__global__ void clamp_elements(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fminf(fmaxf(in[i], low_limit), high_limit);
}

unsigned clamp_and_count(const float* d_in, float* d_out, int n, float low, float high) {
    if (n == 0) return 0;
    cudaMemcpyToSymbol(low_limit, &low, sizeof low);
    cudaMemcpyToSymbol(high_limit, &high, sizeof high);
    clamp_elements<<<(n + 127) / 128, 128>>>(d_in, d_out, n);
    unsigned count = 0;
    cudaMemcpyFromSymbol(&count, unused, sizeof count);
    std::vector<float> values(n);
    cudaMemcpy(values.data(), d_in, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (const float value : values) count += value < low || value > high;
    return count;
}
