// What the kernels of the lesson sparse_matrix_vector share: the matrix in compressed
// rows (CSR).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace examples {
namespace {

constexpr int kThreads = 256;  // of a block
constexpr int kLanes = 32;
constexpr int kWarps = kThreads / kLanes;
constexpr unsigned kAllLanes = 0xFFFFFFFF;

// The elements that are not 0, row after row: element k is values[k], in column cols[k].
// Those of row r are first[r] to first[r + 1] - 1, so `first` has one entry more than there
// are rows, and an empty row has the same entry twice.
struct Csr {
    int rows, elements;
    const int* first;
    const int* cols;
    const float* values;
};

__device__ float product(const Csr& a, const float* x, int element) {
    return a.values[element] * x[a.cols[element]];
}

// The sum over the first `Lanes` lanes of each group of so many lanes, in all of them.
template <int Lanes>
__device__ float sum_over_lanes(float sum) {
#pragma unroll
    for (int distance = Lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(kAllLanes, sum, distance);
    return sum;
}

}  // namespace
}  // namespace examples
