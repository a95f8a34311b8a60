// Wrong answer: the host adds, and an empty kernel is launched
// Rejected by: adds square matrices
// Message: copied from host memory
#include <cuda_runtime.h>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

#include <vector>

__global__ void add_elements() {}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    const size_t count = size_t(rows) * cols;
    std::vector<float> a(count), b(count);
    cudaMemcpy(a.data(), d_a, count * sizeof(float), cudaMemcpyDefault);
    cudaMemcpy(b.data(), d_b, count * sizeof(float), cudaMemcpyDefault);
    for (size_t i = 0; i < count; ++i) a[i] += b[i];
    cudaMemcpy(d_sum, a.data(), count * sizeof(float), cudaMemcpyDefault);
    add_elements<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>();
}
