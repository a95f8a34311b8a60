// One value, again and again. It left CUB with CUDA 13, where thrust::constant_iterator is in its place.
#pragma once

#include "cpu_device/cub_iterator.h"
#include "cub/util_type.cuh"

namespace cub {

template <class T, class Offset = std::ptrdiff_t>
class ConstantInputIterator : public cpu_device::cub_parts::InputIterator<ConstantInputIterator<T, Offset>, T, Offset> {
public:
    explicit ConstantInputIterator(T value, Offset place = 0) : value_(value), place_(place) {}
    T operator*() const { return value_; }
    Offset& place() { return place_; }
    const Offset& place() const { return place_; }

private:
    T value_;
    Offset place_;
};

}  // namespace cub
