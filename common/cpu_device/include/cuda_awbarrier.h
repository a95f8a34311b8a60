#error "The CPU device does not support asynchronous barriers (<cuda_awbarrier.h>): build this program with nvcc"
