// What a device is and can do.
#pragma once

#include "cpu_device/runtime_api.h"

namespace cpu_device {

/// Everything that can be known. Memory clock, bus width and cache size are an H200's, because programs divide by them.
cudaDeviceProp device_properties(int device = 0);

int multiprocessor_count();

/// False for an attribute that is unknown; otherwise sets `*value`.
bool device_attribute(cudaDeviceAttr attribute, int device, int* value);

}  // namespace cpu_device
