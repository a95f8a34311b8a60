// A program of three files: a kernel that is defined in another file, and a file without any.
#include <cstdio>
#include <vector>

#include "scale.h"

int main(int argc, char** argv) {
    const int n = 1000;
    std::vector<float> values(n, 1.0f);
    float* d_values;
    cudaMalloc(&d_values, n * sizeof(float));
    cudaMemcpy(d_values, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale_on_device(d_values, n, 2);
    scale<<<8, 128>>>(d_values, n, 0.5f);
    cudaMemcpy(values.data(), d_values, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_values);
    printf("sum: %.1f\n", sum_of(values.data(), n));
}
