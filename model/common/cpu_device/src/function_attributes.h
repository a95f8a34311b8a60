// What a program asked for a kernel with cudaFuncSetAttribute.
#pragma once

#include <cstddef>

#include "cpu_device/device_model.h"
#include "cpu_device/types.h"

namespace cpu_device {

struct FunctionSettings {
    int max_dynamic_shared_bytes = static_cast<int>(model::shared_bytes_per_block);
    int shared_carveout = cudaSharedmemCarveoutDefault;  ///< percent of the cache, a hint
    bool larger_clusters = false;                        ///< of more than 8 blocks
    bool needs_cluster = false;
    int cluster[3] = {0, 0, 0};  ///< that it requires; 0: none
    int cluster_policy = 0;
};

/// `kernel` is the kernel's address.
FunctionSettings function_settings(const void* kernel);

/// Blocks of `kernel` that one multiprocessor holds; 0 if the kernel may not have that much shared memory.
/// Static shared memory is not counted: it is known only when the kernel has run.
int resident_blocks(const void* kernel, int threads_per_block, std::size_t dynamic_shared_bytes);

/// The kernel was declared with `__cluster_dims__`: nothing changes that.
void require_cluster(const void* kernel, unsigned x, unsigned y, unsigned z);

void forget_function_settings();

}  // namespace cpu_device
