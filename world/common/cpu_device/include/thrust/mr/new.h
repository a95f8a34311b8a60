// In place of Thrust's own header of this name: the memory of its device vectors is memory that kernels reach, too.
#pragma once

#include <thrust/detail/config.h>
#include <thrust/mr/memory_resource.h>

#include <new>

#include "cuda_runtime.h"

THRUST_NAMESPACE_BEGIN
namespace mr {

class new_delete_resource_base : public memory_resource<> {
public:
    void* do_allocate(std::size_t bytes, std::size_t /*alignment*/ = THRUST_MR_DEFAULT_ALIGNMENT) override {
        void* pointer = nullptr;
        if (cudaMalloc(&pointer, bytes == 0 ? 1 : bytes) != cudaSuccess) throw std::bad_alloc();
        return pointer;
    }
    void do_deallocate(void* pointer, std::size_t /*bytes*/,
                       std::size_t /*alignment*/ = THRUST_MR_DEFAULT_ALIGNMENT) override {
        cudaFree(pointer);
    }
};

class new_delete_resource final : public new_delete_resource_base {};

}  // namespace mr
THRUST_NAMESPACE_END
