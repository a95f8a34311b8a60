// Runs the operations on a device: mma.sync by the functions of tensor_core.cuh, and nvcuda::wmma.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstring>
#include <stdexcept>

#include "cases.h"
#include "common/helpers/tensor_core.cuh"

namespace tensor_core {
namespace {

using std::size_t;

/// A function of tensor_core.cuh on tiles in memory: one warp per tile. Rows of a and b have 32 bytes.
template <class Sum, class Function>
__global__ void run_mma(const unsigned* a, const unsigned* b, const Sum* c, Sum* d, Function function) {
    const unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4;
    a += blockIdx.x * 16 * 8;
    b += blockIdx.x * 8 * 8;
    c += blockIdx.x * 16 * 8;
    d += blockIdx.x * 16 * 8;
    const unsigned of_a[4] = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + 4 + t], a[(g + 8) * 8 + 4 + t]};
    const unsigned of_b[2] = {b[g * 8 + t], b[g * 8 + 4 + t]};
    Sum sums[4] = {c[g * 8 + 2 * t], c[g * 8 + 2 * t + 1], c[(g + 8) * 8 + 2 * t], c[(g + 8) * 8 + 2 * t + 1]};
    function(sums, of_a, of_b);
    d[g * 8 + 2 * t] = sums[0];
    d[g * 8 + 2 * t + 1] = sums[1];
    d[(g + 8) * 8 + 2 * t] = sums[2];
    d[(g + 8) * 8 + 2 * t + 1] = sums[3];
}

struct Mma {
    Number input;
    __device__ void operator()(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) const {
        if (input == Number::f16) warpwise::mma_m16n8k16_f16(d, a, b);
        if (input == Number::bf16) warpwise::mma_m16n8k16_bf16(d, a, b);
        if (input == Number::tf32) warpwise::mma_m16n8k8_tf32(d, a, b);
        if (input == Number::e4m3) warpwise::mma_m16n8k32_e4m3(d, a, b);
        if (input == Number::e5m2) warpwise::mma_m16n8k32_e5m2(d, a, b);
    }
    __device__ void operator()(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) const {
        warpwise::mma_m16n8k32_s8(d, a, b);
    }
    __device__ void operator()(unsigned short (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) const {
        unsigned pairs[2] = {d[0] | static_cast<unsigned>(d[1]) << 16, d[2] | static_cast<unsigned>(d[3]) << 16};
        warpwise::mma_m16n8k16_f16(pairs, a, b);
        for (int i = 0; i < 4; ++i) d[i] = static_cast<unsigned short>(pairs[i / 2] >> i % 2 * 16);
    }
};

/// The same with nvcuda::wmma. T is what a fragment holds, and In what lies in memory.
template <int m, int n, int k, class T, class In, class Sum>
__global__ void run_wmma(const In* a, const In* b, const Sum* c, Sum* d) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, m, n, k, T, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, m, n, k, T, wmma::col_major> of_b;
    wmma::fragment<wmma::accumulator, m, n, k, Sum> sums;
    wmma::load_matrix_sync(of_a, a + blockIdx.x * m * k, k);
    wmma::load_matrix_sync(of_b, b + blockIdx.x * n * k, k);
    wmma::load_matrix_sync(sums, c + blockIdx.x * m * n, n, wmma::mem_row_major);
    wmma::mma_sync(sums, of_a, of_b, sums);
    wmma::store_matrix_sync(d + blockIdx.x * m * n, sums, n, wmma::mem_row_major);
}

void require(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Memory of the device.
struct Bytes {
    void* d = nullptr;
    explicit Bytes(size_t count) { require(cudaMalloc(&d, count)); }
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;
    ~Bytes() { cudaFree(d); }
    template <class T>
    T* as() const {
        return static_cast<T*>(d);
    }
};

/// `values` as they lie in memory.
void append(std::vector<unsigned char>& to, const std::vector<std::uint64_t>& values, int bytes) {
    for (const std::uint64_t value : values)
        for (int i = 0; i < bytes; ++i) to.push_back(static_cast<unsigned char>(value >> 8 * i));
}

template <int m, int n, int k, class T, class In, class Sum>
void launch_wmma(int count, const Bytes& a, const Bytes& b, const Bytes& c, const Bytes& d) {
    run_wmma<m, n, k, T><<<count, 32>>>(a.as<In>(), b.as<In>(), c.as<Sum>(), d.as<Sum>());
}

}  // namespace

std::vector<std::uint64_t> run(const Operation& operation, int first, int count) {
    std::vector<unsigned char> a, b, c;
    const int sum_bytes = format_of(operation.sum).bytes;
    for (int i = first; i < first + count; ++i) {
        const Tile tile = tile_of(operation, i);
        append(a, tile.a, format_of(operation.input).bytes);
        append(b, tile.b, format_of(operation.input).bytes);
        append(c, tile.c, sum_bytes);
    }
    const Bytes d_a(a.size()), d_b(b.size()), d_c(c.size()), d_d(c.size());
    require(cudaMemcpy(d_a.d, a.data(), a.size(), cudaMemcpyHostToDevice));
    require(cudaMemcpy(d_b.d, b.data(), b.size(), cudaMemcpyHostToDevice));
    require(cudaMemcpy(d_c.d, c.data(), c.size(), cudaMemcpyHostToDevice));
    require(cudaMemset(d_d.d, 0xEE, c.size()));

    const std::string& name = operation.name;
    if (name.rfind("mma ", 0) == 0) {
        const Mma mma{operation.input};
        const auto launch = [&](auto sum) {
            using Sum = decltype(sum);
            run_mma<<<count, 32>>>(d_a.as<unsigned>(), d_b.as<unsigned>(), d_c.as<Sum>(), d_d.as<Sum>(), mma);
        };
        if (operation.sum == Number::f32) launch(float{});
        if (operation.sum == Number::f16) launch(static_cast<unsigned short>(0));
        if (operation.sum == Number::s32) launch(int{});
    } else if (name == "wmma f16 f32 16x16x16") {
        launch_wmma<16, 16, 16, __half, __half, float>(count, d_a, d_b, d_c, d_d);
    } else if (name == "wmma f16 f32 32x8x16") {
        launch_wmma<32, 8, 16, __half, __half, float>(count, d_a, d_b, d_c, d_d);
    } else if (name == "wmma f16 f32 8x32x16") {
        launch_wmma<8, 32, 16, __half, __half, float>(count, d_a, d_b, d_c, d_d);
    } else if (name == "wmma f16 f16 16x16x16") {
        launch_wmma<16, 16, 16, __half, __half, __half>(count, d_a, d_b, d_c, d_d);
    } else if (name == "wmma bf16 f32 16x16x16") {
        launch_wmma<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>(count, d_a, d_b, d_c, d_d);
    } else if (name == "wmma tf32 f32 16x16x8") {
        launch_wmma<16, 16, 8, nvcuda::wmma::precision::tf32, float, float>(count, d_a, d_b, d_c, d_d);
    } else if (name == "wmma s8 s32 16x16x16") {
        launch_wmma<16, 16, 16, signed char, signed char, int>(count, d_a, d_b, d_c, d_d);
    } else if (name == "wmma u8 s32 16x16x16") {
        launch_wmma<16, 16, 16, unsigned char, unsigned char, int>(count, d_a, d_b, d_c, d_d);
    } else if (name == "wmma f64 f64 8x8x4") {
        launch_wmma<8, 8, 4, double, double, double>(count, d_a, d_b, d_c, d_d);
    } else {
        throw std::runtime_error("no such operation: " + name);
    }
    require(cudaGetLastError());
    require(cudaDeviceSynchronize());

    std::vector<unsigned char> d(c.size());
    require(cudaMemcpy(d.data(), d_d.d, d.size(), cudaMemcpyDeviceToHost));
    std::vector<std::uint64_t> results(d.size() / static_cast<size_t>(sum_bytes));
    for (size_t i = 0; i < results.size(); ++i)
        std::memcpy(&results[i], &d[i * static_cast<size_t>(sum_bytes)], static_cast<size_t>(sum_bytes));
    return results;
}

}  // namespace tensor_core
