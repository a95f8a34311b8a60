// Exercise: the parts of arrays go around a ring of devices.
// The task: ./warpwise task around_the_ring
#include <cuda_runtime.h>

#include <vector>

#include "exercises/6_several_gpus/around_the_ring/around_the_ring.h"

constexpr unsigned threads_per_block = 256;

__global__ void add(int* own, const int* arrived, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) own[i] += arrived[i];
}

void add_up_in_a_ring(int devices, const RingArray* arrays, unsigned part) {
    int before = 0;
    cudaGetDevice(&before);
    std::vector<cudaEvent_t> sent(static_cast<unsigned>(devices));
    for (int device = 0; device < devices; ++device) {
        cudaSetDevice(device);
        cudaEventCreateWithFlags(&sent[static_cast<unsigned>(device)],
                                 cudaEventDisableTiming);
    }
    // TODO 1: how many turns are needed, and in which of them is something added?
    for (int turn = 0; turn < 1; ++turn) {
        for (int device = 0; device < devices; ++device) {
            // TODO 2: send the right part to the next device: into its `d_arrived` if it is
            // to be added, else into its `d_values`. Then record the event.
        }
        for (int device = 0; device < devices; ++device) {
            // TODO 3: let the stream wait for the part that arrives, and add it if this is
            // a turn in which something is added.
        }
    }
    for (cudaEvent_t event : sent) cudaEventDestroy(event);
    cudaSetDevice(before);
}
