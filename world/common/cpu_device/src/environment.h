// Variables of the environment that had another name in earlier versions.
//
//     const char* file = environment("CPU_DEVICE_DIAGNOSTICS", "CPU_DEVICE_FINDINGS");
#pragma once

#include <cstdio>
#include <cstdlib>

namespace cpu_device {

/// The value of `name`, else that of `old_name`, of which a note on stderr tells; null if neither is set.
inline const char* environment(const char* name, const char* old_name) {
    if (const char* const value = std::getenv(name)) return value;
    const char* const value = std::getenv(old_name);
    if (value != nullptr) std::fprintf(stderr, "CPU device: note: %s is called %s now\n", old_name, name);
    return value;
}

}  // namespace cpu_device
