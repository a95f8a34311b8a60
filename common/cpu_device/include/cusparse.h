#error "The CPU device does not support the sparse matrix library cuSPARSE (<cusparse.h>): build this program with nvcc"
