// Runs a kernel of a test and fetches what it wrote.
//
//     const auto ranks = results_of<int>(64, [](int* d_out) { write_ranks<<<1, 64>>>(d_out); });
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

/// `launch(d_out)` launches a kernel that writes `count` values of T; places that it leaves out keep bytes 0xEE.
template <class T, class Launch>
std::vector<T> results_of(std::size_t count, const Launch& launch) {
    T* d_out = nullptr;
    REQUIRE(cudaMalloc(&d_out, count * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemset(d_out, 0xEE, count * sizeof(T)) == cudaSuccess);
    launch(d_out);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<T> out(count);
    REQUIRE(cudaMemcpy(out.data(), d_out, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaFree(d_out) == cudaSuccess);
    return out;
}
