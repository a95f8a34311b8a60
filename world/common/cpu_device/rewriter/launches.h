// Rewrites kernel launches.
#pragma once

#include "analysis.h"
#include "scopes.h"

namespace cpu_device::rewriter {

/// Rewrites the launch whose `<<<` is at `i`. In a macro that stands for `<<<...>>>`, rewrites only that.
void rewrite_launch(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis);

/// Rewrites `kernel SHAPE(grid, block)(arguments)` where SHAPE, at `i`, is such a macro.
void rewrite_macro_launch(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis);

}  // namespace cpu_device::rewriter
