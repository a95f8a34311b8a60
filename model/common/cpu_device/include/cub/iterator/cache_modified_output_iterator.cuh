// Stores through a cache that the program chooses.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "cub/thread/thread_store.cuh"

namespace cub {

template <CacheStoreModifier modifier, class T, class Offset = std::ptrdiff_t>
class CacheModifiedOutputIterator {
    struct Place {
        T* ptr;
        T operator=(T value) const {
            ThreadStore<modifier>(ptr, value);
            return value;
        }
    };

public:
    using difference_type = Offset;
    using value_type = void;
    using pointer = void;
    using reference = Place;
    using iterator_category = std::random_access_iterator_tag;

    template <class Qualified>
    CacheModifiedOutputIterator(Qualified* pointer_)  // NOLINT: implicit in CUB too
        : ptr_(const_cast<std::remove_cv_t<Qualified>*>(pointer_)) {}
    Place operator*() const { return {ptr_}; }
    CacheModifiedOutputIterator operator++(int) {
        CacheModifiedOutputIterator old = *this;
        ++*this;
        return old;
    }
    CacheModifiedOutputIterator& operator++() {
        ++ptr_;
        return *this;
    }
    template <class Distance>
    CacheModifiedOutputIterator operator+(Distance n) const {
        CacheModifiedOutputIterator moved = *this;
        moved.ptr_ = moved.ptr_ + n;
        return moved;
    }
    template <class Distance>
    CacheModifiedOutputIterator& operator+=(Distance n) {
        ptr_ = ptr_ + n;
        return *this;
    }
    template <class Distance>
    CacheModifiedOutputIterator operator-(Distance n) const
        requires(!std::is_same_v<Distance, CacheModifiedOutputIterator>) {
        CacheModifiedOutputIterator moved = *this;
        moved.ptr_ = moved.ptr_ - n;
        return moved;
    }
    template <class Distance>
    CacheModifiedOutputIterator& operator-=(Distance n) {
        ptr_ = ptr_ - n;
        return *this;
    }
    difference_type operator-(const CacheModifiedOutputIterator& other) const {
        return static_cast<difference_type>(ptr_ - other.ptr_);
    }
    template <class Distance>
    reference operator[](Distance n) const {
        return *(*this + n);
    }
    bool operator==(const CacheModifiedOutputIterator& other) const { return ptr_ == other.ptr_; }
    bool operator!=(const CacheModifiedOutputIterator& other) const { return !(*this == other); }

private:
    T* ptr_;
};

}  // namespace cub
