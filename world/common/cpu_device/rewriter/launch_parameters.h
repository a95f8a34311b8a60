// What a launch learns from the declarations of its kernel.
#pragma once

#include <vector>

#include "analysis.h"

namespace cpu_device::rewriter {

/// The edits of `analysis` with what `visible`, the analyses of everything that the file can see, leaves no doubt
/// about: the names of the kernels' parameters, which line up with the arguments that the launch gets, and which of
/// them are references.
std::vector<Edit> complete_launches(const Analysis& analysis, const std::vector<const Analysis*>& visible);

}  // namespace cpu_device::rewriter
