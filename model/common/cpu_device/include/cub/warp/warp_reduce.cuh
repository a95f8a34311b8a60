// Reductions of the lanes of a warp, or of a part of it. The result is that of its first lane only.
#pragma once

#include "cpu_device/cub_warp.h"
#include "cub/config.cuh"
#include "cub/thread/thread_operators.cuh"
#include "cub/thread/thread_reduce.cuh"

namespace cub {

template <class T, int LogicalWarpThreads = 32>
class WarpReduce {
    using Warp = cpu_device::cub_parts::LogicalWarp<LogicalWarpThreads>;
    using Values = cpu_device::cub_parts::WarpValues<T, LogicalWarpThreads>;

public:
    /// Shuffles need none.
    using TempStorage = NullType;

    CPU_DEVICE_INLINE explicit WarpReduce(TempStorage&) {}

    CPU_DEVICE_INLINE T Sum(T input, CPU_DEVICE_CALL_SITE) { return Reduce(input, cuda::std::plus<>(), site); }
    CPU_DEVICE_INLINE T Sum(T input, int valid_items, CPU_DEVICE_CALL_SITE) {
        return Reduce(input, cuda::std::plus<>(), valid_items, site);
    }
    template <class Op>
    CPU_DEVICE_INLINE T Reduce(T input, Op op, CPU_DEVICE_CALL_SITE) {
        return Reduce(input, op, LogicalWarpThreads, site);
    }
    template <class Op>
    CPU_DEVICE_UNSEEN T Reduce(T input, Op op, int valid_items, CPU_DEVICE_CALL_SITE) {
        const Warp warp;
        Values values(warp, input, site);
        const auto valid = static_cast<unsigned>(valid_items);
        if (warp.rank != 0) return Values::nothing();
        return values.reduce(0, valid < warp.lanes ? valid : warp.lanes, op);
    }

    /// The lanes with a flag begin segments; each of them gets the result of its own.
    template <class Flag>
    CPU_DEVICE_INLINE T HeadSegmentedSum(T input, Flag head_flag, CPU_DEVICE_CALL_SITE) {
        return HeadSegmentedReduce(input, head_flag, cuda::std::plus<>(), site);
    }
    template <class Flag, class Op>
    CPU_DEVICE_UNSEEN T HeadSegmentedReduce(T input, Flag head_flag, Op op, CPU_DEVICE_CALL_SITE) {
        const Warp warp;
        const std::uint32_t heads = cpu_device::vote(warp.mask, head_flag != Flag(0), site) >> warp.first | 1u;
        Values values(warp, input, site);
        if ((heads >> warp.rank & 1) == 0) return Values::nothing();
        unsigned end = warp.rank + 1;
        while (end < warp.lanes && (heads >> end & 1) == 0) ++end;
        return values.reduce(warp.rank, end, op);
    }
    /// The lanes with a flag end segments; the first lane of each gets the result.
    template <class Flag>
    CPU_DEVICE_INLINE T TailSegmentedSum(T input, Flag tail_flag, CPU_DEVICE_CALL_SITE) {
        return TailSegmentedReduce(input, tail_flag, cuda::std::plus<>(), site);
    }
    template <class Flag, class Op>
    CPU_DEVICE_UNSEEN T TailSegmentedReduce(T input, Flag tail_flag, Op op, CPU_DEVICE_CALL_SITE) {
        const Warp warp;
        const std::uint32_t tails = cpu_device::vote(warp.mask, tail_flag != Flag(0), site) >> warp.first;
        Values values(warp, input, site);
        if (warp.rank != 0 && (tails >> (warp.rank - 1) & 1) == 0) return Values::nothing();
        unsigned end = warp.rank + 1;
        while (end < warp.lanes && (tails >> (end - 1) & 1) == 0) ++end;
        return values.reduce(warp.rank, end, op);
    }
};

/// One lane needs nobody else.
template <class T>
class WarpReduce<T, 1> {
public:
    using TempStorage = NullType;

    CPU_DEVICE_INLINE explicit WarpReduce(TempStorage&) {}
    CPU_DEVICE_INLINE T Sum(T input) { return input; }
    CPU_DEVICE_INLINE T Sum(T input, int) { return input; }
    template <class Op>
    CPU_DEVICE_INLINE T Reduce(T input, Op) {
        return input;
    }
    template <class Op>
    CPU_DEVICE_INLINE T Reduce(T input, Op, int) {
        return input;
    }
    template <class Flag>
    CPU_DEVICE_INLINE T HeadSegmentedSum(T input, Flag) {
        return input;
    }
    template <class Flag>
    CPU_DEVICE_INLINE T TailSegmentedSum(T input, Flag) {
        return input;
    }
};

}  // namespace cub
