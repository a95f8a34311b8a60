#error "The CPU device does not support the linear algebra library cuBLAS (<cublasXt.h>): build this program with nvcc"
