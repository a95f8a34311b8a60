#error "The CPU device does not support the multi-GPU library NCCL (<nccl.h>): build this program with nvcc"
