#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

// Steps of a thread. With an odd number, 32 lanes that are 7 products apart read 32
// different banks.
constexpr int kPathSteps = 7;

// Where a path stands: the row that it is in, and the element that comes next.
struct Crossing {
    int row, element;
};

// Elements that are added and rows that end are both steps of one path: an element of the
// row is added, or the row has no more elements and ends. After `steps` steps, `row` rows
// have ended, and steps - row elements are added. Row r ends when all elements before
// ends[r] are added, so it does so in step r + ends[r]. A binary search counts the rows
// that end before.
__device__ Crossing cross(int steps, const int* ends, int rows, int elements) {
    int low = max(steps - elements, 0), high = min(steps, rows);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (middle + ends[middle] < steps)
            low = middle + 1;
        else
            high = middle;
    }
    return {low, steps - low};
}

// The crossings at which blocks begin, and at which the last one ends. A search loads one
// entry after the other, each as soon as the one before has come. A kernel of its own lets
// many searches wait at the same time.
template <int Steps>
__global__ void find_crossings(Csr a, int blocks, int* crossing_rows) {
    const int block = blockIdx.x * kThreads + threadIdx.x;
    if (block > blocks) return;
    const long long steps = min(block * static_cast<long long>(kThreads * Steps),
                                static_cast<long long>(a.rows) + a.elements);
    crossing_rows[block] =
        cross(static_cast<int>(steps), a.first + 1, a.rows, a.elements).row;
}

// Adds up what neighboring lanes have of the same row. The sum is in the first of these
// lanes, for which the function returns true. Rows must ascend with the lanes.
__device__ bool sum_of_same_row(int row, float& sum) {
    const int lane = threadIdx.x % kLanes;
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const float other = __shfl_down_sync(kAllLanes, sum, distance);
        const int other_row = __shfl_down_sync(kAllLanes, row, distance);
        if (lane + distance < kLanes && other_row == row) sum += other;
    }
    const int row_before = __shfl_up_sync(kAllLanes, row, 1);
    return lane == 0 || row_before != row;
}

// Step 5, the path in equal parts (D. Merrill and M. Garland, Merge-based parallel sparse
// matrix-vector multiplication, 2016): a block takes kThreads * Steps steps of the path and
// a thread `Steps` of them, however long the rows are. Rows that begin and end within a
// thread's steps are its own. What a thread has of its first and of its last row, it adds
// to what others have of these rows: within a warp by shuffles, then in shared memory. What
// a block has of a row that it does not finish, it leaves in `carries`, for add_carries.
// Faster because no thread has more work than others: neither a long row nor many empty
// rows matter. And the matrix needs no preparation. Still slow because each thread searches
// its place and goes its steps one after the other, and because of two more launches.
template <int Steps, bool Once>
__global__ void __launch_bounds__(kThreads)
    merge_path(Csr a, const int* crossing_rows, const float* x, float* y, int* carry_rows,
               float* carries) {
    constexpr int tile = kThreads * Steps;
    __shared__ float products[tile];
    __shared__ int ends[tile + 1];  // of the rows, counted from the block's first element
    __shared__ float sums[tile + 1];
    const long long all = static_cast<long long>(a.rows) + a.elements;
    const long long from = static_cast<long long>(blockIdx.x) * tile;
    const int steps = static_cast<int>(min(static_cast<long long>(tile), all - from));
    const int begin_row = crossing_rows[blockIdx.x];
    const int begin = static_cast<int>(from - begin_row);
    const int rows = crossing_rows[blockIdx.x + 1] - begin_row, elements = steps - rows;
    for (int row = threadIdx.x; row <= rows; row += kThreads) {
        ends[row] = row < rows ? a.first[begin_row + row + 1] - begin : elements + 1;
        sums[row] = 0;
    }
    store_products<Steps, Once>(a, x, begin, elements, products);
    __syncthreads();
    const int first = min(static_cast<int>(threadIdx.x) * Steps, steps);
    const Crossing start = cross(first, ends, rows, elements);
    int row = start.row, element = start.element;
    float sum = 0, sum_of_first = 0;
#pragma unroll
    for (int step = 0; step < Steps; ++step) {
        if (first + step >= steps) break;
        if (element < ends[row]) {
            sum += products[element++];
            continue;
        }
        if (row == start.row)
            sum_of_first = sum;
        else
            sums[row] = sum;
        sum = 0;
        ++row;
    }
    __syncthreads();  // the sums of rows that one thread has from beginning to end
    if (row > start.row) atomicAdd(&sums[start.row], sum_of_first);
    if (sum_of_same_row(row, sum)) atomicAdd(&sums[row], sum);
    __syncthreads();
    for (int k = threadIdx.x; k < rows; k += kThreads) y[begin_row + k] = sums[k];
    if (threadIdx.x == 0) {
        carry_rows[blockIdx.x] = begin_row + rows;
        carries[blockIdx.x] = sums[rows];
    }
}

// Adds what blocks had of rows that they did not finish.
__global__ void add_carries(const int* carry_rows, const float* carries, int blocks,
                            int rows, float* y) {
    const int block = blockIdx.x * kThreads + threadIdx.x;
    const int row = block < blocks ? carry_rows[block] : rows;
    float sum = block < blocks ? carries[block] : 0;
    if (sum_of_same_row(row, sum) && row < rows) atomicAdd(&y[row], sum);
}

}  // namespace
}  // namespace examples
