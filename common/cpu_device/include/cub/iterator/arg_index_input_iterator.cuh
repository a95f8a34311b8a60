// Values with their places.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "cub/util_type.cuh"

namespace cub {

template <class Input, class Offset = std::ptrdiff_t,
          class OutputValue = typename std::iterator_traits<Input>::value_type>
class ArgIndexInputIterator {
public:
    using difference_type = Offset;
    using value_type = KeyValuePair<Offset, OutputValue>;
    using pointer = value_type*;
    using reference = value_type;
    using iterator_category = std::random_access_iterator_tag;

    explicit ArgIndexInputIterator(Input input, Offset place = 0) : input_(input), place_(place) {}
    value_type operator*() const { return value_type(place_, static_cast<OutputValue>(input_[place_])); }
    ArgIndexInputIterator operator++(int) {
        ArgIndexInputIterator old = *this;
        ++*this;
        return old;
    }
    ArgIndexInputIterator& operator++() {
        ++place_;
        return *this;
    }
    template <class Distance>
    ArgIndexInputIterator operator+(Distance n) const {
        ArgIndexInputIterator moved = *this;
        moved.place_ = moved.place_ + n;
        return moved;
    }
    template <class Distance>
    ArgIndexInputIterator& operator+=(Distance n) {
        place_ = place_ + n;
        return *this;
    }
    template <class Distance>
    ArgIndexInputIterator operator-(Distance n) const requires(!std::is_same_v<Distance, ArgIndexInputIterator>) {
        ArgIndexInputIterator moved = *this;
        moved.place_ = moved.place_ - n;
        return moved;
    }
    template <class Distance>
    ArgIndexInputIterator& operator-=(Distance n) {
        place_ = place_ - n;
        return *this;
    }
    difference_type operator-(const ArgIndexInputIterator& other) const {
        return static_cast<difference_type>(place_ - other.place_);
    }
    template <class Distance>
    reference operator[](Distance n) const {
        return *(*this + n);
    }
    bool operator==(const ArgIndexInputIterator& other) const { return place_ == other.place_; }
    bool operator!=(const ArgIndexInputIterator& other) const { return !(*this == other); }

    void normalize() {
        input_ = input_ + place_;
        place_ = 0;
    }

private:
    Input input_;
    Offset place_;
};

}  // namespace cub
