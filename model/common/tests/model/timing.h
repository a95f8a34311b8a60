// Times of single launches on a GPU, after three different preparations of the L2 cache.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <vector>

#include "common/helpers/device_buffer.h"
#include "common/tests/model/cases.h"

namespace model_kernels {

constexpr int kSamples = 21;

/// Of kSamples launches, in seconds between the events before and after the launch.
struct Times {
    double median = 0;
    double p10 = 0;
    double p90 = 0;
};

struct Timing {
    Times cold;  ///< the L2 cache holds unmodified lines of another buffer, as after Nsight Compute's invalidation
    Times after_writes;  ///< the L2 cache holds modified lines of another buffer, which the kernel's misses write back
    Times hot;           ///< the same kernel ran just before
};

class Stopwatch {
public:
    Stopwatch();
    ~Stopwatch();
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    /// Throws warpwise::CudaError.
    Timing of(const Prepared& kernel);

    /// Two events with nothing in between.
    Times of_nothing();

private:
    template <class Before, class Body>
    Times times(Before before, Body body);
    void write_other_buffer();
    void read_other_buffer();

    warpwise::DeviceBuffer<unsigned char> written_;
    warpwise::DeviceBuffer<unsigned> read_;
    warpwise::DeviceBuffer<unsigned> sum_;
    cudaEvent_t start_ = nullptr;
    cudaEvent_t stop_ = nullptr;
};

}  // namespace model_kernels
