#error "The CPU device does not support the multi-GPU library NVSHMEM (<nvshmem.h>): build this program with nvcc"
