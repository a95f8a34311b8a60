// What a function makes of the values of another iterator. It left CUB with CUDA 13, where thrust::transform_iterator
// is in its place.
#pragma once

#include "cpu_device/cub_iterator.h"
#include "cub/util_type.cuh"

namespace cub {

template <class T, class Function, class Input, class Offset = std::ptrdiff_t>
class TransformInputIterator
    : public cpu_device::cub_parts::InputIterator<TransformInputIterator<T, Function, Input, Offset>, T, Offset> {
public:
    TransformInputIterator(Input input, Function function) : function_(function), input_(input) {}
    T operator*() const { return function_(*input_); }
    Input& place() { return input_; }
    const Input& place() const { return input_; }

private:
    Function function_;
    Input input_;
};

}  // namespace cub
