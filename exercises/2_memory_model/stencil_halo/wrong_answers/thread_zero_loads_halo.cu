// Wrong answer: the first thread loads the whole halo, one element at a time
// Rejected by: shares loads and sums among the threads of a block
// Message: lanes of a warp take part in a load from global memory
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void sum_windows_of_block(const float* in, float* out, int count, int radius) {
    extern __shared__ float tile[];
    const int begin = blockIdx.x * blockDim.x;
    const int places = blockDim.x + 2 * radius;
    const int t = threadIdx.x, n = blockDim.x;
    tile[radius + t] = begin + t < count ? in[begin + t] : 0.0f;
    for (int k = 0; t == 0 && k < radius; ++k) {
        const int left = begin - radius + k, right = begin + n + k;
        tile[k] = left >= 0 && left < count ? in[left] : 0.0f;
        tile[radius + n + k] = right < count ? in[right] : 0.0f;
    }
    __syncthreads();

    const int i = begin + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    for (int place = 0; place <= 2 * radius; ++place) sum += tile[threadIdx.x + place];
    out[i] = sum;
}

void sum_windows(const float* d_in, float* d_out, int count, int radius, int threads_per_block) {
    if (count == 0) return;
    const int blocks = (count + threads_per_block - 1) / threads_per_block;
    const size_t shared_bytes = (threads_per_block + 2 * radius) * sizeof(float);
    sum_windows_of_block<<<blocks, threads_per_block, shared_bytes>>>(d_in, d_out, count, radius);
}
