#error "The CPU device does not support the block and device primitives of CUB (<cub/warp/warp_scan.cuh>): build this program with nvcc"
