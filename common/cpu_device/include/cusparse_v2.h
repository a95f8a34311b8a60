#error \
    "The CPU device does not support the sparse matrix library cuSPARSE (<cusparse_v2.h>): build this program with nvcc"
