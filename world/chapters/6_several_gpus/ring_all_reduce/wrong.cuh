// Mistakes with collective operations, for the CPU device to find. On GPUs the program
// would wait forever, so they do not run there.
#pragma once

#include <cuda_runtime.h>

#include "chapters/6_several_gpus/device_arrays.h"
#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/nccl.h"

namespace several_gpus {
namespace {

#ifdef WARPWISE_NCCL
constexpr std::size_t kFew = 64;  // floats

// WRONG: one thread calls for two devices, and the first call waits for the second one.
void no_group() {
    Devices devices(2);
    Communicators communicators(2);
    DeviceArrays<float> d_values(devices, [](int) { return kFew; });
    d_values.fill_bytes(0);
    for (int d = 0; d < 2; ++d) {
        const OnDevice current(d);
        (void)ncclAllReduce(d_values.data(d), d_values.data(d), kFew, ncclFloat, ncclSum,
                            communicators.of(d), devices.stream(d));
    }
    for (int d = 0; d < 2; ++d) (void)cudaStreamSynchronize(devices.stream(d));
    (void)cudaGetLastError();
}

// WRONG: device 0 adds up, and device 1 broadcasts. Each waits for the other to come.
void other_operation() {
    Devices devices(2);
    Communicators communicators(2);
    DeviceArrays<float> d_values(devices, [](int) { return kFew; });
    d_values.fill_bytes(0);
    (void)ncclGroupStart();
    (void)ncclAllReduce(d_values.data(0), d_values.data(0), kFew, ncclFloat, ncclSum,
                        communicators.of(0), devices.stream(0));
    (void)ncclBroadcast(d_values.data(1), d_values.data(1), kFew, ncclFloat, 0,
                        communicators.of(1), devices.stream(1));
    (void)ncclGroupEnd();
    for (int d = 0; d < 2; ++d) (void)cudaStreamSynchronize(devices.stream(d));
    (void)cudaGetLastError();
}
#endif

}  // namespace
}  // namespace several_gpus
