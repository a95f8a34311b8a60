// Tensor maps of matrices, which tell the tensor memory accelerator where a matrix is and how large a box of it is.
//
//     const CUtensorMap map = tensor_map({.data = d_matrix, .rows = rows, .cols = cols, .pitch = pitch,
//                                         .box_rows = 32, .box_cols = 32, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B});
//     kernel<<<grid, block>>>(map);       // __global__ void kernel(const __grid_constant__ CUtensorMap map)
//
// The function of the driver that makes them is looked up rather than linked, so that a program also starts where there
// is no driver.
#pragma once

#include <cuda.h>  // types of tensor maps; no function of the driver is linked
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include "common/helpers/check.h"

namespace warpwise {

/// A matrix in device memory, row after row, and the boxes of it that are copied.
struct MatrixBoxes {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    unsigned element_bytes = 4;
    const void* data = nullptr;  ///< begins at a multiple of 16 bytes
    std::size_t rows = 0;
    std::size_t cols = 0;   ///< elements: what lies beyond them is read as zeros
    std::size_t pitch = 0;  ///< bytes from one row to the next, a multiple of 16
    unsigned box_rows = 0;  ///< at most 256
    unsigned box_cols = 0;  ///< elements
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
};

/// What the driver says of such a map.
inline CUresult encode(CUtensorMap& map, const MatrixBoxes& matrix) {
    static const auto driver_function = [] {
        constexpr auto name = "cuTensorMapEncodeTiled";
        constexpr unsigned version = 12000;  // as it was in CUDA 12.0
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
        check(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
        if (found != cudaDriverEntryPointSuccess) throw std::runtime_error("this driver has no tensor maps");
        return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
    }();
    const std::array<cuuint64_t, 2> extents = {matrix.cols, matrix.rows};
    const std::array<cuuint64_t, 1> pitch = {matrix.pitch};
    const std::array<cuuint32_t, 2> box = {matrix.box_cols, matrix.box_rows}, every = {1, 1};
    return driver_function(&map, matrix.type, 2, const_cast<void*>(matrix.data), extents.data(), pitch.data(),
                           box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, matrix.swizzle, matrix.promotion,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Throws std::length_error for more rows or columns than the accelerator can count, and std::runtime_error where the
/// driver refuses the map.
inline CUtensorMap tensor_map(const MatrixBoxes& matrix) {
    constexpr std::size_t largest = std::numeric_limits<int>::max();
    if (matrix.rows > largest || matrix.cols > largest) {
        throw std::length_error("the tensor memory accelerator counts rows and columns in 31 bits");
    }
    CUtensorMap map;
    const CUresult result = encode(map, matrix);
    if (result != CUDA_SUCCESS) throw std::runtime_error("cuTensorMapEncodeTiled: " + std::to_string(result));
    return map;
}

}  // namespace warpwise
