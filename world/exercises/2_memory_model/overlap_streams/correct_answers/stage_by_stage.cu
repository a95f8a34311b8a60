// Correct answer: all copies in are queued first, then all kernels, then all copies out
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
    const size_t chunk = (work.count + work.chunks - 1) / work.chunks;
    for (int stage = 0; stage < 3; ++stage) {
        for (size_t k = 0; k * chunk < work.count; ++k) {
            const size_t first = k * chunk;
            const size_t count = std::min(chunk, work.count - first);
            const size_t bytes = count * sizeof(float);
            const cudaStream_t stream = work.streams[k % work.streams.size()];
            float* const d_in = work.d_in + first;
            float* const d_out = work.d_out + first;
            if (stage == 0) {
                cudaMemcpyAsync(d_in, work.in + first, bytes, cudaMemcpyHostToDevice,
                                stream);
            } else if (stage == 1) {
                const unsigned blocks = static_cast<unsigned>((count + 255) / 256);
                compute<<<blocks, 256, 0, stream>>>(d_in, d_out, count);
            } else {
                cudaMemcpyAsync(work.out + first, d_out, bytes, cudaMemcpyDeviceToHost,
                                stream);
            }
        }
    }
}
