// Shared memory declared at namespace scope, as older programs like to do.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "common/tests/device_or_skip.h"

extern __shared__ float values_of_block[];

namespace {

template <class T, unsigned threads>
__global__ void sum_of_block(const T* in, T* out) {
    T* values = reinterpret_cast<T*>(values_of_block);
    values[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    __syncthreads();
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = values[0];
}

template <class T>
void check_sums() {
    constexpr unsigned threads = 128;
    constexpr unsigned blocks = 50;
    std::vector<T> in(threads * blocks);
    for (unsigned i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i / threads + 1);
    T* d_in = nullptr;
    T* d_out = nullptr;
    REQUIRE(cudaMalloc(&d_in, in.size() * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMalloc(&d_out, blocks * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(d_in, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    sum_of_block<T, threads><<<blocks, threads, threads * sizeof(T)>>>(d_in, d_out);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    std::vector<T> out(blocks);
    REQUIRE(cudaMemcpy(out.data(), d_out, blocks * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    for (unsigned block = 0; block < blocks; ++block) CHECK(out[block] == static_cast<T>(threads * (block + 1)));
    REQUIRE(cudaFree(d_in) == cudaSuccess);
    REQUIRE(cudaFree(d_out) == cudaSuccess);
}

}  // namespace

TEST_CASE("dynamic shared memory at namespace scope serves several types") {
    device_or_skip();
    check_sums<float>();
    check_sums<int>();
}
