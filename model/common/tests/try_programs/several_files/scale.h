#pragma once

#include <cuda_runtime.h>

__global__ void scale(float* values, int n, float factor);
void scale_on_device(float* d_values, int n, float factor);
double sum_of(const float* values, int n);
