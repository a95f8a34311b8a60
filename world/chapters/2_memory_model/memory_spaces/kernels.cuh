// The kernels of memory_spaces, in the order of its steps: out[i] = table[key[i]], with the
// table of 32 floats in another kind of memory in each step. Steps 7 and 8 use the kernel
// of step 4.
#pragma once

#include <cstddef>

namespace memory_model {
namespace {

constexpr unsigned kThreads = 256;  // per block
constexpr unsigned kLanes = 32;
constexpr std::size_t kEntries = 32;  // of the table

// Step 1, registers. A register belongs to one lane and has no address, so a table in
// registers cannot be indexed. But the lanes of a warp can read each other's registers with
// a shuffle: every lane keeps one entry and asks the lane that has the entry of its key.
// All lanes must take part, also those past the end.
__global__ void look_up_registers(const float* table, const int* keys, float* out,
                                  std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const float entry = table[threadIdx.x % kLanes];
    const int key = i < count ? keys[i] : 0;
    const float value = __shfl_sync(0xFFFFFFFF, entry, key);
    if (i < count) out[i] = value;
}

// Step 2, local memory. An array of a thread's own that is indexed by a value known only at
// run time cannot be in registers. The compiler puts it into local memory, which is device
// memory that only this thread addresses, behind the L1 cache.
// Slow because each thread fills a copy of all 32 entries to use one of them. (If nvcc
// unrolls the loop, it notices that and keeps the copy out of memory; the pragma forbids
// the unrolling.)
__global__ void look_up_local(const float* table, const int* keys, float* out,
                              std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float copy[kEntries];
#pragma unroll 1
    for (std::size_t k = 0; k < kEntries; ++k) copy[k] = table[k];
    out[i] = copy[keys[i]];
}

// Step 3, shared memory: one copy per block, which all its threads see. One warp fills it,
// and no thread reads before all have passed the barrier. The copy is gone when the block
// ends, so every block fills its own.
__global__ void look_up_shared(const float* table, const int* keys, float* out,
                               std::size_t count) {
    __shared__ float copy[kEntries];
    if (threadIdx.x < kEntries) copy[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = copy[keys[i]];
}

// Step 4, global memory: one copy for all threads of all launches, until it is freed.
// Nothing has to be filled, and after the first time the L1 cache has the table's four
// sectors.
__global__ void look_up_global(const float* table, const int* keys, float* out,
                               std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = table[keys[i]];
}

// Step 5, constant memory: kernels only read it, and a cache of its own delivers one
// address at a time to a whole warp.
// Slow here because lanes have different keys, and each different key of a warp takes a
// wavefront of its own.
__constant__ float constant_table[kEntries];

__global__ void look_up_constant(const int* keys, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = constant_table[keys[i]];
}

// Step 6, texture: the global table, read through the texture unit. That gains nothing
// here; texture_laplace shows what the unit can do beyond a load.
__global__ void look_up_texture(cudaTextureObject_t table, const int* keys, float* out,
                                std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = tex1Dfetch<float>(table, keys[i]);
}

}  // namespace
}  // namespace memory_model
