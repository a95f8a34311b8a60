// Boxes that the tensor memory accelerator stores at the edges of a matrix: what an H200 writes.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/helpers/ptx.cuh"
#include "common/helpers/tensor_map.h"
#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

namespace ptx = warpwise::ptx;

namespace {

constexpr int kBoxRows = 4, kBoxCols = 8, kPitch = 24, kAllRows = 6;

/// Stores a box whose element (r, c) is 100 (r + 1) + c.
__global__ void store_box(const __grid_constant__ CUtensorMap to, int row, int col) {
    __shared__ alignas(128) float box[kBoxRows][kBoxCols];
    for (unsigned i = threadIdx.x; i < kBoxRows * kBoxCols; i += blockDim.x) {
        box[i / kBoxCols][i % kBoxCols] = static_cast<float>(100 * (i / kBoxCols + 1) + i % kBoxCols);
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x > 0) return;
    const std::int32_t at[2] = {col, row};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, at, box);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

}  // namespace

TEST_CASE("a stored box leaves rows and chunks outside as they are, and writes a row's last chunk whole") {
    device_or_skip();
    if (!warpwise::has_tensor_memory_accelerator()) SKIP("no tensor memory accelerator");
    for (const int cols : {1, 3, 4, 5, 8, 9}) {
        for (const int rows : {1, 2, 4}) {
            for (const int col : {0, 4, 8}) {
                for (const int row : {0, 1}) {
                    CAPTURE(cols, rows, col, row);
                    const std::vector<float> stored = results_of<float>(kAllRows * kPitch, [&](float* d_out) {
                        REQUIRE(cudaMemset(d_out, 0, kAllRows * kPitch * sizeof(float)) == cudaSuccess);
                        store_box<<<1, 32>>>(warpwise::tensor_map({.data = d_out,
                                                                   .rows = static_cast<std::size_t>(rows),
                                                                   .cols = static_cast<std::size_t>(cols),
                                                                   .pitch = kPitch * sizeof(float),
                                                                   .box_rows = kBoxRows,
                                                                   .box_cols = kBoxCols}),
                                             row, col);
                    });
                    std::vector<float> expected(kAllRows * kPitch, 0.0f);
                    for (int r = row; r < row + kBoxRows && r < rows; ++r) {
                        for (int c = col; c < col + kBoxCols && c < (cols + 3) / 4 * 4; ++c) {
                            expected[static_cast<std::size_t>(r * kPitch + c)] =
                                static_cast<float>(100 * (r - row + 1) + c - col);
                        }
                    }
                    CHECK(stored == expected);
                }
            }
        }
    }
}
