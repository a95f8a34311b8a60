// Memory that a function of a library (cuBLAS, CUB ...) is given: on a GPU its kernels would read and write it.
#pragma once

#include <cstddef>

#include "api_call.h"

namespace cpu_device {

/// True if a kernel may use these bytes. If not, says what is wrong with them, and the caller has to return an error:
/// on a GPU the function's kernel would fail. `role`: "matrix A", with which the message names the argument.
bool is_for_device(const ApiCall& call, const char* role, const void* pointer, std::size_t bytes);

/// The function has written these bytes. Host memory is left alone.
void note_result(const void* pointer, std::size_t bytes);

}  // namespace cpu_device
