// Correct answer: a class that frees its memory when it goes out of scope
#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

#include <cstddef>

namespace {

class Buffer {
public:
    explicit Buffer(std::size_t bytes) : status_(cudaMalloc(&memory_, bytes)) {}
    ~Buffer() { cudaFree(memory_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    cudaError_t status() const { return status_; }
    float* data() const { return memory_; }

private:
    float* memory_ = nullptr;
    cudaError_t status_;
};

__global__ void multiply(float* values, const float* from, float by, int count) {
    const int mine = threadIdx.x + blockIdx.x * blockDim.x;
    if (mine >= count) return;
    values[mine] = from[mine] * by;
}

}  // namespace

cudaError_t scale(const float* in, float* out, int n, float factor) {
    if (n <= 0) return cudaSuccess;
    const std::size_t bytes = n * sizeof *in;
    const Buffer d_in(bytes), d_out(bytes);
    if (d_in.status() != cudaSuccess) return d_in.status();
    if (d_out.status() != cudaSuccess) return d_out.status();
    cudaError_t status = cudaMemcpy(d_in.data(), in, bytes, cudaMemcpyHostToDevice);
    if (status != cudaSuccess) return status;
    multiply<<<(n - 1) / 128 + 1, 128>>>(d_out.data(), d_in.data(), factor, n);
    status = cudaGetLastError();
    if (status != cudaSuccess) return status;
    return cudaMemcpy(out, d_out.data(), bytes, cudaMemcpyDeviceToHost);
}
