// Types that CUB's interface has: pairs, two buffers that take turns, and a type for "none".
#pragma once

#include <type_traits>

#include "cub/version.cuh"
#include "cuda_bf16.h"  // which programs that include CUB get from it
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace cub {

struct NullType {
    friend bool operator==(const NullType&, const NullType&) { return true; }
    friend bool operator!=(const NullType&, const NullType&) { return false; }
};

template <int value>
struct Int2Type {
    enum { VALUE = value };
};

/// A value and its place, or a key and what belongs to it.
template <class Key, class Value>
struct KeyValuePair {
    using key_type = Key;
    using value_type = Value;
    Key key;
    Value value;

    KeyValuePair() = default;
    constexpr KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
    friend constexpr bool operator==(const KeyValuePair& a, const KeyValuePair& b) {
        return a.key == b.key && a.value == b.value;
    }
    friend constexpr bool operator!=(const KeyValuePair& a, const KeyValuePair& b) { return !(a == b); }
};

/// Two arrays of which one holds the data. An algorithm may leave its result in either of them, and says in which.
template <class T>
struct DoubleBuffer {
    T* d_buffers[2] = {nullptr, nullptr};
    int selector = 0;

    DoubleBuffer() = default;
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

}  // namespace cub
