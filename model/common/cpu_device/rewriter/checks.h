// What nvcc refuses of a program's launches and calls, and a C++ compiler that reads the rewritten text would accept,
// or refuse in terms of that text.
#pragma once

#include <vector>

#include "analysis.h"
#include "architecture.h"

namespace cpu_device::rewriter {

/// Throws Error for the first launch or call of `file` that is certainly wrong: a launch of a function that is no
/// kernel, a kernel that is called, a wrong number of arguments, a call of host code in device code or the other way
/// round. `visible` is the file with all that it includes, `program` all files.
void check_uses(const Analysis& file, const std::vector<const Analysis*>& visible,
                const std::vector<const Analysis*>& program);

}  // namespace cpu_device::rewriter
