// Loads of several values per lane.
#pragma once

#include "cpu_device/cub_transfer.h"
#include "cub/config.cuh"
#include "cub/warp/warp_exchange.cuh"

namespace cub {

enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };

template <class T, int ItemsPerThread, WarpLoadAlgorithm Algorithm = WARP_LOAD_DIRECT, int LogicalWarpThreads = 32>
class WarpLoad {
    using Warp = cpu_device::cub_parts::LogicalWarp<LogicalWarpThreads>;
    using Exchange = WarpExchange<T, ItemsPerThread, LogicalWarpThreads>;

public:
    struct TempStorage
        : std::conditional_t<Algorithm == WARP_LOAD_TRANSPOSE, typename Exchange::TempStorage, NullType> {};

    CPU_DEVICE_INLINE explicit WarpLoad(TempStorage& temp_storage) : storage_(temp_storage) {}

    template <class Iterator>
    CPU_DEVICE_INLINE void Load(Iterator begin, T (&items)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        Load(begin, items, ItemsPerThread * LogicalWarpThreads, site);
    }
    template <class Iterator>
    CPU_DEVICE_INLINE void Load(Iterator begin, T (&items)[ItemsPerThread], int valid_items, CPU_DEVICE_CALL_SITE) {
        const int rank = static_cast<int>(Warp().rank);
        constexpr bool blocked = Algorithm == WARP_LOAD_DIRECT || Algorithm == WARP_LOAD_VECTORIZE;
        cpu_device::cub_parts::visit_items<ItemsPerThread>(
            [&](int i) { return blocked ? rank * ItemsPerThread + i : i * LogicalWarpThreads + rank; }, valid_items,
            [&](int i, int place) { items[i] = static_cast<T>(begin[place]); });
        if constexpr (Algorithm == WARP_LOAD_TRANSPOSE) Exchange(storage_).StripedToBlocked(items, items, site);
    }
    template <class Iterator, class Default>
    CPU_DEVICE_INLINE void Load(Iterator begin, T (&items)[ItemsPerThread], int valid_items, Default oob_default,
                                CPU_DEVICE_CALL_SITE) {
        for (int i = 0; i < ItemsPerThread; ++i) items[i] = static_cast<T>(oob_default);
        Load(begin, items, valid_items, site);
    }

private:
    TempStorage& storage_;
};

}  // namespace cub
