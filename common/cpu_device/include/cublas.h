#error "The CPU device does not support the linear algebra library cuBLAS (<cublas.h>): build this program with nvcc"
