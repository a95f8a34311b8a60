// The function that the grader calls.
#pragma once

#include <cuda_runtime.h>

/// Each of `batches` batches has `count` measured values, one batch behind the other in
/// `d_values`. `d_sums[b]` becomes the sum of the squares of batch b, and `d_largest[b]`
/// its largest square. All sums are computed in the stream `first`, and all largest squares
/// in `second`. Queues the work and returns; the caller waits for both streams. There is at
/// least one batch and one value, no value is beyond 1000, and a batch has at most 2000.
void squares_of_batches(const int* d_values, unsigned batches, unsigned count, int* d_sums,
                        int* d_largest, cudaStream_t first, cudaStream_t second);
