// Wrong answer: copies in, kernels and copies out have a stream each
// Rejected by: gives each chunk to one of the streams in turn
// Message: Not done in one stream from copy in to copy out
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
        const size_t bytes = count * sizeof(float);
        const unsigned blocks = static_cast<unsigned>((count + 255) / 256);
        cudaMemcpyAsync(work.d_in + first, work.in + first, bytes, cudaMemcpyHostToDevice,
                        work.streams[0]);
        compute<<<blocks, 256, 0, work.streams[1 % work.streams.size()]>>>(
            work.d_in + first, work.d_out + first, count);
        cudaMemcpyAsync(work.out + first, work.d_out + first, bytes, cudaMemcpyDeviceToHost,
                        work.streams[2 % work.streams.size()]);
    }
}
