// Values of a warp that change places between its lanes. It needs __syncwarp before its storage is used again.
#pragma once

#include "cpu_device/cub_block.h"
#include "cub/config.cuh"

namespace cub {

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

template <class T, int ItemsPerThread, int LogicalWarpThreads = 32, WarpExchangeAlgorithm = WARP_EXCHANGE_SMEM>
class WarpExchange {
    using Warp = cpu_device::cub_parts::LogicalWarp<LogicalWarpThreads>;

public:
    struct TempStorage : cpu_device::cub_parts::Places<T, ItemsPerThread * LogicalWarpThreads> {};

    CPU_DEVICE_INLINE explicit WarpExchange(TempStorage& temp_storage) : storage_(temp_storage) {}

    template <class U>
    CPU_DEVICE_INLINE void BlockedToStriped(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                            CPU_DEVICE_CALL_SITE) {
        const int rank = static_cast<int>(Warp().rank);
        for (int i = 0; i < ItemsPerThread; ++i) storage_[rank * ItemsPerThread + i] = input[i];
        __syncwarp(Warp().mask, site);
        for (int i = 0; i < ItemsPerThread; ++i) output[i] = storage_[i * LogicalWarpThreads + rank];
    }
    template <class U>
    CPU_DEVICE_INLINE void StripedToBlocked(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                            CPU_DEVICE_CALL_SITE) {
        const int rank = static_cast<int>(Warp().rank);
        for (int i = 0; i < ItemsPerThread; ++i) storage_[i * LogicalWarpThreads + rank] = input[i];
        __syncwarp(Warp().mask, site);
        for (int i = 0; i < ItemsPerThread; ++i) output[i] = storage_[rank * ItemsPerThread + i];
    }
    template <class Offset>
    CPU_DEVICE_INLINE void ScatterToStriped(T (&items)[ItemsPerThread], const Offset (&ranks)[ItemsPerThread],
                                            CPU_DEVICE_CALL_SITE) {
        const int rank = static_cast<int>(Warp().rank);
        for (int i = 0; i < ItemsPerThread; ++i) storage_[static_cast<int>(ranks[i])] = items[i];
        __syncwarp(Warp().mask, site);
        for (int i = 0; i < ItemsPerThread; ++i) items[i] = storage_[i * LogicalWarpThreads + rank];
    }

private:
    TempStorage& storage_;
};

}  // namespace cub
