// For clangd alone (.clangd): what makes an editor understand .cu files without the CUDA Toolkit. The functions and
// types of CUDA are those of the CPU device; the words of the language and <<<>>> are clang's own.
#pragma once

// clang's wrappers of standard headers want these two.
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#include <stdlib.h>
// glibc has declarations of its own with the names of CUDA's fast functions.
#define __sinf glibc_sinf
#define __cosf glibc_cosf
#define __tanf glibc_tanf
#define __tanhf glibc_tanhf
#define __sincosf glibc_sincosf
#define __expf glibc_expf
#define __exp10f glibc_exp10f
#define __logf glibc_logf
#define __log2f glibc_log2f
#define __log10f glibc_log10f
#define __powf glibc_powf
#include <cmath>
#undef __sinf
#undef __cosf
#undef __tanf
#undef __tanhf
#undef __sincosf
#undef __expf
#undef __exp10f
#undef __logf
#undef __log2f
#undef __log10f
#undef __powf
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#undef __host__
#undef __device__

#pragma clang force_cuda_host_device begin
#include <cuda_runtime.h>
#pragma clang force_cuda_host_device end

#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

// An empty one: headers of the host write __attribute__((__noinline__)).
#define __noinline__

// What kernels call beside the host: clang wants to see them for the device, too.
__device__ int printf(const char* format, ...);
#define CUDA_FOR_CLANGD_UNARY(name)  \
    __device__ float name##f(float); \
    __device__ double name(double);
CUDA_FOR_CLANGD_UNARY(sin)
CUDA_FOR_CLANGD_UNARY(cos)
CUDA_FOR_CLANGD_UNARY(tan)
CUDA_FOR_CLANGD_UNARY(exp)
CUDA_FOR_CLANGD_UNARY(exp2)
CUDA_FOR_CLANGD_UNARY(log)
CUDA_FOR_CLANGD_UNARY(log2)
CUDA_FOR_CLANGD_UNARY(log10)
CUDA_FOR_CLANGD_UNARY(sqrt)
CUDA_FOR_CLANGD_UNARY(tanh)
CUDA_FOR_CLANGD_UNARY(fabs)
CUDA_FOR_CLANGD_UNARY(floor)
CUDA_FOR_CLANGD_UNARY(ceil)
CUDA_FOR_CLANGD_UNARY(rint)
CUDA_FOR_CLANGD_UNARY(round)
CUDA_FOR_CLANGD_UNARY(trunc)
#undef CUDA_FOR_CLANGD_UNARY
#define CUDA_FOR_CLANGD_BINARY(name)        \
    __device__ float name##f(float, float); \
    __device__ double name(double, double);
CUDA_FOR_CLANGD_BINARY(pow)
CUDA_FOR_CLANGD_BINARY(fmin)
CUDA_FOR_CLANGD_BINARY(fmax)
CUDA_FOR_CLANGD_BINARY(fmod)
#undef CUDA_FOR_CLANGD_BINARY
__device__ float fmaf(float, float, float);
__device__ double fma(double, double, double);

// What clang looks for at a launch.
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                                                cudaStream_t stream = nullptr);
