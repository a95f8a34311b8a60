// Correct answer: counts the stream around by hand; portable pinned memory
#include "exercises/2_memory_model/overlap_streams/overlap_streams.h"

float* allocate_on_host(size_t count) {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, count * sizeof(float), cudaHostAllocPortable) != cudaSuccess)
        memory = nullptr;
    return static_cast<float*>(memory);
}

void free_on_host(float* memory) { (void)cudaFreeHost(memory); }

constexpr unsigned threads = 64;

__global__ void compute(const float* __restrict__ in, float* __restrict__ out,
                        size_t count) {
    size_t i = 2 * static_cast<size_t>(blockIdx.x) * threads + threadIdx.x;
    for (int round = 0; round < 2; ++round, i += threads) {
        if (i < count) out[i] = fmaf(2.0f, in[i], 1.0f);
    }
}

void queue_work(const Work& work) {
    size_t left = work.count, done = 0, chunks_left = work.chunks;
    auto stream = work.streams.begin();
    while (left > 0) {
        const size_t now = (left + chunks_left - 1) / chunks_left;
        const size_t bytes = now * sizeof(float);
        float* in = work.d_in + done;
        float* out = work.d_out + done;
        cudaMemcpyAsync(in, work.in + done, bytes, cudaMemcpyHostToDevice, *stream);
        const auto blocks = static_cast<unsigned>((now + 2 * threads - 1) / (2 * threads));
        compute<<<blocks, threads, 0, *stream>>>(in, out, now);
        cudaMemcpyAsync(work.out + done, out, bytes, cudaMemcpyDeviceToHost, *stream);
        done += now;
        left -= now;
        --chunks_left;
        if (++stream == work.streams.end()) stream = work.streams.begin();
    }
}
