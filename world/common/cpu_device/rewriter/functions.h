// Functions that are no kernels, and calls of functions: what checks.h needs to know of them.
#pragma once

#include "analysis.h"
#include "scopes.h"

namespace cpu_device::rewriter {

/// Notes the function at namespace scope whose name is at `i`, if that is what it may be, unless it is a kernel.
void note_function(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

/// Notes the call of a function whose name is at `i`, if it is no declaration and the name can only be a function's.
void note_call(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis);

}  // namespace cpu_device::rewriter
