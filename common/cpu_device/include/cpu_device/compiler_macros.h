// What nvcc 13.0 defines for the files that it compiles, for the compute capability that the CPU device has.
//
// __NVCC__ stays undefined: libraries of the host take it to mean that nvcc's front end reads them. So does
// __CUDA_ARCH__: host and device code are one compilation here.
#pragma once

#ifdef __CUDACC__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#define __CUDA_ARCH_LIST__ 900
#endif
