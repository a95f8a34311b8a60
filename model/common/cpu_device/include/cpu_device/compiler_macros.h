// What nvcc 13.0 defines for the files that it compiles, for the compute capability that the CPU device has.
//
// __NVCC__ stays undefined: libraries of the host take it to mean that nvcc's front end reads them. In a program's own
// files the rewriter puts __CUDACC__ in its place. __CUDA_ARCH__ is defined by the rewriter too, around device code.
#pragma once

#ifdef __CUDACC__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#define __CUDA_ARCH_LIST__ 900
// What nvcc's options --extended-lambda and --expt-relaxed-constexpr permit is permitted here.
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#endif

#define __CUDA_API_VER_MAJOR__ 13
#define __CUDA_API_VER_MINOR__ 0
#define __CUDART_API_VERSION CUDART_VERSION

// The guards of CUDA's headers: programs look at them to learn what has been included.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __TEXTURE_TYPES_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __HOST_DEFINES_H__
