// Exercise: scores of descriptors of 64 bytes, on tensor cores
// The task: ./warpwise task scores_of_bytes
#include <cuda_runtime.h>

#include <cstddef>

#include "common/helpers/tensor_core.cuh"
#include "exercises/5_modern_cuda/scores_of_bytes/scores_of_bytes.h"

constexpr unsigned threads_per_block = 128;
constexpr unsigned tile_queries = 16, tile_references = 8;  // of a warp

// Bytes 4 * word to 4 * word + 3 of a descriptor; zeros if there is no such descriptor.
__device__ unsigned word_of(const signed char* descriptors, unsigned count, unsigned index,
                            unsigned word) {
    if (index >= count) return 0;
    const auto* const words = reinterpret_cast<const unsigned*>(descriptors);
    return words[std::size_t{index} * (bytes_per_descriptor / 4) + word];
}

__global__ void score_kernel(const signed char* queries, unsigned query_count,
                             const signed char* references, unsigned reference_count,
                             int* scores) {
    const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const unsigned group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
    const unsigned tiles_across = (reference_count + tile_references - 1) / tile_references;
    const unsigned first_query = warp / tiles_across * tile_queries;
    const unsigned first_reference = warp % tiles_across * tile_references;
    int sums[4] = {};
    for (unsigned step = 0; step < bytes_per_descriptor / 32; ++step) {
        // The bytes 32 * step to 32 * step + 31 of each descriptor, as words of 4 bytes.
        unsigned a[4] = {}, b[2] = {};
        // TODO 1: load the four words of the queries that this lane holds.
        // TODO 2: load the two words of the references that this lane holds.
        (void)step;
        (void)a;
        (void)b;
        // TODO 3: add the products to the sums of the warp, by
        //         warpwise::mma_m16n8k32_s8(sums, a, b).
    }
    // TODO 4: store the four sums that this lane holds, where there are such scores.
    (void)group;
    (void)member;
    (void)first_query;
    (void)first_reference;
    (void)sums;
    (void)scores;
}

void score_all(const signed char* d_queries, unsigned query_count,
               const signed char* d_references, unsigned reference_count, int* d_scores) {
    if (query_count == 0 || reference_count == 0) return;
    const unsigned tiles = (query_count + tile_queries - 1) / tile_queries *
                           ((reference_count + tile_references - 1) / tile_references);
    constexpr unsigned warps_per_block = threads_per_block / 32;
    const unsigned blocks = (tiles + warps_per_block - 1) / warps_per_block;
    score_kernel<<<blocks, threads_per_block>>>(d_queries, query_count, d_references,
                                                reference_count, d_scores);
}
