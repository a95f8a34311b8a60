// Prefix sums over tiles and coalesced groups.
#pragma once

#include "cpu_device/group_collectives.h"

namespace cooperative_groups {

/// Values of ranks 0 to the caller's own, combined by `op`.
template <cpu_device::GroupInsideWarp Group, class Value, class Op>
CPU_DEVICE_UNSEEN auto inclusive_scan(const Group& group, Value&& value, Op&& op, CPU_DEVICE_CALL_SITE) {
    using T = std::decay_t<Value>;
    cpu_device::check_operator<T, Op>();
    const cpu_device::GroupValues<T> values(group, value, site);
    return values.scan(op, group.thread_rank());
}
template <cpu_device::GroupInsideWarp Group, class Value>
CPU_DEVICE_UNSEEN auto inclusive_scan(const Group& group, Value&& value, CPU_DEVICE_CALL_SITE) {
    return inclusive_scan(group, value, plus<std::decay_t<Value>>(), site);
}

/// Values of the ranks below the caller's, combined by `op`; rank 0 gets T{}.
template <cpu_device::GroupInsideWarp Group, class Value, class Op>
CPU_DEVICE_UNSEEN auto exclusive_scan(const Group& group, Value&& value, Op&& op, CPU_DEVICE_CALL_SITE) {
    using T = std::decay_t<Value>;
    cpu_device::check_operator<T, Op>();
    const cpu_device::GroupValues<T> values(group, value, site);
    const unsigned rank = group.thread_rank();
    return rank == 0 ? T{} : values.scan(op, rank - 1);
}
template <cpu_device::GroupInsideWarp Group, class Value>
CPU_DEVICE_UNSEEN auto exclusive_scan(const Group& group, Value&& value, CPU_DEVICE_CALL_SITE) {
    return exclusive_scan(group, value, plus<std::decay_t<Value>>(), site);
}

}  // namespace cooperative_groups
