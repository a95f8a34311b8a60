// Wrong answer: opens the numbers and divides where nobody counts
// Rejected by: pays at most 40 per sample
// Message: Arithmetic with an opened number is not counted
#include "exercises/3_optimization/divide_by_multiplying/divide_by_multiplying.h"

#include "exercises/3_optimization/divide_by_multiplying/find_places.cuh"

Layout prepare(const Picture& picture) {
    return {picture.planes, picture.cols, picture.plane_stride, picture.row_stride};
}

__device__ Index place_of(Index number, const Layout& layout) {
    const unsigned n = opened(number), planes = opened(layout.planes),
                   cols = opened(layout.cols);
    return Index(n % planes) * layout.plane_stride +
           Index(n / planes / cols) * layout.row_stride + Index(n / planes % cols);
}
