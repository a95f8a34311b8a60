// Wrong answer: rounds the size of a chunk down and forgets what is left
// Rejected by: computes every element
// Message: Do the chunks together cover all elements, the last ones too?
#include "exercises/2_memory_model/overlap_streams/overlap_streams.h"

float* allocate_on_host(size_t count) {
    void* memory = nullptr;
    const cudaError_t status = cudaMallocHost(&memory, count * sizeof(float));
    return status == cudaSuccess ? static_cast<float*>(memory) : nullptr;
}

void free_on_host(float* memory) { (void)cudaFreeHost(memory); }

__global__ void compute(const float* in, float* out, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 2 * in[i] + 1;
}

void queue_work(const Work& work) {
    const size_t chunk = work.count / work.chunks;
    for (size_t k = 0; k < work.chunks; ++k) {
        const size_t first = k * chunk;
        const size_t count = chunk;
        if (count == 0) break;
        const size_t bytes = count * sizeof(float);
        const cudaStream_t stream = work.streams[k % work.streams.size()];
        const unsigned blocks = static_cast<unsigned>((count + 255) / 256);
        cudaMemcpyAsync(work.d_in + first, work.in + first, bytes, cudaMemcpyHostToDevice, stream);
        compute<<<blocks, 256, 0, stream>>>(work.d_in + first, work.d_out + first, count);
        cudaMemcpyAsync(work.out + first, work.d_out + first, bytes, cudaMemcpyDeviceToHost, stream);
    }
}
