// Wrong answer: one thread of one block does it all
// Rejected by: shares the outputs among many threads
// Message: thread
#include "exercises/2_memory_model/hunt_in_a_filter/hunt_in_a_filter.h"

__global__ void sharpen(const float* in, float* out, int n, float amount) {
    const float weights[] = {1, 6, 15, 20, 15, 6, 1};
    for (int i = 0; i < n; ++i) {
        float mean = 0;
        for (int k = -3; k <= 3; ++k)
            mean += i + k >= 0 && i + k < n ? weights[k + 3] / 64 * in[i + k] : 0;
        out[i] = in[i] + amount * (in[i] - mean);
    }
}

void sharpen_signal(const float* d_in, float* d_out, int n, float amount) {
    if (n > 0) sharpen<<<1, 1>>>(d_in, d_out, n, amount);
}
