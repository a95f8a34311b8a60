// Stores of several values per thread.
#pragma once

#include "cpu_device/cub_transfer.h"
#include "cub/block/block_exchange.cuh"
#include "cub/config.cuh"
#include "cub/iterator/cache_modified_output_iterator.cuh"

namespace cub {

// Without a block: `linear_tid` says whose values these are.

template <class T, int Items, class Iterator>
CPU_DEVICE_INLINE void StoreDirectBlocked(int linear_tid, Iterator to, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) to[linear_tid * Items + i] = items[i];
}
template <class T, int Items, class Iterator>
CPU_DEVICE_INLINE void StoreDirectBlocked(int linear_tid, Iterator to, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
        if (linear_tid * Items + i < valid) to[linear_tid * Items + i] = items[i];
}
template <class T, int Items>
CPU_DEVICE_INLINE void StoreDirectBlockedVectorized(int linear_tid, T* to, T (&items)[Items]) {
    cpu_device::cub_parts::store_words(to + linear_tid * Items, items);
}
template <int BlockThreads, class T, int Items, class Iterator>
CPU_DEVICE_INLINE void StoreDirectStriped(int linear_tid, Iterator to, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) to[linear_tid + i * BlockThreads] = items[i];
}
template <int BlockThreads, class T, int Items, class Iterator>
CPU_DEVICE_INLINE void StoreDirectStriped(int linear_tid, Iterator to, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
        if (linear_tid + i * BlockThreads < valid) to[linear_tid + i * BlockThreads] = items[i];
}

enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

template <class T, int BlockDimX, int ItemsPerThread, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT,
          int BlockDimY = 1, int BlockDimZ = 1>
class BlockStore {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    static constexpr bool kTransposes = Algorithm == BLOCK_STORE_TRANSPOSE;
    static constexpr bool kInWarps =
        Algorithm == BLOCK_STORE_WARP_TRANSPOSE || Algorithm == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
    using Exchanger = cpu_device::cub_parts::BlockExchanger<T, kThreads, ItemsPerThread>;
    using Storage = std::conditional_t<kTransposes || kInWarps, typename Exchanger::Storage, NullType>;

public:
    struct TempStorage : Storage {};

    CPU_DEVICE_INLINE BlockStore() : BlockStore(cpu_device::cub_parts::private_storage<TempStorage>()) {}
    CPU_DEVICE_INLINE explicit BlockStore(TempStorage& temp_storage) : storage_(temp_storage) {
        cpu_device::cub_parts::check_block("cub::BlockStore", kThreads);
    }

    template <class Iterator>
    CPU_DEVICE_INLINE void Store(Iterator block_begin, T (&items)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        if constexpr (Algorithm == BLOCK_STORE_VECTORIZE &&
                      cpu_device::cub_parts::is_vectorized<T, ItemsPerThread, Iterator>) {
            cpu_device::cub_parts::store_words(block_begin + Exchanger::blocked(0), items);
        } else {
            store(block_begin, items, kThreads * ItemsPerThread, site);
        }
    }
    /// Only the first `valid_items` of the block.
    template <class Iterator>
    CPU_DEVICE_INLINE void Store(Iterator block_begin, T (&items)[ItemsPerThread], int valid_items,
                                 CPU_DEVICE_CALL_SITE) {
        store(block_begin, items, valid_items, site);
    }

private:
    template <class Iterator>
    CPU_DEVICE_INLINE void store(Iterator to, T (&items)[ItemsPerThread], int end, cpu_device::Site site) {
        const auto visit = [&](int i, int place) { to[place] = items[i]; };
        if constexpr (kTransposes) {
            Exchanger(storage_).exchange(items, items, Exchanger::blocked, Exchanger::striped, false, site);
            cpu_device::cub_parts::visit_items<ItemsPerThread>(Exchanger::striped, end, visit);
        } else if constexpr (kInWarps) {
            Exchanger(storage_).exchange(items, items, Exchanger::blocked, Exchanger::warp_striped, true, site);
            cpu_device::cub_parts::visit_items<ItemsPerThread>(Exchanger::warp_striped, end, visit);
        } else if constexpr (Algorithm == BLOCK_STORE_STRIPED) {
            cpu_device::cub_parts::visit_items<ItemsPerThread>(Exchanger::striped, end, visit);
        } else {
            cpu_device::cub_parts::visit_items<ItemsPerThread>(Exchanger::blocked, end, visit);
        }
    }

    TempStorage& storage_;
};

}  // namespace cub
