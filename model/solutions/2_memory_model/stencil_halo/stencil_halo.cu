// Solution: load the halo of a tile, with blocks of any size.
//
// The tile is one stretch of the array: place p holds element begin - radius + p. So the
// halo needs no code of its own. All threads load in turns, blockDim.x places apart, until
// the tile is full. Neighboring threads load neighboring elements, and no thread's number
// has a meaning that a smaller block would not have. Places outside of the array are
// written as well, with 0, because the windows read them.
//
// All threads of the block go through the barrier, also those past the end of the array:
// they load for the others, and leave after the barrier.
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void sum_windows_of_block(const float* in, float* out, int count, int radius) {
    extern __shared__ float
        tile[];  // blockDim.x + 2 * radius elements: left halo, the block's own, right halo
    const int begin = blockIdx.x * blockDim.x;  // first element of the block's own
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

void sum_windows(const float* d_in, float* d_out, int count, int radius,
                 int threads_per_block) {
    if (count == 0) return;
    const int blocks = (count + threads_per_block - 1) / threads_per_block;
    const size_t shared_bytes = (threads_per_block + 2 * radius) * sizeof(float);
    sum_windows_of_block<<<blocks, threads_per_block, shared_bytes>>>(d_in, d_out, count,
                                                                      radius);
}
