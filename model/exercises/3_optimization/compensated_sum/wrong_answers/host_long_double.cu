// Wrong answer: the host adds, and two empty kernels are launched
// Rejected by: adds up whole numbers
// Message: copied 1 time with cudaMemcpyDeviceToHost
#include <cuda_runtime.h>

#include "exercises/3_optimization/compensated_sum/compensated_sum.h"

#include <vector>

__global__ void sum_blocks() {}
__global__ void add_blocks() {}

void add_up(const float* d_values, int count, float*, float*, float* d_sum, int blocks) {
    std::vector<float> values(count);
    cudaMemcpy(values.data(), d_values, count * sizeof(float), cudaMemcpyDeviceToHost);
    float sum = 0, lost = 0;
    for (const float value : values) {
        const float next = sum + value;
        const float virtual_part = next - sum;
        lost += (sum - (next - virtual_part)) + (value - virtual_part);
        sum = next;
    }
    sum += lost;
    cudaMemcpy(d_sum, &sum, sizeof sum, cudaMemcpyHostToDevice);
    sum_blocks<<<blocks, 128>>>();
    add_blocks<<<1, 128>>>();
}
