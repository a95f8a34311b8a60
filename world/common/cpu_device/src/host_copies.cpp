// What the name of a device variable stands for in host code: on a GPU a variable of the host's own, of which neither
// kernels nor cudaMemcpyToSymbol know anything. nvcc only warns of that (#20091-D, #20092-D).
#include "host_copies.h"

#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "allocations.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/execution.h"
#include "cpu_device/instrument.h"

namespace cpu_device {
namespace {

struct HostCopies {
    std::mutex mutex;
    std::map<const void*, void*> by_variable;
    std::set<std::tuple<const void*, std::string, int>> reported;  ///< variables with lines
};

/// Lives as long as the process: functions that run at its end may use a variable's name, too.
HostCopies& host_copies() {
    static auto* copies = new HostCopies;
    return *copies;
}

void report_use(const Allocation& variable, bool writes, Site site) {
    const std::string what =
        std::string(variable.constant ? "__constant__" : "__device__") + " variable '" + variable.name + "' directly: ";
    Diagnostic found{};
    found.kind = DiagnosticKind::host_memory;
    found.message = writes ? "host code writes the " + what + "this changes the host's own copy, and no kernel sees it"
                           : "host code reads the " + what + "this is the host's own copy, and not what kernels use";
    found.site = site;
    found.hint = "cudaMemcpyToSymbol writes a device variable, and cudaMemcpyFromSymbol reads it";
    found.array = variable.name;
    report(std::move(found));
}

}  // namespace

void* host_copy_of(const void* address, std::size_t bytes, std::size_t alignment, bool writes, Site site) {
    if (in_kernel()) return nullptr;
    const auto variable = find_allocation(address);
    if (!variable || variable->kind != MemoryKind::symbol || variable->address != address) return nullptr;
    HostCopies& copies = host_copies();
    void* copy = nullptr;
    {
        std::lock_guard lock(copies.mutex);
        void*& known = copies.by_variable[address];
        if (known == nullptr) {
            known = ::operator new(bytes, std::align_val_t(alignment));
            std::memset(known, 0, bytes);
        }
        copy = known;
        if (!instrumenting().diagnostics || !copies.reported.emplace(address, site.file, site.line).second) return copy;
    }
    report_use(*variable, writes, site);
    return copy;
}

void report_host_uses_again() {
    std::lock_guard lock(host_copies().mutex);
    host_copies().reported.clear();
}

}  // namespace cpu_device
