// The host's own copies of device variables.
#pragma once

namespace cpu_device {

/// From now on a line that uses a device variable in host code is reported once more.
void report_host_uses_again();

}  // namespace cpu_device
