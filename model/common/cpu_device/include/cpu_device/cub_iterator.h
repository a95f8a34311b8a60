// How CUB's iterators for input move.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace cpu_device::cub_parts {

/// A random-access iterator that is read only. `Self` has an operator* and a function `place()`: a reference to the
/// number or the iterator that says where it is.
template <class Self, class T, class Offset>
class InputIterator {
public:
    using difference_type = Offset;
    using value_type = T;
    using pointer = T*;
    using reference = T;
    using iterator_category = std::random_access_iterator_tag;

    Self operator++(int) {
        Self old = self();
        ++self();
        return old;
    }
    Self& operator++() {
        ++self().place();
        return self();
    }
    template <class Distance>
    Self operator+(Distance n) const {
        Self moved = self();
        return moved += n;
    }
    template <class Distance>
    Self& operator+=(Distance n) {
        self().place() = self().place() + n;
        return self();
    }
    template <class Distance>
    Self operator-(Distance n) const requires(!std::is_same_v<Distance, Self>) {
        Self moved = self();
        return moved -= n;
    }
    template <class Distance>
    Self& operator-=(Distance n) {
        self().place() = self().place() - n;
        return self();
    }
    template <class Distance>
    T operator[](Distance n) const {
        return *(self() + n);
    }
    friend difference_type operator-(const Self& left, const Self& right) {
        return static_cast<difference_type>(left.place() - right.place());
    }
    friend bool operator==(const Self& left, const Self& right) { return left.place() == right.place(); }

private:
    Self& self() { return static_cast<Self&>(*this); }
    const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace cpu_device::cub_parts
