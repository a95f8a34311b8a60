// Sums and other reductions over the ranks of a communicator.
#pragma once

#include <cstddef>
#include <vector>

#include "nccl.h"

namespace cpu_device::nccl {

std::size_t bytes_of(ncclDataType_t type);

/// Writes to `result`, element by element, the reduction of all `parts`, in their order. The result may be one of them.
void reduce(const std::vector<const std::byte*>& parts, std::byte* result, std::size_t count, ncclDataType_t type,
            ncclRedOp_t op);

}  // namespace cpu_device::nccl
