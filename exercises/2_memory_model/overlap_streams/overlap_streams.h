// The functions that the grader calls.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

/// Page-locked host memory for `count` floats, at least one; null if there is none. Freed with free_on_host.
float* allocate_on_host(std::size_t count);

/// Frees what allocate_on_host has returned.
void free_on_host(float* memory);

/// out[i] = 2 * in[i] + 1 for `count` floats that lie on the host, and are to be back there in the end.
struct Work {
    const float* in;                    ///< on the host, from allocate_on_host
    float* out;                         ///< on the host, from allocate_on_host
    float* d_in;                        ///< on the device, room for `count` floats
    float* d_out;                       ///< on the device, room for `count` floats
    std::size_t count;                  ///< may be 0
    std::size_t chunks;                 ///< at least 1; may be more than `count`
    std::vector<cudaStream_t> streams;  ///< at least one
};

/// Cuts the work into chunks of about the same size, which lie one behind the other. Chunk k is copied in, computed and
/// copied out in streams[k % streams.size()], and nowhere else. Only queues all this, and returns without waiting for
/// any of it.
void queue_work(const Work& work);
