// Solution: a tile is sorted before it is stored.
//
// Each thread puts its key at its place in shared memory. After a barrier the tile is
// sorted by digits there, and thread t takes the key at place t. Neighboring threads now
// have neighboring keys of the same run, which go to neighboring places. Only where a run
// ends does a store of the warp go on elsewhere.
//
// The key that a thread takes is not its own, so its digit has to be found anew. The key at
// place t of the tile is number t - first[digit] of its run.
//
// Threads past the end have places behind all keys, so the threads below the number of keys
// find all of them.
#include <cuda_runtime.h>

#include "exercises/4_examples/runs_in_shared_memory/runs_in_shared_memory.h"

constexpr unsigned threads_per_block = 256;  // and keys per tile
constexpr unsigned warps = threads_per_block / 32;
constexpr unsigned digits = 16;

__device__ unsigned digit_of(unsigned key, int shift) {
    return key >> shift & (digits - 1);
}

/// The place of this thread's key in the tile, sorted by digits. first[d] becomes the place
/// of the tile's first key with digit d. Threads past the end bring the digit 16.
__device__ unsigned place_in_tile(unsigned digit, unsigned* first) {
    __shared__ unsigned counters[warps][digits];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane < digits) counters[warp][lane] = 0;
    __syncwarp();
    const unsigned same = __match_any_sync(0xffffffff, digit);
    const unsigned rank = __popc(same & ((1u << lane) - 1));
    if (rank == 0 && digit < digits) counters[warp][digit] = __popc(same);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned place = 0;
        for (unsigned d = 0; d < digits; ++d) {
            first[d] = place;
            for (unsigned w = 0; w < warps; ++w) {
                const unsigned of_warp = counters[w][d];
                counters[w][d] = place;
                place += of_warp;
            }
        }
    }
    __syncthreads();
    return digit < digits ? counters[warp][digit] + rank : threadIdx.x;
}

__global__ void scatter_one_tile(const unsigned* keys, int count, int shift,
                                 const unsigned* starts, unsigned* sorted) {
    __shared__ unsigned first[digits];
    __shared__ unsigned tile[threads_per_block];
    const int i = blockIdx.x * threads_per_block + threadIdx.x;
    const unsigned key = i < count ? keys[i] : 0;
    const unsigned place = place_in_tile(i < count ? digit_of(key, shift) : digits, first);
    tile[place] = key;
    __syncthreads();
    if (i >= count) return;
    const unsigned taken = tile[threadIdx.x];
    const unsigned digit = digit_of(taken, shift);
    sorted[starts[blockIdx.x * digits + digit] + threadIdx.x - first[digit]] = taken;
}

void scatter_tiles(const unsigned* d_keys, int count, int shift, const unsigned* d_starts,
                   unsigned* d_sorted) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    scatter_one_tile<<<tiles, threads_per_block>>>(d_keys, count, shift, d_starts,
                                                   d_sorted);
}
