// Wrong answer: the loop is on the host: a launch for each piece of the arrays
// Rejected by: lets one block do a long array
// Message: 3 launches, at most 1 allowed
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_piece(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks,
                   int threads_per_block) {
    const int piece = blocks * threads_per_block;
    for (int done = 0; done < n; done += piece) {
        scale_and_add_piece<<<blocks, threads_per_block>>>(a, d_x + done, d_y + done,
                                                           n - done);
    }
}
