// Host code that may use device memory: the algorithms of Thrust, which run on the host here.
#pragma once

namespace cpu_device {

/// From now on host code that reads or writes device memory is not reported, and what it writes counts as written.
/// Always true.
bool allow_host_access();

}  // namespace cpu_device
