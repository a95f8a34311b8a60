// Declarations and definitions of kernels.
#pragma once

#include "analysis.h"
#include "scopes.h"

namespace cpu_device::rewriter {

/// Notes the kernel that the declaration around the `__global__` at `i` declares or defines, and makes a kernel that it
/// defines known to the runtime. In a macro, it only does the latter. Throws Error for a kernel that nvcc refuses.
void note_kernel(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

}  // namespace cpu_device::rewriter
