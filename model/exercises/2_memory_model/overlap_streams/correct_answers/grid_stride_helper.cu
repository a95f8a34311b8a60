// Correct answer: a helper queues a chunk; the kernel strides with at most 128 blocks
#include "exercises/2_memory_model/overlap_streams/overlap_streams.h"

#include <algorithm>

float* allocate_on_host(size_t count) {
    void* memory = nullptr;
    if (cudaMallocHost(&memory, count * sizeof(float)) != cudaSuccess) return nullptr;
    return static_cast<float*>(memory);
}

void free_on_host(float* memory) { cudaFreeHost(memory); }

__global__ void double_and_increment(const float* in, float* out, size_t count) {
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        out[i] = 2 * in[i] + 1;
    }
}

static void queue_chunk(const Work& work, size_t first, size_t last, cudaStream_t stream) {
    const size_t count = last - first;
    const size_t bytes = count * sizeof(float);
    const unsigned blocks =
        static_cast<unsigned>(std::min<size_t>((count + 511) / 512, 128));
    const float* const d_in = work.d_in + first;
    float* const d_out = work.d_out + first;
    cudaMemcpyAsync(work.d_in + first, work.in + first, bytes, cudaMemcpyHostToDevice,
                    stream);
    double_and_increment<<<blocks, 512, 0, stream>>>(d_in, d_out, count);
    cudaMemcpyAsync(work.out + first, d_out, bytes, cudaMemcpyDeviceToHost, stream);
}

void queue_work(const Work& work) {
    const size_t chunk = (work.count + work.chunks - 1) / work.chunks;
    size_t k = 0;
    for (size_t first = 0; first < work.count; first += chunk, ++k) {
        const size_t last = std::min(first + chunk, work.count);
        queue_chunk(work, first, last, work.streams[k % work.streams.size()]);
    }
}
