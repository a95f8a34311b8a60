// Exercise: a kernel that reads the memory of another device.
// The task: ./warpwise task read_from_the_peer
#include <cuda_runtime.h>

#include "exercises/6_several_gpus/read_from_the_peer/read_from_the_peer.h"

constexpr unsigned threads_per_block = 256;

__global__ void add(float* own, const float* peers, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) own[i] += peers[i];
}

void add_array_of_peer(int device, float* d_own, int peer, const float* d_peers,
                       unsigned count, cudaStream_t stream) {
    // TODO 1: make `device` the current device, and remember which one was before.
    // TODO 2: let it use the memory of `peer`. Perhaps somebody has done that already.
    // TODO 3: launch `add` in `stream`.
    // TODO 4: make the former device the current one again.
}
