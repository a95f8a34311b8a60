// A mistake with a copy that is still on its way, for the CPU device to find.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>

#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/split_matrix_product/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"

namespace several_gpus {
namespace {

// WRONG: device 1 sends its part of B, and the stream of device 0 that multiplies does not
// wait for it.
void multiplies_before_the_copy() {
    enable_all_peers(2);
    constexpr std::size_t n = 16;
    Devices devices(2);
    std::unique_ptr<warpwise::DeviceBuffer<float>> far_b;
    {
        const OnDevice current(1);
        far_b = std::make_unique<warpwise::DeviceBuffer<float>>(n * n);
        far_b->fill_bytes(0);
        warpwise::check_finished();
    }
    const OnDevice current(0);
    warpwise::DeviceBuffer<float> a(n * n), b(n * n), c(n * n);
    for (warpwise::DeviceBuffer<float>* buffer : {&a, &b}) buffer->fill_bytes(0);
    warpwise::check_finished();
    warpwise::check(cudaMemcpyPeerAsync(b.data(), 0, far_b->data(), 1,
                                        n * n * sizeof(float), devices.stream(1)));
    multiply<<<1, kProductThreads, 0, devices.stream(0)>>>(
        {a.data(), b.data(), c.data(), n, n, n, n, n, n, false});
    devices.wait();
}

}  // namespace
}  // namespace several_gpus
