// Solution: strips of a rod on several devices, which send each other their edges.
//
// After a step, a device sends its first and its last value to the halos of its neighbors.
// Each stream waits for the neighbors' copies before its next kernel. The events of even
// and odd steps are different ones: in a step, some devices record their event before
// others have been told to wait for that of the step before.
#include <cuda_runtime.h>

#include <vector>

#include "exercises/6_several_gpus/send_the_edges/send_the_edges.h"

constexpr unsigned threads_per_block = 256;

__global__ void smooth(const float* from, float* to, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= count) to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1];
}

void smooth_strips(int devices, const Strip* strips, unsigned steps) {
    int before = 0;
    cudaGetDevice(&before);
    std::vector<cudaEvent_t> sent(2 * static_cast<unsigned>(devices));
    const auto event = [&](int device, unsigned step) -> cudaEvent_t& {
        return sent[2 * static_cast<unsigned>(device) + step % 2];
    };
    for (int device = 0; device < devices; ++device) {
        cudaSetDevice(device);
        for (unsigned parity = 0; parity < 2; ++parity)
            cudaEventCreateWithFlags(&event(device, parity), cudaEventDisableTiming);
    }
    for (unsigned step = 0; step < steps; ++step) {
        for (int device = 0; device < devices; ++device) {
            const Strip& strip = strips[device];
            const float* const from = step % 2 == 0 ? strip.d_even : strip.d_odd;
            float* const to = step % 2 == 0 ? strip.d_odd : strip.d_even;
            cudaSetDevice(device);
            if (step > 0 && device > 0)
                cudaStreamWaitEvent(strip.stream, event(device - 1, step - 1));
            if (step > 0 && device + 1 < devices)
                cudaStreamWaitEvent(strip.stream, event(device + 1, step - 1));
            const unsigned blocks =
                (strip.count + threads_per_block - 1) / threads_per_block;
            smooth<<<blocks, threads_per_block, 0, strip.stream>>>(from, to, strip.count);
            if (device > 0) {
                const Strip& left = strips[device - 1];
                float* const halo = step % 2 == 0 ? left.d_odd : left.d_even;
                cudaMemcpyPeerAsync(halo + left.count + 1, device - 1, to + 1, device,
                                    sizeof(float), strip.stream);
            }
            if (device + 1 < devices) {
                const Strip& right = strips[device + 1];
                float* const halo = step % 2 == 0 ? right.d_odd : right.d_even;
                cudaMemcpyPeerAsync(halo, device + 1, to + strip.count, device,
                                    sizeof(float), strip.stream);
            }
            cudaEventRecord(event(device, step), strip.stream);
        }
    }
    for (cudaEvent_t one : sent) cudaEventDestroy(one);
    cudaSetDevice(before);
}
