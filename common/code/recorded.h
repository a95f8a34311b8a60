// The recorded machine code of this project's kernels: common/code/recorded/*.json, and files named by the environment
// variable WARPWISE_MACHINE_CODE, separated by colons.
#pragma once

#include <string>
#include <vector>

#include "common/code/kernel_code.h"

namespace warpwise::code {

/// The kernel with one of these names (as KernelCode::name); null where none is recorded, or where its source has
/// changed since then. Files are read once.
const KernelCode* recorded_kernel(const std::vector<std::string>& names);

}  // namespace warpwise::code
