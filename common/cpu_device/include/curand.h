#error "The CPU device does not support the random number library cuRAND (<curand.h>): build this program with nvcc"
