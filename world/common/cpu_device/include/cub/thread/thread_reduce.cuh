// The values of one thread, combined.
#pragma once

#include "cub/thread/thread_operators.cuh"

namespace cub {

template <class T, int Items, class Op>
CPU_DEVICE_INLINE T ThreadReduce(const T (&input)[Items], Op op) {
    T result = input[0];
    for (int i = 1; i < Items; ++i) result = op(result, input[i]);
    return result;
}
template <class T, int Items, class Op>
CPU_DEVICE_INLINE T ThreadReduce(const T (&input)[Items], Op op, T prefix) {
    for (int i = 0; i < Items; ++i) prefix = op(prefix, input[i]);
    return prefix;
}

}  // namespace cub
