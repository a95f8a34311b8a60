// Correct answer: rank and size come from cooperative groups' grid_group
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const auto grid = cg::this_grid();
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) {
        y[i] = a * x[i] + y[i];
    }
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
