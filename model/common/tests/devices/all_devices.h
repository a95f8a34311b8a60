// What tests of several devices have in common.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <string>

#include "cuda_runtime.h"
#ifdef __CPU_DEVICE__
#include "cpu_device/diagnostics.h"
#endif

namespace tests {

inline int device_count() {
    int count = 0;
    REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
    return count;
}

/// Whether the CPU device has reported something with these words since the last call; forgets its reports. True on
/// GPUs.
inline bool was_told([[maybe_unused]] const std::string& words) {
#ifdef __CPU_DEVICE__
    bool found = false;
    for (const auto& one : cpu_device::take_diagnostics()) {
        found = found || one.message.find(words) != std::string::npos;
    }
    return found;
#else
    return true;
#endif
}

/// None, one, around a warp, a prime, and several blocks.
constexpr int kSizes[] = {0, 1, 31, 32, 33, 1009, 10'000};

}  // namespace tests
