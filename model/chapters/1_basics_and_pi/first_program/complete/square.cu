// The first program: the GPU squares 1000 numbers. It needs no other file of this book.
//
// Without a GPU, in the folder of the book:
//     ./warpwise try chapters/1_basics_and_pi/first_program/complete/square.cu
// With a GPU, in the folder of this file:
//     nvcc square.cu && ./a.out
#include <cstdio>
#include <vector>

// Thousands of threads of the GPU run this function, and each squares one number.
__global__ void square(float* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = values[i] * values[i];
}

int main() {
    const int count = 1000;
    const size_t bytes = count * sizeof(float);
    std::vector<float> numbers(count), squares(count);
    for (int i = 0; i < count; ++i) numbers[i] = i + 2;

    float* d_values = nullptr;
    cudaMalloc(&d_values, bytes);                                         // 1. allocate
    cudaMemcpy(d_values, numbers.data(), bytes, cudaMemcpyHostToDevice);  // 2. copy in
    square<<<(count + 255) / 256, 256>>>(d_values, count);                // 3. launch
    cudaMemcpy(squares.data(), d_values, bytes, cudaMemcpyDeviceToHost);  // 4. copy out
    cudaFree(d_values);                                                   // 5. free

    const cudaError_t status = cudaGetLastError();  // Did any of these calls fail?
    std::printf("status: %s\n", cudaGetErrorString(status));
    for (const int i : {0, 1, count - 1})
        std::printf("%.0f * %.0f = %.0f\n", numbers[i], numbers[i], squares[i]);
    return status == cudaSuccess ? 0 : 1;
}
