// Exercise: a two-dimensional kernel, and a grid that covers a matrix.
// The task: ./warpwise task launch_shape_2d
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    // TODO 1: compute the column and the row of the element that belongs to this thread.

    // TODO 2: let the thread write its element, if it has one.
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    // TODO 3: replace the ones by the number of blocks that stand side by side, and by the
    // number of blocks that stand one below the other.
    return dim3(1, 1);
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    // TODO 4: launch the kernel with blocks of this shape and with the grid for them.
}
