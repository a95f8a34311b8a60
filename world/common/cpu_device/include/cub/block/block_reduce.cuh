// Reductions of the values of a block. The result is that of thread 0 only.
#pragma once

#include "cpu_device/cub_block.h"
#include "cub/config.cuh"
#include "cub/thread/thread_operators.cuh"
#include "cub/thread/thread_reduce.cuh"

namespace cub {

/// Chooses among algorithms that differ in speed on a GPU. Here there is one.
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
};

template <class T, int BlockDimX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockReduce {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    using Values = cpu_device::cub_parts::BlockValues<T, kThreads>;

public:
    struct TempStorage : Values::Storage {};

    CPU_DEVICE_INLINE BlockReduce() : BlockReduce(cpu_device::cub_parts::private_storage<TempStorage>()) {}
    CPU_DEVICE_INLINE explicit BlockReduce(TempStorage& temp_storage) : storage_(temp_storage) {
        cpu_device::cub_parts::check_block("cub::BlockReduce", kThreads);
    }

    template <class Op>
    CPU_DEVICE_INLINE T Reduce(T input, Op op, CPU_DEVICE_CALL_SITE) {
        return Values(storage_, site).reduce(input, op, kThreads);
    }
    template <int Items, class Op>
    CPU_DEVICE_INLINE T Reduce(T (&inputs)[Items], Op op, CPU_DEVICE_CALL_SITE) {
        return Reduce(ThreadReduce(inputs, op), op, site);
    }
    /// Of the first `num_valid` threads, at least one.
    template <class Op>
    CPU_DEVICE_INLINE T Reduce(T input, Op op, int num_valid, CPU_DEVICE_CALL_SITE) {
        return Values(storage_, site).reduce(input, op, num_valid < kThreads ? num_valid : kThreads);
    }

    CPU_DEVICE_INLINE T Sum(T input, CPU_DEVICE_CALL_SITE) { return Reduce(input, cuda::std::plus<>(), site); }
    template <int Items>
    CPU_DEVICE_INLINE T Sum(T (&inputs)[Items], CPU_DEVICE_CALL_SITE) {
        return Reduce(inputs, cuda::std::plus<>(), site);
    }
    CPU_DEVICE_INLINE T Sum(T input, int num_valid, CPU_DEVICE_CALL_SITE) {
        return Reduce(input, cuda::std::plus<>(), num_valid, site);
    }

private:
    TempStorage& storage_;
};

}  // namespace cub
