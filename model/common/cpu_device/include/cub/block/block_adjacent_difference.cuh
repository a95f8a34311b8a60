// Differences of neighboring values of a block.
#pragma once

#include "cpu_device/cub_block.h"
#include "cub/config.cuh"

namespace cub {

template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockAdjacentDifference {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;

public:
    struct TempStorage {
        cpu_device::cub_parts::Places<T, kThreads> first;
        cpu_device::cub_parts::Places<T, kThreads> last;
    };

    CPU_DEVICE_INLINE BlockAdjacentDifference()
        : BlockAdjacentDifference(cpu_device::cub_parts::private_storage<TempStorage>()) {}
    CPU_DEVICE_INLINE explicit BlockAdjacentDifference(TempStorage& temp_storage) : storage_(temp_storage) {
        cpu_device::cub_parts::check_block("cub::BlockAdjacentDifference", kThreads);
    }

    /// op(value, the one before it). The first of the block stays as it is, or has `tile_predecessor` before it.
    template <int Items, class Output, class Op>
    CPU_DEVICE_INLINE void SubtractLeft(T (&input)[Items], Output (&output)[Items], Op op, CPU_DEVICE_CALL_SITE) {
        subtract_left(input, output, op, nullptr, kThreads * Items, site);
    }
    template <int Items, class Output, class Op>
    CPU_DEVICE_INLINE void SubtractLeft(T (&input)[Items], Output (&output)[Items], Op op, T tile_predecessor,
                                        CPU_DEVICE_CALL_SITE) {
        subtract_left(input, output, op, &tile_predecessor, kThreads * Items, site);
    }
    template <int Items, class Output, class Op>
    CPU_DEVICE_INLINE void SubtractLeftPartialTile(T (&input)[Items], Output (&output)[Items], Op op, int valid_items,
                                                   CPU_DEVICE_CALL_SITE) {
        subtract_left(input, output, op, nullptr, valid_items, site);
    }
    template <int Items, class Output, class Op>
    CPU_DEVICE_INLINE void SubtractLeftPartialTile(T (&input)[Items], Output (&output)[Items], Op op, int valid_items,
                                                   T tile_predecessor, CPU_DEVICE_CALL_SITE) {
        subtract_left(input, output, op, &tile_predecessor, valid_items, site);
    }
    /// op(value, the one after it). The last of the block stays as it is, or has `tile_successor` after it.
    template <int Items, class Output, class Op>
    CPU_DEVICE_INLINE void SubtractRight(T (&input)[Items], Output (&output)[Items], Op op, CPU_DEVICE_CALL_SITE) {
        subtract_right(input, output, op, nullptr, kThreads * Items, site);
    }
    template <int Items, class Output, class Op>
    CPU_DEVICE_INLINE void SubtractRight(T (&input)[Items], Output (&output)[Items], Op op, T tile_successor,
                                         CPU_DEVICE_CALL_SITE) {
        subtract_right(input, output, op, &tile_successor, kThreads * Items, site);
    }
    template <int Items, class Output, class Op>
    CPU_DEVICE_INLINE void SubtractRightPartialTile(T (&input)[Items], Output (&output)[Items], Op op, int valid_items,
                                                    CPU_DEVICE_CALL_SITE) {
        subtract_right(input, output, op, nullptr, valid_items, site);
    }

private:
    template <int Items>
    CPU_DEVICE_INLINE void share(T (&input)[Items], cpu_device::Site site) {
        storage_.first[cpu_device::cub_parts::linear_thread()] = input[0];
        storage_.last[cpu_device::cub_parts::linear_thread()] = input[Items - 1];
        cpu_device::block_barrier(0, site);
    }
    template <int Items, class Output, class Op>
    CPU_DEVICE_INLINE void subtract_left(T (&input)[Items], Output (&output)[Items], Op& op, const T* predecessor,
                                         int valid, cpu_device::Site site) {
        share(input, site);
        const int thread = cpu_device::cub_parts::linear_thread();
        for (int i = Items - 1; i >= 0; --i) {
            const int place = thread * Items + i;
            if (place >= valid || (place == 0 && predecessor == nullptr)) {
                output[i] = static_cast<Output>(input[i]);
                continue;
            }
            const T before = i > 0 ? input[i - 1] : thread > 0 ? storage_.last[thread - 1] : *predecessor;
            output[i] = static_cast<Output>(op(input[i], before));
        }
    }
    template <int Items, class Output, class Op>
    CPU_DEVICE_INLINE void subtract_right(T (&input)[Items], Output (&output)[Items], Op& op, const T* successor,
                                          int valid, cpu_device::Site site) {
        share(input, site);
        const int thread = cpu_device::cub_parts::linear_thread();
        for (int i = 0; i < Items; ++i) {
            const int place = thread * Items + i;
            const bool is_last = place + 1 >= valid;
            if (is_last && (successor == nullptr || place + 1 > valid)) {
                output[i] = static_cast<Output>(input[i]);
                continue;
            }
            const T after = is_last ? *successor : i + 1 < Items ? input[i + 1] : storage_.first[thread + 1];
            output[i] = static_cast<Output>(op(input[i], after));
        }
    }

    TempStorage& storage_;
};

}  // namespace cub
