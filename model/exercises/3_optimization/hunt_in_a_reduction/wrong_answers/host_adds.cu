// Wrong answer: the host adds up the squares
// Rejected by: adds up any number of squares
// Message: bytes were copied to the device, and the values have
#include "exercises/3_optimization/hunt_in_a_reduction/hunt_in_a_reduction.h"

__global__ void nothing() {}

cudaError_t sum_of_squares(const float* values, int n, float* sum) {
    double all = 0;
    for (int i = 0; i < n; ++i) all += double(values[i]) * values[i];
    *sum = float(all);
    if (n == 0) return cudaSuccess;
    nothing<<<1, 1>>>();
    return cudaGetLastError();
}
