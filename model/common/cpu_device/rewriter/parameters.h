// Reads the parameters of kernels.
#pragma once

#include "analysis.h"
#include "token_sequence.h"

namespace cpu_device::rewriter {

/// The comma after the parameter that begins at `begin`, or `end` for the last one.
std::size_t parameter_end(const TokenSequence& tokens, std::size_t begin, std::size_t end);

/// The parameter in [begin, end). `is_pack` is set for `T... name`.
KernelParameter read_parameter(const TokenSequence& tokens, std::size_t begin, std::size_t end, bool& is_pack);

}  // namespace cpu_device::rewriter
