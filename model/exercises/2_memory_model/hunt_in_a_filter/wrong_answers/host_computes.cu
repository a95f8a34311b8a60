// Wrong answer: computes on the host
// Rejected by: sharpens signals of any length
// Message: copied from host memory
#include "exercises/2_memory_model/hunt_in_a_filter/hunt_in_a_filter.h"

#include <vector>

__global__ void read_all(const float* in, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        volatile float value = in[i];
        (void)value;
    }
}

void sharpen_signal(const float* d_in, float* d_out, int n, float amount) {
    if (n == 0) return;
    read_all<<<1, 1024>>>(d_in, n);
    std::vector<float> in(n), out(n);
    cudaMemcpy(in.data(), d_in, n * sizeof(float), cudaMemcpyDeviceToHost);
    const float weights[] = {1, 6, 15, 20, 15, 6, 1};
    for (int i = 0; i < n; ++i) {
        float mean = 0;
        for (int k = -3; k <= 3; ++k)
            if (i + k >= 0 && i + k < n) mean += weights[k + 3] / 64 * in[i + k];
        out[i] = in[i] + amount * (in[i] - mean);
    }
    cudaMemcpy(d_out, out.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
