// cuDNN for lessons that time their steps beside it. It is no part of the CUDA Toolkit: where it was not found when the
// build was configured, and on the CPU device, WARPWISE_CUDNN is not defined and nothing is here.
//
//     static const cudnnHandle_t handle = make_cudnn_handle();    // once: that takes longer than most calls
//     check_cudnn(cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE, &one, ...));
#pragma once

#ifdef WARPWISE_CUDNN

#include <cudnn.h>

#include <cstddef>
#include <limits>
#include <stdexcept>

#include "common/helpers/check.h"

namespace warpwise {

/// Throws std::runtime_error unless `status` is CUDNN_STATUS_SUCCESS. The message is place_text with the status's
/// description.
inline void check_cudnn(cudnnStatus_t status, SourceLocation where = SourceLocation::current()) {
    if (status == CUDNN_STATUS_SUCCESS) return;
    throw std::runtime_error(place_text(where) + "cuDNN: " + cudnnGetErrorString(status));
}

/// A handle for the current device, to be kept until the program ends.
inline cudnnHandle_t make_cudnn_handle(SourceLocation where = SourceLocation::current()) {
    cudnnHandle_t handle = nullptr;
    check_cudnn(cudnnCreate(&handle), where);
    return handle;
}

/// An extent as cuDNN's descriptors want it. Throws std::length_error.
inline int cudnn_extent(std::size_t extent) {
    if (extent > std::size_t{std::numeric_limits<int>::max()}) {
        throw std::length_error("cuDNN takes extents below 2^31");
    }
    return static_cast<int>(extent);
}

}  // namespace warpwise

#endif
