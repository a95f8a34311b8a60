// Operators for reductions, scans, and comparisons.
#pragma once

#include "cub/util_type.cuh"
#include "cuda/functional"
#include "cuda/std/functional"

namespace cub {

// These left CUB with CUDA 13, where cuda::std::plus and cuda::maximum are in their place. Programs that were written
// before have them.
struct Equality {
    template <class T, class U>
    constexpr bool operator()(const T& a, const U& b) const {
        return a == b;
    }
};
struct Inequality {
    template <class T, class U>
    constexpr bool operator()(const T& a, const U& b) const {
        return a != b;
    }
};
struct Sum {
    template <class T, class U>
    constexpr auto operator()(const T& a, const U& b) const -> decltype(a + b) {
        return a + b;
    }
};
struct Difference {
    template <class T, class U>
    constexpr auto operator()(const T& a, const U& b) const -> decltype(a - b) {
        return a - b;
    }
};
struct Max : cuda::maximum<> {};
struct Min : cuda::minimum<> {};

/// The pair with the greater value; of equal values the one with the smaller key.
struct ArgMax {
    template <class Key, class Value>
    constexpr KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a,
                                                  const KeyValuePair<Key, Value>& b) const {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class Key, class Value>
    constexpr KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a,
                                                  const KeyValuePair<Key, Value>& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

template <class Op>
struct InequalityWrapper {
    Op op;
    explicit InequalityWrapper(Op equality) : op(equality) {}
    template <class T, class U>
    bool operator()(const T& a, const U& b) {
        return !op(a, b);
    }
};

template <class T>
struct CastOp {
    template <class U>
    constexpr T operator()(const U& a) const {
        return static_cast<T>(a);
    }
};

template <class Op>
class SwizzleScanOp {
public:
    explicit SwizzleScanOp(Op op) : op_(op) {}
    template <class T>
    T operator()(const T& a, const T& b) {
        return op_(b, a);
    }

private:
    Op op_;
};

/// Pairs of a flag and a value: a flag begins a new segment, whose values are added up.
template <class Op>
struct ReduceBySegmentOp {
    Op op;
    ReduceBySegmentOp() = default;
    explicit ReduceBySegmentOp(Op of_values) : op(of_values) {}
    template <class Pair>
    Pair operator()(const Pair& a, const Pair& b) {
        Pair result;
        result.key = a.key + b.key;
        result.value = b.key != 0 ? b.value : op(a.value, b.value);
        return result;
    }
};

/// Pairs of a key and a value: values of equal keys are added up.
template <class Op>
struct ReduceByKeyOp {
    Op op;
    ReduceByKeyOp() = default;
    explicit ReduceByKeyOp(Op of_values) : op(of_values) {}
    template <class Pair>
    Pair operator()(const Pair& a, const Pair& b) {
        Pair result = b;
        if (a.key == b.key) result.value = op(a.value, b.value);
        return result;
    }
};

}  // namespace cub
