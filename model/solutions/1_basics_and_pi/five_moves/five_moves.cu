// Solution: allocate, copy in, launch, copy out, free.
//
// Host and device have memories of their own. So the input has to be brought to the device
// before the kernel runs, and the result has to be fetched from there afterwards. The names
// of device pointers begin with d_, because the compiler cannot tell them from host
// pointers: both are float*.
//
// `status` holds the first error. After an error all further moves are left out except the
// last one: memory has to be freed in any case. cudaFree(nullptr) does nothing, so it does
// not matter which of the allocations succeeded.
#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

#include <cstddef>

__global__ void scale_elements(const float* d_in, float* d_out, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d_out[i] = factor * d_in[i];
}

cudaError_t scale(const float* in, float* out, int n, float factor) {
    if (n == 0) return cudaSuccess;  // a grid without blocks cannot be launched
    const std::size_t bytes = n * sizeof(float);

    // Allocate. cudaMalloc stores the address in the pointer, so it needs the pointer's own
    // address.
    float* d_in = nullptr;
    float* d_out = nullptr;
    cudaError_t status = cudaMalloc(&d_in, bytes);
    if (status == cudaSuccess) status = cudaMalloc(&d_out, bytes);

    // Copy in. The destination comes first, as in memcpy, and the size is in bytes.
    if (status == cudaSuccess) {
        status = cudaMemcpy(d_in, in, bytes, cudaMemcpyHostToDevice);
    }

    // Launch. Rounding up gives the last elements a block as well, and the guard in the
    // kernel stops the threads of that block that have no element. A launch returns
    // nothing: cudaGetLastError says whether it was accepted.
    if (status == cudaSuccess) {
        const int threads_per_block = 256;
        const int blocks = (n + threads_per_block - 1) / threads_per_block;
        scale_elements<<<blocks, threads_per_block>>>(d_in, d_out, n, factor);
        status = cudaGetLastError();
    }

    // Copy out. This copy waits until the kernel has ended, and then also returns the error
    // of a kernel that died.
    if (status == cudaSuccess) {
        status = cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost);
    }

    // Free.
    const cudaError_t freed_in = cudaFree(d_in);
    const cudaError_t freed_out = cudaFree(d_out);
    if (status == cudaSuccess) status = freed_in;
    if (status == cudaSuccess) status = freed_out;
    return status;
}
