// Correct answer: ifs, size_t everywhere, and rows of the tiles padded by one
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

constexpr size_t T = 16;

__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B,
                       float* __restrict__ C, size_t M, size_t N, size_t K) {
    __shared__ float As[T][T + 1];
    __shared__ float Bs[T][T + 1];
    const size_t across = (N + T - 1) / T;
    const size_t i = blockIdx.x / across * T + threadIdx.y;
    const size_t j = blockIdx.x % across * T + threadIdx.x;
    float acc = 0.0f;
    for (size_t t = 0; t < (K + T - 1) / T; ++t) {
        const size_t ka = t * T + threadIdx.x;
        const size_t kb = t * T + threadIdx.y;
        if (i < M && ka < K)
            As[threadIdx.y][threadIdx.x] = A[i * K + ka];
        else
            As[threadIdx.y][threadIdx.x] = 0.0f;
        if (kb < K && j < N)
            Bs[threadIdx.y][threadIdx.x] = B[kb * N + j];
        else
            Bs[threadIdx.y][threadIdx.x] = 0.0f;
        __syncthreads();
#pragma unroll
        for (size_t p = 0; p < T; ++p)
            acc = fmaf(As[threadIdx.y][p], Bs[p][threadIdx.x], acc);
        __syncthreads();
    }
    if (i < M && j < N) C[i * N + j] = acc;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m <= 0 || n <= 0) return;
    dim3 threads(T, T);
    const int blocks = ((m + T - 1) / T) * ((n + T - 1) / T);
    matmul<<<blocks, threads>>>(d_a, d_b, d_c, m, n, k);
}
