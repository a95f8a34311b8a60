// How many bytes a number has whose type is known only when a library is called.
#pragma once

#include <cstddef>

#include "library_types.h"

namespace cpu_device {

/// 0 for types with which no library of the CPU device computes.
inline std::size_t size_of_type(cudaDataType type) {
    switch (type) {
        case CUDA_R_8I:
            return 1;
        case CUDA_R_16F:
        case CUDA_R_16BF:
            return 2;
        case CUDA_R_32F:
        case CUDA_R_32I:
            return 4;
        case CUDA_R_64F:
        case CUDA_C_32F:
            return 8;
        case CUDA_C_64F:
            return 16;
        default:
            return 0;
    }
}

}  // namespace cpu_device
