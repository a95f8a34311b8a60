// A mistake with a copy that is still on its way, for the CPU device to find.
#pragma once

#include <cuda_runtime.h>

#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/split_matrix_product/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"

namespace several_gpus {
namespace {

// WRONG: the stream that multiplies does not wait for the copy of B, which is in another
// stream.
void multiplies_before_the_copy() {
    enable_all_peers(2);
    constexpr std::size_t n = 16;
    Devices devices(2), copies(2);
    const OnDevice current(0);
    warpwise::DeviceBuffer<float> a(n * n), b(n * n), c(n * n), far_b(n * n);
    for (warpwise::DeviceBuffer<float>* buffer : {&a, &b, &far_b}) buffer->fill_bytes(0);
    warpwise::check_finished();
    warpwise::check(cudaMemcpyAsync(b.data(), far_b.data(), n * n * sizeof(float),
                                    cudaMemcpyDefault, copies.stream(0)));
    multiply<<<1, kProductThreads, 0, devices.stream(0)>>>(
        {a.data(), b.data(), c.data(), n, n, n, n, n, n, false});
    devices.wait();
    copies.wait();
}

}  // namespace
}  // namespace several_gpus
