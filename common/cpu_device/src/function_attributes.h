// What a program asked for a kernel with cudaFuncSetAttribute.
#pragma once

#include <cstddef>

#include "cpu_device/device_model.h"
#include "cpu_device/types.h"

namespace cpu_device {

struct FunctionSettings {
    int max_dynamic_shared_bytes = static_cast<int>(model::shared_bytes_per_block);
    int shared_carveout = cudaSharedmemCarveoutDefault;  ///< percent of the cache, a hint
};

/// `kernel` is the kernel's address.
FunctionSettings function_settings(const void* kernel);

/// Blocks of `kernel` that one multiprocessor holds; 0 if the kernel may not have that much shared memory.
/// Static shared memory is not counted: it is known only when the kernel has run.
int resident_blocks(const void* kernel, int threads_per_block, std::size_t dynamic_shared_bytes);

void forget_function_settings();

}  // namespace cpu_device
