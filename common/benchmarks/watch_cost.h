// Kernels whose watching is measured, built twice from watch_cost_kernels.cuh: as plain code and as code that can be
// watched.
#pragma once

#include <cstdint>

struct WatchCost {
    const char* name;
    double operations;  ///< loads, stores, atomics and barriers of all threads
    void (*run)();      ///< one launch
};

constexpr int kWatchCostKernels = 5;

namespace plain {
extern const WatchCost kernels[kWatchCostKernels];
}
namespace watched {
extern const WatchCost kernels[kWatchCostKernels];
}

/// Device memory that both use: floats, each its index modulo 1024.
constexpr int kWatchCostElements = 1 << 20;
struct WatchCostMemory {
    float* in;
    float* out;
    unsigned* bins;
};
extern WatchCostMemory watch_cost_memory;
