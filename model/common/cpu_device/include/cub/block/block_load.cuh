// Loads of several values per thread.
#pragma once

#include "cpu_device/cub_transfer.h"
#include "cub/block/block_exchange.cuh"
#include "cub/config.cuh"
#include "cub/iterator/cache_modified_input_iterator.cuh"

namespace cub {

// Without a block: `linear_tid` says whose values these are.

template <class T, int Items, class Iterator>
CPU_DEVICE_INLINE void LoadDirectBlocked(int linear_tid, Iterator from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[linear_tid * Items + i];
}
template <class T, int Items, class Iterator>
CPU_DEVICE_INLINE void LoadDirectBlocked(int linear_tid, Iterator from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
        if (linear_tid * Items + i < valid) items[i] = from[linear_tid * Items + i];
}
template <class T, class Default, int Items, class Iterator>
CPU_DEVICE_INLINE void LoadDirectBlocked(int linear_tid, Iterator from, T (&items)[Items], int valid,
                                         Default otherwise) {
    for (int i = 0; i < Items; ++i) items[i] = otherwise;
    LoadDirectBlocked(linear_tid, from, items, valid);
}
template <class T, int Items>
CPU_DEVICE_INLINE void LoadDirectBlockedVectorized(int linear_tid, T* from, T (&items)[Items]) {
    cpu_device::cub_parts::load_words(from + linear_tid * Items, items);
}
template <int BlockThreads, class T, int Items, class Iterator>
CPU_DEVICE_INLINE void LoadDirectStriped(int linear_tid, Iterator from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[linear_tid + i * BlockThreads];
}
template <int BlockThreads, class T, int Items, class Iterator>
CPU_DEVICE_INLINE void LoadDirectStriped(int linear_tid, Iterator from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
        if (linear_tid + i * BlockThreads < valid) items[i] = from[linear_tid + i * BlockThreads];
}
template <int BlockThreads, class T, class Default, int Items, class Iterator>
CPU_DEVICE_INLINE void LoadDirectStriped(int linear_tid, Iterator from, T (&items)[Items], int valid,
                                         Default otherwise) {
    for (int i = 0; i < Items; ++i) items[i] = otherwise;
    LoadDirectStriped<BlockThreads>(linear_tid, from, items, valid);
}
template <class T, int Items, class Iterator>
CPU_DEVICE_INLINE void LoadDirectWarpStriped(int linear_tid, Iterator from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[linear_tid / 32 * 32 * Items + linear_tid % 32 + i * 32];
}

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};

template <class T, int BlockDimX, int ItemsPerThread, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT,
          int BlockDimY = 1, int BlockDimZ = 1>
class BlockLoad {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    static constexpr bool kTransposes = Algorithm == BLOCK_LOAD_TRANSPOSE;
    static constexpr bool kInWarps =
        Algorithm == BLOCK_LOAD_WARP_TRANSPOSE || Algorithm == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
    using Exchanger = cpu_device::cub_parts::BlockExchanger<T, kThreads, ItemsPerThread>;
    using Storage = std::conditional_t<kTransposes || kInWarps, typename Exchanger::Storage, NullType>;

public:
    struct TempStorage : Storage {};

    CPU_DEVICE_INLINE BlockLoad() : BlockLoad(cpu_device::cub_parts::private_storage<TempStorage>()) {}
    CPU_DEVICE_INLINE explicit BlockLoad(TempStorage& temp_storage) : storage_(temp_storage) {
        cpu_device::cub_parts::check_block("cub::BlockLoad", kThreads);
    }

    template <class Iterator>
    CPU_DEVICE_INLINE void Load(Iterator block_begin, T (&items)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        if constexpr (Algorithm == BLOCK_LOAD_VECTORIZE &&
                      cpu_device::cub_parts::is_vectorized<T, ItemsPerThread, Iterator>) {
            cpu_device::cub_parts::load_words(block_begin + Exchanger::blocked(0), items);
        } else {
            load(block_begin, items, kThreads * ItemsPerThread, site);
        }
    }
    /// Values beyond the first `block_items_end` keep what they hold.
    template <class Iterator>
    CPU_DEVICE_INLINE void Load(Iterator block_begin, T (&items)[ItemsPerThread], int block_items_end,
                                CPU_DEVICE_CALL_SITE) {
        load(block_begin, items, block_items_end, site);
    }
    template <class Iterator, class Default>
    CPU_DEVICE_INLINE void Load(Iterator block_begin, T (&items)[ItemsPerThread], int block_items_end,
                                Default oob_default, CPU_DEVICE_CALL_SITE) {
        for (int i = 0; i < ItemsPerThread; ++i) items[i] = static_cast<T>(oob_default);
        load(block_begin, items, block_items_end, site);
    }

private:
    template <class Iterator>
    CPU_DEVICE_INLINE void load(Iterator from, T (&items)[ItemsPerThread], int end, cpu_device::Site site) {
        const auto visit = [&](int i, int place) { items[i] = static_cast<T>(from[place]); };
        if constexpr (kTransposes) {
            cpu_device::cub_parts::visit_items<ItemsPerThread>(Exchanger::striped, end, visit);
            Exchanger(storage_).exchange(items, items, Exchanger::striped, Exchanger::blocked, false, site);
        } else if constexpr (kInWarps) {
            cpu_device::cub_parts::visit_items<ItemsPerThread>(Exchanger::warp_striped, end, visit);
            Exchanger(storage_).exchange(items, items, Exchanger::warp_striped, Exchanger::blocked, true, site);
        } else if constexpr (Algorithm == BLOCK_LOAD_STRIPED) {
            cpu_device::cub_parts::visit_items<ItemsPerThread>(Exchanger::striped, end, visit);
        } else {
            cpu_device::cub_parts::visit_items<ItemsPerThread>(Exchanger::blocked, end, visit);
        }
    }

    TempStorage& storage_;
};

}  // namespace cub
