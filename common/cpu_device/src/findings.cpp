#include "cpu_device/findings.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace cpu_device {
namespace {

constexpr int kExitStatus = 86;

struct State {
    std::mutex mutex;
    std::vector<Finding> kept;
    bool printing = true;
};

State& state() {
    static State* all = new State;  // still needed when the process exits
    return *all;
}

bool use_colour() {
    const char* no_color = std::getenv("NO_COLOR");
    return isatty(STDERR_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

/// A program that made mistakes does not end as if it had made none.
void at_exit(int status, void*) {
    const std::size_t found = state().kept.size();
    if (status != 0 || found == 0) return;
    std::fprintf(stderr, "CPU device: %zu mistake%s found; exit status %d\n", found, found == 1 ? "" : "s",
                 kExitStatus);
    std::fflush(nullptr);
    _exit(kExitStatus);
}

// Registered before main, so that it runs after everything else that waits for the end of the process.
__attribute__((constructor)) void register_at_exit() { on_exit(at_exit, nullptr); }

/// The path as somebody in the current folder would write it.
std::string seen_from_here(const std::string& path) {
    char folder[4096];
    if (getcwd(folder, sizeof folder) == nullptr) return path;
    const std::string here = std::string(folder) + "/";
    return path.compare(0, here.size(), here) == 0 ? path.substr(here.size()) : path;
}

void print(const Finding& finding) {
    const bool colour = use_colour();
    const char* red = colour ? "\033[1;31m" : "";
    const char* plain = colour ? "\033[0m" : "";
    std::fflush(stdout);
    std::string text =
        std::string(red) + "CPU device: " + name_of(finding.kind) + plain + ": " + finding.message + "\n";
    if (!finding.kernel.empty()) {
        char where[160];
        std::snprintf(where, sizeof where, ", block (%u, %u, %u), thread (%u, %u, %u)", finding.block.x,
                      finding.block.y, finding.block.z, finding.thread.x, finding.thread.y, finding.thread.z);
        text += "    in kernel " + finding.kernel + where + "\n";
    }
    if (finding.site.line > 0) {
        text += "    at " + seen_from_here(finding.site.file) + ":" + std::to_string(finding.site.line) + "\n";
    }
    if (!finding.hint.empty()) text += "    hint: " + finding.hint + "\n";
    std::fputs(text.c_str(), stderr);
}

}  // namespace

const char* name_of(FindingKind kind) {
    switch (kind) {
        case FindingKind::divergent_barrier:
            return "divergent barrier";
        case FindingKind::missing_lane:
            return "missing lane";
        case FindingKind::mask_without_caller:
            return "mask without its caller";
        case FindingKind::endless_kernel:
            return "endless kernel";
        case FindingKind::illegal_access:
            return "illegal access";
        case FindingKind::kernel_trap:
            return "kernel trap";
        case FindingKind::unsupported:
            return "not supported";
    }
    return "mistake";
}

void report(Finding finding) {
    State& all = state();
    std::lock_guard lock(all.mutex);
    if (all.printing) print(finding);
    all.kept.push_back(std::move(finding));
}

std::vector<Finding> take_findings() {
    std::lock_guard lock(state().mutex);
    return std::exchange(state().kept, {});
}

bool print_findings(bool on) {
    std::lock_guard lock(state().mutex);
    return std::exchange(state().printing, on);
}

}  // namespace cpu_device
