// Mistakes with the order of streams, for the CPU device to find. On a GPU these functions
// may give wrong results, now and then, so they do not run there.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/5_modern_cuda/memory_and_streams/kernels.cuh"
#include "chapters/5_modern_cuda/memory_and_streams/pools.h"

namespace modern_cuda {
namespace {

constexpr std::size_t kFew = 64;

float* allocate_few(cudaStream_t stream) {
    float* memory = nullptr;
    check(cudaMallocAsync(&memory, kFew * sizeof(float), stream));
    return memory;
}

// WRONG: the second stream does not know that the first one has allocated the memory.
void used_before_it_is_allocated(const float* in, float* out) {
    const Stream first, second;
    float* scratch = allocate_few(first);
    smooth<<<1, kThreads, 0, second>>>(in, kFew, scratch);
    take_over<<<1, kThreads, 0, second>>>(scratch, kFew, out);
    check(cudaFreeAsync(scratch, second));
    warpwise::check_finished();
}

// WRONG: the first stream frees the memory, and perhaps gives it to somebody else, while
// the second one still reads it.
void freed_without_an_event(const float* in, float* out) {
    const Stream first, second;
    const Event event;
    float* scratch = allocate_few(first);
    smooth<<<1, kThreads, 0, first>>>(in, kFew, scratch);
    event.order(first, second);
    take_over<<<1, kThreads, 0, second>>>(scratch, kFew, out);
    check(cudaFreeAsync(scratch, first));
    warpwise::check_finished();
}

// WRONG: the event comes after the free, so it makes sure that the memory is gone.
void event_after_the_free(const float* in, float* out) {
    const Stream first, second;
    const Event event;
    float* scratch = allocate_few(first);
    smooth<<<1, kThreads, 0, first>>>(in, kFew, scratch);
    check(cudaFreeAsync(scratch, first));
    event.order(first, second);
    take_over<<<1, kThreads, 0, second>>>(scratch, kFew, out);
    warpwise::check_finished();
}

// WRONG: for memory of cudaMallocAsync, cudaFree does not wait.
void freed_by_cuda_free(const float* in, float* out) {
    const Stream first;
    float* scratch = allocate_few(first);
    smooth<<<1, kThreads, 0, first>>>(in, kFew, scratch);
    take_over<<<1, kThreads, 0, first>>>(scratch, kFew, out);
    check(cudaFree(scratch));
    warpwise::check_finished();
}

// WRONG: host code reads managed memory that the kernel may not have written yet.
void managed_read_without_waiting(const float* in, float* out) {
    float* shared = nullptr;
    check(cudaMallocManaged(&shared, kFew * sizeof(float)));
    take_over<<<1, kThreads>>>(in, kFew, shared);
    const float first = shared[0];
    check(cudaMemcpy(out, &first, sizeof first, cudaMemcpyHostToDevice));
    check(cudaFree(shared));
}

}  // namespace
}  // namespace modern_cuda
