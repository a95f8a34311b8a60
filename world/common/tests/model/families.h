// One function per file of kernels. Each one returns its families without the parts; `families()` in cases.h assigns
// the parts.
#pragma once

#include <vector>

#include "common/tests/model/cases.h"

namespace model_kernels {

std::vector<Family> launch_families();
std::vector<Family> copy_families();
std::vector<Family> gather_families();
std::vector<Family> cache_families();
std::vector<Family> arithmetic_families();
std::vector<Family> shared_memory_families();
std::vector<Family> reduction_families();
std::vector<Family> matrix_families();
std::vector<Family> stencil_families();
std::vector<Family> histogram_families();
std::vector<Family> divergence_families();
std::vector<Family> atomic_families();
std::vector<Family> private_memory_families();

}  // namespace model_kernels
