// How the steps are launched: the operands that a kernel takes, and the tensor maps by
// which the tensor memory accelerator knows them.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chapters/5_modern_cuda/tensor_cores/formats.h"
#include "chapters/5_modern_cuda/tensor_cores/operands.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_01_wmma_global.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_02_mma_fragments.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_03_wmma_shared.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_04_mma_ldmatrix.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_05_mma_cp_async.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"

#ifndef __CPU_DEVICE__
#include "chapters/5_modern_cuda/tensor_cores/step_06_wgmma_tma.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_07_wgmma_multicast.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_08_wgmma_persistent.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_09_wgmma_tuned.cuh"
#include "common/helpers/tensor_map.h"
#endif

namespace modern_cuda {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;

template <class Format>
constexpr unsigned element_bytes = sizeof(typename Format::Element);

// ---- operands ---------------------------------------------------------------------------

// A matrix whose rows are whole chunks is used as it is. Others (k not a multiple of 4
// TF32, 8 FP16, or 16 bytes) are copied, as part of the timed step, to memory that is kept
// for the next call. `row_unit` and `byte_unit`: what rows and their bytes have to be
// multiples of.
template <class Element>
Operand operand(const Element* data, std::size_t rows, std::size_t cols,
                std::size_t row_unit, std::size_t byte_unit,
                DeviceBuffer<unsigned char>& copy) {
    const std::size_t out_rows = parts_of(rows, row_unit) * row_unit;
    const std::size_t row_bytes = parts_of(cols * sizeof(Element), byte_unit) * byte_unit;
    if (out_rows == rows && row_bytes == cols * sizeof(Element))
        return {reinterpret_cast<const unsigned char*>(data), rows, row_bytes};
    if (copy.size() < out_rows * row_bytes)
        copy = DeviceBuffer<unsigned char>(out_rows * row_bytes);
    using Word = std::conditional_t<
        sizeof(Element) == 1, std::uint8_t,
        std::conditional_t<sizeof(Element) == 2, std::uint16_t, std::uint32_t>>;
    const std::size_t pitch = row_bytes / sizeof(Element);
    const auto blocks = static_cast<unsigned>(
        std::min<std::size_t>(parts_of(out_rows * pitch, 256), 1 << 16));
    pad_rows<<<blocks, 256>>>(reinterpret_cast<const Word*>(data),
                              reinterpret_cast<Word*>(copy.data()), rows, cols, out_rows,
                              pitch);
    warpwise::check_launch();
    return {copy.data(), out_rows, row_bytes};
}

// Calls `multiply(a, b, c)`, unless there is nothing to multiply.
template <class Format, class Multiply>
void with_operands(Product<Format>& problem, std::size_t row_unit, std::size_t byte_unit,
                   const Multiply& multiply) {
    static DeviceBuffer<unsigned char> copy_of_a, copy_of_b;
    if (problem.m == 0 || problem.n == 0) return;
    if (problem.k == 0) {
        check(cudaMemsetAsync(problem.d_c.data(), 0, problem.d_c.bytes()));
        return;
    }
    const Operand a =
        operand(problem.d_a.data(), problem.m, problem.k, row_unit, byte_unit, copy_of_a);
    const Operand b =
        operand(problem.d_b.data(), problem.n, problem.k, row_unit, byte_unit, copy_of_b);
    multiply(a, b, Result<typename Format::Sum>{problem.d_c.data(), problem.m, problem.n});
}

template <class Format, class Multiply>
void with_whole_chunks(Product<Format>& problem, const Multiply& multiply) {
    with_operands(problem, 1, kChunk, multiply);
}

// ---- steps 1 to 5 -----------------------------------------------------------------------

template <class Format>
void run_wmma_global(Product<Format>& problem) {
    constexpr std::size_t fragment_bytes = 32;
    with_operands(problem, kFragment, fragment_bytes,
                  [](const Operand& a, const Operand& b, const auto& c) {
                      const std::size_t warps = a.rows / kFragment * (b.rows / kFragment);
                      wmma_global<Format>
                          <<<warpwise::blocks_for(warps, 256 / 32), 256>>>(a, b, c);
                      warpwise::check_launch();
                  });
}

template <class Format>
void run_mma_fragments(Product<Format>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const auto& c) {
        const std::size_t warps =
            parts_of(c.rows, kFragmentRows) * parts_of(c.cols, kFragmentCols);
        mma_fragments<Format><<<warpwise::blocks_for(warps, 256 / 32), 256>>>(a, b, c);
        warpwise::check_launch();
    });
}

// Launches one block per tile of BM x BN.
template <class Kernel, class Result>
void launch_tiles(Kernel kernel, unsigned shared_bytes, const Operand& a, const Operand& b,
                  const Result& c) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)));
    kernel<<<tiles_of(c.rows, BM) * tiles_of(c.cols, BN), kTileThreads, shared_bytes>>>(
        a, b, c);
    warpwise::check_launch();
}

template <class Format>
void run_wmma_shared(Product<Format>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const auto& c) {
        launch_tiles(wmma_shared<Format>, kPaddedSlice, a, b, c);
    });
}

template <class Format>
void run_mma_ldmatrix(Product<Format>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const auto& c) {
        launch_tiles(mma_ldmatrix<Format>, kSlot, a, b, c);
    });
}

int largest_shared_memory() {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return bytes;
}

template <class Format>
void run_mma_cp_async(Product<Format>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const auto& c) {
        static const int shared_memory = largest_shared_memory();
        if (shared_memory >= int{4 * kSlot}) {
            launch_tiles(mma_cp_async<Format, 4>, 4 * kSlot, a, b, c);
        } else {
            launch_tiles(mma_cp_async<Format, 2>, 2 * kSlot, a, b, c);  // chips of 100 KB
        }
    });
}

// ---- steps 6 to 9 -----------------------------------------------------------------------

#ifndef __CPU_DEVICE__

// Boxes are 128 bytes wide.
CUtensorMap map_of(CUtensorMapDataType type, unsigned bytes_of_element, const void* data,
                   std::size_t rows, std::size_t row_bytes, unsigned box_rows) {
    return warpwise::tensor_map({.type = type,
                                 .element_bytes = bytes_of_element,
                                 .data = data,
                                 .rows = rows,
                                 .cols = row_bytes / bytes_of_element,
                                 .pitch = row_bytes,
                                 .box_rows = box_rows,
                                 .box_cols = kSliceBytes / bytes_of_element,
                                 .swizzle = CU_TENSOR_MAP_SWIZZLE_128B});
}

// Of bytes, FP8 and INT8, the accelerator only has to know that they are bytes.
template <class Format>
CUtensorMap map_of(const Operand& operand, unsigned box_rows) {
    constexpr auto type = std::is_same_v<Format, Fp16>   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                          : std::is_same_v<Format, Bf16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                          : std::is_same_v<Format, Tf32> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                         : CU_TENSOR_MAP_DATA_TYPE_UINT8;
    return map_of(type, element_bytes<Format>, operand.data, operand.rows,
                  operand.row_bytes, box_rows);
}

template <class Sum>
CUtensorMap map_of_result(const Result<Sum>& c, unsigned box_rows) {
    constexpr auto type = std::is_same_v<Sum, float> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                     : CU_TENSOR_MAP_DATA_TYPE_INT32;
    return map_of(type, sizeof(Sum), c.data, c.rows, c.cols * sizeof(Sum), box_rows);
}

// Boxes of C can be stored only where its rows begin at multiples of 16 bytes, too.
template <class Sum>
bool has_boxes(const Result<Sum>& c) {
    return c.cols * sizeof(Sum) % kChunk == 0;
}

template <class Format>
constexpr int slice_elements = int{kSliceBytes / element_bytes<Format>};

// Blocks of three warpgroups, in clusters of `cluster`. `attribute` has to live as long.
template <class... Parameters>
cudaLaunchConfig_t warpgroups(void (*kernel)(Parameters...), unsigned blocks,
                              unsigned cluster, unsigned shared_bytes,
                              cudaLaunchAttribute& attribute) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)));
    attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(kWgmmaThreads);
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return config;
}

template <class... Parameters, class... Arguments>
void launch_warpgroups(void (*kernel)(Parameters...), unsigned blocks, unsigned cluster,
                       unsigned shared_bytes, const Arguments&... arguments) {
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config =
        warpgroups(kernel, blocks, cluster, shared_bytes, attribute);
    check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

// How many clusters are resident at a time.
template <class... Parameters>
unsigned clusters_that_fit(void (*kernel)(Parameters...), unsigned cluster,
                           unsigned shared_bytes) {
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config =
        warpgroups(kernel, cluster, cluster, shared_bytes, attribute);
    int clusters = 0;
    check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    return static_cast<unsigned>(std::max(1, clusters));
}

template <class Format>
void launch_wgmma_tma(const Operand& a, const Operand& b,
                      const Result<typename Format::Sum>& c) {
    launch_warpgroups(wgmma_tma<Format>, tiles_of(c.rows, BM) * tiles_of(c.cols, BN), 1,
                      kSlots * kSlot + kAlignment, map_of<Format>(a, BM),
                      map_of<Format>(b, BN), c, tiles_of(a.row_bytes, kSliceBytes),
                      slice_elements<Format>);
}

template <class Format>
void run_wgmma_tma(Product<Format>& problem) {
    with_whole_chunks(problem, launch_wgmma_tma<Format>);
}

template <class Format>
void run_wgmma_multicast(Product<Format>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const auto& c) {
        launch_warpgroups(wgmma_multicast<Format>,
                          kBlocks * tiles_of(c.rows, kBlocks * BM) * tiles_of(c.cols, BN),
                          kBlocks, kSlots * kSlot + kAlignment, map_of<Format>(a, BM),
                          map_of<Format>(b, BN / kBlocks), c,
                          tiles_of(a.row_bytes, kSliceBytes), slice_elements<Format>);
    });
}

template <class Format>
void run_wgmma_persistent(Product<Format>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const auto& c) {
        if (!has_boxes(c)) return launch_wgmma_tma<Format>(a, b, c);
        constexpr unsigned shared_bytes =
            kSlots * kSlot + kMultiplyingWarps * 2 * kBoxBytes + kAlignment;
        static const unsigned clusters =
            clusters_that_fit(wgmma_persistent<Format>, kBlocks, shared_bytes);
        const unsigned tile_rows = tiles_of(c.rows, kBlocks * BM),
                       tile_cols = tiles_of(c.cols, BN);
        launch_warpgroups(
            wgmma_persistent<Format>, kBlocks * std::min(clusters, tile_rows * tile_cols),
            kBlocks, shared_bytes, map_of<Format>(a, BM), map_of<Format>(b, BN / kBlocks),
            map_of_result(c, kBoxRows), tile_rows, tile_cols,
            tiles_of(a.row_bytes, kSliceBytes), slice_elements<Format>);
    });
}

// `band_rows`: rows of C in a band of tiles.
template <class Format, class Shape>
void launch_tuned(const Operand& a, const Operand& b, const Result<typename Format::Sum>& c,
                  unsigned band_rows) {
    if (!has_boxes(c)) return launch_wgmma_tma<Format>(a, b, c);
    constexpr auto kernel = wgmma_tuned<Format, Shape>;
    static const unsigned clusters =
        clusters_that_fit(kernel, Shape::blocks, Shape::shared_bytes);
    constexpr unsigned cluster_rows = Shape::blocks_down * Shape::rows,
                       cluster_cols = Shape::blocks_across * Shape::cols;
    const unsigned tile_rows = tiles_of(c.rows, cluster_rows),
                   tile_cols = tiles_of(c.cols, cluster_cols);
    launch_warpgroups(kernel, Shape::blocks * std::min(clusters, tile_rows * tile_cols),
                      Shape::blocks, Shape::shared_bytes,
                      map_of<Format>(a, Shape::rows / Shape::blocks_across),
                      map_of<Format>(b, Shape::cols / Shape::blocks_down),
                      map_of_result(c, Shape::box_rows), tile_rows, tile_cols,
                      std::max(1u, band_rows / cluster_rows),
                      tiles_of(a.row_bytes, kSliceBytes), slice_elements<Format>);
}

template <class Format, class Shape, unsigned band_rows = kBandRows>
void run_tuned(Product<Format>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const auto& c) {
        launch_tuned<Format, Shape>(a, b, c, band_rows);
    });
}

// Of the shapes that were tried on an H200, the one that was among the best at 4096 and at
// 8192, in each format.
using TunedShape = Shape<128, 128, 6, 1, 2, Turns::ping_pong>;

template <class Format>
void run_wgmma_tuned(Product<Format>& problem) {
    run_tuned<Format, TunedShape>(problem);
}

#endif

}  // namespace
}  // namespace modern_cuda
