// One kernel that counts its launches in each kind of memory that it may write.
#pragma once

#include <cstddef>

#include "chapters/2_memory_model/memory_spaces/kernels.cuh"

namespace memory_model {
namespace {

__device__ int launches_in_global;
__constant__ int launches_in_constant;

// What one launch finds, after it has added one to all that it may write.
struct Found {
    int in_register, local, shared, global, constant, texture, page_locked, mapped;
};

// One thread. `zero` is 0, but the compiler does not know that, so it has to keep the
// array, and in local memory. (It would turn a short array, or one in an unrolled loop,
// into registers.)
__global__ void count_launches(cudaTextureObject_t texture, const int* page_locked_copy,
                               int* mapped, int zero, Found* found) {
    int in_register = 0;
    int local[kEntries];
#pragma unroll 1
    for (std::size_t k = 0; k < kEntries; ++k) local[k] = 0;
    __shared__ int shared;
    shared = 0;  // without this line: whatever an earlier block has left there
    ++in_register;
    ++local[zero];
    ++shared;
    ++launches_in_global;
    ++*mapped;
    *found = {in_register,
              local[zero],
              shared,
              launches_in_global,
              launches_in_constant,
              tex1Dfetch<int>(texture, 0),
              *page_locked_copy,
              *mapped};
}

}  // namespace
}  // namespace memory_model
