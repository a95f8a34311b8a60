#error "The CPU device does not support the block and device primitives of CUB (<cub/device/device_radix_sort.cuh>): build this program with nvcc"
