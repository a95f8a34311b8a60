// Wrong answer: waits in the branch that loads the halo, which not all threads take
// Rejected by: sums the windows of one block
// Message: out of the branch of line 15, to a place that every thread of the block reaches
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void sum_windows_of_block(const float* in, float* out, int count, int radius) {
    extern __shared__ float tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int left = i - radius;
    const int right = i + static_cast<int>(blockDim.x);
    const int end = radius + static_cast<int>(blockDim.x);
    const int t = static_cast<int>(threadIdx.x);
    tile[radius + t] = i < count ? in[i] : 0.0f;

    if (t < radius) {
        tile[t] = left >= 0 && left < count ? in[left] : 0.0f;
        tile[end + t] = right < count ? in[right] : 0.0f;
        __syncthreads();
    }

    if (i >= count) return;
    float sum = 0;
    for (int place = 0; place <= 2 * radius; ++place) sum += tile[t + place];
    out[i] = sum;
}

void sum_windows(const float* d_in, float* d_out, int count, int radius,
                 int threads_per_block) {
    if (count == 0) return;
    const int blocks = (count + threads_per_block - 1) / threads_per_block;
    const size_t shared_bytes = (threads_per_block + 2 * radius) * sizeof(float);
    sum_windows_of_block<<<blocks, threads_per_block, shared_bytes>>>(d_in, d_out, count,
                                                                      radius);
}
