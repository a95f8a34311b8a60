// Solution: copies that overlap with kernels and with each other.
//
// A stream keeps the order of one chunk: copy in, compute, copy out. Chunks in different
// streams have no order between them, so that one is copied in while another is computed
// and a third is copied out. Pinned memory is what makes it so: from any other, the
// driver first copies into pinned memory of its own, and the call waits for that.
#include "exercises/2_memory_model/overlap_streams/overlap_streams.h"

#include <algorithm>

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
    const size_t chunk = (work.count + work.chunks - 1) / work.chunks;
    for (size_t k = 0; k * chunk < work.count; ++k) {
        const size_t first = k * chunk;
        const size_t count = std::min(chunk, work.count - first);
        const size_t bytes = count * sizeof(float);
        const cudaStream_t stream = work.streams[k % work.streams.size()];
        const unsigned blocks = static_cast<unsigned>((count + 255) / 256);
        cudaMemcpyAsync(work.d_in + first, work.in + first, bytes, cudaMemcpyHostToDevice,
                        stream);
        compute<<<blocks, 256, 0, stream>>>(work.d_in + first, work.d_out + first, count);
        cudaMemcpyAsync(work.out + first, work.d_out + first, bytes, cudaMemcpyDeviceToHost,
                        stream);
    }
}
