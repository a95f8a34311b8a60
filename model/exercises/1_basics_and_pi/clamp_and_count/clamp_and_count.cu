// Exercise: limits in constant memory, and a counter that outlives its kernel.
// The task: ./warpwise task clamp_and_count
#include "exercises/1_basics_and_pi/clamp_and_count/clamp_and_count.h"

// TODO 1: two variables of the device: the lower and the upper limit, which kernels only
// read, and the counter, to which the threads of a kernel add.

// TODO 2: a function that runs on the device and clamps one value to the limits.

__global__ void clamp_elements(const float* in, float* out, int n) {
    (void)in, (void)out, (void)n;  // delete this line when you use them

    // TODO 3: the kernel. One thread finds its index, clamps its element, and counts if the
    // element was outside.
}

unsigned clamp_and_count(const float* d_in, float* d_out, int n, float low, float high) {
    (void)d_in, (void)d_out, (void)n, (void)low, (void)high;  // delete this line, too

    // TODO 4: copy the limits of this call to the device. What does the counter have to
    // hold before the launch?

    // TODO 5: launch the kernel.

    // TODO 6: copy the counter back, and return it. What happens when n is 0?
    return 0;
}
