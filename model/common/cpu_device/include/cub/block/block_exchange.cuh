// Values of a block that change places between its threads.
//
// Blocked: thread t holds the Items neighbors from t * Items on. Striped: it holds t, t + threads, t + 2 * threads ...
// Warp-striped: the same within the part of each warp.
#pragma once

#include "cpu_device/cub_block.h"
#include "cub/config.cuh"

namespace cub {

template <class T, int BlockDimX, int ItemsPerThread, bool WarpTimeSlicing = false, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockExchange {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    using Exchanger = cpu_device::cub_parts::BlockExchanger<T, kThreads, ItemsPerThread>;

public:
    struct TempStorage : Exchanger::Storage {};

    CPU_DEVICE_INLINE BlockExchange() : BlockExchange(cpu_device::cub_parts::private_storage<TempStorage>()) {}
    CPU_DEVICE_INLINE explicit BlockExchange(TempStorage& temp_storage) : exchanger_(temp_storage) {
        cpu_device::cub_parts::check_block("cub::BlockExchange", kThreads);
    }

    template <class U>
    CPU_DEVICE_INLINE void StripedToBlocked(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                            CPU_DEVICE_CALL_SITE) {
        exchanger_.exchange(input, output, Exchanger::striped, Exchanger::blocked, false, site);
    }
    template <class U>
    CPU_DEVICE_INLINE void BlockedToStriped(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                            CPU_DEVICE_CALL_SITE) {
        exchanger_.exchange(input, output, Exchanger::blocked, Exchanger::striped, false, site);
    }
    /// A warp does these two by itself.
    template <class U>
    CPU_DEVICE_INLINE void WarpStripedToBlocked(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                                CPU_DEVICE_CALL_SITE) {
        exchanger_.exchange(input, output, Exchanger::warp_striped, Exchanger::blocked, true, site);
    }
    template <class U>
    CPU_DEVICE_INLINE void BlockedToWarpStriped(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                                CPU_DEVICE_CALL_SITE) {
        exchanger_.exchange(input, output, Exchanger::blocked, Exchanger::warp_striped, true, site);
    }
    /// Value i goes to place `ranks[i]` of the block.
    template <class U, class Offset>
    CPU_DEVICE_INLINE void ScatterToBlocked(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                            const Offset (&ranks)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        exchanger_.exchange(
            input, output, [&](int i) { return static_cast<int>(ranks[i]); }, Exchanger::blocked, false, site);
    }
    template <class U, class Offset>
    CPU_DEVICE_INLINE void ScatterToStriped(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                            const Offset (&ranks)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        exchanger_.exchange(
            input, output, [&](int i) { return static_cast<int>(ranks[i]); }, Exchanger::striped, false, site);
    }
    /// Only values whose rank is not negative are handed on.
    template <class U, class Offset>
    CPU_DEVICE_INLINE void ScatterToStripedGuarded(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                                   const Offset (&ranks)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        bool valid[ItemsPerThread];
        for (int i = 0; i < ItemsPerThread; ++i) valid[i] = ranks[i] >= 0;
        ScatterToStripedFlagged(input, output, ranks, valid, site);
    }
    template <class U, class Offset, class Flag>
    CPU_DEVICE_INLINE void ScatterToStripedFlagged(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                                   const Offset (&ranks)[ItemsPerThread],
                                                   const Flag (&is_valid)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        for (int i = 0; i < ItemsPerThread; ++i)
            if (is_valid[i]) exchanger_.at(static_cast<int>(ranks[i])) = input[i];
        cpu_device::block_barrier(0, site);
        for (int i = 0; i < ItemsPerThread; ++i) output[i] = exchanger_.at(Exchanger::striped(i));
    }

    // The same in place.
    CPU_DEVICE_INLINE void StripedToBlocked(T (&items)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        StripedToBlocked(items, items, site);
    }
    CPU_DEVICE_INLINE void BlockedToStriped(T (&items)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        BlockedToStriped(items, items, site);
    }
    CPU_DEVICE_INLINE void WarpStripedToBlocked(T (&items)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        WarpStripedToBlocked(items, items, site);
    }
    CPU_DEVICE_INLINE void BlockedToWarpStriped(T (&items)[ItemsPerThread], CPU_DEVICE_CALL_SITE) {
        BlockedToWarpStriped(items, items, site);
    }
    template <class Offset>
    CPU_DEVICE_INLINE void ScatterToBlocked(T (&items)[ItemsPerThread], const Offset (&ranks)[ItemsPerThread],
                                            CPU_DEVICE_CALL_SITE) {
        ScatterToBlocked(items, items, ranks, site);
    }
    template <class Offset>
    CPU_DEVICE_INLINE void ScatterToStriped(T (&items)[ItemsPerThread], const Offset (&ranks)[ItemsPerThread],
                                            CPU_DEVICE_CALL_SITE) {
        ScatterToStriped(items, items, ranks, site);
    }

private:
    Exchanger exchanger_;
};

}  // namespace cub
