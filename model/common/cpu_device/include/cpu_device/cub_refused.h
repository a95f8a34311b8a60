// Parts of CUB that the CPU device does not have: whoever uses one of them is told so.
#pragma once

#include "cpu_device/warp.h"
#include "cub/util_type.cuh"

#define CPU_DEVICE_REFUSE_ALGORITHM(group, function)                                                                   \
    template <class... Arguments>                                                                                      \
    static cudaError_t function(Arguments&&...) {                                                                      \
        static_assert(cpu_device::never<Arguments...>,                                                                 \
                      "The CPU device does not support cub::" #group "::" #function ": build this program with nvcc"); \
        return cudaErrorNotSupported;                                                                                  \
    }

namespace cub {

struct DeviceMemcpy {
    CPU_DEVICE_REFUSE_ALGORITHM(DeviceMemcpy, Batched)
};
struct DeviceCopy {
    CPU_DEVICE_REFUSE_ALGORITHM(DeviceCopy, Batched)
};

template <class Key, int BlockDimX, int ItemsPerThread, class Value = NullType, int BlockDimY = 1, int BlockDimZ = 1>
struct BlockMergeSort {
    static_assert(cpu_device::never<Key>,
                  "The CPU device does not support cub::BlockMergeSort: build this program with nvcc");
};
template <class Key, int ItemsPerThread, int LogicalWarpThreads = 32, class Value = NullType>
struct WarpMergeSort {
    static_assert(cpu_device::never<Key>,
                  "The CPU device does not support cub::WarpMergeSort: build this program with nvcc");
};
template <class Item, int BlockDimX, int RunsPerThread, int DecodedItemsPerThread, class Offset = unsigned,
          int BlockDimY = 1, int BlockDimZ = 1>
struct BlockRunLengthDecode {
    static_assert(cpu_device::never<Item>,
                  "The CPU device does not support cub::BlockRunLengthDecode: build this program with nvcc");
};

}  // namespace cub

#undef CPU_DEVICE_REFUSE_ALGORITHM
