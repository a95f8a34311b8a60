// What depends on the type of the elements in the lesson vector_distance: the type of sums,
// the square of a difference, and how many elements are 16 bytes.
#pragma once

namespace examples {
namespace {

// The type in which squares of differences are added up, and of the distance.
//   - float: no difference may pass 1.8e19, or the sum overflows to infinity (3.4e38).
//   - double: the same beyond 1.3e154 (1.8e308).
//   - int: double, which holds every difference of two ints exactly and cannot overflow.
//     The sum is exact up to 2^53 (for 2^28 elements: differences up to 5792).
template <class T>
struct Accumulator {
    using type = T;
};
template <>
struct Accumulator<int> {
    using type = double;
};
template <class T>
using Sum = typename Accumulator<T>::type;

// Both elements are converted first. `a - b` with a conversion after it would be too late
// for an int.
template <class T>
__host__ __device__ Sum<T> squared_difference(T a, T b) {
    const Sum<T> difference = static_cast<Sum<T>>(a) - static_cast<Sum<T>>(b);
    return difference * difference;
}

// 16 bytes of a vector, for one load: 4 floats, 2 doubles or 4 ints.
template <class T>
struct alignas(16) Pack {
    static constexpr unsigned size = 16 / sizeof(T);
    T element[size];
};

}  // namespace
}  // namespace examples
