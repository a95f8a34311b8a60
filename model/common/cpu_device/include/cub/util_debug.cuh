// CUB's own macros for errors.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "cuda_runtime.h"

namespace cub {

/// Prints the error, if it is one, and returns it.
inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", static_cast<int>(error), file, line,
                     cudaGetErrorString(error));
    }
    return error;
}

}  // namespace cub

#ifndef CubDebug
#define CubDebug(error) cub::Debug(static_cast<cudaError_t>(error), __FILE__, __LINE__)
#endif
#ifndef CubDebugExit
#define CubDebugExit(error) \
    if (cub::Debug(static_cast<cudaError_t>(error), __FILE__, __LINE__) != cudaSuccess) std::exit(1)
#endif
