// Tells inline PTX from the assembly of the host.
#pragma once

#include <string>
#include <string_view>

namespace cpu_device::rewriter {

/// The feature that a piece of inline assembly uses, in words; empty when it is not PTX.
std::string ptx_feature(std::string_view code);

}  // namespace cpu_device::rewriter
