// The functions that the grader and the kernel call, and the numbers that they work with.
#pragma once

#include <cuda_runtime.h>

#ifdef __CPU_DEVICE__
#define COUNTED_FUNCTION  // the grader has these functions, and it counts their calls
#else
#define COUNTED_FUNCTION __host__ __device__ inline
#endif

/// An unsigned integer of 32 bits whose operations are counted and have a price. Write it
/// like an `unsigned`; what no longer fits into 32 bits is dropped, as there. An `unsigned`
/// becomes an Index by itself, and an Index becomes no `unsigned`.
///
/// The price is that of the lesson: 128, divided by the results that an SM of an H200
/// delivers per clock.
///
///     operation                                       price
///     a / b    a % b                                     24
///     upper_half(a, b)                                    4
///     a * b    a + b    a - b                             2
///     a << b   a >> b   a & b   a | b   a ^ b             2
///     a < b    a <= b   a > b   a >= b  a == b   a != b   2
///
/// A shift by 32 bits or more gives 0.
class Index {
public:
    Index() = default;
    COUNTED_FUNCTION Index(unsigned value);  // implicit: layout.cols * 2u is an Index

    friend COUNTED_FUNCTION Index operator/(Index a, Index b);
    friend COUNTED_FUNCTION Index operator%(Index a, Index b);
    friend COUNTED_FUNCTION Index operator*(Index a, Index b);
    friend COUNTED_FUNCTION Index operator+(Index a, Index b);
    friend COUNTED_FUNCTION Index operator-(Index a, Index b);
    friend COUNTED_FUNCTION Index operator<<(Index a, Index b);
    friend COUNTED_FUNCTION Index operator>>(Index a, Index b);
    friend COUNTED_FUNCTION Index operator&(Index a, Index b);
    friend COUNTED_FUNCTION Index operator|(Index a, Index b);
    friend COUNTED_FUNCTION Index operator^(Index a, Index b);
    friend COUNTED_FUNCTION bool operator<(Index a, Index b);
    friend COUNTED_FUNCTION bool operator<=(Index a, Index b);
    friend COUNTED_FUNCTION bool operator>(Index a, Index b);
    friend COUNTED_FUNCTION bool operator>=(Index a, Index b);
    friend COUNTED_FUNCTION bool operator==(Index a, Index b);
    friend COUNTED_FUNCTION bool operator!=(Index a, Index b);

    /// The upper 32 bits of the product, which has 64: `__umulhi` for an Index.
    friend COUNTED_FUNCTION Index upper_half(Index a, Index b);

    /// The number itself, for the kernel. An answer that uses it elsewhere is rejected.
    friend COUNTED_FUNCTION unsigned opened(Index x);

private:
    friend class Seal;  // of the grader
    unsigned value_ = 0;
    unsigned seal_ = 0;
    unsigned computed_ = 0;
};

#undef COUNTED_FUNCTION
#ifndef __CPU_DEVICE__
#include "exercises/3_optimization/divide_by_multiplying/uncounted.cuh"
#endif

/// A picture whose planes (red, green, blue, ...) lie one after the other in memory. The
/// sample in a row, a column, and a plane is at
///
///     plane * plane_stride + row * row_stride + col
///
/// All of these numbers are below 2^32. The picture has fewer than 2^31 samples; `planes`
/// and `cols` are at least 1.
struct Picture {
    unsigned planes, cols;
    unsigned plane_stride, row_stride;
};

/// What the host prepares once for all threads. You may use `prepared` for any numbers.
struct Layout {
    Index planes, cols;
    Index plane_stride, row_stride;
    Index prepared[8] = {};
};

/// Runs on the host, once per launch.
Layout prepare(const Picture& picture);

/// Where the sample with this number is. Samples are numbered pixel by pixel: first all
/// planes of the first pixel of row 0, then those of the next pixel in the row. So the
/// number is
///
///     (row * cols + col) * planes + plane
///
/// It is below 2^31. At a price of at most 40.
__device__ Index place_of(Index number, const Layout& layout);

/// Finds the places of `n` samples: d_places[t] is the place of number d_numbers[t].
void find_places(const Picture& picture, const unsigned* d_numbers, unsigned* d_places,
                 unsigned n);
