// Values that move by a number of threads.
#pragma once

#include "cpu_device/cub_block.h"
#include "cub/config.cuh"

namespace cub {

template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockShuffle {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;

public:
    struct TempStorage : cpu_device::cub_parts::Places<T, kThreads> {};

    CPU_DEVICE_INLINE BlockShuffle() : BlockShuffle(cpu_device::cub_parts::private_storage<TempStorage>()) {}
    CPU_DEVICE_INLINE explicit BlockShuffle(TempStorage& temp_storage) : storage_(temp_storage) {
        cpu_device::cub_parts::check_block("cub::BlockShuffle", kThreads);
    }

    /// Gets the value of thread `distance` further on; where there is none the output stays as it is.
    CPU_DEVICE_INLINE void Offset(T input, T& output, int distance = 1, CPU_DEVICE_CALL_SITE) {
        share(input, site);
        const int from = cpu_device::cub_parts::linear_thread() + distance;
        if (from >= 0 && from < kThreads) output = storage_[from];
    }
    CPU_DEVICE_INLINE void Rotate(T input, T& output, unsigned distance = 1, CPU_DEVICE_CALL_SITE) {
        share(input, site);
        output = storage_[(cpu_device::cub_parts::linear_thread() + static_cast<int>(distance)) % kThreads];
    }
    /// All values of the block move up by one place; the first stays as it is.
    template <int Items>
    CPU_DEVICE_INLINE void Up(T (&input)[Items], T (&previous)[Items], CPU_DEVICE_CALL_SITE) {
        share(input[Items - 1], site);
        for (int i = Items - 1; i > 0; --i) previous[i] = input[i - 1];
        const int thread = cpu_device::cub_parts::linear_thread();
        if (thread > 0) previous[0] = storage_[thread - 1];
    }
    template <int Items>
    CPU_DEVICE_INLINE void Down(T (&input)[Items], T (&next)[Items], CPU_DEVICE_CALL_SITE) {
        share(input[0], site);
        for (int i = 0; i + 1 < Items; ++i) next[i] = input[i + 1];
        const int thread = cpu_device::cub_parts::linear_thread();
        if (thread + 1 < kThreads) next[Items - 1] = storage_[thread + 1];
    }

private:
    CPU_DEVICE_INLINE void share(const T& value, cpu_device::Site site) {
        storage_[cpu_device::cub_parts::linear_thread()] = value;
        cpu_device::block_barrier(0, site);
    }

    TempStorage& storage_;
};

}  // namespace cub
