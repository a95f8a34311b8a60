#error "The CPU device does not support the block and device primitives of CUB (<cub/cub.cuh>): build this program with nvcc"
