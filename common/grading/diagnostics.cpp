#include "common/grading/diagnostics.h"

#include <cuda_runtime.h>

#ifdef __CPU_DEVICE__

#include "cpu_device/diagnostics.h"

namespace grading {

std::string take_diagnostics() {
    std::string text;
    for (const cpu_device::Diagnostic& diagnostic : cpu_device::take_diagnostics()) {
        if (!text.empty()) text += "\n\n";
        text += cpu_device::text_of(diagnostic);
    }
    return text;
}

std::string take_refused_launch() { return cpu_device::take_refused_launch(); }

void show_diagnostics_only_when_taken() { cpu_device::print_diagnostics(false); }

}  // namespace grading

#else

namespace grading {

std::string take_diagnostics() { return {}; }

std::string take_refused_launch() { return {}; }

void show_diagnostics_only_when_taken() {}

}  // namespace grading

#endif
