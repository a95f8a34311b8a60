// Loads through a cache that the program chooses.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "cub/thread/thread_load.cuh"

namespace cub {

template <CacheLoadModifier modifier, class T, class Offset = std::ptrdiff_t>
class CacheModifiedInputIterator {
public:
    using difference_type = Offset;
    using value_type = T;
    using pointer = T*;
    using reference = T;
    using iterator_category = std::random_access_iterator_tag;

    T* ptr;

    template <class Qualified>
    CacheModifiedInputIterator(Qualified* pointer_)  // NOLINT: implicit in CUB too
        : ptr(const_cast<std::remove_cv_t<Qualified>*>(pointer_)) {}
    T operator*() const { return ThreadLoad<modifier>(ptr); }
    CacheModifiedInputIterator operator++(int) {
        CacheModifiedInputIterator old = *this;
        ++*this;
        return old;
    }
    CacheModifiedInputIterator& operator++() {
        ++ptr;
        return *this;
    }
    template <class Distance>
    CacheModifiedInputIterator operator+(Distance n) const {
        CacheModifiedInputIterator moved = *this;
        moved.ptr = moved.ptr + n;
        return moved;
    }
    template <class Distance>
    CacheModifiedInputIterator& operator+=(Distance n) {
        ptr = ptr + n;
        return *this;
    }
    template <class Distance>
    CacheModifiedInputIterator operator-(Distance n) const
        requires(!std::is_same_v<Distance, CacheModifiedInputIterator>) {
        CacheModifiedInputIterator moved = *this;
        moved.ptr = moved.ptr - n;
        return moved;
    }
    template <class Distance>
    CacheModifiedInputIterator& operator-=(Distance n) {
        ptr = ptr - n;
        return *this;
    }
    difference_type operator-(const CacheModifiedInputIterator& other) const {
        return static_cast<difference_type>(ptr - other.ptr);
    }
    template <class Distance>
    reference operator[](Distance n) const {
        return *(*this + n);
    }
    bool operator==(const CacheModifiedInputIterator& other) const { return ptr == other.ptr; }
    bool operator!=(const CacheModifiedInputIterator& other) const { return !(*this == other); }
};

}  // namespace cub
