#error "The CPU device does not support the block and device primitives of CUB (<cub/block/block_exchange.cuh>): build this program with nvcc"
