// Values with their places.
#pragma once

#include "cpu_device/cub_iterator.h"
#include "cub/util_type.cuh"

namespace cub {

template <class Input, class Offset = std::ptrdiff_t,
          class OutputValue = typename std::iterator_traits<Input>::value_type>
class ArgIndexInputIterator
    : public cpu_device::cub_parts::InputIterator<ArgIndexInputIterator<Input, Offset, OutputValue>,
                                                  KeyValuePair<Offset, OutputValue>, Offset> {
public:
    explicit ArgIndexInputIterator(Input input, Offset place = 0) : input_(input), place_(place) {}
    KeyValuePair<Offset, OutputValue> operator*() const {
        return KeyValuePair<Offset, OutputValue>(place_, static_cast<OutputValue>(input_[place_]));
    }
    Offset& place() { return place_; }
    const Offset& place() const { return place_; }

    void normalize() {
        input_ = input_ + place_;
        place_ = 0;
    }

private:
    Input input_;
    Offset place_;
};

}  // namespace cub
