// Definitions of `__device__`, `__constant__` and `__managed__` variables.
#pragma once

#include "analysis.h"
#include "scopes.h"

namespace cpu_device::rewriter {

/// Puts an object after the declaration around the qualifier at `i` that makes the variables it defines known to the
/// runtime. Only where that is certain: anything that might be a function, a template, a declaration ... is left alone.
/// In a function, keeps what nvcc refuses.
void register_device_variables(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

/// At a qualifier in the body of a macro: notes whether the macro may define such a variable.
void note_variables_of_macro(std::size_t i, const TokenSequence& tokens, Analysis& analysis);

/// Keeps the names of variables that the declaration before the `;` at `end` defines for host code alone. Only where
/// that is certain, as above.
void note_host_variables(std::size_t end, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

}  // namespace cpu_device::rewriter
