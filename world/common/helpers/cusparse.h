// cuSPARSE for lessons that time their steps beside it. Not on the CPU device, which has no cuSPARSE: nothing is here
// then.
//
//     static const cusparseHandle_t handle = make_cusparse_handle();  // once: that takes longer than most calls
//     check_cusparse(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, ...));
#pragma once

#ifndef __CPU_DEVICE__

#include <cusparse.h>

#include <stdexcept>

#include "common/helpers/check.h"

namespace warpwise {

/// Throws std::runtime_error unless `status` is CUSPARSE_STATUS_SUCCESS. The message is place_text with the status's
/// name and description.
inline void check_cusparse(cusparseStatus_t status, SourceLocation where = SourceLocation::current()) {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    throw std::runtime_error(place_text(where) + cusparseGetErrorName(status) + ": " + cusparseGetErrorString(status));
}

/// A handle for the current device, to be kept until the program ends: at its end the library may be gone before what
/// would destroy the handle.
inline cusparseHandle_t make_cusparse_handle(SourceLocation where = SourceLocation::current()) {
    cusparseHandle_t handle = nullptr;
    check_cusparse(cusparseCreate(&handle), where);
    return handle;
}

}  // namespace warpwise

#endif
