// What tests of several devices have in common.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "cuda_runtime.h"

namespace tests {

inline int device_count() {
    int count = 0;
    REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
    return count;
}

/// None, one, around a warp, a prime, and several blocks.
constexpr int kSizes[] = {0, 1, 31, 32, 33, 1009, 10'000};

}  // namespace tests
