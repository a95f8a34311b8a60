#include "scale.h"

__global__ void scale(float* values, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= factor * STEPS;
}

void scale_on_device(float* d_values, int n, float factor) { scale<<<(n + 127) / 128, 128>>>(d_values, n, factor); }
