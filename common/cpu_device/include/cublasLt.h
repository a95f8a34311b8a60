#error "The CPU device does not support the linear algebra library cuBLAS (<cublasLt.h>): build this program with nvcc"
