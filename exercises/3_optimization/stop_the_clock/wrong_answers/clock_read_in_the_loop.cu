// Wrong answer: each launch is timed by itself, and the times are added
// Rejected by: turns the time into the bandwidth of all launches together
// Message: The clock is to be read twice
#include "exercises/3_optimization/stop_the_clock/stop_the_clock.h"

#include <cuda_runtime.h>

constexpr unsigned threads_per_block = 256;

__global__ void twice_plus_one(const float* in, float* out, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 2 * in[i] + 1;
}

double gigabytes_per_second(const Job& job) {
    const size_t bytes = job.count * sizeof(float);
    const unsigned blocks = static_cast<unsigned>((job.count + threads_per_block - 1) / threads_per_block);

    cudaMemcpy(job.d_in, job.in, bytes, cudaMemcpyHostToDevice);
    twice_plus_one<<<blocks, threads_per_block>>>(job.d_in, job.d_out, job.count);
    cudaDeviceSynchronize();

    double total = 0;
    for (int i = 0; i < job.repeats; ++i) {
        const double start = job.seconds();
        twice_plus_one<<<blocks, threads_per_block>>>(job.d_in, job.d_out, job.count);
        cudaDeviceSynchronize();
        total += job.seconds() - start;
    }

    cudaMemcpy(job.out, job.d_out, bytes, cudaMemcpyDeviceToHost);
    const double moved = 2.0 * static_cast<double>(bytes) * job.repeats;
    return moved / total / 1e9;
}
