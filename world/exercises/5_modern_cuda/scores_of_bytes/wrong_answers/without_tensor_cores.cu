// Wrong answer: a thread per score, without tensor cores
// Rejected by: scores 16 queries with 8 references
// Message: warps load more often
#include <cuda_runtime.h>

#include <cstddef>

#include "exercises/5_modern_cuda/scores_of_bytes/scores_of_bytes.h"

__global__ void score_kernel(const signed char* queries, unsigned query_count,
                             const signed char* references, unsigned reference_count,
                             int* scores) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= query_count * reference_count) return;
    const unsigned query = i / reference_count, reference = i % reference_count;
    int sum = 0;
    for (unsigned byte = 0; byte < bytes_per_descriptor; ++byte)
        sum += queries[query * bytes_per_descriptor + byte] *
               references[reference * bytes_per_descriptor + byte];
    scores[i] = sum;
}

void score_all(const signed char* d_queries, unsigned query_count,
               const signed char* d_references, unsigned reference_count, int* d_scores) {
    const unsigned count = query_count * reference_count;
    if (count == 0) return;
    score_kernel<<<(count + 127) / 128, 128>>>(d_queries, query_count, d_references,
                                               reference_count, d_scores);
}
