// Which device this is.
#pragma once

#include "cub/util_debug.cuh"
#include "cuda_runtime.h"

namespace cub {

inline int CurrentDevice() {
    int device = -1;
    return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}
inline int DeviceCount() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
/// 900 for compute capability 9.0.
inline cudaError_t SmVersion(int& version, int device = CurrentDevice()) {
    int major = 0, minor = 0;
    cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    version = major * 100 + minor * 10;
    return error;
}
inline cudaError_t PtxVersion(int& version) { return SmVersion(version); }

}  // namespace cub
