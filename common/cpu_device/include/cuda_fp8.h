#error "The CPU device does not support 8-bit floating-point types (<cuda_fp8.h>): build this program with nvcc"
