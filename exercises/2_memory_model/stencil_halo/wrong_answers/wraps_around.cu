// Wrong answer: the array is taken for a ring
// Rejected by: sums the windows of one block
// Message: 128 elements: 2 wrong
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void sum_windows_of_block(const float* in, float* out, int count, int radius) {
    extern __shared__ float tile[];
    const int begin = blockIdx.x * blockDim.x;
    const int places = blockDim.x + 2 * radius;
    for (int place = threadIdx.x; place < places; place += blockDim.x) {
        const int element = begin - radius + place;
        tile[place] = in[((element % count) + count) % count];
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
