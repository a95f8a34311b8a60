#error \
    "The CPU device does not support the random number library cuRAND (<curand_kernel.h>): build this program with nvcc"
