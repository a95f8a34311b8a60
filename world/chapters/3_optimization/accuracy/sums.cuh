// How a term is added: the seven methods of accuracy, but for the pairwise one, which is
// another order of the same additions (kernels.cuh). Each is a sum so far, to which a term
// can be added, or the sum of another thread.
#pragma once

#include <cmath>

namespace optimization {
namespace {

// Method 1, plain: what an addition rounds away is gone. (Method 7 is Plain<double>.)
template <class T>
struct Plain {
    T sum;
    __host__ __device__ void add(T term) { sum = sum + term; }
    __host__ __device__ void add(const Plain& other) { add(other.sum); }
    __host__ __device__ T value() const { return sum; }
};

// Method 2, WRONG, and found in print: a compensation that is declared, applied, and never
// computed again. It stays 0, so this is the plain sum with one more addition.
template <class T>
struct alignas(2 * sizeof(T)) NeverRecomputed {
    T sum, lost;
    __host__ __device__ void add(T term) {
        const T corrected = term + lost;
        sum = sum + corrected;
    }
    __host__ __device__ void add(const NeverRecomputed& other) { add(other.sum); }
    __host__ __device__ T value() const { return sum; }
};

// What compensated sums are made of: the true sum is near sum + lost, where `lost` is too
// small to find room in `sum`. Two such sums are put together by the six additions that
// give the exact rounding error of a + b, whichever is larger (D. E. Knuth's TwoSum). A
// structure of two floats is copied as one access of 8 bytes.
template <class T>
struct alignas(2 * sizeof(T)) TwoParts {
    T sum, lost;

    __host__ __device__ void add_exactly(T term) {
        const T next = sum + term;
        const T term_part = next - sum;       // what arrived of the term
        const T sum_part = next - term_part;  // what arrived of the sum
        lost = lost + ((sum - sum_part) + (term - term_part));
        sum = next;
    }
    __host__ __device__ void add(const TwoParts& other) {
        add_exactly(other.sum);
        lost = lost + other.lost;
    }
    __host__ __device__ T value() const { return sum + lost; }
};

// Method 4, Kahan (1965): what the last addition lost goes into the next term. Digits are
// lost in two places: `term + lost` is rounded, and if the term is larger than the sum,
// `next - sum` is rounded as well, so that `lost` misses digits of the sum.
template <class T>
struct Kahan : TwoParts<T> {
    using TwoParts<T>::sum, TwoParts<T>::lost, TwoParts<T>::add;
    __host__ __device__ void add(T term) {
        const T corrected = term + lost;
        const T next = sum + corrected;
        lost = corrected - (next - sum);
        sum = next;
    }
};

// Method 5, Neumaier (1974): compares which of the two is larger, and gathers all losses
// for the end.
template <class T>
struct Neumaier : TwoParts<T> {
    using TwoParts<T>::sum, TwoParts<T>::lost, TwoParts<T>::add;
    __host__ __device__ void add(T term) {
        using std::fabs;
        const T next = sum + term;
        if (fabs(sum) >= fabs(term)) {
            lost = lost + ((sum - next) + term);
        } else {
            lost = lost + ((term - next) + sum);
        }
        sum = next;
    }
};

// Method 6, Sum2: the same losses by TwoSum, with three more additions and no comparison.
template <class T>
struct Sum2 : TwoParts<T> {
    using TwoParts<T>::sum, TwoParts<T>::lost, TwoParts<T>::add;
    __host__ __device__ void add(T term) { this->add_exactly(term); }
};

}  // namespace
}  // namespace optimization
