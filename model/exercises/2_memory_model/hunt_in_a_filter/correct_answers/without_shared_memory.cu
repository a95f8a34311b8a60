// Correct answer: reads its windows from global memory
#include "exercises/2_memory_model/hunt_in_a_filter/hunt_in_a_filter.h"

__global__ void sharpen(const float* in, float* out, int n, float amount) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        const float weights[] = {1, 6, 15, 20, 15, 6, 1};
        float sum = 0;
        for (int k = 0; k < 7; ++k) {
            const int j = i + k - 3;
            if (j >= 0 && j < n) sum += weights[k] * in[j];
        }
        out[i] = in[i] + amount * (in[i] - sum / 64);
    }
}

void sharpen_signal(const float* d_in, float* d_out, int n, float amount) {
    if (n > 0) sharpen<<<32, 128>>>(d_in, d_out, n, amount);
}
