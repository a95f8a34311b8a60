// Wrong answer: the quotient of 32 bits is found bit by bit, with comparisons
// Rejected by: pays at most 40 per sample
// Message: 0 divisions and remainders at 24
#include "exercises/3_optimization/divide_by_multiplying/divide_by_multiplying.h"

#include "exercises/3_optimization/divide_by_multiplying/find_places.cuh"

Layout prepare(const Picture& picture) {
    return {picture.planes, picture.cols, picture.plane_stride, picture.row_stride};
}

// Long division, as on paper.
__device__ Index quotient(Index number, Index divisor) {
    Index rest = 0u, result = 0u;
    for (int bit = 31; bit >= 0; --bit) {
        rest = (rest << 1u) | ((number >> unsigned(bit)) & 1u);
        result = result << 1u;
        if (rest >= divisor) {
            rest = rest - divisor;
            result = result | 1u;
        }
    }
    return result;
}

__device__ Index place_of(Index number, const Layout& layout) {
    const Index pixel = quotient(number, layout.planes);
    const Index plane = number - pixel * layout.planes;
    const Index row = quotient(pixel, layout.cols);
    const Index col = pixel - row * layout.cols;
    return plane * layout.plane_stride + row * layout.row_stride + col;
}
