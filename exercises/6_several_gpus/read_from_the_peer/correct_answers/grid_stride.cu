// Correct answer: one block of 64 threads in a loop
#include <cuda_runtime.h>

#include "exercises/6_several_gpus/read_from_the_peer/read_from_the_peer.h"

constexpr unsigned threads_per_block = 256;

__global__ void add(float* own, const float* peers, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) own[i] += peers[i];
}

void add_array_of_peer(int device, float* d_own, int peer, const float* d_peers,
                       unsigned count, cudaStream_t stream) {
    if (count == 0) return;
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(device);
    if (cudaDeviceEnablePeerAccess(peer, 0) == cudaErrorPeerAccessAlreadyEnabled)
        (void)cudaGetLastError();
    add<<<1, 64, 0, stream>>>(d_own, d_peers, count);
    cudaSetDevice(before);
}
