// Stands in front of Thrust's own header of this name, which comes from CCCL or the CUDA Toolkit: Thrust's algorithms
// run on the host, by its C++ system, and may use device memory there.
#pragma once

#include "cpu_device/host_access.h"

#ifndef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif

#include_next <thrust/detail/config/device_system.h>

namespace cpu_device {

inline const bool thrust_may_use_device_memory = allow_host_access();

}  // namespace cpu_device
