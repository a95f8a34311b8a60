// Prefixes over the values of a block.
#pragma once

#include "cpu_device/cub_block.h"
#include "cub/config.cuh"
#include "cub/thread/thread_operators.cuh"
#include "cub/thread/thread_reduce.cuh"
#include "cub/thread/thread_scan.cuh"

namespace cub {

/// Chooses among algorithms that differ in speed on a GPU. Here there is one.
enum BlockScanAlgorithm {
    BLOCK_SCAN_RAKING,
    BLOCK_SCAN_RAKING_MEMOIZE,
    BLOCK_SCAN_WARP_SCANS,
};

template <class T, int BlockDimX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int BlockDimY = 1, int BlockDimZ = 1>
class BlockScan {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    using Values = cpu_device::cub_parts::BlockValues<T, kThreads>;
    using Plus = cuda::std::plus<>;

    /// A function of the program's that says what comes before the block.
    template <class Callback>
    static constexpr bool is_callback =
        !std::is_same_v<std::remove_cv_t<Callback>, T> && std::is_invocable_v<Callback&, T>;

public:
    struct TempStorage : Values::Storage {};

    CPU_DEVICE_INLINE BlockScan() : BlockScan(cpu_device::cub_parts::private_storage<TempStorage>()) {}
    CPU_DEVICE_INLINE explicit BlockScan(TempStorage& temp_storage) : storage_(temp_storage) {
        cpu_device::cub_parts::check_block("cub::BlockScan", kThreads);
    }

    // ---- one value per thread --------------------------------------------------------------------------------

    CPU_DEVICE_INLINE void ExclusiveSum(T input, T& output, CPU_DEVICE_CALL_SITE) {
        ExclusiveScan(input, output, T{}, Plus(), site);
    }
    CPU_DEVICE_INLINE void ExclusiveSum(T input, T& output, T& block_aggregate, CPU_DEVICE_CALL_SITE) {
        ExclusiveScan(input, output, T{}, Plus(), block_aggregate, site);
    }
    template <class Callback>
    requires is_callback<Callback> CPU_DEVICE_INLINE void ExclusiveSum(T input, T& output, Callback& prefix_callback,
                                                                       CPU_DEVICE_CALL_SITE) {
        ExclusiveScan(input, output, Plus(), prefix_callback, site);
    }
    CPU_DEVICE_INLINE void InclusiveSum(T input, T& output, CPU_DEVICE_CALL_SITE) {
        InclusiveScan(input, output, Plus(), site);
    }
    CPU_DEVICE_INLINE void InclusiveSum(T input, T& output, T& block_aggregate, CPU_DEVICE_CALL_SITE) {
        InclusiveScan(input, output, Plus(), block_aggregate, site);
    }
    template <class Callback>
    requires is_callback<Callback> CPU_DEVICE_INLINE void InclusiveSum(T input, T& output, Callback& prefix_callback,
                                                                       CPU_DEVICE_CALL_SITE) {
        InclusiveScan(input, output, Plus(), prefix_callback, site);
    }

    template <class Op>
    CPU_DEVICE_INLINE void ExclusiveScan(T input, T& output, T initial_value, Op op, CPU_DEVICE_CALL_SITE) {
        T all;
        ExclusiveScan(input, output, initial_value, op, all, site);
    }
    /// The aggregate is without the initial value.
    template <class Op>
    CPU_DEVICE_INLINE void ExclusiveScan(T input, T& output, T initial_value, Op op, T& block_aggregate,
                                         CPU_DEVICE_CALL_SITE) {
        T before{};
        Values(storage_, site).scan(input, op, before, block_aggregate);
        output = is_first() ? initial_value : static_cast<T>(op(initial_value, before));
    }
    template <class Op, class Callback>
    requires is_callback<Callback> CPU_DEVICE_INLINE void ExclusiveScan(T input, T& output, Op op,
                                                                        Callback& prefix_callback,
                                                                        CPU_DEVICE_CALL_SITE) {
        T before{}, all;
        Values values(storage_, site);
        values.scan(input, op, before, all);
        const T prefix = values.prefix_of_block(prefix_callback, all);
        output = is_first() ? prefix : static_cast<T>(op(prefix, before));
    }
    /// Without an initial value the result of thread 0 is undefined.
    template <class Op>
    requires std::is_invocable_v<Op&, T, T> CPU_DEVICE_INLINE void ExclusiveScan(T input, T& output, Op op,
                                                                                 CPU_DEVICE_CALL_SITE) {
        T all;
        ExclusiveScan(input, output, op, all, site);
    }
    template <class Op>
    requires std::is_invocable_v<Op&, T, T> CPU_DEVICE_INLINE void ExclusiveScan(T input, T& output, Op op,
                                                                                 T& block_aggregate,
                                                                                 CPU_DEVICE_CALL_SITE) {
        T before = cpu_device::cub_parts::WarpValues<T, 32>::nothing();
        Values(storage_, site).scan(input, op, before, block_aggregate);
        output = before;
    }

    template <class Op>
    CPU_DEVICE_INLINE void InclusiveScan(T input, T& output, Op op, CPU_DEVICE_CALL_SITE) {
        T all;
        InclusiveScan(input, output, op, all, site);
    }
    template <class Op>
    CPU_DEVICE_INLINE void InclusiveScan(T input, T& output, Op op, T& block_aggregate, CPU_DEVICE_CALL_SITE) {
        T before{};
        Values(storage_, site).scan(input, op, before, block_aggregate);
        output = is_first() ? input : static_cast<T>(op(before, input));
    }
    template <class Op, class Callback>
    requires is_callback<Callback> CPU_DEVICE_INLINE void InclusiveScan(T input, T& output, Op op,
                                                                        Callback& prefix_callback,
                                                                        CPU_DEVICE_CALL_SITE) {
        T before{}, all;
        Values values(storage_, site);
        values.scan(input, op, before, all);
        const T prefix = values.prefix_of_block(prefix_callback, all);
        output = op(is_first() ? prefix : static_cast<T>(op(prefix, before)), input);
    }

    // ---- several values per thread ---------------------------------------------------------------------------

    template <int Items>
    CPU_DEVICE_INLINE void ExclusiveSum(T (&input)[Items], T (&output)[Items], CPU_DEVICE_CALL_SITE) {
        ExclusiveScan(input, output, T{}, Plus(), site);
    }
    template <int Items>
    CPU_DEVICE_INLINE void ExclusiveSum(T (&input)[Items], T (&output)[Items], T& block_aggregate,
                                        CPU_DEVICE_CALL_SITE) {
        ExclusiveScan(input, output, T{}, Plus(), block_aggregate, site);
    }
    template <int Items, class Callback>
    requires is_callback<Callback> CPU_DEVICE_INLINE void ExclusiveSum(T (&input)[Items], T (&output)[Items],
                                                                       Callback& prefix_callback,
                                                                       CPU_DEVICE_CALL_SITE) {
        ExclusiveScan(input, output, Plus(), prefix_callback, site);
    }
    template <int Items>
    CPU_DEVICE_INLINE void InclusiveSum(T (&input)[Items], T (&output)[Items], CPU_DEVICE_CALL_SITE) {
        InclusiveScan(input, output, Plus(), site);
    }
    template <int Items>
    CPU_DEVICE_INLINE void InclusiveSum(T (&input)[Items], T (&output)[Items], T& block_aggregate,
                                        CPU_DEVICE_CALL_SITE) {
        InclusiveScan(input, output, Plus(), block_aggregate, site);
    }
    template <int Items, class Callback>
    requires is_callback<Callback> CPU_DEVICE_INLINE void InclusiveSum(T (&input)[Items], T (&output)[Items],
                                                                       Callback& prefix_callback,
                                                                       CPU_DEVICE_CALL_SITE) {
        InclusiveScan(input, output, Plus(), prefix_callback, site);
    }

    template <int Items, class Op>
    CPU_DEVICE_INLINE void ExclusiveScan(T (&input)[Items], T (&output)[Items], T initial_value, Op op,
                                         CPU_DEVICE_CALL_SITE) {
        T all;
        ExclusiveScan(input, output, initial_value, op, all, site);
    }
    template <int Items, class Op>
    CPU_DEVICE_INLINE void ExclusiveScan(T (&input)[Items], T (&output)[Items], T initial_value, Op op,
                                         T& block_aggregate, CPU_DEVICE_CALL_SITE) {
        T prefix;
        ExclusiveScan(ThreadReduce(input, op), prefix, initial_value, op, block_aggregate, site);
        internal::ThreadScanExclusive(input, output, op, prefix);
    }
    template <int Items, class Op, class Callback>
    requires is_callback<Callback> CPU_DEVICE_INLINE void ExclusiveScan(T (&input)[Items], T (&output)[Items], Op op,
                                                                        Callback& prefix_callback,
                                                                        CPU_DEVICE_CALL_SITE) {
        T prefix;
        ExclusiveScan(ThreadReduce(input, op), prefix, op, prefix_callback, site);
        internal::ThreadScanExclusive(input, output, op, prefix);
    }
    template <int Items, class Op>
    requires std::is_invocable_v<Op&, T, T> CPU_DEVICE_INLINE void ExclusiveScan(T (&input)[Items], T (&output)[Items],
                                                                                 Op op, CPU_DEVICE_CALL_SITE) {
        T all;
        ExclusiveScan(input, output, op, all, site);
    }
    template <int Items, class Op>
    requires std::is_invocable_v<Op&, T, T> CPU_DEVICE_INLINE void ExclusiveScan(T (&input)[Items], T (&output)[Items],
                                                                                 Op op, T& block_aggregate,
                                                                                 CPU_DEVICE_CALL_SITE) {
        T prefix;
        ExclusiveScan(ThreadReduce(input, op), prefix, op, block_aggregate, site);
        internal::ThreadScanExclusive(input, output, op, prefix, !is_first());
    }

    template <int Items, class Op>
    CPU_DEVICE_INLINE void InclusiveScan(T (&input)[Items], T (&output)[Items], Op op, CPU_DEVICE_CALL_SITE) {
        T all;
        InclusiveScan(input, output, op, all, site);
    }
    template <int Items, class Op>
    CPU_DEVICE_INLINE void InclusiveScan(T (&input)[Items], T (&output)[Items], Op op, T& block_aggregate,
                                         CPU_DEVICE_CALL_SITE) {
        T prefix;
        ExclusiveScan(ThreadReduce(input, op), prefix, op, block_aggregate, site);
        internal::ThreadScanInclusive(input, output, op, prefix, !is_first());
    }
    template <int Items, class Op>
    CPU_DEVICE_INLINE void InclusiveScan(T (&input)[Items], T (&output)[Items], T initial_value, Op op,
                                         CPU_DEVICE_CALL_SITE) {
        T all;
        InclusiveScan(input, output, initial_value, op, all, site);
    }
    template <int Items, class Op>
    CPU_DEVICE_INLINE void InclusiveScan(T (&input)[Items], T (&output)[Items], T initial_value, Op op,
                                         T& block_aggregate, CPU_DEVICE_CALL_SITE) {
        T prefix;
        ExclusiveScan(ThreadReduce(input, op), prefix, initial_value, op, block_aggregate, site);
        internal::ThreadScanInclusive(input, output, op, prefix);
    }
    template <int Items, class Op, class Callback>
    requires is_callback<Callback> CPU_DEVICE_INLINE void InclusiveScan(T (&input)[Items], T (&output)[Items], Op op,
                                                                        Callback& prefix_callback,
                                                                        CPU_DEVICE_CALL_SITE) {
        T prefix;
        ExclusiveScan(ThreadReduce(input, op), prefix, op, prefix_callback, site);
        internal::ThreadScanInclusive(input, output, op, prefix);
    }

private:
    CPU_DEVICE_INLINE static bool is_first() { return cpu_device::cub_parts::linear_thread() == 0; }

    TempStorage& storage_;
};

}  // namespace cub
