// The driver API is not part of the CPU device: its functions (cuInit, cuLaunchKernel ...) do not exist here, but for
// cuTensorMapEncodeTiled. Programs of the runtime API include this header for the version and the names of the types.
#pragma once

#include "cpu_device/runtime_api.h"
#include "cpu_device/tensor_maps.h"

#define CUDA_VERSION 13000

typedef int CUdevice;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef unsigned long long CUdeviceptr;
