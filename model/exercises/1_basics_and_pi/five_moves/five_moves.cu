// Exercise: allocate, copy in, launch, copy out, free.
// The task: ./warpwise task five_moves
#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

// TODO 1: write the kernel. One thread computes one element: it finds its index, leaves
// when it has no element, and otherwise multiplies its element by the factor.

cudaError_t scale(const float* in, float* out, int n, float factor) {
    (void)in, (void)out, (void)n, (void)factor;  // delete this line when you use them

    // TODO 2, allocate: device memory for the n floats of the input, and for as many of the
    // output.

    // TODO 3, copy in: from `in`, which is host memory, to the device.

    // TODO 4, launch: the kernel, with enough blocks for n threads. Then ask whether the
    // launch was accepted.

    // TODO 5, copy out: from the device to `out`.

    // TODO 6, free: all device memory.

    // TODO 7: return the status of the first call that failed, or cudaSuccess if none did.
    // What happens when n is 0?
    return cudaSuccess;
}
