// The running thread's place.
#pragma once

#include "cuda_runtime.h"

namespace cub {

inline unsigned LaneId() { return cpu_device::lane_id(); }
inline unsigned WarpId() { return cpu_device::warp_id(); }
inline int RowMajorTid(int block_dim_x, int block_dim_y, int block_dim_z) {
    return (block_dim_z == 1 ? 0 : static_cast<int>(threadIdx.z) * block_dim_x * block_dim_y) +
           (block_dim_y == 1 ? 0 : static_cast<int>(threadIdx.y) * block_dim_x) + static_cast<int>(threadIdx.x);
}

}  // namespace cub
