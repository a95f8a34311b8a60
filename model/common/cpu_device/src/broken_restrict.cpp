#include "broken_restrict.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "block.h"
#include "cpu_device/diagnostics.h"
#include "tally.h"

namespace cpu_device {
namespace {

bool is_changed(const Tally& tally, int array) {
    return std::any_of(tally.requests().begin(), tally.requests().end(), [array](const auto& entry) {
        const Tally::Request& request = entry.second;
        return request.array == array && (request.operation == MemoryOperation::global_store ||
                                          request.operation == MemoryOperation::global_atomic);
    });
}

void report_pair(const Launch& launch, const Launch::Parameter& promised, const Launch::Parameter& other) {
    Diagnostic found{};
    found.kind = DiagnosticKind::broken_restrict;
    found.message = "'" + promised.name + "' and '" + other.name + "' of " + launch.site.kernel +
                    " are the same array, which the kernel changes, but '" + promised.name +
                    "' is __restrict__: that promises that nobody else reaches this array";
    found.site = launch.site.site;
    found.hint = "the compiler may load values early or keep them, and miss what is written through '" + other.name +
                 "'. Pass different arrays, or leave out __restrict__ where they may be the same";
    found.array = promised.name;
    report(std::move(found));
}

}  // namespace

void report_broken_restrict(const Launch& launch) {
    if (!launch.arrays) return;
    const std::vector<Launch::Parameter> parameters = launch.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Launch::Parameter& promised = parameters[i];
        if (!promised.is_restrict || promised.address == 0) continue;
        for (std::size_t j = 0; j < parameters.size(); ++j) {
            const Launch::Parameter& other = parameters[j];
            const bool is_told = j < i && other.is_restrict;  // the other way round
            if (i == j || other.address != promised.address || is_told) continue;
            const int array = launch.arrays->find(promised.address);
            if (array >= 0 && is_changed(launch.tally, array)) report_pair(launch, promised, other);
        }
    }
}

}  // namespace cpu_device
