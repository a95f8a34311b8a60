// Histograms of the values of a block, in shared memory of the program's.
#pragma once

#include "cpu_device/cub_block.h"
#include "cub/config.cuh"

namespace cub {

/// Chooses between algorithms that differ in speed on a GPU. Here there is one, with atomics.
enum BlockHistogramAlgorithm { BLOCK_HISTO_ATOMIC, BLOCK_HISTO_SORT };

template <class T, int BlockDimX, int ItemsPerThread, int Bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT,
          int BlockDimY = 1, int BlockDimZ = 1>
class BlockHistogram {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;

public:
    struct TempStorage : NullType {};

    CPU_DEVICE_INLINE BlockHistogram() { check(); }
    CPU_DEVICE_INLINE explicit BlockHistogram(TempStorage&) { check(); }

    template <class Counter>
    CPU_DEVICE_INLINE void InitHistogram(Counter (&histogram)[Bins]) {
        for (int bin = cpu_device::cub_parts::linear_thread(); bin < Bins; bin += kThreads) histogram[bin] = 0;
    }
    /// Of these values alone. Before the result is read the block needs a barrier.
    template <class Counter>
    CPU_DEVICE_INLINE void Histogram(T (&items)[ItemsPerThread], Counter (&histogram)[Bins], CPU_DEVICE_CALL_SITE) {
        InitHistogram(histogram);
        cpu_device::block_barrier(0, site);
        Composite(items, histogram);
    }
    /// Adds these values to a histogram.
    template <class Counter>
    CPU_DEVICE_INLINE void Composite(T (&items)[ItemsPerThread], Counter (&histogram)[Bins]) {
        for (int i = 0; i < ItemsPerThread; ++i) atomicAdd(&histogram[items[i]], static_cast<Counter>(1));
    }

private:
    CPU_DEVICE_INLINE static void check() { cpu_device::cub_parts::check_block("cub::BlockHistogram", kThreads); }
};

}  // namespace cub
