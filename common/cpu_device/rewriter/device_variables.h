// Definitions of `__device__`, `__constant__` and `__managed__` variables.
#pragma once

#include "analysis.h"
#include "scopes.h"

namespace cpu_device::rewriter {

/// Puts an object after the declaration around the qualifier at `i` that makes the variables it defines known to the
/// runtime. Only where that is certain: anything that might be a function, a template, a declaration ... is left alone.
void register_device_variables(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

/// Keeps the names of variables that the declaration before the `;` at `end` defines for host code alone. Only where
/// that is certain, as above.
void note_host_variables(std::size_t end, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

}  // namespace cpu_device::rewriter
