// __CUDA_ARCH__ as programs use it: a fallback for old chips, one function for both sides, a check that the device code
// is there, and macros of the compiler and of CUDA's headers.
#include <assert.h>
#include <cuda_runtime.h>
#include <stdio.h>

#if defined(__NVCC__) || defined(__CUDACC__)
#define HD __host__ __device__ __forceinline__
#else
#define HD inline
#endif

#ifndef __CUDA_RUNTIME_H__
#error "the runtime's header has no guard"
#endif
#ifndef __DRIVER_TYPES_H__
#error "the header of types has no guard"
#endif
#if !defined(CUDART_VERSION) || CUDART_VERSION < 9000
#error "CUDA is too old"
#endif

#ifdef __CUDA_ARCH__
#define WARN(text)
#else
#define WARN(text) printf("host warns: %s\n", text)
#endif

// Chips before compute capability 6.0 had no atomicAdd for double.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
__device__ double atomicAdd(double *address, double value)
{
    unsigned long long *bits = (unsigned long long *)address, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
#endif

HD int leading_zeros(unsigned x)
{
    WARN("no instruction for this");
#ifdef __CUDA_ARCH__
    return __clz(x);
#else
    int zeros = 0;
    while (zeros < 32 && !(x >> (31 - zeros) & 1)) zeros++;
    return zeros;
#endif
}

template <class T> struct Accumulator {
    T sum;
    HD Accumulator() : sum(0) {}
    HD void add(T *total)
    {
#if __CUDA_ARCH__
        atomicAdd(total, sum);
#else
        *total += sum;
#endif
    }
};

__global__ void work(double *total, int *zeros, int *arch)
{
    Accumulator<double> mine;
    mine.sum = threadIdx.x;
    mine.add(total);
#if __CUDA_ARCH__ >= 300
    int sum = __reduce_add_sync(0xffffffffu, leading_zeros(1u << threadIdx.x));
    if (threadIdx.x == 0) *zeros = sum;
#else
    *zeros = -1;  // this code would vanish without the macro
#endif
#ifdef __CUDA_ARCH__
    if (threadIdx.x == 0) *arch = __CUDA_ARCH__ / 10;
#endif
}

int main()
{
    double *total;
    int *zeros, *arch;
    cudaMallocManaged(&total, sizeof(double));
    cudaMallocManaged(&zeros, sizeof(int));
    cudaMallocManaged(&arch, sizeof(int));
    *total = 0;
    *zeros = *arch = 0;
    work<<<1, 32>>>(total, zeros, arch);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    printf("total %g, zeros %d, compiled for this chip: %s\n", *total, *zeros,
           *arch == 10 * properties.major + properties.minor ? "yes" : "no");
    printf("on the host %d\n", leading_zeros(1u << 20));
#ifdef __CUDA_ARCH__
    printf("host code sees the macro\n");
    return 1;
#endif
    cudaFree(total);
    cudaFree(zeros);
    cudaFree(arch);
    return 0;
}
