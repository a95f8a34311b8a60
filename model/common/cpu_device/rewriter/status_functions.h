// The functions of the CUDA runtime that return a `cudaError_t`.
#pragma once

#include <string_view>

namespace cpu_device::rewriter {

/// True for the functions of the CUDA runtime whose result says whether they succeeded.
bool returns_status(std::string_view function);

}  // namespace cpu_device::rewriter
