// The functions that the grader calls.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

/// Pinned (page-locked) host memory for `count` floats, where `count` is at least 1; null
/// if there is not enough memory. Freed with free_on_host.
float* allocate_on_host(std::size_t count);

/// Frees what allocate_on_host has returned.
void free_on_host(float* memory);

/// out[i] = 2 * in[i] + 1 for `count` floats that lie on the host, and are to be back there
/// in the end.
struct Work {
    const float* in;                    ///< on the host, from allocate_on_host
    float* out;                         ///< on the host, from allocate_on_host
    float* d_in;                        ///< on the device, room for `count` floats
    float* d_out;                       ///< on the device, room for `count` floats
    std::size_t count;                  ///< may be 0
    std::size_t chunks;                 ///< at least 1; may be more than `count`
    std::vector<cudaStream_t> streams;  ///< at least one
};

/// Cuts the work into chunks of about the same size, which follow each other in the array.
/// Chunk k is copied from `in` to `d_in`, computed from there to `d_out`, and copied from
/// there to `out`, all in streams[k % streams.size()]. Only queues these steps, and returns
/// without waiting for any of them.
void queue_work(const Work& work);
