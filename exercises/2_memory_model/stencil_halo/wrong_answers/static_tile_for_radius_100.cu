// Wrong answer: a tile of fixed size, large enough for radius 100 only
// Rejected by: works with windows of any size
// Message: out of bounds: a thread writes
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void sum_windows_of_block(const float* in, float* out, int count, int radius) {
    __shared__ float tile[1024 + 2 * 100];
    const int begin = blockIdx.x * blockDim.x;
    const int places = blockDim.x + 2 * radius;
    for (int place = threadIdx.x; place < places; place += blockDim.x) {
        const int element = begin - radius + place;
        tile[place] = element >= 0 && element < count ? in[element] : 0.0f;
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
    sum_windows_of_block<<<blocks, threads_per_block>>>(d_in, d_out, count, radius);
}
