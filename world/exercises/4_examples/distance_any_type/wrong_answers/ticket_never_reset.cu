// Wrong answer: the last block finishes, but the tickets go on in the next call
// Rejected by: adds up a block
// Message: element 0 is nan
#include "exercises/4_examples/distance_any_type/distance_any_type.h"

#include <cuda_runtime.h>

#include <type_traits>

constexpr unsigned size = 256;
__device__ unsigned drawn = 0;

template <class T>
using Total = std::conditional_t<std::is_same_v<T, int>, double, T>;

// For thread 0.
template <class S>
__device__ S add_block(S value) {
    __shared__ S of_warps[size / 32];
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffffu, value, d);
    __syncthreads();  // the array may still be read from the call before
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    S all = 0;
    if (threadIdx.x == 0) {
        for (const S& part : of_warps) all += part;
    }
    return all;
}

template <class T>
__global__ void distance_in_one_go(const T* a, const T* b, std::size_t count,
                                   Total<T>* sums, double* distance) {
    using S = Total<T>;
    S sum = 0;
    for (std::size_t i = blockIdx.x * size + threadIdx.x; i < count;
         i += gridDim.x * size) {
        const S difference = S(a[i]) - S(b[i]);
        sum += difference * difference;
    }
    sum = add_block(sum);
    __shared__ bool last;
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&drawn, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    S rest = threadIdx.x < gridDim.x ? sums[threadIdx.x] : S(0);
    rest = add_block(rest);
    if (threadIdx.x == 0) *distance = sqrt(static_cast<double>(rest));
}

template <class T>
void launch(const T* d_a, const T* d_b, std::size_t count, void* d_block_sums,
            double* d_distance) {
    unsigned blocks = most_blocks;
    if (count < std::size_t{most_blocks} * size) blocks = (count + size - 1) / size;
    if (blocks == 0) blocks = 1;
    distance_in_one_go<T><<<blocks, size>>>(
        d_a, d_b, count, static_cast<Total<T>*>(d_block_sums), d_distance);
}

void euclidean_distance(const float* d_a, const float* d_b, std::size_t count,
                        void* d_block_sums, double* d_distance) {
    launch(d_a, d_b, count, d_block_sums, d_distance);
}

void euclidean_distance(const double* d_a, const double* d_b, std::size_t count,
                        void* d_block_sums, double* d_distance) {
    launch(d_a, d_b, count, d_block_sums, d_distance);
}

void euclidean_distance(const int* d_a, const int* d_b, std::size_t count,
                        void* d_block_sums, double* d_distance) {
    launch(d_a, d_b, count, d_block_sums, d_distance);
}
