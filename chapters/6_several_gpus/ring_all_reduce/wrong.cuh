// A mistake with flags between devices, for the CPU device to find.
#pragma once

#include <cuda_runtime.h>
#include <cuda/atomic>

#include "chapters/6_several_gpus/devices.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"

namespace several_gpus {
namespace {

__global__ void send_relaxed(float* value, unsigned* flag) {
    *value = 7;
    cuda::atomic_ref<unsigned, cuda::thread_scope_system>(*flag).store(
        1, cuda::memory_order_relaxed);
}

__global__ void receive(const float* value, unsigned* flag, float* out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> set(*flag);
    while (set.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *value;
}

// WRONG: the store to the flag is relaxed, so it may be seen before the number is.
void relaxed_flag() {
    enable_all_peers(2);
    Devices devices(2);
    const OnDevice current(1);
    warpwise::DeviceBuffer<float> value(1), out(1);
    warpwise::DeviceBuffer<unsigned> flag(1);
    value.fill_bytes(0);
    flag.fill_bytes(0);
    warpwise::check_finished();
    receive<<<1, 1, 0, devices.stream(1)>>>(value.data(), flag.data(), out.data());
    const OnDevice sender(0);
    send_relaxed<<<1, 1, 0, devices.stream(0)>>>(value.data(), flag.data());
    devices.wait();
}

}  // namespace
}  // namespace several_gpus
