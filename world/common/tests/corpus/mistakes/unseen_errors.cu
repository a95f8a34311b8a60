// Launches and calls that fail, in programs that do not look.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int n = 64;
constexpr std::size_t bytes = n * sizeof(float);

__global__ void fill(float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = 1;
}

void block_of_2048() {
    DeviceBuffer<float> d_out(2048);
    fill<<<1, 2048>>>(d_out.data(), 2048);  // MISTAKE(unseen_error): a block has at most 1024 threads
    check_finished();
}

void block_of_64_by_32() {
    DeviceBuffer<float> d_out(2048);
    fill<<<1, dim3(64, 32)>>>(d_out.data(), 2048);  // MISTAKE(unseen_error): 64 * 32 = 2048 threads
    check_finished();
}

void grid_of_no_blocks() {
    const int count = 100, threads = 256;
    DeviceBuffer<float> d_out(100);
    fill<<<count / threads, threads>>>(d_out.data(), count);  // MISTAKE(unseen_error): rounded down to no block
    check_finished();
}

void grid_too_high() {
    DeviceBuffer<float> d_out(n);
    fill<<<dim3(1, 70000), 32>>>(d_out.data(), n);  // MISTAKE(unseen_error): at most 65535 blocks along y
    check_finished();
}

void block_too_deep() {
    DeviceBuffer<float> d_out(n);
    fill<<<1, dim3(1, 1, 128)>>>(d_out.data(), n);  // MISTAKE(unseen_error): at most 64 threads along z
    check_finished();
}

__global__ void stage(float* out) {
    extern __shared__ float staged[];
    staged[threadIdx.x] = 1;
    out[threadIdx.x] = staged[threadIdx.x];
}

void too_much_dynamic_shared() {
    DeviceBuffer<float> d_out(n);
    stage<<<1, n, 64 * 1024>>>(d_out.data());  // MISTAKE(unseen_error): 48 KiB without asking for more
    check_finished();
}

__global__ void two_stages(float* out) {
    __shared__ float large[10240];
    extern __shared__ float more[];
    large[threadIdx.x] = 1;
    more[threadIdx.x] = 2;
    out[threadIdx.x] = large[threadIdx.x] + more[threadIdx.x];
}

void too_much_static_and_dynamic_shared() {
    DeviceBuffer<float> d_out(n);
    two_stages<<<1, n, 16 * 1024>>>(d_out.data());  // MISTAKE(unseen_error|kernel_trap): more than 48 KiB
    check_finished();
}

void copy_too_long() {
    const std::vector<float> in(2 * n, 1.0f);
    DeviceBuffer<float> d_in(n);
    cudaMemcpy(d_in.data(), in.data(), 2 * bytes, cudaMemcpyHostToDevice);  // MISTAKE(unseen_error|out_of_bounds): 2 x
}

void memset_too_long() {
    DeviceBuffer<float> d_out(n);
    cudaMemset(d_out.data(), 0, bytes + 4);  // MISTAKE(unseen_error|out_of_bounds): one element too many
}

__constant__ float weights[8];

void symbol_copy_too_long() {
    const float host[16] = {};
    cudaMemcpyToSymbol(weights, host, sizeof host);  // MISTAKE(unseen_error|out_of_bounds): 16 floats into 8
}

void copy_in_wrong_direction() {
    const std::vector<float> in(n, 1.0f);
    DeviceBuffer<float> d_in(n);
    cudaMemcpy(d_in.data(), in.data(), bytes, cudaMemcpyDeviceToHost);  // MISTAKE(unseen_error|host_memory): direction
}

__global__ void sum_rows(const float* matrix, std::size_t row_floats, float* sums) {
    float sum = 0;
    for (int col = 0; col < 8; ++col) {
        sum += matrix[threadIdx.x * row_floats + static_cast<unsigned>(col)];  // MISTAKE(uninitialized_read): no copy
    }
    sums[threadIdx.x] = sum;
}

void copy_rows_with_swapped_pitch() {
    const std::vector<float> in(n, 1.0f);
    float* d_matrix = nullptr;
    std::size_t pitch = 0;
    const std::size_t row = 8 * sizeof(float);
    check(cudaMallocPitch(&d_matrix, &pitch, row, 8));
    // The width should be `row`.
    cudaMemcpy2D(d_matrix, pitch, in.data(), row, pitch, 8, cudaMemcpyHostToDevice);  // MISTAKE(unseen_error): fails
    DeviceBuffer<float> d_sums(8);
    sum_rows<<<1, 8>>>(d_matrix, pitch / sizeof(float), d_sums.data());
    check_finished();
    check(cudaFree(d_matrix));
}

void device_that_is_not_there() {
    cudaSetDevice(100);  // MISTAKE(unseen_error): nobody has so many
    DeviceBuffer<float> d_out(n);
}

__global__ void clear(float* out) {
    out[threadIdx.x] = 0;  // MISTAKE(illegal_access): `out` is null
}

void failed_allocation() {
    float* d_huge = nullptr;
    cudaMalloc(&d_huge, std::size_t{1} << 50);  // MISTAKE(unseen_error): no machine has a pebibyte
    clear<<<1, n>>>(d_huge);
    check_finished();
}

}  // namespace

namespace corpus {

CaseList unseen_errors() {
    return {__FILE__,
            {{"block_of_2048", "block of 2048 threads", block_of_2048},
             {"block_of_64_by_32", "block of 64 x 32 threads", block_of_64_by_32},
             {"grid_of_no_blocks", "number of blocks rounded down to 0", grid_of_no_blocks},
             {"grid_too_high", "70000 blocks along y", grid_too_high},
             {"block_too_deep", "128 threads along z", block_too_deep},
             {"too_much_dynamic_shared", "64 KiB of dynamic shared memory", too_much_dynamic_shared},
             {"too_much_static_and_dynamic_shared", "40 KiB static and 16 KiB dynamic shared memory",
              too_much_static_and_dynamic_shared},
             {"device_that_is_not_there", "cudaSetDevice of a device that does not exist", device_that_is_not_there},
             {"copy_too_long", "cudaMemcpy of twice the array", copy_too_long},
             {"memset_too_long", "cudaMemset one element too long", memset_too_long},
             {"symbol_copy_too_long", "cudaMemcpyToSymbol of twice the array", symbol_copy_too_long},
             {"copy_in_wrong_direction", "cudaMemcpy with the direction swapped", copy_in_wrong_direction},
             {"copy_rows_with_swapped_pitch", "cudaMemcpy2D with the pitch as width copies nothing",
              copy_rows_with_swapped_pitch},
             {"failed_allocation", "cudaMalloc of too much, its pointer is used all the same", failed_allocation}}};
}

}  // namespace corpus
