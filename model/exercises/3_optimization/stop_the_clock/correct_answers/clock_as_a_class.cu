// Correct answer: the clock's two readings are those of an object
#include "exercises/3_optimization/stop_the_clock/stop_the_clock.h"

#include <cuda_runtime.h>

constexpr unsigned threads_per_block = 256;

__global__ void twice_plus_one(const float* in, float* out, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 2 * in[i] + 1;
}

class Stopwatch {
public:
    explicit Stopwatch(const Job& job) : job_(job) {
        cudaDeviceSynchronize();
        start_ = job_.seconds();
    }
    double stop() {
        cudaDeviceSynchronize();
        return job_.seconds() - start_;
    }

private:
    const Job& job_;
    double start_;
};

double gigabytes_per_second(const Job& job) {
    const size_t bytes = job.count * sizeof(float);
    const unsigned blocks =
        static_cast<unsigned>((job.count + threads_per_block - 1) / threads_per_block);
    cudaMemcpy(job.d_in, job.in, bytes, cudaMemcpyHostToDevice);
    twice_plus_one<<<blocks, threads_per_block>>>(job.d_in, job.d_out, job.count);

    Stopwatch stopwatch(job);
    for (int i = 0; i < job.repeats; ++i) {
        twice_plus_one<<<blocks, threads_per_block>>>(job.d_in, job.d_out, job.count);
    }
    const double elapsed = stopwatch.stop();

    cudaMemcpy(job.out, job.d_out, bytes, cudaMemcpyDeviceToHost);
    const double per_launch = elapsed / job.repeats;
    return 2.0 * bytes / per_launch / 1e9;
}
