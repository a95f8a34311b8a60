// What the kernels of the lesson sparse_matrix_vector share: a matrix whose rows are
// stored without their zeros, one after the other (compressed sparse rows, CSR).
#pragma once

#include <cuda_runtime.h>

namespace examples {
namespace {

constexpr int kThreads = 256;  // of a block
constexpr int kLanes = 32;
constexpr int kWarps = kThreads / kLanes;
constexpr unsigned kAllLanes = 0xFFFFFFFF;

// Element k is values[k], in column cols[k]. The elements of row r are first[r] to
// first[r + 1] - 1, so `first` has one entry more than the matrix has rows, and an empty
// row has the same entry twice.
struct Csr {
    int rows, elements;
    const int* first;
    const int* cols;
    const float* values;
};

__device__ float product(const Csr& a, const float* x, int element) {
    return a.values[element] * x[a.cols[element]];
}

// The sum over each group of `Lanes` neighboring lanes, in all of its lanes.
template <int Lanes>
__device__ float sum_over_lanes(float sum) {
#pragma unroll
    for (int distance = Lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(kAllLanes, sum, distance);
    return sum;
}

// The sum over all threads of the block, in thread 0. `sums` has room for kWarps floats.
__device__ float sum_over_block(float sum, float* sums) {
    sum = sum_over_lanes<kLanes>(sum);
    if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int warp = 1; warp < kWarps; ++warp) sum += sums[warp];
    return sum;
}

// products[k] = the product of element begin + k, for `count` elements, at most kThreads *
// Steps. Neighboring threads take neighboring elements. A thread asks for all of its
// columns and values before it asks for the first element of x, so that many loads are in
// flight. `Once` says that elements are read once and may leave the caches first, so that x
// stays there.
template <int Steps, bool Once>
__device__ void store_products(const Csr& a, const float* x, int begin, int count,
                               float* products) {
    int cols[Steps];
    float values[Steps];
#pragma unroll
    for (int j = 0; j < Steps; ++j) {
        const int k = static_cast<int>(threadIdx.x) + j * kThreads;
        if (k >= count) continue;
        cols[j] = Once ? __ldcs(a.cols + begin + k) : a.cols[begin + k];
        values[j] = Once ? __ldcs(a.values + begin + k) : a.values[begin + k];
    }
#pragma unroll
    for (int j = 0; j < Steps; ++j) {
        const int k = static_cast<int>(threadIdx.x) + j * kThreads;
        if (k < count) products[k] = values[j] * x[cols[j]];
    }
}

}  // namespace
}  // namespace examples
