// Solution: divisions by numbers that only the host knows.
//
// The stub has five divisions and remainders, which cost 120 of its 128. A remainder
// follows from the quotient by a product and a subtraction, and the number of the pixel is
// used twice, so two divisions are enough. That costs 64.
//
// A division by d becomes a product with 2^s / d, of which the upper half is taken. Let l
// be the number of bits that it takes to count to d, so that d <= 2^l, and let m be
// 2^(31 + l) / d, rounded up. m is at most 2^32 - 1, because 2^l is less than 2 d. The
// rounding makes m too large by less than 1, so number * m / 2^(31 + l) is too large by
// less than number / 2^(31 + l), which is less than 1 / 2^l for a number below 2^31. A
// quotient that is not whole is at least 1 / d below the next whole number, and 1 / d is at
// least 1 / 2^l. So rounding down gives the exact quotient, for every number.
//
// The upper half is a shift by 32 bits, one more than the 31. Therefore the number is
// doubled first. A divisor of 1 needs no special case: m is 2^31, and nothing is shifted.
//
// The price is 32: 8 for each division, 8 for both remainders, and 8 for the place.
#include "exercises/3_optimization/divide_by_multiplying/divide_by_multiplying.h"

#include "exercises/3_optimization/divide_by_multiplying/find_places.cuh"

struct Divisor {
    unsigned factor, shift;
};

Divisor divisor_for(unsigned d) {
    unsigned bits = 0;
    while ((1ull << bits) < d) ++bits;
    const unsigned long long power = 1ull << (31 + bits);
    return {static_cast<unsigned>((power + d - 1) / d), bits};
}

Layout prepare(const Picture& picture) {
    Layout layout{picture.planes, picture.cols, picture.plane_stride, picture.row_stride};
    const Divisor planes = divisor_for(picture.planes), cols = divisor_for(picture.cols);
    layout.prepared[0] = planes.factor;
    layout.prepared[1] = planes.shift;
    layout.prepared[2] = cols.factor;
    layout.prepared[3] = cols.shift;
    return layout;
}

__device__ Index quotient(Index number, Index factor, Index shift) {
    return upper_half(number << 1u, factor) >> shift;
}

__device__ Index place_of(Index number, const Layout& layout) {
    const Index pixel = quotient(number, layout.prepared[0], layout.prepared[1]);
    const Index plane = number - pixel * layout.planes;
    const Index row = quotient(pixel, layout.prepared[2], layout.prepared[3]);
    const Index col = pixel - row * layout.cols;
    return plane * layout.plane_stride + row * layout.row_stride + col;
}
