// cuBLAS for lessons that time their steps beside it. Not on the CPU device, which has no cuBLAS: nothing is here then.
//
//     static const cublasHandle_t handle = make_cublas_handle();  // once: that takes longer than most calls
//     check_cublas(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n));
#pragma once

#ifndef __CPU_DEVICE__

#include <cublas_v2.h>

#include <cstddef>
#include <limits>
#include <stdexcept>

#include "common/helpers/check.h"

namespace warpwise {

/// Throws std::runtime_error unless `status` is CUBLAS_STATUS_SUCCESS. The message is place_text with the status's name
/// and description.
inline void check_cublas(cublasStatus_t status, SourceLocation where = SourceLocation::current()) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw std::runtime_error(place_text(where) + cublasGetStatusName(status) + ": " + cublasGetStatusString(status));
}

/// A handle for the current device, to be kept until the program ends: at its end the library may be gone before what
/// would destroy the handle. `scalars`: where factors, and results of one number, are.
inline cublasHandle_t make_cublas_handle(cublasPointerMode_t scalars = CUBLAS_POINTER_MODE_HOST,
                                         SourceLocation where = SourceLocation::current()) {
    cublasHandle_t handle = nullptr;
    check_cublas(cublasCreate(&handle), where);
    check_cublas(cublasSetPointerMode(handle, scalars), where);
    return handle;
}

/// An extent as the functions want it that take int. Throws std::length_error.
inline int cublas_extent(std::size_t extent) {
    if (extent > std::size_t{std::numeric_limits<int>::max()}) {
        throw std::length_error("cuBLAS takes extents below 2^31");
    }
    return static_cast<int>(extent);
}

}  // namespace warpwise

#endif
