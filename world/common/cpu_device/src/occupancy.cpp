#include "cpu_device/occupancy.h"

#include <algorithm>

#include "api_call.h"
#include "cpu_device/device_model.h"
#include "cpu_device/runtime_api.h"
#include "device_properties.h"
#include "function_attributes.h"

namespace cpu_device {
namespace {

template <class Integer>
constexpr Integer round_up(Integer value, Integer unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

Occupancy occupancy(int threads_per_block, int registers_per_thread, std::size_t shared_bytes) {
    using namespace model;
    if (threads_per_block < 1 || threads_per_block > max_threads_per_block) return {};
    if (registers_per_thread > max_registers_per_thread) return {};
    if (shared_bytes > shared_bytes_per_block_opt_in) return {};

    const int warps = round_up(threads_per_block, warp_size) / warp_size;
    const int by_threads = max_warps_per_sm / warps;

    int by_registers = max_blocks_per_sm;
    if (registers_per_thread > 0) {
        const int registers_per_warp = round_up(registers_per_thread * warp_size, register_allocation_unit);
        if (registers_per_warp * round_up(warps, warp_schedulers) > registers_per_block) return {};
        const int warps_per_scheduler = registers_per_sm / warp_schedulers / registers_per_warp;
        by_registers = warps_per_scheduler * warp_schedulers / warps;
    }

    const std::size_t shared_of_a_block =
        round_up(shared_bytes + reserved_shared_bytes_per_block, shared_allocation_unit);
    const int by_shared_memory = static_cast<int>(shared_bytes_per_sm / shared_of_a_block);

    Occupancy result{max_blocks_per_sm, OccupancyLimit::blocks};
    const auto limit_to = [&](int blocks, OccupancyLimit limit) {
        if (blocks < result.blocks_per_sm) result = {blocks, limit};
    };
    limit_to(by_threads, OccupancyLimit::threads);
    limit_to(by_registers, OccupancyLimit::registers);
    limit_to(by_shared_memory, OccupancyLimit::shared_memory);
    return result;
}

int resident_blocks(const void* kernel, int threads_per_block, std::size_t dynamic_shared_bytes) {
    if (dynamic_shared_bytes > static_cast<std::size_t>(function_settings(kernel).max_dynamic_shared_bytes)) return 0;
    return occupancy(threads_per_block, model::assumed_registers_per_thread, dynamic_shared_bytes).blocks_per_sm;
}

cudaError_t best_block_size(int* min_grid_size, int* block_size, const void* kernel, int block_size_limit,
                            std::size_t (*shared_bytes)(const void* context, int threads), const void* context) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (min_grid_size == nullptr || block_size == nullptr || block_size_limit < 0) return cudaErrorInvalidValue;
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        const int limit = block_size_limit == 0 ? model::max_threads_per_block
                                                : std::min(block_size_limit, model::max_threads_per_block);
        int best_threads = 0;
        int best_blocks = 0;
        // The limit itself, then whole warps downwards; a larger block wins a tie.
        for (int threads = limit; threads > 0; threads = round_up(threads, model::warp_size) - model::warp_size) {
            const int blocks = resident_blocks(kernel, threads, shared_bytes(context, threads));
            if (blocks * threads <= best_blocks * best_threads) continue;
            best_blocks = blocks;
            best_threads = threads;
            if (blocks * threads == model::max_threads_per_sm) break;
        }
        *min_grid_size = best_blocks * multiprocessor_count();
        *block_size = best_threads;
        return cudaSuccess;
    });
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int block_size,
                                                                   size_t dynamic_shared_bytes, unsigned flags) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (blocks == nullptr || block_size < 1 || flags > cudaOccupancyDisableCachingOverride) {
            return cudaErrorInvalidValue;
        }
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        *blocks = resident_blocks(kernel, block_size, dynamic_shared_bytes);
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_shared_bytes, const void* kernel, int blocks,
                                                      int block_size) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (dynamic_shared_bytes == nullptr || blocks < 1 || block_size < 1) return cudaErrorInvalidValue;
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        if (resident_blocks(kernel, block_size, 0) < blocks) return cudaErrorInvalidValue;
        const std::size_t share = model::shared_bytes_per_sm / static_cast<std::size_t>(blocks);
        const std::size_t whole_units = share / model::shared_allocation_unit * model::shared_allocation_unit;
        *dynamic_shared_bytes = std::min(whole_units - model::reserved_shared_bytes_per_block,
                                         static_cast<std::size_t>(function_settings(kernel).max_dynamic_shared_bytes));
        return cudaSuccess;
    });
}
