// One value, again and again. It left CUB with CUDA 13, where thrust::constant_iterator is in its place.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "cub/util_type.cuh"

namespace cub {

template <class T, class Offset = std::ptrdiff_t>
class ConstantInputIterator {
public:
    using difference_type = Offset;
    using value_type = T;
    using pointer = T*;
    using reference = T;
    using iterator_category = std::random_access_iterator_tag;

    explicit ConstantInputIterator(T value, Offset place = 0) : value_(value), place_(place) {}
    T operator*() const { return value_; }
    ConstantInputIterator operator++(int) {
        ConstantInputIterator old = *this;
        ++*this;
        return old;
    }
    ConstantInputIterator& operator++() {
        ++place_;
        return *this;
    }
    template <class Distance>
    ConstantInputIterator operator+(Distance n) const {
        ConstantInputIterator moved = *this;
        moved.place_ = moved.place_ + n;
        return moved;
    }
    template <class Distance>
    ConstantInputIterator& operator+=(Distance n) {
        place_ = place_ + n;
        return *this;
    }
    template <class Distance>
    ConstantInputIterator operator-(Distance n) const requires(!std::is_same_v<Distance, ConstantInputIterator>) {
        ConstantInputIterator moved = *this;
        moved.place_ = moved.place_ - n;
        return moved;
    }
    template <class Distance>
    ConstantInputIterator& operator-=(Distance n) {
        place_ = place_ - n;
        return *this;
    }
    difference_type operator-(const ConstantInputIterator& other) const {
        return static_cast<difference_type>(place_ - other.place_);
    }
    template <class Distance>
    reference operator[](Distance n) const {
        return *(*this + n);
    }
    bool operator==(const ConstantInputIterator& other) const { return place_ == other.place_; }
    bool operator!=(const ConstantInputIterator& other) const { return !(*this == other); }

private:
    T value_;
    Offset place_;
};

}  // namespace cub
