// The driver API is not part of the CPU device: its functions (cuInit, cuLaunchKernel ...) do not exist here.
// Programs of the runtime API include this header for the version and the names of the types.
#pragma once

#include "cpu_device/runtime_api.h"

#define CUDA_VERSION 13000

enum cudaError_enum { CUDA_SUCCESS = 0 };
typedef cudaError_enum CUresult;

typedef int CUdevice;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef unsigned long long CUdeviceptr;
