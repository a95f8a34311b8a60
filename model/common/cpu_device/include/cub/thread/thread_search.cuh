// Binary searches.
#pragma once

#include "cub/util_type.cuh"

namespace cub {

/// The first place whose value is not less than `value`.
template <class Iterator, class Offset, class T>
CPU_DEVICE_INLINE Offset LowerBound(Iterator input, Offset count, T value) {
    Offset begin = 0;
    while (count > 0) {
        const Offset half = count / 2;
        if (input[begin + half] < value) {
            begin += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return begin;
}
/// The first place whose value is greater than `value`.
template <class Iterator, class Offset, class T>
CPU_DEVICE_INLINE Offset UpperBound(Iterator input, Offset count, T value) {
    Offset begin = 0;
    while (count > 0) {
        const Offset half = count / 2;
        if (value < input[begin + half]) {
            count = half;
        } else {
            begin += half + 1;
            count -= half + 1;
        }
    }
    return begin;
}

}  // namespace cub
