#error "The CPU device does not support the multi-GPU library NVSHMEM (<nvshmemx.h>): build this program with nvcc"
