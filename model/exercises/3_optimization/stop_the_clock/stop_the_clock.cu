// Exercise: a bandwidth that no memory reaches.
// The task: ./warpwise task stop_the_clock
#include "exercises/3_optimization/stop_the_clock/stop_the_clock.h"

#include <cuda_runtime.h>

constexpr unsigned threads_per_block = 256;

__global__ void twice_plus_one(const float* in, float* out, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 2 * in[i] + 1;
}

double gigabytes_per_second(const Job& job) {
    const size_t bytes = job.count * sizeof(float);
    const unsigned blocks =
        static_cast<unsigned>((job.count + threads_per_block - 1) / threads_per_block);

    const double start = job.seconds();
    cudaMemcpy(job.d_in, job.in, bytes, cudaMemcpyHostToDevice);
    for (int i = 0; i < job.repeats; ++i) {
        twice_plus_one<<<blocks, threads_per_block>>>(job.d_in, job.d_out, job.count);
    }
    const double stop = job.seconds();

    cudaMemcpy(job.out, job.d_out, bytes,
               cudaMemcpyDeviceToHost);  // waits until the kernels have ended
    return 2.0 * static_cast<double>(bytes) * job.repeats / (stop - start) / 1e9;
}
