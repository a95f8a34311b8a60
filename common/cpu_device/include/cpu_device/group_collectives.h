// What cooperative groups' reductions and scans have in common.
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>
#include <utility>

#include "cpu_device/cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};

}  // namespace cooperative_groups

namespace cpu_device {

template <class Group>
concept GroupInsideWarp = std::derived_from<Group, LaneGroup>;

/// The values of a group's threads by rank.
template <class T>
struct GroupValues {
    Gathered<T> values;
    std::uint32_t mask;

    template <class Group>
    GroupValues(const Group& group, const T& value, Site site)
        : values(gather(Collective::reduce, group.lane_mask(), value, site)), mask(group.lane_mask()) {
        static_assert(sizeof(T) <= 32, "groups reduce and scan types of at most 32 bytes");
    }
    T operator[](unsigned rank) const { return values[lane_of_rank(mask, rank)]; }

    /// What the threads of a full group of `size` hold at `rank` after exchanging across distances size/2, ...,
    /// `distance`: the order in which a GPU combines them, so that sums of floats round alike.
    template <class Op>
    T butterfly(Op& op, unsigned size, unsigned rank, unsigned distance = 1) const {
        if (distance == size) return (*this)[rank];
        return op(butterfly(op, size, rank, 2 * distance), butterfly(op, size, rank ^ distance, 2 * distance));
    }

    /// Ranks 0 to `rank` combined, after steps of distance 1, 2, ..., `distance` / 2 (Hillis and Steele, CACM 29,
    /// 1986).
    template <class Op>
    T scan(Op& op, unsigned rank, unsigned distance = 32) const {
        if (distance == 1) return (*this)[rank];
        const unsigned step = distance / 2;
        if (rank < step) return scan(op, rank, step);
        return op(scan(op, rank, step), scan(op, rank - step, step));
    }
};

template <class T, class Op>
constexpr void check_operator() {
    static_assert(std::is_same_v<std::decay_t<std::invoke_result_t<Op&, T, T>>, T>,
                  "the operator has to return the type of the values");
}

}  // namespace cpu_device
