#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

// Where a path stands: the row that it is in, and the element that comes next.
struct Crossing {
    int row, element;
};

// Rows that end and elements that are added are both steps of one path: an element of the
// row is added, or the row has none left and is finished. After `steps` steps, `row` rows
// are finished and steps - row elements are added. Row r is finished when all elements
// before `ends[r]` are added, so the place is found by a binary search.
__device__ Crossing cross(int steps, const int* ends, int rows, int elements) {
    int low = max(steps - elements, 0), high = min(steps, rows);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ends[middle] <= steps - middle - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return {low, steps - low};
}

// The crossings at which blocks begin, and where the last one ends. A search takes as many
// loads, one after the other, as the number of rows has bits. In a kernel of its own, many
// searches wait at the same time.
template <int Steps>
__global__ void find_crossings(Csr a, int blocks, Crossing* crossings) {
    const int block = blockIdx.x * kThreads + threadIdx.x;
    if (block > blocks) return;
    const long long steps = min(block * static_cast<long long>(kThreads * Steps),
                                static_cast<long long>(a.rows) + a.elements);
    crossings[block] = cross(static_cast<int>(steps), a.first + 1, a.rows, a.elements);
}

// Step 5, the path in equal parts (D. Merrill and M. Garland, Merge-based parallel sparse
// matrix-vector multiplication, 2016): each block takes kThreads * Steps steps, each thread
// `Steps`, however long the rows are. A thread that does not finish the row it is in leaves
// its sum to the thread that does: sums of the same row are added within a warp by
// shuffles, and then in shared memory. What a block has of a row that it does not finish, it
// leaves in `carries`, for add_carries.
// Faster because no row, however long, and no number of empty rows gives a thread more work
// than others. Still slow because of two small launches beside the large one, and because
// each thread searches its place.
template <int Steps>
__global__ void __launch_bounds__(kThreads)
    merge_path(Csr a, const Crossing* crossings, const float* x, float* y, int* carry_rows,
               float* carries) {
    constexpr int tile = kThreads * Steps;
    __shared__ float products[tile];
    __shared__ int ends[tile + 1];  // of the rows, in elements of this block
    __shared__ float sums[tile + 1];
    const Crossing begin = crossings[blockIdx.x], end = crossings[blockIdx.x + 1];
    const int rows = end.row - begin.row, elements = end.element - begin.element;
    for (int k = threadIdx.x; k < elements; k += kThreads)
        products[k] = product(a, x, begin.element + k);
    for (int row = threadIdx.x; row <= rows; row += kThreads) {
        ends[row] =
            row < rows ? a.first[begin.row + row + 1] - begin.element : elements + 1;
        sums[row] = 0;
    }
    __syncthreads();
    const int first = min(static_cast<int>(threadIdx.x) * Steps, rows + elements);
    const int last = min(first + Steps, rows + elements);
    Crossing at = cross(first, ends, rows, elements);
    float sum = 0;
    bool has_finished = false;
    float first_sum = 0;
    const int first_row = at.row;
    for (int step = first; step < last; ++step) {
        if (at.element < ends[at.row]) {
            sum += products[at.element++];
        } else {
            if (has_finished)
                sums[at.row] = sum;
            else
                first_sum = sum;
            has_finished = true;
            sum = 0;
            ++at.row;
        }
    }
    __syncthreads();  // `sums` of rows that one thread has from beginning to end are there
    if (has_finished) atomicAdd(&sums[first_row], first_sum);
    // Threads of a warp that are in the same row add up what they have of it.
    const int lane = threadIdx.x % kLanes;
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const float other = __shfl_down_sync(kAllLanes, sum, distance);
        const int other_row = __shfl_down_sync(kAllLanes, at.row, distance);
        if (lane + distance < kLanes && other_row == at.row) sum += other;
    }
    const int row_before = __shfl_up_sync(kAllLanes, at.row, 1);
    if (lane == 0 || row_before != at.row) atomicAdd(&sums[at.row], sum);
    __syncthreads();
    for (int row = threadIdx.x; row < rows; row += kThreads) y[begin.row + row] = sums[row];
    if (threadIdx.x == 0) {
        carry_rows[blockIdx.x] = end.row;
        carries[blockIdx.x] = sums[rows];
    }
}

// Adds what blocks had of rows that they did not finish. Neighboring blocks may be in the
// same row: a warp adds up their sums first.
__global__ void add_carries(const int* carry_rows, const float* carries, int blocks,
                            int rows, float* y) {
    const int block = blockIdx.x * kThreads + threadIdx.x, lane = threadIdx.x % kLanes;
    const int row = block < blocks ? carry_rows[block] : rows;
    float sum = block < blocks ? carries[block] : 0;
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const float other = __shfl_down_sync(kAllLanes, sum, distance);
        const int other_row = __shfl_down_sync(kAllLanes, row, distance);
        if (lane + distance < kLanes && other_row == row) sum += other;
    }
    const int row_before = __shfl_up_sync(kAllLanes, row, 1);
    if (row < rows && (lane == 0 || row_before != row)) atomicAdd(&y[row], sum);
}

}  // namespace
}  // namespace examples
