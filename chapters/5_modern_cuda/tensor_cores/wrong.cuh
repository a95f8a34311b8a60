// Mistakes with fragments and tiles, for the CPU device to find. On a GPU these kernels
// give wrong results, or end with an error, so they do not run there.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "chapters/5_modern_cuda/mistakes.h"

namespace modern_cuda {
namespace {

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {};
    return all;
}

}  // namespace
}  // namespace modern_cuda
