#error "The CPU device does not support the block and device primitives of CUB (<cub/block/block_store.cuh>): build this program with nvcc"
