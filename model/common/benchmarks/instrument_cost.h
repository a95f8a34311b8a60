// Kernels whose instrumenting is measured, built twice from instrument_cost_kernels.cuh: as plain code and as code that
// can be instrumented.
#pragma once

#include <cstdint>

struct InstrumentCost {
    const char* name;
    double operations;  ///< loads, stores, atomics and barriers of all threads
    void (*run)();      ///< one launch
};

constexpr int kInstrumentCostKernels = 5;

namespace plain {
extern const InstrumentCost kernels[kInstrumentCostKernels];
}
namespace instrumented {
extern const InstrumentCost kernels[kInstrumentCostKernels];
}

/// Device memory that both use: floats, each its index modulo 1024.
constexpr int kInstrumentCostElements = 1 << 20;
struct InstrumentCostMemory {
    float* in;
    float* out;
    unsigned* bins;
};
extern InstrumentCostMemory instrument_cost_memory;
