// Wrong answer: one thread per row
// Rejected by: handles rows of one element per thread
// Message: threads
#include "exercises/4_examples/online_softmax/online_softmax.h"

#include <cuda_runtime.h>

#include <cfloat>

__global__ void softmax_of_row(const float* in, size_t rows, size_t cols, float* out) {
    const size_t row = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float largest = -FLT_MAX, sum = 0;
    for (size_t col = 0; col < cols; ++col) {
        const float x = in[row * cols + col], larger = fmaxf(largest, x);
        sum = sum * expf(largest - larger) + expf(x - larger);
        largest = larger;
    }
    for (size_t col = 0; col < cols; ++col)
        out[row * cols + col] = expf(in[row * cols + col] - largest) / sum;
}

void softmax(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    softmax_of_row<<<static_cast<unsigned>((rows + 255) / 256), 256>>>(d_in, rows, cols,
                                                                       d_out);
}
