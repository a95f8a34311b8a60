// Correct answer: a divisor of 1 is asked for, and others have a shift that is one less
#include "exercises/3_optimization/divide_by_multiplying/divide_by_multiplying.h"

#include "exercises/3_optimization/divide_by_multiplying/find_places.cuh"

unsigned bits_of(unsigned d) {
    unsigned bits = 0;
    for (unsigned left = d - 1; left != 0; left /= 2) ++bits;
    return bits;
}

Layout prepare(const Picture& picture) {
    Layout layout{picture.planes, picture.cols, picture.plane_stride, picture.row_stride};
    const unsigned divisors[] = {picture.planes, picture.cols};
    for (int k = 0; k < 2; ++k) {
        const unsigned d = divisors[k], bits = bits_of(d);
        if (d == 1) continue;
        const unsigned long long factor = ((1ull << (31 + bits)) + d - 1) / d;
        layout.prepared[k] = static_cast<unsigned>(factor);
        layout.prepared[2 + k] = bits - 1;
    }
    return layout;
}

__device__ Index place_of(Index number, const Layout& layout) {
    Index pixel = number, row;
    if (layout.planes != 1u)
        pixel = upper_half(number, layout.prepared[0]) >> layout.prepared[2];
    if (layout.cols == 1u) {
        row = pixel;
    } else {
        row = upper_half(pixel, layout.prepared[1]) >> layout.prepared[3];
    }
    const Index plane = number - pixel * layout.planes;
    const Index col = pixel - row * layout.cols;
    return plane * layout.plane_stride + (row * layout.row_stride + col);
}
