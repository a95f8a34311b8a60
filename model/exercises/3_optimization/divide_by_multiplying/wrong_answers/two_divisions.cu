// Wrong answer: one division for each quotient, and the remainders follow
// Rejected by: pays at most 40 per sample
// Message: 2 divisions and remainders at 24
#include "exercises/3_optimization/divide_by_multiplying/divide_by_multiplying.h"

#include "exercises/3_optimization/divide_by_multiplying/find_places.cuh"

Layout prepare(const Picture& picture) {
    return {picture.planes, picture.cols, picture.plane_stride, picture.row_stride};
}

__device__ Index place_of(Index number, const Layout& layout) {
    const Index pixel = number / layout.planes;
    const Index plane = number - pixel * layout.planes;
    const Index row = pixel / layout.cols;
    const Index col = pixel - row * layout.cols;
    return plane * layout.plane_stride + row * layout.row_stride + col;
}
