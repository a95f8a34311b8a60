// Rewrites `__shared__` variables.
#pragma once

#include "analysis.h"
#include "scopes.h"

namespace cpu_device::rewriter {

/// Rewrites the declaration around the `__shared__` at `i` and returns its last token before the `;`.
std::size_t rewrite_shared(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis);

/// A lambda inside device code may use `__shared__` variables without capturing them in CUDA, because they are static
/// there. Here they are local references: adds the captures, if a lambda begins with the `[` at `i`.
void capture_shared_names(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

}  // namespace cpu_device::rewriter
