// Accesses in front of and behind arrays in global memory.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int n = 100;
constexpr int threads = 128;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

__global__ void double_without_guard(const float* in, float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];  // MISTAKE(out_of_bounds): 128 threads, 100 elements to read
}

void missing_guard_read() {
    DeviceBuffer<float> d_in(ones(n)), d_out(threads);
    double_without_guard<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void fill_without_guard(float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1;  // MISTAKE(out_of_bounds): 128 threads, room for 100
}

void missing_guard_write() {
    DeviceBuffer<float> d_out(n);
    fill_without_guard<<<1, threads>>>(d_out.data());
    check_finished();
}

__global__ void scale_up_to_and_including(float* data, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i > count) return;
    data[i] *= 2;  // MISTAKE(out_of_bounds): the guard should be i >= count
}

void guard_off_by_one() {
    DeviceBuffer<float> d_data(ones(n));
    scale_up_to_and_including<<<1, threads>>>(d_data.data(), n);
    check_finished();
}

__global__ void differences(const float* in, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = in[i] - in[i - 1];  // MISTAKE(out_of_bounds): element 0 has no left neighbor
}

void before_the_start() {
    DeviceBuffer<float> d_in(ones(n)), d_out(n);
    differences<<<1, threads>>>(d_in.data(), d_out.data(), n);
    check_finished();
}

__global__ void guard_by_thread_index(const float* in, float* out, int count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (static_cast<int>(threadIdx.x) < count) out[i] = in[i];  // MISTAKE(out_of_bounds): should compare i
}

void second_block_only() {
    DeviceBuffer<float> d_in(ones(200)), d_out(256);
    guard_by_thread_index<<<2, threads>>>(d_in.data(), d_out.data(), 200);
    check_finished();
}

__global__ void warp_per_row_sum(const float* matrix, float* sums, int cols) {
    const int row = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
    float sum = 0;
    for (int col = 0; col < cols; col += 32) {
        sum += matrix[row * cols + col + lane];  // MISTAKE(out_of_bounds): 50 columns are no multiple of 32
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, step);
    if (lane == 0) sums[row] = sum;
}

void warp_tail() {
    constexpr int rows = 4, cols = 50;
    DeviceBuffer<float> d_matrix(ones(rows * cols)), d_sums(rows);
    warp_per_row_sum<<<1, 32 * rows>>>(d_matrix.data(), d_sums.data(), cols);
    check_finished();
}

__global__ void clear_rows(char* matrix, std::size_t pitch, int rows, int cols) {
    const int col = static_cast<int>(threadIdx.x);
    for (int row = 0; row <= rows; ++row) {
        float* start = reinterpret_cast<float*>(matrix + static_cast<std::size_t>(row) * pitch);
        if (col < cols) start[col] = 0;  // MISTAKE(out_of_bounds): one row too many
    }
}

void pitched_row_too_many() {
    char* d_matrix = nullptr;
    std::size_t pitch = 0;
    constexpr int rows = 4, cols = 50;
    check(cudaMallocPitch(&d_matrix, &pitch, cols * sizeof(float), rows));
    clear_rows<<<1, 64>>>(d_matrix, pitch, rows, cols);
    check_finished();
    check(cudaFree(d_matrix));
}

__global__ void grid_stride_scale(float* data, int count) {
    const int stride = static_cast<int>(gridDim.x * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i <= count; i += stride) {
        data[i] *= 2;  // MISTAKE(out_of_bounds): the loop should end at i < count
    }
}

void grid_stride_one_too_far() {
    DeviceBuffer<float> d_data(ones(n));
    grid_stride_scale<<<2, 16>>>(d_data.data(), n);
    check_finished();
}

__global__ void average_of_three(const float* in, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;  // MISTAKE(out_of_bounds): both edges
}

void stencil_edges() {
    DeviceBuffer<float> d_in(ones(n)), d_out(n);
    average_of_three<<<1, threads>>>(d_in.data(), d_out.data(), n);
    check_finished();
}

__global__ void copy_by_fours(const float* in, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (4 * i >= count) return;
    reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];  // MISTAKE(out_of_bounds): 102 elements
}

void float4_tail() {
    DeviceBuffer<float> d_in(ones(102)), d_out(104);
    copy_by_fours<<<1, threads>>>(d_in.data(), d_out.data(), 102);
    check_finished();
}

__global__ void transpose(const float* in, float* out, int rows, int cols) {
    const int col = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
    if (row >= rows || col >= cols) return;
    out[col * cols + row] = in[row * cols + col];  // MISTAKE(out_of_bounds): rows of the result have `rows` elements
}

void transpose_leading_dimension() {
    constexpr int rows = 8, cols = 16;
    DeviceBuffer<float> d_in(ones(rows * cols)), d_out(rows * cols);
    transpose<<<1, dim3(16, 16)>>>(d_in.data(), d_out.data(), rows, cols);
    check_finished();
}

constexpr int tile = 8;

__global__ void tiled_product(const float* a, const float* b, float* c, int size) {
    __shared__ float a_tile[tile][tile], b_tile[tile][tile];
    const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
    const int row = static_cast<int>(blockIdx.y) * tile + ty, col = static_cast<int>(blockIdx.x) * tile + tx;
    float sum = 0;
    for (int start = 0; start < size; start += tile) {
        a_tile[ty][tx] = a[row * size + start + tx];    // MISTAKE(out_of_bounds): past the last row
        b_tile[ty][tx] = b[(start + ty) * size + col];  // MISTAKE(out_of_bounds): past the last row
        __syncthreads();
        for (int k = 0; k < tile; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
        __syncthreads();
    }
    if (row < size && col < size) c[row * size + col] = sum;
}

void tiled_product_edge() {
    constexpr int size = 12;
    DeviceBuffer<float> d_a(ones(size * size)), d_b(ones(size * size)), d_c(size * size);
    tiled_product<<<dim3(2, 2), dim3(tile, tile)>>>(d_a.data(), d_b.data(), d_c.data(), size);
    check_finished();
}

__global__ void add_matrices(const float* a, const float* b, float* sum, int rows, int cols) {
    const int col = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
    if (row >= cols || col >= rows) return;  // rows and cols the wrong way round
    const int i = row * cols + col;
    sum[i] = a[i] + b[i];  // MISTAKE(out_of_bounds): rows 4 to 15 do not exist
}

void guard_swaps_rows_and_cols() {
    constexpr int rows = 4, cols = 16;
    DeviceBuffer<float> d_a(ones(rows * cols)), d_b(ones(rows * cols)), d_sum(rows * cols);
    add_matrices<<<1, dim3(16, 16)>>>(d_a.data(), d_b.data(), d_sum.data(), rows, cols);
    check_finished();
}

__global__ void count_with_short(unsigned char* seen, int count) {
    const short i = static_cast<short>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) seen[i] = 1;  // MISTAKE(out_of_bounds|illegal_access): above 32767 the index is negative
}

void short_index_overflows() {
    constexpr int count = 40000;
    DeviceBuffer<unsigned char> d_seen(count);
    count_with_short<<<(count + 255) / 256, 256>>>(d_seen.data(), count);
    check_finished();
}

__global__ void step_by_bytes(const float* in, float* out, int count) {
    const unsigned i = threadIdx.x;
    if (static_cast<int>(i) < count) out[i] = *(in + i * sizeof(float));  // MISTAKE(out_of_bounds): counts elements
}

void index_in_bytes() {
    DeviceBuffer<float> d_in(ones(n)), d_out(n);
    step_by_bytes<<<1, threads>>>(d_in.data(), d_out.data(), n);
    check_finished();
}

__global__ void reverse(const float* in, float* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) out[count - i] = in[i];  // MISTAKE(out_of_bounds): should be count - 1 - i
}

void reversed_index() {
    DeviceBuffer<float> d_in(ones(n)), d_out(n);
    reverse<<<1, threads>>>(d_in.data(), d_out.data(), n);
    check_finished();
}

__global__ void set_ones(float* out) {
    out[threadIdx.x] = 1;  // MISTAKE(out_of_bounds): 128 bytes are 32 floats
}

void bytes_for_elements() {
    float* d_out = nullptr;
    check(cudaMalloc(&d_out, threads));
    set_ones<<<1, threads>>>(d_out);
    check_finished();
    check(cudaFree(d_out));
}

}  // namespace

namespace corpus {

CaseList bounds() {
    return {__FILE__,
            {{"missing_guard_read", "no guard: reads past the end", missing_guard_read},
             {"missing_guard_write", "no guard: writes past the end", missing_guard_write},
             {"guard_off_by_one", "guard lets i == n through", guard_off_by_one},
             {"before_the_start", "left neighbor of element 0", before_the_start},
             {"second_block_only", "guard compares threadIdx.x, not the index", second_block_only},
             {"warp_tail", "lanes past the last column of the last row", warp_tail},
             {"pitched_row_too_many", "loop over pitched rows with <=", pitched_row_too_many},
             {"grid_stride_one_too_far", "grid-stride loop with <=", grid_stride_one_too_far},
             {"stencil_edges", "stencil reads its halo outside the array", stencil_edges},
             {"float4_tail", "last float4 of a count that is no multiple of 4", float4_tail},
             {"transpose_leading_dimension", "transpose uses the wrong leading dimension", transpose_leading_dimension},
             {"tiled_product_edge", "tiled product guards only its store", tiled_product_edge},
             {"guard_swaps_rows_and_cols", "guard compares row with cols", guard_swaps_rows_and_cols},
             {"short_index_overflows", "16-bit index becomes negative", short_index_overflows},
             {"index_in_bytes", "offset of a float pointer in bytes", index_in_bytes},
             {"reversed_index", "n - i instead of n - 1 - i", reversed_index},
             {"bytes_for_elements", "cudaMalloc of n bytes for n floats", bytes_for_elements}}};
}

}  // namespace corpus
