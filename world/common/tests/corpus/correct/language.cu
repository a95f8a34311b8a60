// What C++ offers inside kernels: local arrays, recursion, templates, lambdas, virtual functions, assert and printf;
// and the shapes that blocks and loops may have.
#include <cassert>
#include <cstdio>

#include <algorithm>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

// ---- local memory --------------------------------------------------------------------------------------------

__global__ void digits_reversed(const int* values, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int digits[10];  // filled as far as the number has digits
    int count = 0;
    for (int rest = values[i]; rest > 0; rest /= 10) digits[count++] = rest % 10;
    int reversed = 0;
    for (int digit = 0; digit < count; ++digit) reversed = 10 * reversed + digits[digit];
    out[i] = reversed;
}

void local_array_with_computed_index() {
    DeviceBuffer<int> d_values(std::vector<int>{123, 9, 0, 4050, 777}), d_out(5);
    digits_reversed<<<1, 32>>>(d_values.data(), d_out.data(), 5);
    check_finished();
    expect_equal(d_out.download(), {321, 9, 0, 504, 777});
}

/// Every thread sorts its own four numbers; the address of local memory goes to a function.
__device__ void sort_few(int* values, int count) {
    for (int i = 1; i < count; ++i) {
        const int value = values[i];
        int place = i;
        for (; place > 0 && values[place - 1] > value; --place) values[place] = values[place - 1];
        values[place] = value;
    }
}

__global__ void medians(const int* in, int* out) {
    int own[4];
    for (int i = 0; i < 4; ++i) own[i] = in[4 * threadIdx.x + i];
    sort_few(own, 4);
    out[threadIdx.x] = own[1] + own[2];
}

void local_array_handed_to_a_function() {
    const std::vector<int> values = scrambled(160, 100);
    DeviceBuffer<int> d_in(values), d_out(40);
    medians<<<1, 40>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(40, [&](int i) {
                     std::vector<int> own(&values[4 * i], &values[4 * i] + 4);
                     std::sort(own.begin(), own.end());
                     return own[1] + own[2];
                 }));
}

__device__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void recurse(int* out) { out[threadIdx.x] = ackermann(2, threadIdx.x); }

void recursion_in_device_code() {
    DeviceBuffer<int> d_out(6);
    recurse<<<1, 6>>>(d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(6, [](int n) { return 2 * n + 3; }));
}

/// Ways to place n queens, a first row's square for each thread; the board is local.
__global__ void count_queens(int n, int* total) {
    int columns[8];
    columns[0] = threadIdx.x;
    int row = 1, count = 0;
    columns[1] = -1;
    while (row > 0) {
        if (++columns[row] == n) {
            --row;
            continue;
        }
        bool safe = true;
        for (int above = 0; above < row; ++above) {
            const int distance = abs(columns[above] - columns[row]);
            if (distance == 0 || distance == row - above) safe = false;
        }
        if (!safe) continue;
        if (row == n - 1) {
            ++count;
        } else {
            columns[++row] = -1;
        }
    }
    atomicAdd(total, count);
}

void queens_with_a_local_board() {
    DeviceBuffer<int> d_total(std::vector<int>{0});
    count_queens<<<1, 6>>>(6, d_total.data());
    check_finished();
    expect_equal(d_total.download(), {4});
}

// ---- functions, templates, objects ---------------------------------------------------------------------------

struct AddThenScale {
    int addend, factor;
    __device__ int operator()(int value) const { return (value + addend) * factor; }
};

template <class Function>
__global__ void apply_to_all(int* values, int n, Function function) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        values[i] = function(values[i]);
    }
}

void functor_as_a_kernel_argument() {
    DeviceBuffer<int> d_values(sequence<int>(333, [](int i) { return i; }));
    apply_to_all<<<2, 64>>>(d_values.data(), 333, AddThenScale{3, 2});
    check_finished();
    expect_equal(d_values.download(), sequence<int>(333, [](int i) { return 2 * i + 6; }));
}

__global__ void lambda_on_shared_memory(int* out) {
    __shared__ int table[64];
    const int thread = threadIdx.x;
    const auto fill = [&](int factor) { table[thread] = factor * thread; };
    const auto mirrored = [&] { return table[63 - thread]; };
    fill(5);
    __syncthreads();
    out[thread] = mirrored();
}

void lambdas_capture_a_shared_array() {
    DeviceBuffer<int> d_out(64);
    lambda_on_shared_memory<<<1, 64>>>(d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(64, [](int i) { return 5 * (63 - i); }));
}

template <class T, int Size>
struct Window {
    T values[Size];
    int next = 0;
    __device__ explicit Window(T value) {
        for (int i = 0; i < Size; ++i) values[i] = value;
    }
    __device__ void push(T value) {
        values[next] = value;
        next = (next + 1) % Size;
    }
    __device__ T sum() const {
        T total = 0;
        for (int i = 0; i < Size; ++i) total += values[i];
        return total;
    }
};

__global__ void moving_sums(const int* in, int* out, int n) {
    Window<int, 3> window(in[0]);
    for (int i = 0; i < n; ++i) {
        window.push(in[i] * (threadIdx.x + 1));
        out[threadIdx.x * n + i] = window.sum();
    }
}

void ring_buffer_object_for_each_thread() {
    DeviceBuffer<int> d_in(std::vector<int>{1, 2, 3, 4, 5}), d_out(10);
    moving_sums<<<1, 2>>>(d_in.data(), d_out.data(), 5);
    check_finished();
    expect_equal(d_out.download(), {3, 4, 6, 9, 12, 4, 7, 12, 18, 24});
}

struct Shape {
    __device__ virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int length) : side(length) {}
    __device__ int area() const override { return side * side; }
};
struct Strip : Shape {
    int length;
    __device__ explicit Strip(int cells) : length(cells) {}
    __device__ int area() const override { return length; }
};

__global__ void areas(int* out) {
    const Square square(threadIdx.x);
    const Strip strip(threadIdx.x);
    const Shape* const shape = threadIdx.x % 2 == 0 ? static_cast<const Shape*>(&square) : &strip;
    out[threadIdx.x] = shape->area();
}

void virtual_functions_of_local_objects() {
    DeviceBuffer<int> d_out(20);
    areas<<<1, 20>>>(d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(20, [](int i) { return i % 2 == 0 ? i * i : i; }));
}

// ---- shapes of blocks and loops ------------------------------------------------------------------------------

__global__ void cells_of_a_volume(int* volume, int width, int height, int depth) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < width && y < height && z < depth) volume[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}

void blocks_in_three_dimensions() {
    constexpr int width = 9, height = 7, depth = 5;
    DeviceBuffer<int> d_volume(width * height * depth);
    cells_of_a_volume<<<dim3(3, 2, 3), dim3(4, 4, 2)>>>(d_volume.data(), width, height, depth);
    check_finished();
    expect_equal(d_volume.download(), sequence<int>(width * height * depth, [](int i) {
                     return 10000 * (i / (width * height)) + 100 * (i / width % height) + i % width;
                 }));
}

/// Warps of a block of 5 x 9 threads run over its rows: neighbors in a row need the barrier.
__global__ void columns_summed(const int* in, int* out) {
    __shared__ int values[9][5];
    values[threadIdx.y][threadIdx.x] = in[threadIdx.y * 5 + threadIdx.x];
    __syncthreads();
    if (threadIdx.y != 0) return;
    int sum = 0;
    for (int row = 0; row < 9; ++row) sum += values[row][threadIdx.x];
    out[threadIdx.x] = sum;
}

void block_whose_width_does_not_divide_a_warp() {
    DeviceBuffer<int> d_in(sequence<int>(45, [](int i) { return i; })), d_out(5);
    columns_summed<<<1, dim3(5, 9)>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(5, [](int col) { return 9 * col + 180; }));
}

__global__ void count_escapes(int width, int height, int limit, int* steps) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    const double real = -2.0 + 3.0 * col / width, imaginary = -1.0 + 2.0 * row / height;
    double x = 0, y = 0;
    int step = 0;
    for (; step < limit && x * x + y * y <= 4; ++step) {
        const double next = x * x - y * y + real;
        y = 2 * x * y + imaginary;
        x = next;
    }
    steps[row * width + col] = step;
}

void mandelbrot_set_with_ragged_edges() {
    constexpr int width = 45, height = 30, limit = 40;
    DeviceBuffer<int> d_steps(width * height);
    count_escapes<<<dim3(3, 2), dim3(16, 16)>>>(width, height, limit, d_steps.data());
    check_finished();
    const std::vector<int> steps = d_steps.download();
    expect_equal(steps[0], 1);                            // -2 - i
    expect_equal(steps[height / 2 * width + 30], limit);  // the origin
    expect_equal(steps[height / 2 * width + 15], limit);  // -1
    for (int col = 0; col < width; ++col) {               // symmetric to the real axis
        for (int row = 1; row < height / 2; ++row) {
            expect_equal(steps[row * width + col], steps[(height - row) * width + col], 1);
        }
    }
}

__global__ void throw_darts(int throws, unsigned long long* hits) {
    unsigned state = 977u * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
    int inside = 0;
    for (int i = 0; i < throws; ++i) {
        state = 1664525u * state + 1013904223u;
        const float x = static_cast<float>(state >> 8) / 16777216.0f;
        state = 1664525u * state + 1013904223u;
        const float y = static_cast<float>(state >> 8) / 16777216.0f;
        inside += x * x + y * y < 1;
    }
    atomicAdd(hits, static_cast<unsigned long long>(inside));
}

void darts_with_a_generator_for_each_thread() {
    DeviceBuffer<unsigned long long> d_hits(std::vector<unsigned long long>{0});
    throw_darts<<<4, 64>>>(100, d_hits.data());
    check_finished();
    expect_equal(4.0 * static_cast<double>(d_hits.download()[0]) / (4 * 64 * 100), 3.14159, 0.1);
}

// ---- assert and printf ---------------------------------------------------------------------------------------

__global__ void assert_order(const int* sorted, int n) {
    const int i = threadIdx.x;
    assert(n <= static_cast<int>(blockDim.x));
    if (i + 1 < n) assert(sorted[i] <= sorted[i + 1]);
}

void assertion_that_holds() {
    DeviceBuffer<int> d_sorted(sequence<int>(50, [](int i) { return i / 2; }));
    assert_order<<<1, 64>>>(d_sorted.data(), 50);
    check_finished();
}

__global__ void print_sum(const int* values, int n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&sum, values[i]);
    __syncthreads();
    if (threadIdx.x == 0) printf("block %u: sum %d of %s values\n", blockIdx.x, sum, n > 5 ? "many" : "few");
}

void one_thread_prints() {
    DeviceBuffer<int> d_values(std::vector<int>(20, 2));
    print_sum<<<2, 32>>>(d_values.data(), 20);
    check_finished();
}

}  // namespace

CaseList language() {
    return {
        __FILE__,
        {
            {"local_array_with_computed_index", "only written digits are read", local_array_with_computed_index},
            {"local_array_handed_to_a_function", "a pointer to the thread's own memory",
             local_array_handed_to_a_function},
            {"recursion_in_device_code", "as deep as the stack allows", recursion_in_device_code},
            {"queens_with_a_local_board", "each thread fills its own board", queens_with_a_local_board},
            {"functor_as_a_kernel_argument", "template kernel, grid-stride loop", functor_as_a_kernel_argument},
            {"lambdas_capture_a_shared_array", "writes and reads in lambdas, a barrier between them",
             lambdas_capture_a_shared_array},
            {"ring_buffer_object_for_each_thread", "a class template on the stack", ring_buffer_object_for_each_thread},
            {"virtual_functions_of_local_objects", "made and called in the same kernel",
             virtual_functions_of_local_objects},
            {"blocks_in_three_dimensions", "ragged in every direction", blocks_in_three_dimensions},
            {"block_whose_width_does_not_divide_a_warp", "rows shared by warps",
             block_whose_width_does_not_divide_a_warp},
            {"mandelbrot_set_with_ragged_edges", "loops of different lengths", mandelbrot_set_with_ragged_edges},
            {"darts_with_a_generator_for_each_thread", "no state is shared", darts_with_a_generator_for_each_thread},
            {"assertion_that_holds", "nothing to report", assertion_that_holds},
            {"one_thread_prints", "printf of a shared sum behind a barrier", one_thread_prints},
        }};
}

}  // namespace corpus
