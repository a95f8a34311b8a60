// Solution: the parts of arrays go around a ring of devices.
//
// In turn t, device d sends part d - t, and so receives part d - 1 - t, counted around the
// ring. In the first devices - 1 turns what arrives is added. Then device d has part d + 1
// of the sum, and this is also the part that it sends in turn devices - 1.
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
    for (int turn = 0; turn < 2 * (devices - 1); ++turn) {
        const bool adds = turn < devices - 1;
        for (int device = 0; device < devices; ++device) {
            const int next = (device + 1) % devices;
            const unsigned number =
                static_cast<unsigned>((device - turn + 2 * devices) % devices);
            int* const from = arrays[device].d_values + number * part;
            int* const to =
                (adds ? arrays[next].d_arrived : arrays[next].d_values) + number * part;
            cudaMemcpyPeerAsync(to, next, from, device, part * sizeof(int),
                                arrays[device].stream);
            cudaSetDevice(device);
            cudaEventRecord(sent[static_cast<unsigned>(device)], arrays[device].stream);
        }
        for (int device = 0; device < devices; ++device) {
            const int last = (device + devices - 1) % devices;
            const unsigned number =
                static_cast<unsigned>((last - turn + 2 * devices) % devices);
            cudaSetDevice(device);
            cudaStreamWaitEvent(arrays[device].stream, sent[static_cast<unsigned>(last)]);
            if (!adds) continue;
            const unsigned blocks = (part + threads_per_block - 1) / threads_per_block;
            add<<<blocks, threads_per_block, 0, arrays[device].stream>>>(
                arrays[device].d_values + number * part,
                arrays[device].d_arrived + number * part, part);
        }
    }
    for (cudaEvent_t event : sent) cudaEventDestroy(event);
    cudaSetDevice(before);
}
