// Exercise: copies that overlap with kernels and with each other.
// The task: ./warpwise task overlap_streams
#include "exercises/2_memory_model/overlap_streams/overlap_streams.h"

#include <cstdlib>

// TODO 1: allocate pinned memory: the device's copy engines cannot reach any other.
float* allocate_on_host(size_t count) {
    return static_cast<float*>(std::malloc(count * sizeof(float)));
}

// TODO 2: free it. Each function that allocates memory has one of its own that frees it.
void free_on_host(float* memory) { std::free(memory); }

__global__ void compute(const float* in, float* out, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 2 * in[i] + 1;
}

// TODO 3: a loop over the chunks. Where does chunk k begin, and how many floats
//         does it have? The last chunks may have fewer floats than the others, or
//         none.
// TODO 4: copy in, compute, and copy out in the stream of the chunk, without
//         waiting: use cudaMemcpyAsync, and pass the stream as the fourth argument
//         of the launch.
void queue_work(const Work& work) {
    if (work.count == 0) return;
    const size_t bytes = work.count * sizeof(float);
    const unsigned blocks = static_cast<unsigned>((work.count + 255) / 256);
    cudaMemcpy(work.d_in, work.in, bytes, cudaMemcpyHostToDevice);
    compute<<<blocks, 256>>>(work.d_in, work.d_out, work.count);
    cudaMemcpy(work.out, work.d_out, bytes, cudaMemcpyDeviceToHost);
}
