// Mean and variance of some elements, which can be combined with those of others.
#pragma once

#include <cuda_runtime.h>

namespace examples {
namespace {

// How many elements, their mean, and the sum of the squares of their deviations from it.
struct Moments {
    float count, mean, m2;
};

// Of the elements of both. (T. F. Chan, G. H. Golub, R. J. LeVeque, Updating formulae and a
// pairwise algorithm for computing sample variances, 1979.)
__device__ Moments combined(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0) return a;
    const float difference = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + difference * share,
            a.m2 + b.m2 + difference * difference * a.count * share};
}

}  // namespace
}  // namespace examples
