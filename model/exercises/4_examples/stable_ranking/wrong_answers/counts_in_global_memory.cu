// Wrong answer: each thread loads all keys of the tile
// Rejected by: reads each key once and waits for the block at most four times
// Message: of global memory moved, at most
#include <cuda_runtime.h>

#include "exercises/4_examples/stable_ranking/stable_ranking.h"

constexpr int threads_per_block = 256;

__global__ void rank_one_tile(const unsigned* keys, int count, int shift,
                              unsigned* places) {
    const int first = blockIdx.x * threads_per_block;
    const int i = first + threadIdx.x;
    if (i >= count) return;
    const unsigned digit = keys[i] >> shift & 15;
    unsigned place = 0;
    for (int j = first; j < first + threads_per_block && j < count; ++j) {
        const unsigned other = keys[j] >> shift & 15;
        place += other < digit || (other == digit && j < i);
    }
    places[i] = place;
}

void rank_tiles(const unsigned* d_keys, int count, int shift, unsigned* d_places) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    rank_one_tile<<<tiles, threads_per_block>>>(d_keys, count, shift, d_places);
}
