// What cooperative groups' reductions and scans have in common.
#pragma once

#include <concepts>
#include <cstring>
#include <type_traits>
#include <utility>

#include "cpu_device/cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
    CPU_DEVICE_UNSEEN T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    CPU_DEVICE_UNSEEN T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    CPU_DEVICE_UNSEEN T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    CPU_DEVICE_UNSEEN T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    CPU_DEVICE_UNSEEN T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    CPU_DEVICE_UNSEEN T operator()(T a, T b) const { return a ^ b; }
};

}  // namespace cooperative_groups

namespace cpu_device {

template <class Group>
concept GroupInsideWarp = std::derived_from<Group, LaneGroup>;

/// The values of a group's threads by rank. What is done with them goes unseen, but for operators of the program's own:
/// on a GPU a group's values travel by shuffles, or all at once.
template <class T>
class GroupValues {
public:
    template <class Group>
    CPU_DEVICE_UNSEEN GroupValues(const Group& group, const T& value, Site site) {
        static_assert(sizeof(T) <= 32, "groups reduce and scan types of at most 32 bytes");
        const Gathered<T> by_lane = gather(Collective::reduce, group.lane_mask(), value, site);
        unsigned rank = 0;
        for (std::uint32_t rest = group.lane_mask(); rest != 0; rest &= rest - 1) {
            std::memcpy(bytes_[rank++], by_lane.bytes[__builtin_ctz(rest)], sizeof(T));
        }
    }

    /// What the threads of a full group of `size` hold at `rank` after exchanging across distances size/2, ..., 1: the
    /// order in which a GPU combines them, so that sums of floats round alike. Uses the values up.
    template <class Op>
    CPU_DEVICE_UNSEEN T butterfly(Op& op, unsigned size, unsigned rank) {
        for (unsigned distance = size / 2; distance > 0; distance /= 2) {
            // Of this exchange's results, `rank` will need those of the ranks that differ from it in lower bits only.
            const unsigned first = rank & ~(distance - 1);
            for (unsigned r = first; r < first + distance; ++r) {
                const T combined = op(at(r), at(r ^ distance));
                std::memcpy(bytes_[r], static_cast<const void*>(&combined), sizeof(T));
            }
        }
        return at(rank);
    }

    /// Ranks 0 to `rank` combined, after steps of distance 1, 2, ..., `distance` / 2 (Hillis and Steele, CACM 29,
    /// 1986).
    template <class Op>
    CPU_DEVICE_UNSEEN T scan(Op& op, unsigned rank, unsigned distance = 32) const {
        if (distance == 1) return at(rank);
        const unsigned step = distance / 2;
        if (rank < step) return scan(op, rank, step);
        return op(scan(op, rank, step), scan(op, rank - step, step));
    }

private:
    CPU_DEVICE_UNSEEN T at(unsigned rank) const { return *reinterpret_cast<const T*>(bytes_[rank]); }

    // Bytes, because a T may have no default constructor; all-ones where a lane did not come.
    alignas(T) unsigned char bytes_[32][sizeof(T)];
};

template <class T, class Op>
constexpr void check_operator() {
    static_assert(std::is_same_v<std::decay_t<std::invoke_result_t<Op&, T, T>>, T>,
                  "the operator has to return the type of the values");
}

}  // namespace cpu_device
