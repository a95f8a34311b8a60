// What a function makes of the values of another iterator. It left CUB with CUDA 13, where thrust::transform_iterator
// is in its place.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "cub/util_type.cuh"

namespace cub {

template <class T, class Function, class Input, class Offset = std::ptrdiff_t>
class TransformInputIterator {
public:
    using difference_type = Offset;
    using value_type = T;
    using pointer = T*;
    using reference = T;
    using iterator_category = std::random_access_iterator_tag;

    TransformInputIterator(Input input, Function function) : function_(function), input_(input) {}
    T operator*() const { return function_(*input_); }
    TransformInputIterator operator++(int) {
        TransformInputIterator old = *this;
        ++*this;
        return old;
    }
    TransformInputIterator& operator++() {
        ++input_;
        return *this;
    }
    template <class Distance>
    TransformInputIterator operator+(Distance n) const {
        TransformInputIterator moved = *this;
        moved.input_ = moved.input_ + n;
        return moved;
    }
    template <class Distance>
    TransformInputIterator& operator+=(Distance n) {
        input_ = input_ + n;
        return *this;
    }
    template <class Distance>
    TransformInputIterator operator-(Distance n) const requires(!std::is_same_v<Distance, TransformInputIterator>) {
        TransformInputIterator moved = *this;
        moved.input_ = moved.input_ - n;
        return moved;
    }
    template <class Distance>
    TransformInputIterator& operator-=(Distance n) {
        input_ = input_ - n;
        return *this;
    }
    difference_type operator-(const TransformInputIterator& other) const {
        return static_cast<difference_type>(input_ - other.input_);
    }
    template <class Distance>
    reference operator[](Distance n) const {
        return *(*this + n);
    }
    bool operator==(const TransformInputIterator& other) const { return input_ == other.input_; }
    bool operator!=(const TransformInputIterator& other) const { return !(*this == other); }

private:
    Function function_;
    Input input_;
};

}  // namespace cub
