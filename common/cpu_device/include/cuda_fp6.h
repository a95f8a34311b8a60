#error "The CPU device does not support 6-bit floating-point types (<cuda_fp6.h>): build this program with nvcc"
