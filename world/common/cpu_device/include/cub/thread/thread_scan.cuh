// Prefixes of the values of one thread.
#pragma once

#include "cub/thread/thread_operators.cuh"

namespace cub::internal {

/// `has_prefix` false: there is nothing before the first value.
template <class T, int Items, class Op>
CPU_DEVICE_INLINE T ThreadScanInclusive(const T (&input)[Items], T (&output)[Items], Op op, T prefix,
                                        bool has_prefix = true) {
    T sum = has_prefix ? static_cast<T>(op(prefix, input[0])) : input[0];
    output[0] = sum;
    for (int i = 1; i < Items; ++i) output[i] = sum = op(sum, input[i]);
    return sum;
}
template <class T, int Items, class Op>
CPU_DEVICE_INLINE T ThreadScanExclusive(const T (&input)[Items], T (&output)[Items], Op op, T prefix,
                                        bool has_prefix = true) {
    T sum = has_prefix ? static_cast<T>(op(prefix, input[0])) : input[0];
    output[0] = prefix;
    for (int i = 1; i < Items; ++i) {
        const T value = input[i];  // before it is overwritten: input and output may be the same
        output[i] = sum;
        sum = op(sum, value);
    }
    return sum;
}

}  // namespace cub::internal
