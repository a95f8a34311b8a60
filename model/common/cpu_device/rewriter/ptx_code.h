// Inline PTX that can be written as C++: special registers, loads and stores with cache hints, cp.async, barriers,
// fences, and simple arithmetic. ptx.h of the runtime's headers has the functions that the result calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cpu_device::rewriter {

struct PtxResult {
    std::string statement;  ///< a C++ statement without its semicolon; empty where something was not understood
    std::string unknown;    ///< the first instruction that was not
};

/// `code`: the text of the instructions; `operands`: the expressions of %0, %1 ...
PtxResult translate_ptx(std::string_view code, const std::vector<std::string>& operands);

}  // namespace cpu_device::rewriter
