// Problem: C = A B once more, on tensor cores: units that multiply two small matrices in
// one instruction.
//
// A tensor core takes numbers of few bits and adds up their products in float. Here they
// are TF32 (11 significant bits in the 4 bytes of a float) and bf16 (8 bits in 2 bytes); C
// is float for both. By its datasheet an H200 does 7 times as many operations per second
// with TF32 as with FFMA instructions, and 15 times as many with bf16. So the difficulty is
// no longer to multiply. It is to deliver the operands fast enough, and to do everything
// else at the same time.
//
// The same kernels serve both precisions, because an instruction always takes 32 bytes of
// each row of A, and 32 bytes of each row of B transposed, whether these are 16 numbers of
// bf16 or 8 of TF32. So the kernels see matrices as rows of bytes, and only the name of the
// instruction depends on the precision. Inputs are rounded before they come here: given
// floats that are not TF32, the instructions would drop the lower 13 bits instead of
// rounding them.
//
// The kernels are in tensor_step_01_mma_fragments.cuh to
// tensor_step_04_wgmma_multicast.cuh, one step per file, to be read in this order. Steps 1
// and 2 run from sm_80 on, steps 3 and 4 on sm_90a alone. tensor_instructions.cuh,
// tensor_memory_access.cuh, tensor_operands.cuh, tensor_tiles.cuh, and
// tensor_warpgroups.cuh have what they share. This file launches them, and lesson.cu prints
// their tables. On the CPU device, which has no tensor cores, there are none.
#include "chapters/4_examples/matrix_multiply/product.h"

#ifndef __CPU_DEVICE__

#include <cublas_v2.h>
#include <cuda.h>  // types of tensor maps; no function of the driver is linked
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "chapters/4_examples/matrix_multiply/tensor_operands.cuh"
#include "chapters/4_examples/matrix_multiply/tensor_step_01_mma_fragments.cuh"
#include "chapters/4_examples/matrix_multiply/tensor_step_02_mma_cp_async.cuh"
#include "chapters/4_examples/matrix_multiply/tensor_step_03_wgmma_tma.cuh"
#include "chapters/4_examples/matrix_multiply/tensor_step_04_wgmma_multicast.cuh"
#include "common/helpers/check.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/tensor_map.h"

namespace examples {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;

// ---- operands ---------------------------------------------------------------------------

// A matrix whose rows are whole chunks is used as it is. Others (k not a multiple of 4
// floats or 8 bf16) are copied, as part of the timed step, to memory that is kept for the
// next call.
template <class Element>
Operand operand(const Element* data, std::size_t rows, std::size_t cols,
                DeviceBuffer<unsigned char>& copy) {
    const std::size_t row_bytes = parts_of(cols * sizeof(Element), kChunk) * kChunk;
    if (row_bytes == cols * sizeof(Element))
        return {reinterpret_cast<const unsigned char*>(data), rows, row_bytes};
    if (copy.size() < rows * row_bytes)
        copy = DeviceBuffer<unsigned char>(rows * row_bytes);
    const std::size_t pitch = row_bytes / sizeof(Element);
    const auto blocks =
        static_cast<unsigned>(std::min<std::size_t>(parts_of(rows * pitch, 256), 1 << 16));
    pad_rows<<<blocks, 256>>>(data, reinterpret_cast<Element*>(copy.data()), rows, cols,
                              pitch);
    warpwise::check_launch();
    return {copy.data(), rows, row_bytes};
}

// Calls `multiply(a, b, c)`, unless there is nothing to multiply.
template <Precision precision, class Multiply>
void with_whole_chunks(Product<precision>& problem, const Multiply& multiply) {
    static DeviceBuffer<unsigned char> copy_of_a, copy_of_b;
    if (problem.m == 0 || problem.n == 0) return;
    if (problem.k == 0) {
        check(cudaMemsetAsync(problem.d_c.data(), 0, problem.d_c.bytes()));
        return;
    }
    const Operand a = operand(problem.d_a.data(), problem.m, problem.k, copy_of_a);
    const Operand b = operand(problem.d_b.data(), problem.n, problem.k, copy_of_b);
    multiply(a, b, Result{problem.d_c.data(), problem.m, problem.n});
}

// ---- steps 1 and 2 ----------------------------------------------------------------------

template <Precision precision>
void fragments(Product<precision>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const Result& c) {
        const std::size_t warps =
            parts_of(c.rows, kFragmentRows) * parts_of(c.cols, kFragmentCols);
        mma_fragments<precision><<<warpwise::blocks_for(warps, 256 / 32), 256>>>(a, b, c);
        warpwise::check_launch();
    });
}

int largest_shared_memory() {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return bytes;
}

template <Precision precision, unsigned slots>
void launch_mma(const Operand& a, const Operand& b, const Result& c) {
    constexpr unsigned shared_bytes = slots * kSlot;
    const auto kernel = mma_cp_async<precision, slots>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int{shared_bytes}));
    kernel<<<tiles_of(c.rows, BM) * tiles_of(c.cols, BN), kMmaThreads, shared_bytes>>>(a, b,
                                                                                       c);
    warpwise::check_launch();
}

template <Precision precision>
void cp_async(Product<precision>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const Result& c) {
        static const int shared_memory = largest_shared_memory();
        if (shared_memory >= int{4 * kSlot}) {
            launch_mma<precision, 4>(a, b, c);
        } else {
            launch_mma<precision, 2>(a, b, c);  // chips of 100 KB
        }
    });
}

// ---- steps 3 and 4 ----------------------------------------------------------------------

// Describes a row-major matrix, and boxes of it that are 128 bytes wide, to the tensor
// memory accelerator.
CUtensorMap map_of(CUtensorMapDataType type, unsigned element_bytes, const void* data,
                   std::size_t rows, std::size_t row_bytes, unsigned box_rows) {
    return warpwise::tensor_map({.type = type,
                                 .element_bytes = element_bytes,
                                 .data = data,
                                 .rows = rows,
                                 .cols = row_bytes / element_bytes,
                                 .pitch = row_bytes,
                                 .box_rows = box_rows,
                                 .box_cols = kSliceBytes / element_bytes,
                                 .swizzle = CU_TENSOR_MAP_SWIZZLE_128B});
}

template <Precision precision>
constexpr unsigned element_bytes = sizeof(typename Product<precision>::Element);

template <Precision precision>
CUtensorMap map_of(const Operand& operand, unsigned box_rows) {
    constexpr auto type = precision == Precision::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                       : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    return map_of(type, element_bytes<precision>, operand.data, operand.rows,
                  operand.row_bytes, box_rows);
}

template <Precision precision>
void launch_wgmma_tma(const Operand& a, const Operand& b, const Result& c) {
    constexpr unsigned shared_bytes = kSlots * kSlot + kAlignment;
    const auto kernel = wgmma_tma<precision>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int{shared_bytes}));
    kernel<<<tiles_of(c.rows, BM) * tiles_of(c.cols, BN), kWgmmaThreads, shared_bytes>>>(
        map_of<precision>(a, BM), map_of<precision>(b, BN), c,
        tiles_of(a.row_bytes, kSliceBytes), int{kSliceBytes / element_bytes<precision>});
    warpwise::check_launch();
}

template <Precision precision>
void tensor_memory_accelerator(Product<precision>& problem) {
    with_whole_chunks(problem, launch_wgmma_tma<precision>);
}

template <Precision precision>
void launch_wgmma_multicast(const Operand& a, const Operand& b, const Result& c) {
    // Boxes can be written only where rows of C begin at multiples of 16 bytes, too.
    if (c.cols * sizeof(float) % kChunk != 0) return launch_wgmma_tma<precision>(a, b, c);
    const auto kernel = wgmma_multicast<precision>;
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = kBlocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(kBlocks);
    config.blockDim = dim3(kWgmmaThreads);
    config.dynamicSmemBytes =
        kSlots * kSlot + kMultiplyingWarps * 2 * kBoxBytes + kAlignment;
    config.attrs = &cluster;
    config.numAttrs = 1;
    static const unsigned clusters_that_fit = [&] {
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(config.dynamicSmemBytes)));
        int clusters = 0;
        check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
        return static_cast<unsigned>(std::max(1, clusters));
    }();
    const unsigned tile_rows = tiles_of(c.rows, kBlocks * BM),
                   tile_cols = tiles_of(c.cols, BN);
    config.gridDim.x = kBlocks * std::min(clusters_that_fit, tile_rows * tile_cols);
    check(cudaLaunchKernelEx(&config, kernel, map_of<precision>(a, BM),
                             map_of<precision>(b, BN / kBlocks),
                             map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, sizeof(float), c.data,
                                    c.rows, c.cols * sizeof(float), kBoxRows),
                             tile_rows, tile_cols, tiles_of(a.row_bytes, kSliceBytes),
                             int{kSliceBytes / element_bytes<precision>}));
}

template <Precision precision>
void multicast(Product<precision>& problem) {
    with_whole_chunks(problem, launch_wgmma_multicast<precision>);
}

// ---- the vendor -------------------------------------------------------------------------

// What a user would call instead. cuBLAS counts down the columns: our rows of C are its
// columns of C transposed = B' A'. There our B transposed is a k x n matrix of columns that
// has to be transposed, and A is as it should be.
template <Precision precision>
void vendor(Product<precision>& problem) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    const int m = warpwise::cublas_extent(problem.m),
              n = warpwise::cublas_extent(problem.n),
              k = warpwise::cublas_extent(problem.k);
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemsetAsync(problem.d_c.data(), 0, problem.d_c.bytes()));
        return;
    }
    constexpr bool bf16 = precision == Precision::bf16;
    constexpr cudaDataType_t type = bf16 ? CUDA_R_16BF : CUDA_R_32F;
    const float one = 1, zero = 0;
    warpwise::check_cublas(cublasGemmEx(
        handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, problem.d_b.data(), type, k,
        problem.d_a.data(), type, k, &zero, problem.d_c.data(), CUDA_R_32F, n,
        bf16 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT));
}

template <Precision precision>
std::vector<warpwise::Step<Product<precision>>> steps() {
    using Steps = std::vector<warpwise::Step<Product<precision>>>;
    const int capability = compute_capability();
    if (capability < 80) return {};
    Steps steps = {
        {"mma_fragments",
         "a warp makes 16 x 8 sums of fragments straight from global memory",
         fragments<precision>},
        {"mma_cp_async",
         "tiles of 128 x 256 in a ring of slices, fetched by cp.async, fragments by "
         "ldmatrix",
         cp_async<precision>},
    };
    int compiled_for_sm_90a = 0;
    if (capability == 90)
        check(
            cudaMemcpyFromSymbol(&compiled_for_sm_90a, d_compiled_for_sm_90a, sizeof(int)));
    if (compiled_for_sm_90a != 0) {
        steps.push_back(
            {"wgmma_tma",
             "one thread fetches boxes, two warpgroups multiply out of shared memory",
             tensor_memory_accelerator<precision>});
        steps.push_back({"wgmma_multicast",
                         "blocks stay, two of them share B, and C leaves in boxes",
                         multicast<precision>});
    }
    steps.push_back(
        {"vendor", "cublasGemmEx", vendor<precision>, warpwise::StepKind::vendor});
    return steps;
}

}  // namespace

std::vector<warpwise::Step<Tf32Product>> tf32_steps() { return steps<Precision::tf32>(); }

std::vector<warpwise::Step<Bf16Product>> bf16_steps() { return steps<Precision::bf16>(); }

}  // namespace examples

#endif
