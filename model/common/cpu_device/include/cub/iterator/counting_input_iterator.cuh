// The numbers from `base` on. It left CUB with CUDA 13, where thrust::counting_iterator is in its place.
#pragma once

#include "cpu_device/cub_iterator.h"
#include "cub/util_type.cuh"

namespace cub {

template <class T, class Offset = std::ptrdiff_t>
class CountingInputIterator : public cpu_device::cub_parts::InputIterator<CountingInputIterator<T, Offset>, T, Offset> {
public:
    explicit CountingInputIterator(const T& base) : base_(base) {}
    T operator*() const { return base_; }
    T& place() { return base_; }
    const T& place() const { return base_; }

private:
    T base_;
};

}  // namespace cub
