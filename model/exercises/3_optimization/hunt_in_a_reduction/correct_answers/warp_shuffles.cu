// Correct answer: shuffles in each warp, and one atomic addition per warp, piece by piece
#include "exercises/3_optimization/hunt_in_a_reduction/hunt_in_a_reduction.h"

#include <algorithm>

__global__ void square_and_add(const float* values, int n, float* sum) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float square = i < n ? values[i] * values[i] : 0;
    for (int distance = 16; distance > 0; distance /= 2)
        square += __shfl_xor_sync(0xffffffffu, square, distance);
    if (threadIdx.x % warpSize == 0) atomicAdd(sum, square);
}

cudaError_t sum_of_squares(const float* values, int n, float* sum) {
    *sum = 0;
    if (n == 0) return cudaSuccess;
    constexpr int most = 4096;
    double all = 0;
    float* d = nullptr;  // a piece, and its sum behind it
    cudaError_t status = cudaMalloc(&d, (most + 1) * sizeof(float));
    for (int first = 0; first < n && status == cudaSuccess; first += most) {
        const int count = std::min(most, n - first);
        status = cudaMemcpy(d, values + first, count * sizeof(float), cudaMemcpyDefault);
        if (status == cudaSuccess) status = cudaMemset(d + most, 0, sizeof(float));
        if (status != cudaSuccess) break;
        square_and_add<<<(count + 511) / 512, 512>>>(d, count, d + most);
        status = cudaGetLastError();
        float of_piece = 0;
        if (status == cudaSuccess)
            status = cudaMemcpy(&of_piece, d + most, sizeof(float), cudaMemcpyDeviceToHost);
        all += of_piece;
    }
    cudaFree(d);
    if (status == cudaSuccess) *sum = static_cast<float>(all);
    return status;
}
