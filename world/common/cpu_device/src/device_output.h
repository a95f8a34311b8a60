// What kernels print. As on a GPU it is kept until the host waits for the device or launches the next kernel, and then
// comes in the order of blocks and warps, and in each warp in the order in which the warp would have run: a printf of
// 32 lanes before the next printf of any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cpu_device {

/// One call of printf by one device thread.
struct Print {
    std::uint64_t block = 0;        ///< linear index in the grid
    std::uint32_t grid_phase = 0;   ///< how many grid barriers the block had passed
    std::uint32_t block_phase = 0;  ///< and how many barriers of its own
    std::uint32_t thread = 0;       ///< linear rank in the block
    const void* code = nullptr;     ///< return address of the call
    const void* format = nullptr;   ///< tells calls apart that share a return address; null: it does not
    std::string text;
};

/// The order of what one launch has printed. Of each thread the calls have to stand in their order.
std::vector<const Print*> in_order_of_warps(const std::vector<Print>& prints);

/// Keeps what the running device thread prints.
void print_later(const void* code, const void* format, std::string text);

/// The launch has ended. `failed`: nothing may come after it, so its output is shown at once.
void end_device_output(bool failed);

/// Shows what kernels have printed so far: the host waits for the device.
void flush_device_output();

/// The program ends: what nobody waited for is shown, and reported, since a GPU shows it never.
void flush_unseen_output();

}  // namespace cpu_device
