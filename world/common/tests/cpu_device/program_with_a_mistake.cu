// A program that ends as if all were well, although its kernel has a divergent barrier. The CPU device says so in its
// exit status.
#include <cstdio>

__global__ void kernel() {
    if (threadIdx.x < 5) __syncthreads();
    __syncthreads();
}

int main() {
    kernel<<<1, 32>>>();
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
