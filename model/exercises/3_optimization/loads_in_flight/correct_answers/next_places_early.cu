// Correct answer: a pipeline that loads the next four places while it waits for elements
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

struct Four {
    int p[4];
};

__device__ Four four_places(const int* places, int i, int stride, int n) {
    Four four = {};
    for (int k = 0; k < 4; ++k) {
        if (i + k * stride < n) four.p[k] = places[i + k * stride];
    }
    return four;
}

__global__ void gather_elements(const float* __restrict__ table,
                                const int* __restrict__ places, float* __restrict__ out,
                                int n) {
    const int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Four now = four_places(places, i, stride, n);
    for (; i < n; i += 4 * stride) {
        float value[4];
        for (int k = 0; k < 4; ++k) {
            if (i + k * stride < n) value[k] = table[now.p[k]];
        }
        now = four_places(places, i + 4 * stride, stride, n);
        for (int k = 0; k < 4; ++k) {
            if (i + k * stride < n) out[i + k * stride] = value[k];
        }
    }
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n == 0) return;
    gather_elements<<<16, 512>>>(d_table, d_places, d_out, n);
}
