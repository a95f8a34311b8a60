// The function that the grader calls.
#pragma once

#include <cuda_runtime.h>

/// Adds d_peers[i] to d_own[i], for `count` floats. `d_own` and `stream` belong to
/// `device`, `d_peers` belongs to `peer`, another device. Queues the work in `stream` and
/// returns. Afterwards the same device is current as before, and no error is left for
/// cudaGetLastError. It may be called often, for any two devices that can access each
/// other.
void add_array_of_peer(int device, float* d_own, int peer, const float* d_peers,
                       unsigned count, cudaStream_t stream);
