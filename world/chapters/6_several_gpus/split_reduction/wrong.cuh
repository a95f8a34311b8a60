// Mistakes with sums of several devices, for the CPU device to find.
#pragma once

#include <cuda_runtime.h>

#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/split_reduction/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"

namespace several_gpus {
namespace {

__global__ void put_seven(double* out) { *out = 7; }

// WRONG: the second device's sum is read by a kernel of the first one, and nothing says
// that this kernel has to wait for that of the second device.
void no_event_between() {
    enable_all_peers(2);
    Devices devices(2);
    const OnDevice current(0);
    warpwise::DeviceBuffer<double> sums(2), total(1);
    sums.fill_bytes(0);
    warpwise::check_finished();
    for (int device = 0; device < 2; ++device) {
        const OnDevice its(device);
        put_seven<<<1, 1, 0, devices.stream(device)>>>(sums.data() + device);
    }
    add_sums<<<1, 1, 0, devices.stream(0)>>>(sums.data(), 2, total.data());
    devices.wait();
}

}  // namespace
}  // namespace several_gpus
