// The numbers from `base` on. It left CUB with CUDA 13, where thrust::counting_iterator is in its place.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "cub/util_type.cuh"

namespace cub {

template <class T, class Offset = std::ptrdiff_t>
class CountingInputIterator {
public:
    using difference_type = Offset;
    using value_type = T;
    using pointer = T*;
    using reference = T;
    using iterator_category = std::random_access_iterator_tag;

    explicit CountingInputIterator(const T& base) : base_(base) {}
    T operator*() const { return base_; }
    CountingInputIterator operator++(int) {
        CountingInputIterator old = *this;
        ++*this;
        return old;
    }
    CountingInputIterator& operator++() {
        ++base_;
        return *this;
    }
    template <class Distance>
    CountingInputIterator operator+(Distance n) const {
        CountingInputIterator moved = *this;
        moved.base_ = moved.base_ + n;
        return moved;
    }
    template <class Distance>
    CountingInputIterator& operator+=(Distance n) {
        base_ = base_ + n;
        return *this;
    }
    template <class Distance>
    CountingInputIterator operator-(Distance n) const requires(!std::is_same_v<Distance, CountingInputIterator>) {
        CountingInputIterator moved = *this;
        moved.base_ = moved.base_ - n;
        return moved;
    }
    template <class Distance>
    CountingInputIterator& operator-=(Distance n) {
        base_ = base_ - n;
        return *this;
    }
    difference_type operator-(const CountingInputIterator& other) const {
        return static_cast<difference_type>(base_ - other.base_);
    }
    template <class Distance>
    reference operator[](Distance n) const {
        return *(*this + n);
    }
    bool operator==(const CountingInputIterator& other) const { return base_ == other.base_; }
    bool operator!=(const CountingInputIterator& other) const { return !(*this == other); }

private:
    T base_;
};

}  // namespace cub
