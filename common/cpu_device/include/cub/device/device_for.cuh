#error "The CPU device does not support the block and device primitives of CUB (<cub/device/device_for.cuh>): build this program with nvcc"
