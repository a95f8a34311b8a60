// Wrong answer: the kernel reads and writes pinned memory itself
// Rejected by: computes every element
// Message: not written by any kernel
#include "exercises/2_memory_model/overlap_streams/overlap_streams.h"

#include <algorithm>

float* allocate_on_host(size_t count) {
    void* memory = nullptr;
    if (cudaMallocHost(&memory, count * sizeof(float)) != cudaSuccess) return nullptr;
    return static_cast<float*>(memory);
}

void free_on_host(float* memory) { cudaFreeHost(memory); }

__global__ void compute(const float* in, float* out, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 2 * in[i] + 1;
}

void queue_work(const Work& work) {
    if (work.count == 0) return;
    const size_t chunk = (work.count + work.chunks - 1) / work.chunks;
    for (size_t k = 0; k < work.chunks; ++k) {
        const size_t first = k * chunk;
        if (first >= work.count) break;
        const size_t count = std::min(chunk, work.count - first);
        const cudaStream_t stream = work.streams[k % work.streams.size()];
        const unsigned blocks = static_cast<unsigned>((count + 255) / 256);
        compute<<<blocks, 256, 0, stream>>>(work.in + first, work.out + first, count);
    }
}
