// Takes whatever is written, and forgets it. It left CUB with CUDA 13, where thrust::discard_iterator is in its place.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "cub/util_type.cuh"

namespace cub {

template <class Offset = std::ptrdiff_t>
class DiscardOutputIterator {
public:
    using difference_type = Offset;
    using value_type = void;
    using pointer = void;
    using iterator_category = std::random_access_iterator_tag;
    struct Nowhere {
        template <class T>
        const Nowhere& operator=(const T&) const {
            return *this;
        }
    };
    using reference = Nowhere;

    explicit DiscardOutputIterator(Offset place = 0) : place_(place) {}
    Nowhere operator*() const { return {}; }
    DiscardOutputIterator operator++(int) {
        DiscardOutputIterator old = *this;
        ++*this;
        return old;
    }
    DiscardOutputIterator& operator++() {
        ++place_;
        return *this;
    }
    template <class Distance>
    DiscardOutputIterator operator+(Distance n) const {
        DiscardOutputIterator moved = *this;
        moved.place_ = moved.place_ + n;
        return moved;
    }
    template <class Distance>
    DiscardOutputIterator& operator+=(Distance n) {
        place_ = place_ + n;
        return *this;
    }
    template <class Distance>
    DiscardOutputIterator operator-(Distance n) const requires(!std::is_same_v<Distance, DiscardOutputIterator>) {
        DiscardOutputIterator moved = *this;
        moved.place_ = moved.place_ - n;
        return moved;
    }
    template <class Distance>
    DiscardOutputIterator& operator-=(Distance n) {
        place_ = place_ - n;
        return *this;
    }
    difference_type operator-(const DiscardOutputIterator& other) const {
        return static_cast<difference_type>(place_ - other.place_);
    }
    template <class Distance>
    reference operator[](Distance n) const {
        return *(*this + n);
    }
    bool operator==(const DiscardOutputIterator& other) const { return place_ == other.place_; }
    bool operator!=(const DiscardOutputIterator& other) const { return !(*this == other); }

private:
    Offset place_;
};

}  // namespace cub
