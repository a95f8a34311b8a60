#error "The CPU device does not support the block and device primitives of CUB (<cub/device/device_histogram.cuh>): build this program with nvcc"
