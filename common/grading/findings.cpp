#include "common/grading/findings.h"

#include <cuda_runtime.h>

#ifdef __CPU_DEVICE__

#include "cpu_device/findings.h"

namespace grading {

namespace {

std::string position(const uint3& at) {
    return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) + ")";
}

std::string text_of(const cpu_device::Finding& finding) {
    std::string text = std::string(cpu_device::name_of(finding.kind)) + ": " + finding.message;
    if (!finding.kernel.empty()) {
        text += "\nkernel " + finding.kernel + ", block " + position(finding.block) + ", thread " +
                position(finding.thread);
    }
    if (finding.site.line > 0)
        text += "\nat " + std::string(finding.site.file) + ":" + std::to_string(finding.site.line);
    if (!finding.hint.empty()) text += "\nhint: " + finding.hint;
    return text;
}

}  // namespace

std::string take_findings() {
    std::string text;
    for (const cpu_device::Finding& finding : cpu_device::take_findings()) {
        if (!text.empty()) text += "\n\n";
        text += text_of(finding);
    }
    return text;
}

void show_findings_only_when_taken() { cpu_device::print_findings(false); }

}  // namespace grading

#else

namespace grading {

std::string take_findings() { return {}; }

void show_findings_only_when_taken() {}

}  // namespace grading

#endif
