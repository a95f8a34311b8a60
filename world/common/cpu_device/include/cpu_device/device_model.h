// The device that the CPU device models: the limits of compute capability 9.0 on 16 multiprocessors.
//
// Numbers: CUDA C++ Programming Guide, "Compute Capabilities", tables of features and technical specifications.
#pragma once

#include <cstddef>

namespace cpu_device::model {

constexpr int compute_capability_major = 9;
constexpr int compute_capability_minor = 0;
constexpr int multiprocessors = 16;
constexpr int multiprocessors_per_gpc = 16;  ///< the blocks of a cluster are on SMs of one GPC
constexpr int warp_size = 32;

constexpr int max_threads_per_block = 1024;
constexpr int max_threads_per_sm = 2048;
constexpr int max_warps_per_sm = max_threads_per_sm / warp_size;
constexpr int max_blocks_per_sm = 32;

constexpr int registers_per_sm = 65536;
constexpr int registers_per_block = 65536;
constexpr int max_registers_per_thread = 255;
constexpr int register_allocation_unit = 256;  ///< a warp gets a multiple of this
constexpr int warp_schedulers = 4;             ///< each has a quarter of the multiprocessor's registers

constexpr std::size_t shared_bytes_per_sm = 228 * 1024;
constexpr std::size_t shared_bytes_per_block = 48 * 1024;          ///< without asking
constexpr std::size_t shared_bytes_per_block_opt_in = 227 * 1024;  ///< with cudaFuncSetAttribute
constexpr std::size_t reserved_shared_bytes_per_block = 1024;      ///< taken by the system for each block
constexpr std::size_t shared_allocation_unit = 128;

/// Registers of a thread, where nobody can know them: there is no GPU code. Small kernels stay below this.
constexpr int assumed_registers_per_thread = 32;

constexpr std::size_t constant_bytes = 64 * 1024;
constexpr std::size_t max_pitch = 2147483647;
constexpr std::size_t pitch_alignment = 512;       ///< of the rows that cudaMallocPitch returns
constexpr std::size_t allocation_alignment = 512;  ///< of every address that the runtime hands out

// What programs ask before they overlap copies and kernels, or compute a rate. Nothing here depends on them.
constexpr int copy_engines = 3;                    ///< as an H200 has
constexpr int clock_kilohertz = 1'000'000;         ///< clock64() counts nanoseconds
constexpr int memory_clock_kilohertz = 3'201'000;  ///< of an H200's memory, the same for the next two
constexpr int memory_bus_bits = 6016;
constexpr int l2_bytes = 60 * 1024 * 1024;
constexpr int persisting_l2_bytes = l2_bytes / 4 * 3;          ///< at most, for accesses that persist
constexpr int access_policy_window_bytes = 128 * 1024 * 1024;  ///< of one window, at most

/// What a memory pool asks the system for at a time.
constexpr std::size_t pool_chunk_bytes = std::size_t{32} << 20;

constexpr int lowest_stream_priority = 0;
constexpr int highest_stream_priority = -5;

}  // namespace cpu_device::model
