// The kernel of device_query. Everything else in this lesson asks the runtime.
#pragma once

namespace basics_and_pi {
namespace {

// The limits that the lesson prints are promises of the driver. This kernel tests three of
// them. It is launched as one block with as many threads and as much shared memory as a
// block may have, and it writes down what the threads see: the warp size, how many threads
// met at the barrier, and what the last byte of shared memory holds.
// With one thread more, or one byte more, the launch would be refused.
__global__ void largest_block(unsigned shared_bytes, unsigned* seen) {
    extern __shared__ unsigned char bytes[];
    if (threadIdx.x == blockDim.x - 1) bytes[shared_bytes - 1] = 42;
    const int threads = __syncthreads_count(1);
    if (threadIdx.x == 0) {
        seen[0] = warpSize;
        seen[1] = threads;
        seen[2] = bytes[shared_bytes - 1];
    }
}

}  // namespace
}  // namespace basics_and_pi
