#error "The CPU device does not support the block and device primitives of CUB (<cub/block/block_scan.cuh>): build this program with nvcc"
