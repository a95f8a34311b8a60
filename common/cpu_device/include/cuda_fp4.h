#error "The CPU device does not support 4-bit floating-point types (<cuda_fp4.h>): build this program with nvcc"
