#error "The CPU device does not support the linear algebra library cuBLAS (<cublas_v2.h>): build this program with nvcc"
