// Solution: scores of descriptors of 64 bytes, on tensor cores
//
// A lane loads the words of its fragments itself, because the layout is known. Lanes whose
// descriptor does not exist load zeros and stay, since mma.sync is an instruction of the
// whole warp. Only the stores are guarded.
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
        const unsigned word = 8 * step + member;
        unsigned a[4], b[2];
        a[0] = word_of(queries, query_count, first_query + group, word);
        a[1] = word_of(queries, query_count, first_query + group + 8, word);
        a[2] = word_of(queries, query_count, first_query + group, word + 4);
        a[3] = word_of(queries, query_count, first_query + group + 8, word + 4);
        b[0] = word_of(references, reference_count, first_reference + group, word);
        b[1] = word_of(references, reference_count, first_reference + group, word + 4);
        warpwise::mma_m16n8k32_s8(sums, a, b);
    }
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned query = first_query + group + i / 2 * 8;
        const unsigned reference = first_reference + 2 * member + i % 2;
        if (query < query_count && reference < reference_count)
            scores[std::size_t{query} * reference_count + reference] = sums[i];
    }
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
