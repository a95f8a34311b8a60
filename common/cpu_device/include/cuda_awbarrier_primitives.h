#error \
    "The CPU device does not support asynchronous barriers (<cuda_awbarrier_primitives.h>): build this program with nvcc"
