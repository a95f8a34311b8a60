// Stores of several values per lane.
#pragma once

#include "cpu_device/cub_transfer.h"
#include "cub/config.cuh"
#include "cub/warp/warp_exchange.cuh"

namespace cub {

enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };

template <class T, int ItemsPerThread, WarpStoreAlgorithm Algorithm = WARP_STORE_DIRECT, int LogicalWarpThreads = 32>
class WarpStore {
    using Warp = cpu_device::cub_parts::LogicalWarp<LogicalWarpThreads>;
    using Exchange = WarpExchange<T, ItemsPerThread, LogicalWarpThreads>;

public:
    struct TempStorage
        : std::conditional_t<Algorithm == WARP_STORE_TRANSPOSE, typename Exchange::TempStorage, NullType> {};

    CPU_DEVICE_INLINE explicit WarpStore(TempStorage& temp_storage) : storage_(temp_storage) {}

    template <class Iterator>
    CPU_DEVICE_INLINE void Store(Iterator begin, T (&items)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        Store(begin, items, ItemsPerThread * LogicalWarpThreads, site);
    }
    template <class Iterator>
    CPU_DEVICE_INLINE void Store(Iterator begin, T (&items)[ItemsPerThread], int valid_items, CPU_DEVICE_CALL_SITE) {
        const int rank = static_cast<int>(Warp().rank);
        constexpr bool blocked = Algorithm == WARP_STORE_DIRECT || Algorithm == WARP_STORE_VECTORIZE;
        if constexpr (Algorithm == WARP_STORE_TRANSPOSE) Exchange(storage_).BlockedToStriped(items, items, site);
        cpu_device::cub_parts::visit_items<ItemsPerThread>(
            [&](int i) { return blocked ? rank * ItemsPerThread + i : i * LogicalWarpThreads + rank; }, valid_items,
            [&](int i, int place) { begin[place] = items[i]; });
    }

private:
    TempStorage& storage_;
};

}  // namespace cub
