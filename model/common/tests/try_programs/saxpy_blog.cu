// SAXPY with unified memory, three ways: one element per thread, a grid-stride loop that just fills the device, and the
// same loop after prefetching the pages. The companion code of a blog post.
//
//   nvcc -O3 -std=c++17 saxpy_blog.cu -o saxpy && ./saxpy

#include <cassert>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string_view>

// Convenience function for checking CUDA runtime API results: can be wrapped around any runtime API call.
inline cudaError_t checkCuda(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "CUDA Runtime Error: %s\n", cudaGetErrorString(result));
        assert(result == cudaSuccess);
    }
    return result;
}

// The naive ("monolithic") version: it needs a grid as large as the data.
__global__ void saxpy(int n, float a, float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// The flexible version: any grid covers any n, and <<<1, 1>>> makes it a serial loop for debugging.
__global__ void saxpy_grid_stride(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        y[i] = fmaf(a, x[i], y[i]);
    }
}

__global__ void init(int n, float* x, float* y) {
    int index = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    for (int i = index; i < n; i += stride) {
        x[i] = 1.0f;
        y[i] = 2.0f;
    }
}

// CUDA 13 takes a location where older toolkits took a device number.
void prefetch(const void* pointer, size_t bytes, int device) {
#if defined(CUDART_VERSION) && CUDART_VERSION >= 13000
    cudaMemLocation where{};
    where.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    where.id = device == cudaCpuDeviceId ? 0 : device;
    checkCuda(cudaMemPrefetchAsync(pointer, bytes, where, 0, 0));
#else
    checkCuda(cudaMemPrefetchAsync(pointer, bytes, device, NULL));
#endif
}

float max_error(int n, const float* y, float expected) {
    float worst = 0.0f;
    for (int i = 0; i < n; i++) worst = std::fmax(worst, std::fabs(y[i] - expected));
    return worst;
}

int main(int argc, char* argv[]) {
    const bool verbose = argc > 1 && std::string_view(argv[1]) == "--verbose";
    const int n = 1 << 16;
    const size_t bytes = n * sizeof(float);
    float *x, *y;

    // Unified Memory: accessible from CPU and GPU.
    checkCuda(cudaMallocManaged(&x, bytes));
    checkCuda(cudaMallocManaged(&y, bytes));

    // Initialize x and y arrays on the host.
    for (int i = 0; i < n; i++) {
        x[i] = 1.0f;
        y[i] = 2.0f;
    }

    // Perform SAXPY on 64K elements.
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y);
    checkCuda(cudaGetLastError());
    checkCuda(cudaDeviceSynchronize());
    float error = max_error(n, y, 4.0f);
    std::cout << "one element per thread, max error: " << error << std::endl;

    int device = -1, num_sms = 0, can_prefetch = 0;
    checkCuda(cudaGetDevice(&device));
    checkCuda(cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device));
    checkCuda(cudaDeviceGetAttribute(&can_prefetch, cudaDevAttrConcurrentManagedAccess, device));
    if (verbose) std::cerr << num_sms << " multiprocessors, prefetching: " << std::boolalpha << !!can_prefetch << '\n';

    // The same numbers again, with a grid that is a multiple of the number of multiprocessors.
    saxpy_grid_stride<<<2 * num_sms, 256>>>(n, 0.5f, x, y);
    checkCuda(cudaDeviceSynchronize());
    error = std::fmax(error, max_error(n, y, 4.5f));
    std::cout << "grid-stride loop, max error: " << error << std::endl;

    // Debug run: one thread does it all, in order. Only the first elements, it takes its time.
    saxpy_grid_stride<<<1, 1>>>(1000, 1.0f, x, y);
    checkCuda(cudaDeviceSynchronize());
    error = std::fmax(error, max_error(1000, y, 5.5f));
    error = std::fmax(error, max_error(n - 1000, y + 1000, 4.5f));
    std::cout << "one thread, max error: " << error << std::endl;

    // Initialize on the GPU, so that the pages are there already; then hand the result to the CPU in one piece.
    if (can_prefetch) {
        prefetch(x, bytes, device);
        prefetch(y, bytes, device);
    }
    int blockSize = 0, minGridSize = 0;
    checkCuda(cudaOccupancyMaxPotentialBlockSize(&minGridSize, &blockSize, init, 0, 0));
    init<<<minGridSize, blockSize>>>(n, x, y);
    saxpy_grid_stride<<<minGridSize, blockSize>>>(n, 2.0f, x, y);
    if (can_prefetch) prefetch(y, bytes, cudaCpuDeviceId);
    checkCuda(cudaDeviceSynchronize());
    error = std::fmax(error, max_error(n, y, 4.0f));
    std::cout << "initialized on the device, max error: " << error << std::endl;

    checkCuda(cudaFree(x));
    checkCuda(cudaFree(y));

    std::cout << (error == 0.0f ? "PASSED" : "FAILED") << std::endl;
    return error == 0.0f ? 0 : 1;
}
