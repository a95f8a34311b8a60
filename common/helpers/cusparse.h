// Errors of cuSPARSE as exceptions. Only where nvcc compiles.
//
//     const cusparseHandle_t handle = make_cusparse_handle();
//     check_cusparse(cusparseSpMV(handle, ...));
#pragma once

#ifndef __CPU_DEVICE__

#include <cusparse.h>

#include <stdexcept>
#include <string>

namespace warpwise {

/// Throws std::runtime_error unless the status is a success.
inline void check_cusparse(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS)
        throw std::runtime_error(std::string("cuSPARSE: ") + cusparseGetErrorString(status));
}

/// A handle that the program keeps until it ends.
inline cusparseHandle_t make_cusparse_handle() {
    cusparseHandle_t handle = nullptr;
    check_cusparse(cusparseCreate(&handle));
    return handle;
}

}  // namespace warpwise

#endif
