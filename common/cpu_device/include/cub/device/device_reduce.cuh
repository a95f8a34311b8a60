#error "The CPU device does not support the block and device primitives of CUB (<cub/device/device_reduce.cuh>): build this program with nvcc"
