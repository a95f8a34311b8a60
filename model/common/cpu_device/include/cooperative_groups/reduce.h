// Reductions over tiles and coalesced groups.
#pragma once

#include "cpu_device/group_collectives.h"

namespace cooperative_groups {

/// All values of the group combined by `op`, in every thread of it. T is trivially copyable, 32 bytes at most.
template <cpu_device::GroupInsideWarp Group, class Value, class Op>
CPU_DEVICE_UNSEEN auto reduce(const Group& group, Value&& value, Op&& op, CPU_DEVICE_CALL_SITE) {
    using T = std::decay_t<Value>;
    cpu_device::check_operator<T, Op>();
    cpu_device::GroupValues<T> values(group, value, site);
    const unsigned size = group.num_threads();
    if constexpr (!std::is_same_v<Group, coalesced_group>) {
        return values.butterfly(op, size, group.thread_rank());
    } else if (size == 32) {
        return values.butterfly(op, size, group.thread_rank());
    } else {
        return values.scan(op, size - 1);
    }
}

/// The same; one thread stores the result.
template <cpu_device::GroupInsideWarp Group, class T, class Value, class Op>
void reduce_store_async(const Group& group, T* destination, Value&& value, Op&& op, CPU_DEVICE_CALL_SITE) {
    static_assert(std::is_same_v<T, std::decay_t<Value>>, "destination and value differ in type");
    const T result = reduce(group, value, op, site);
    if (group.thread_rank() == 0) *destination = result;
}

}  // namespace cooperative_groups
