// Well-known algorithms whole: tiles, stencils, graphs and matrices, some of them in place.
#include <algorithm>
#include <utility>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

constexpr int kTile = 16;

__global__ void multiply_tiled(const float* a, const float* b, float* c, int rows, int inner, int cols) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < inner; start += kTile) {
        const int a_col = start + threadIdx.x, b_row = start + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < rows && a_col < inner ? a[row * inner + a_col] : 0;
        b_tile[threadIdx.y][threadIdx.x] = b_row < inner && col < cols ? b[b_row * cols + col] : 0;
        __syncthreads();
        for (int k = 0; k < kTile; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && col < cols) c[row * cols + col] = sum;
}

void matrix_product_with_guarded_edges() {
    constexpr int rows = 21, inner = 35, cols = 18;
    const auto a = scrambled<float>(rows * inner, 10), b = scrambled<float>(inner * cols, 7);
    DeviceBuffer<float> d_a(a), d_b(b), d_c(rows * cols);
    multiply_tiled<<<dim3(2, 2), dim3(kTile, kTile)>>>(d_a.data(), d_b.data(), d_c.data(), rows, inner, cols);
    check_finished();
    expect_equal(d_c.download(), sequence<float>(rows * cols, [&](int i) {
                     float sum = 0;
                     for (int k = 0; k < inner; ++k) sum += a[i / cols * inner + k] * b[k * cols + i % cols];
                     return sum;
                 }));
}

/// A tile with its rim, loaded in rounds by all threads; cells outside of the world are dead.
__global__ void live(const unsigned char* in, unsigned char* out, int rows, int cols) {
    __shared__ unsigned char cells[kTile + 2][kTile + 2];
    const int first_row = blockIdx.y * kTile - 1, first_col = blockIdx.x * kTile - 1;
    for (int i = threadIdx.y * kTile + threadIdx.x; i < (kTile + 2) * (kTile + 2); i += kTile * kTile) {
        const int row = first_row + i / (kTile + 2), col = first_col + i % (kTile + 2);
        const bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
        cells[i / (kTile + 2)][i % (kTile + 2)] = inside ? in[row * cols + col] : 0;
    }
    __syncthreads();
    const int row = first_row + 1 + threadIdx.y, col = first_col + 1 + threadIdx.x;
    if (row >= rows || col >= cols) return;
    int neighbors = 0;
    for (int i = 0; i < 9; ++i) {
        if (i != 4) neighbors += cells[threadIdx.y + i / 3][threadIdx.x + i % 3];
    }
    const bool alive = cells[threadIdx.y + 1][threadIdx.x + 1] != 0;
    out[row * cols + col] = neighbors == 3 || (alive && neighbors == 2);
}

void game_of_life_with_tiles_and_rims() {
    constexpr int rows = 20, cols = 37;
    std::vector<unsigned char> world = scrambled<unsigned char>(rows * cols, 2);
    DeviceBuffer<unsigned char> d_first(world), d_second(rows * cols);
    for (int generation = 0; generation < 4; ++generation) {
        auto& d_from = generation % 2 == 0 ? d_first : d_second;
        auto& d_to = generation % 2 == 0 ? d_second : d_first;
        live<<<dim3(3, 2), dim3(kTile, kTile)>>>(d_from.data(), d_to.data(), rows, cols);
        const std::vector<unsigned char> before = world;
        for (int i = 0; i < rows * cols; ++i) {
            int neighbors = 0;
            for (int row = i / cols - 1; row <= i / cols + 1; ++row) {
                for (int col = i % cols - 1; col <= i % cols + 1; ++col) {
                    if (row < 0 || row >= rows || col < 0 || col >= cols || row * cols + col == i) continue;
                    neighbors += before[row * cols + col];
                }
            }
            world[i] = neighbors == 3 || (before[i] != 0 && neighbors == 2);
        }
    }
    check_finished();
    expect_equal(d_first.download(), world);
}

__global__ void forces(const float2* bodies, int n, float2* out) {
    __shared__ float2 others[32];
    const int i = blockIdx.x * 32 + threadIdx.x;
    const float2 own = i < n ? bodies[i] : make_float2(0, 0);
    float2 force = make_float2(0, 0);
    for (int start = 0; start < n; start += 32) {
        const int other = start + threadIdx.x;
        if (other < n) others[threadIdx.x] = bodies[other];
        __syncthreads();
        const int count = min(32, n - start);  // the rest of the last tile is stale, and not read
        for (int k = 0; k < count; ++k) {
            force.x += others[k].x - own.x;
            force.y += others[k].y - own.y;
        }
        __syncthreads();
    }
    if (i < n) out[i] = force;
}

void bodies_in_tiles_with_a_short_last_one() {
    constexpr int n = 75;
    const auto x = scrambled<float>(n, 50);
    std::vector<float2> bodies(n);
    float sum = 0;
    for (int i = 0; i < n; ++i) {
        bodies[i] = make_float2(x[i], static_cast<float>(i));
        sum += x[i];
    }
    DeviceBuffer<float2> d_bodies(bodies), d_out(n);
    forces<<<3, 32>>>(d_bodies.data(), n, d_out.data());
    check_finished();
    const std::vector<float2> out = d_out.download();
    for (int i = 0; i < n; ++i) {
        expect_equal(out[i].x, sum - n * x[i]);
        expect_equal(out[i].y, static_cast<float>(n * (n - 1) / 2 - n * i));
    }
}

/// In place: cells of one color read only cells of the other one.
__global__ void relax_color(float* cells, int rows, int cols, int color) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x + 1, row = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (row >= rows - 1 || col >= cols - 1 || (row + col) % 2 != color) return;
    float* const cell = cells + row * cols + col;
    *cell = (cell[-1] + cell[1] + cell[-cols] + cell[cols]) / 4;
}

void red_and_black_cells_in_place() {
    constexpr int rows = 18, cols = 23;
    auto expected = scrambled<float>(rows * cols, 64);
    DeviceBuffer<float> d_cells(expected);
    for (int sweep = 0; sweep < 4; ++sweep) {
        relax_color<<<dim3(3, 2), dim3(8, 8)>>>(d_cells.data(), rows, cols, sweep % 2);
        for (int row = 1; row < rows - 1; ++row) {
            for (int col = 1; col < cols - 1; ++col) {
                if ((row + col) % 2 != sweep % 2) continue;
                float* const cell = &expected[row * cols + col];
                *cell = (cell[-1] + cell[1] + cell[-cols] + cell[cols]) / 4;
            }
        }
    }
    check_finished();
    expect_equal(d_cells.download(), expected, 1e-4);
}

/// In place: a way through `via` never improves a way from or to it, so that nobody writes what others read.
__global__ void shorten_ways(int* distances, int nodes, int via) {
    const int to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y;
    if (to >= nodes) return;
    const int through = distances[from * nodes + via] + distances[via * nodes + to];
    if (through < distances[from * nodes + to]) distances[from * nodes + to] = through;
}

void shortest_ways_in_place() {
    constexpr int nodes = 24;
    auto expected = scrambled(nodes * nodes, 100);
    for (int node = 0; node < nodes; ++node) expected[node * nodes + node] = 0;
    DeviceBuffer<int> d_distances(expected);
    for (int via = 0; via < nodes; ++via) {
        shorten_ways<<<dim3(2, nodes), 16>>>(d_distances.data(), nodes, via);
        for (int i = 0; i < nodes * nodes; ++i) {
            expected[i] = std::min(expected[i], expected[i / nodes * nodes + via] + expected[via * nodes + i % nodes]);
        }
    }
    check_finished();
    expect_equal(d_distances.download(), expected);
}

/// In place: the pivot row is read only, the pivot column is left as it is.
__global__ void eliminate_below(float* matrix, int n, int pivot) {
    const int col = pivot + 1 + threadIdx.x, row = pivot + 1 + blockIdx.x;
    if (col >= n) return;
    const float factor = matrix[row * n + pivot] / matrix[pivot * n + pivot];
    matrix[row * n + col] -= factor * matrix[pivot * n + col];
}

void gaussian_elimination_in_place() {
    constexpr int n = 12;
    DeviceBuffer<float> d_matrix(sequence<float>(n * n, [](int i) { return std::min(i / n, i % n) + 1; }));
    for (int pivot = 0; pivot + 1 < n; ++pivot) eliminate_below<<<n - 1 - pivot, 16>>>(d_matrix.data(), n, pivot);
    check_finished();
    const std::vector<float> matrix = d_matrix.download();
    for (int row = 0; row < n; ++row) {
        for (int col = row; col < n; ++col) expect_equal(matrix[row * n + col], 1.0f);
    }
}

/// A warp a row; rows have different lengths, some none.
__global__ void multiply_sparse(const int* offsets, const int* cols, const float* values, const float* x, float* y) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = offsets[row] + lane; i < offsets[row + 1]; i += 32) sum += values[i] * x[cols[i]];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
    if (lane == 0) y[row] = sum;
}

void sparse_matrix_with_empty_rows() {
    constexpr int rows = 8;
    const std::vector<int> offsets = {0, 3, 3, 50, 51, 51, 90, 95, 96};
    const std::vector<int> cols = scrambled(96, 40);
    const auto values = scrambled<float>(96, 9), x = sequence<float>(40, [](int i) { return i; });
    DeviceBuffer<int> d_offsets(offsets), d_cols(cols);
    DeviceBuffer<float> d_values(values), d_x(x), d_y(rows);
    multiply_sparse<<<2, 128>>>(d_offsets.data(), d_cols.data(), d_values.data(), d_x.data(), d_y.data());
    check_finished();
    expect_equal(d_y.download(), sequence<float>(rows, [&](int row) {
                     float sum = 0;
                     for (int i = offsets[row]; i < offsets[row + 1]; ++i) sum += values[i] * x[cols[i]];
                     return sum;
                 }));
}

/// Each node doubles its reach: links and ranks are read from one copy and written to the other.
__global__ void jump(const int* next, const int* ranks, int* next_out, int* ranks_out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int target = next[i];
    ranks_out[i] = ranks[i] + ranks[target];
    next_out[i] = next[target];
}

void list_ranking_by_pointer_jumping() {
    constexpr int n = 100;  // node i is followed by i + 7 (mod n), up to node 0
    auto next = sequence<int>(n, [](int i) { return i == 0 ? 0 : (i + 7) % n; });
    auto ranks = sequence<int>(n, [](int i) { return i != 0; });
    DeviceBuffer<int> d_next(next), d_ranks(ranks), d_next_out(n), d_ranks_out(n);
    for (int reach = 1; reach < n; reach *= 2) {
        jump<<<2, 64>>>(d_next.data(), d_ranks.data(), d_next_out.data(), d_ranks_out.data(), n);
        std::swap(d_next, d_next_out);
        std::swap(d_ranks, d_ranks_out);
    }
    check_finished();
    expect_equal(d_ranks.download(), sequence<int>(n, [](int i) {
                     int steps = 0;
                     for (; i != 0; i = (i + 7) % n) ++steps;
                     return steps;
                 }));
}

__device__ int elements_below(const int* values, int count, int limit, bool or_equal) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (values[middle] < limit || (or_equal && values[middle] == limit)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Every element finds its place by itself; ties go to the left array, so that no place is taken twice.
__global__ void merge(const int* left, int left_count, const int* right, int right_count, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < left_count) out[i + elements_below(right, right_count, left[i], false)] = left[i];
    if (i < right_count) out[i + elements_below(left, left_count, right[i], true)] = right[i];
}

void merge_by_binary_search() {
    std::vector<int> left = scrambled(90, 50), right = scrambled(61, 40), expected(151);
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    std::merge(left.begin(), left.end(), right.begin(), right.end(), expected.begin());
    DeviceBuffer<int> d_left(left), d_right(right), d_out(151);
    merge<<<2, 64>>>(d_left.data(), 90, d_right.data(), 61, d_out.data());
    check_finished();
    expect_equal(d_out.download(), expected);
}

}  // namespace

CaseList algorithms() {
    return {
        __FILE__,
        {
            {"matrix_product_with_guarded_edges", "tiles are filled up with zeros", matrix_product_with_guarded_edges},
            {"game_of_life_with_tiles_and_rims", "two worlds take turns", game_of_life_with_tiles_and_rims},
            {"bodies_in_tiles_with_a_short_last_one", "what the last tile lacks is not read",
             bodies_in_tiles_with_a_short_last_one},
            {"red_and_black_cells_in_place", "a color a launch", red_and_black_cells_in_place},
            {"shortest_ways_in_place", "row and column of the node in between stay as they are",
             shortest_ways_in_place},
            {"gaussian_elimination_in_place", "reads the pivot row, writes the others", gaussian_elimination_in_place},
            {"sparse_matrix_with_empty_rows", "no lane misses the shuffle", sparse_matrix_with_empty_rows},
            {"list_ranking_by_pointer_jumping", "from one copy to the other", list_ranking_by_pointer_jumping},
            {"merge_by_binary_search", "every element has a place of its own", merge_by_binary_search},
        }};
}

}  // namespace corpus
