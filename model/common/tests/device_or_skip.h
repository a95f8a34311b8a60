// For tests that need a device: without one (a CUDA build on a machine that has no GPU) they are skipped.
//
//     TEST_CASE("...") {
//         device_or_skip();
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>

inline void device_or_skip() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    if (status != cudaSuccess || count == 0) SKIP("no device");
}
