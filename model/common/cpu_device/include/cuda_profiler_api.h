// Starting and stopping a profiler: there is none that could listen.
#pragma once

#include "cpu_device/runtime_api.h"

inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
