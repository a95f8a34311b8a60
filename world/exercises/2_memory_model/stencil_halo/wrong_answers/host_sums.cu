// Wrong answer: the host sums the windows, the kernel does nothing
// Rejected by: copies the array for radius 0
// Message: was copied from host memory
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

#include <algorithm>
#include <vector>

__global__ void nothing() {}

void sum_windows(const float* d_in, float* d_out, int count, int radius,
                 int threads_per_block) {
    if (count == 0) return;
    std::vector<float> in(count), out(count);
    cudaMemcpy(in.data(), d_in, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i) {
        for (int k = std::max(0, i - radius); k <= std::min(count - 1, i + radius); ++k)
            out[i] += in[k];
    }
    cudaMemcpy(d_out, out.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    nothing<<<1, threads_per_block>>>();
}
