// Calls of the CUDA runtime that say more to the CPU device than to a GPU's runtime.
#pragma once

#include "analysis.h"
#include "scopes.h"

namespace cpu_device::rewriter {

/// `cudaFree(p);` drops what the call returns: the program cannot know that it failed. A comma passes the result on to
/// the CPU device's runtime; of a function that returns something else the runtime makes nothing.
void mark_dropped_result(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

/// Takes the cast out of `cudaLaunchKernel((void*)kernel, ...)` and its like: with the type of the kernel there is
/// nothing to look up.
void keep_type_of_kernel(std::size_t i, const TokenSequence& tokens, Analysis& analysis);

/// Makes the kernel in `(void*)kernel<T>` known, which no definition can do for a template.
void keep_type_of_template(std::size_t i, const TokenSequence& tokens, Analysis& analysis);

/// Whether the function at `i` launches the kernel that its first argument points to.
bool launches_by_function(const TokenSequence& tokens, std::size_t i);

}  // namespace cpu_device::rewriter
