// Correct answer: a grid-stride loop with size_t, __ldg on pointers
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

#include <algorithm>

__global__ void laplacian(const float* in, float* out, size_t n) {
    const size_t total = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t k = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < n;
         k += total) {
        const float* const before = k == 0 ? in + (n - 1) : in + (k - 1);
        const float* const after = k + 1 == n ? in : in + (k + 1);
        out[k] = __ldg(before) - 2.f * __ldg(in + k) + __ldg(after);
    }
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    laplacian<<<std::min(64, (count + 511) / 512), 512>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
