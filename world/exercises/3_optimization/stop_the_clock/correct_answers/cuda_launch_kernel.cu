// Correct answer: launches by cudaLaunchKernel with an array of arguments
#include "exercises/3_optimization/stop_the_clock/stop_the_clock.h"

#include <cuda_runtime.h>

__global__ void twice_plus_one(const float* in, float* out, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 2 * in[i] + 1;
}

double gigabytes_per_second(const Job& job) {
    const float* in = job.d_in;
    float* out = job.d_out;
    size_t count = job.count;
    void* arguments[] = {&in, &out, &count};
    const dim3 block(256);
    const dim3 grid(static_cast<unsigned>((count + 255) / 256));
    const void* kernel = reinterpret_cast<const void*>(&twice_plus_one);
    const size_t bytes = count * sizeof(float);

    cudaMemcpy(job.d_in, job.in, bytes, cudaMemcpyHostToDevice);
    cudaLaunchKernel(kernel, grid, block, arguments, 0, nullptr);  // warm-up
    cudaDeviceSynchronize();

    const double start = job.seconds();
    for (int i = 0; i < job.repeats; ++i) {
        cudaLaunchKernel(kernel, grid, block, arguments, 0, nullptr);
    }
    cudaDeviceSynchronize();
    const double stop = job.seconds();

    cudaMemcpy(job.out, job.d_out, bytes, cudaMemcpyDeviceToHost);
    return 2.0 * bytes * job.repeats / (stop - start) * 1e-9;
}
