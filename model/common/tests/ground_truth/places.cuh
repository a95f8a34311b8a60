// Which place of an array thread or lane `i` takes. Kernels and their checks use the same functions.
#pragma once

#include <cuda_runtime.h>

#include "common/tests/ground_truth/launch_and_check.cuh"

namespace ground_truth {

struct Contiguous {
    static __host__ __device__ unsigned of(unsigned i) { return i; }
};

template <unsigned stride>
struct Strided {
    static __host__ __device__ unsigned of(unsigned i) { return stride * i; }
};

template <unsigned offset>
struct Shifted {
    static __host__ __device__ unsigned of(unsigned i) { return i + offset; }
};

/// The last thread of the grid comes first.
struct Reversed {
    static __host__ __device__ unsigned of(unsigned i) { return kCount - 1 - i; }
};

/// Neighbors share a place: i / sharing.
template <unsigned sharing>
struct Grouped {
    static __host__ __device__ unsigned of(unsigned i) { return i / sharing; }
};

/// Places 0 to period - 1 again and again, `stride` apart.
template <unsigned period, unsigned stride = 1>
struct Repeated {
    static __host__ __device__ unsigned of(unsigned i) { return i % period * stride; }
};

/// Which lanes take part, and with which other one each of them exchanges something.
struct AllLanes {
    static __host__ __device__ bool has(unsigned) { return true; }
    static __host__ __device__ unsigned partner(unsigned i) { return i ^ 1; }
};

struct FirstHalf {
    static __host__ __device__ bool has(unsigned i) { return i % kWarpSize < kWarpSize / 2; }
    static __host__ __device__ unsigned partner(unsigned i) { return i ^ 1; }
};

struct EvenLanes {
    static __host__ __device__ bool has(unsigned i) { return i % 2 == 0; }
    static __host__ __device__ unsigned partner(unsigned i) { return i ^ 2; }
};

struct OneLane {
    static __host__ __device__ bool has(unsigned i) { return i % kWarpSize == 5; }
};

}  // namespace ground_truth
