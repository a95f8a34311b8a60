#include "cpu_device/cooperative_groups.h"

#include "block.h"

namespace cpu_device {

bool launched_cooperatively() { return in_kernel() && current_thread.block->launch().cooperative; }

}  // namespace cpu_device
