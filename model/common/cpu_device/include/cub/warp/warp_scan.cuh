// Prefixes over the lanes of a warp, or of a part of it.
#pragma once

#include "cpu_device/cub_warp.h"
#include "cub/config.cuh"
#include "cub/thread/thread_operators.cuh"

namespace cub {

template <class T, int LogicalWarpThreads = 32>
class WarpScan {
    using Warp = cpu_device::cub_parts::LogicalWarp<LogicalWarpThreads>;
    using Values = cpu_device::cub_parts::WarpValues<T, LogicalWarpThreads>;

public:
    /// Shuffles need none.
    using TempStorage = NullType;

    CPU_DEVICE_INLINE explicit WarpScan(TempStorage&) {}

    CPU_DEVICE_INLINE void InclusiveSum(T input, T& inclusive_output, CPU_DEVICE_CALL_SITE) {
        InclusiveScan(input, inclusive_output, cuda::std::plus<>(), site);
    }
    CPU_DEVICE_INLINE void InclusiveSum(T input, T& inclusive_output, T& warp_aggregate, CPU_DEVICE_CALL_SITE) {
        InclusiveScan(input, inclusive_output, cuda::std::plus<>(), warp_aggregate, site);
    }
    CPU_DEVICE_INLINE void ExclusiveSum(T input, T& exclusive_output, CPU_DEVICE_CALL_SITE) {
        ExclusiveScan(input, exclusive_output, T{}, cuda::std::plus<>(), site);
    }
    CPU_DEVICE_INLINE void ExclusiveSum(T input, T& exclusive_output, T& warp_aggregate, CPU_DEVICE_CALL_SITE) {
        ExclusiveScan(input, exclusive_output, T{}, cuda::std::plus<>(), warp_aggregate, site);
    }

    template <class Op>
    CPU_DEVICE_INLINE void InclusiveScan(T input, T& inclusive_output, Op op, CPU_DEVICE_CALL_SITE) {
        T exclusive, all;
        scan(input, op, nullptr, inclusive_output, exclusive, all, site);
    }
    template <class Op>
    CPU_DEVICE_INLINE void InclusiveScan(T input, T& inclusive_output, Op op, T& warp_aggregate, CPU_DEVICE_CALL_SITE) {
        T exclusive;
        scan(input, op, nullptr, inclusive_output, exclusive, warp_aggregate, site);
    }
    /// Without an initial value the first lane's result is undefined.
    template <class Op>
    CPU_DEVICE_INLINE void ExclusiveScan(T input, T& exclusive_output, Op op, CPU_DEVICE_CALL_SITE) {
        T inclusive, all;
        scan(input, op, nullptr, inclusive, exclusive_output, all, site);
    }
    template <class Op>
    requires std::is_invocable_v<Op&, T, T> CPU_DEVICE_INLINE void ExclusiveScan(T input, T& exclusive_output, Op op,
                                                                                 T& warp_aggregate,
                                                                                 CPU_DEVICE_CALL_SITE) {
        T inclusive;
        scan(input, op, nullptr, inclusive, exclusive_output, warp_aggregate, site);
    }
    template <class Op>
    requires std::is_invocable_v<Op&, T, T> CPU_DEVICE_INLINE void ExclusiveScan(T input, T& exclusive_output,
                                                                                 T initial_value, Op op,
                                                                                 CPU_DEVICE_CALL_SITE) {
        T inclusive, all;
        scan(input, op, &initial_value, inclusive, exclusive_output, all, site);
    }
    template <class Op>
    CPU_DEVICE_INLINE void ExclusiveScan(T input, T& exclusive_output, T initial_value, Op op, T& warp_aggregate,
                                         CPU_DEVICE_CALL_SITE) {
        T inclusive;
        scan(input, op, &initial_value, inclusive, exclusive_output, warp_aggregate, site);
    }
    template <class Op>
    CPU_DEVICE_INLINE void Scan(T input, T& inclusive_output, T& exclusive_output, Op op, CPU_DEVICE_CALL_SITE) {
        T all;
        scan(input, op, nullptr, inclusive_output, exclusive_output, all, site);
    }
    template <class Op>
    CPU_DEVICE_INLINE void Scan(T input, T& inclusive_output, T& exclusive_output, T initial_value, Op op,
                                CPU_DEVICE_CALL_SITE) {
        T all;
        scan(input, op, &initial_value, inclusive_output, exclusive_output, all, site);
    }

    CPU_DEVICE_UNSEEN T Broadcast(T input, unsigned src_lane, CPU_DEVICE_CALL_SITE) {
        const Warp warp;
        return cpu_device::shuffle(warp.mask, input, warp.first + src_lane, site);
    }

private:
    /// As in CUB, the aggregate is without the initial value.
    template <class Op>
    CPU_DEVICE_UNSEEN void scan(const T& input, Op& op, const T* initial, T& inclusive, T& exclusive, T& all,
                                cpu_device::Site site) {
        const Warp warp;
        const T value = input;  // the output may be the same variable
        Values values(warp, value, site);
        T before = warp.rank == 0 ? Values::nothing() : values.prefix(warp.rank - 1, op);
        all = values.prefix(warp.lanes - 1, op);
        bool has_before = warp.rank != 0;
        if (initial != nullptr) {
            before = has_before ? static_cast<T>(op(*initial, before)) : *initial;
            has_before = true;
        }
        inclusive = has_before ? static_cast<T>(op(before, value)) : value;
        exclusive = before;
    }
};

}  // namespace cub
