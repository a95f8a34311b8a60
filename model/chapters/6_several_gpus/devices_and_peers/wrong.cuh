// Mistakes with several devices, for the CPU device to find. On GPUs, some of them are
// errors, some end the program, and some work by luck, so they do not run there.
#pragma once

#include <cuda_runtime.h>

#include "chapters/6_several_gpus/devices.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"

namespace several_gpus {
namespace {

constexpr std::size_t kWrong = 64;  // floats

__global__ void add_one_to(float* values) { values[threadIdx.x] += 1; }

inline warpwise::DeviceBuffer<float> zeros_on(int device) {
    const OnDevice current(device);
    warpwise::DeviceBuffer<float> zeros(kWrong);
    zeros.fill_bytes(0);
    warpwise::check_finished();
    return zeros;
}

// WRONG: device 0 may not use the memory of device 1 before it was enabled.
void peer_not_enabled() {
    const OnDevice current(0);
    (void)cudaDeviceDisablePeerAccess(1);
    (void)cudaGetLastError();
    warpwise::DeviceBuffer<float> values = zeros_on(1);
    add_one_to<<<1, kWrong>>>(values.data());
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();
    enable_peer(0, 1);
}

// WRONG: the stream is that of device 1, and the current device is 0.
void stream_of_another_device() {
    warpwise::DeviceBuffer<float> values = zeros_on(0);
    const Stream stream(1);
    const OnDevice current(0);
    add_one_to<<<1, kWrong, 0, stream.get()>>>(values.data());
    (void)cudaGetLastError();
    (void)cudaDeviceSynchronize();
}

// WRONG: an event can be recorded in streams of its own device only.
void event_of_another_device() {
    const Event event(0);
    const Stream stream(1);
    (void)cudaEventRecord(event.get(), stream.get());
    (void)cudaGetLastError();
}

}  // namespace
}  // namespace several_gpus
