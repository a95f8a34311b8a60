// Flags where neighboring values of a block differ.
#pragma once

#include <type_traits>

#include "cpu_device/cub_block.h"
#include "cub/config.cuh"
#include "cub/thread/thread_operators.cuh"

namespace cub {

template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockDiscontinuity {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;

public:
    struct TempStorage {
        cpu_device::cub_parts::Places<T, kThreads> first;
        cpu_device::cub_parts::Places<T, kThreads> last;
    };

    CPU_DEVICE_INLINE BlockDiscontinuity()
        : BlockDiscontinuity(cpu_device::cub_parts::private_storage<TempStorage>()) {}
    CPU_DEVICE_INLINE explicit BlockDiscontinuity(TempStorage& temp_storage) : storage_(temp_storage) {
        cpu_device::cub_parts::check_block("cub::BlockDiscontinuity", kThreads);
    }

    /// A value that differs from the one before it. The first of the block is flagged always, or compared with
    /// `tile_predecessor`.
    template <int Items, class Flag, class Op>
    CPU_DEVICE_INLINE void FlagHeads(Flag (&head_flags)[Items], T (&input)[Items], Op op, CPU_DEVICE_CALL_SITE) {
        share(input, site);
        flag_heads(head_flags, input, op, nullptr);
    }
    template <int Items, class Flag, class Op>
    CPU_DEVICE_INLINE void FlagHeads(Flag (&head_flags)[Items], T (&input)[Items], Op op, T tile_predecessor,
                                     CPU_DEVICE_CALL_SITE) {
        share(input, site);
        flag_heads(head_flags, input, op, &tile_predecessor);
    }
    template <int Items, class Flag, class Op>
    CPU_DEVICE_INLINE void FlagTails(Flag (&tail_flags)[Items], T (&input)[Items], Op op, CPU_DEVICE_CALL_SITE) {
        share(input, site);
        flag_tails(tail_flags, input, op, nullptr);
    }
    template <int Items, class Flag, class Op>
    CPU_DEVICE_INLINE void FlagTails(Flag (&tail_flags)[Items], T (&input)[Items], Op op, T tile_successor,
                                     CPU_DEVICE_CALL_SITE) {
        share(input, site);
        flag_tails(tail_flags, input, op, &tile_successor);
    }
    template <int Items, class Flag, class Op>
    CPU_DEVICE_INLINE void FlagHeadsAndTails(Flag (&head_flags)[Items], Flag (&tail_flags)[Items], T (&input)[Items],
                                             Op op, CPU_DEVICE_CALL_SITE) {
        share(input, site);
        flag_heads(head_flags, input, op, nullptr);
        flag_tails(tail_flags, input, op, nullptr);
    }

private:
    template <int Items>
    CPU_DEVICE_INLINE void share(T (&input)[Items], cpu_device::Site site) {
        storage_.first[cpu_device::cub_parts::linear_thread()] = input[0];
        storage_.last[cpu_device::cub_parts::linear_thread()] = input[Items - 1];
        cpu_device::block_barrier(0, site);
    }
    /// Some operators want the place in the block as well.
    template <class Op>
    CPU_DEVICE_INLINE static bool differ(Op& op, const T& a, const T& b, int place) {
        if constexpr (std::is_invocable_v<Op&, T, T, int>) {
            return op(a, b, place);
        } else {
            return op(a, b);
        }
    }
    template <int Items, class Flag, class Op>
    CPU_DEVICE_INLINE void flag_heads(Flag (&flags)[Items], T (&input)[Items], Op& op, const T* predecessor) {
        const int thread = cpu_device::cub_parts::linear_thread();
        for (int i = Items - 1; i > 0; --i)
            flags[i] = static_cast<Flag>(differ(op, input[i - 1], input[i], thread * Items + i));
        if (thread == 0 && predecessor == nullptr) {
            flags[0] = static_cast<Flag>(1);
        } else {
            const T before = thread == 0 ? *predecessor : storage_.last[thread - 1];
            flags[0] = static_cast<Flag>(differ(op, before, input[0], thread * Items));
        }
    }
    template <int Items, class Flag, class Op>
    CPU_DEVICE_INLINE void flag_tails(Flag (&flags)[Items], T (&input)[Items], Op& op, const T* successor) {
        const int thread = cpu_device::cub_parts::linear_thread();
        for (int i = 0; i + 1 < Items; ++i)
            flags[i] = static_cast<Flag>(differ(op, input[i], input[i + 1], thread * Items + i + 1));
        if (thread == kThreads - 1 && successor == nullptr) {
            flags[Items - 1] = static_cast<Flag>(1);
        } else {
            const T after = thread == kThreads - 1 ? *successor : storage_.first[thread + 1];
            flags[Items - 1] = static_cast<Flag>(differ(op, input[Items - 1], after, thread * Items + Items));
        }
    }

    TempStorage& storage_;
};

}  // namespace cub
