// Solution: a bandwidth that no memory reaches.
//
// The clock belongs to the host, and the host does not wait for the device by itself. So
// both readings need a wait right in front of them: the first one, lest work from before is
// timed as well, and the last one, lest the work itself is left out. What is not to be
// measured stands outside of the two: the copies, and the first launch, at which the
// kernel's code is loaded and the chip leaves its idle clocks.
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
    const auto launch = [&] {
        twice_plus_one<<<blocks, threads_per_block>>>(job.d_in, job.d_out, job.count);
    };

    cudaMemcpy(job.d_in, job.in, bytes, cudaMemcpyHostToDevice);
    launch();  // once, to warm up
    cudaDeviceSynchronize();

    const double start = job.seconds();
    for (int i = 0; i < job.repeats; ++i) launch();
    cudaDeviceSynchronize();
    const double stop = job.seconds();

    cudaMemcpy(job.out, job.d_out, bytes, cudaMemcpyDeviceToHost);
    return 2.0 * static_cast<double>(bytes) * job.repeats / (stop - start) / 1e9;
}
