// Runs a device function on a list of inputs and brings the results back, for tests of functions without side effects.
//
//     struct CountBits {
//         __device__ int operator()(unsigned int x) const { return __popc(x); }
//     };
//     CHECK(map_on_device<CountBits>(std::vector<unsigned int>{0, 5}) == std::vector<int>{0, 2});
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "common/tests/device_or_skip.h"

template <class Function, class Input, class Result>
__global__ void map_kernel(const Input* inputs, Result* results, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) results[i] = Function{}(inputs[i]);
}

/// `Function{}(input)` for every input, computed by one device thread each.
template <class Function, class Input>
auto map_on_device(const std::vector<Input>& inputs) {
    using Result = decltype(Function{}(inputs[0]));
    device_or_skip();
    const int count = static_cast<int>(inputs.size());
    std::vector<Result> results(inputs.size());
    Input* d_inputs = nullptr;
    Result* d_results = nullptr;
    REQUIRE(cudaMalloc(&d_inputs, count * sizeof(Input)) == cudaSuccess);
    REQUIRE(cudaMalloc(&d_results, count * sizeof(Result)) == cudaSuccess);
    REQUIRE(cudaMemcpy(d_inputs, inputs.data(), count * sizeof(Input), cudaMemcpyHostToDevice) == cudaSuccess);
    map_kernel<Function><<<(count + 127) / 128, 128>>>(d_inputs, d_results, count);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaMemcpy(results.data(), d_results, count * sizeof(Result), cudaMemcpyDeviceToHost) == cudaSuccess);
    cudaFree(d_results);
    cudaFree(d_inputs);
    return results;
}
