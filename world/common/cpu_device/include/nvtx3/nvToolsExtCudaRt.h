// Names for a profiler's time line of the CUDA runtime's devices, streams and events. All of this does nothing.
#pragma once

#include "cpu_device/types.h"
#include "nvtx3/nvToolsExt.h"

inline void nvtxNameCudaDeviceA(int /*device*/, const char* /*name*/) {}
inline void nvtxNameCudaDeviceW(int /*device*/, const wchar_t* /*name*/) {}
inline void nvtxNameCudaStreamA(cudaStream_t /*stream*/, const char* /*name*/) {}
inline void nvtxNameCudaStreamW(cudaStream_t /*stream*/, const wchar_t* /*name*/) {}
inline void nvtxNameCudaEventA(cudaEvent_t /*event*/, const char* /*name*/) {}
inline void nvtxNameCudaEventW(cudaEvent_t /*event*/, const wchar_t* /*name*/) {}

#ifdef UNICODE
#define nvtxNameCudaDevice nvtxNameCudaDeviceW
#define nvtxNameCudaStream nvtxNameCudaStreamW
#define nvtxNameCudaEvent nvtxNameCudaEventW
#else
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif
