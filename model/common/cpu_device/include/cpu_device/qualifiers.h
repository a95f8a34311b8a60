// CUDA's qualifiers, as far as they are no more than a hint to a compiler for one kind of processor.
// `__shared__` and `__noinline__` are missing on purpose: the source rewriter replaces them.
#pragma once

#define __host__
#define __device__
#ifdef __CPU_DEVICE_INSTRUMENTED__
// As nvcc does, what a kernel calls is made part of it. Besides, g++ announces no structure that goes straight from
// memory into a call, or back.
#define __global__ __attribute__((__flatten__))
#else
#define __global__
#endif
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)  // the rewriter reads it
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
