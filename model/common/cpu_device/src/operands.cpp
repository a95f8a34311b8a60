#include "operands.h"

#include <cstdio>
#include <string>
#include <string_view>

#include "allocations.h"
#include "cpu_device/instrument.h"
#include "diagnoser.h"

namespace cpu_device {
namespace {

/// Said even where errors are not looked for: the function cannot go on.
void say_what_is_wrong(DiagnosticKind kind, const ApiCall& call, const std::string& message, const char* hint,
                       const Allocation* allocation) {
    Diagnostic found{};
    found.kind = kind;
    found.message = std::string(call.function) + " was given " + message;
    found.site = place_of(call);
    found.hint = hint;
    if (allocation != nullptr) found.array = allocation->display_name();
    report(std::move(found));
}

}  // namespace

bool is_for_device(const ApiCall& call, const char* role, const void* pointer, std::size_t bytes) {
    if (bytes == 0) return true;
    const std::string as = std::string(" as its ") + role;
    if (const auto freed = find_freed(pointer)) {
        say_what_is_wrong(DiagnosticKind::use_after_free, call, describe(*freed) + ", which was freed," + as,
                          "free memory after its last use", &*freed);
        return false;
    }
    const auto allocation = find_for_host(pointer);
    if (!allocation) {
        char address[32];
        std::snprintf(address, sizeof address, "%p", pointer);
        const std::string what = pointer == nullptr ? "a null pointer" : std::string("host memory (") + address + ")";
        say_what_is_wrong(DiagnosticKind::host_memory, call, what + as,
                          "allocate it with cudaMalloc, and copy the data there with cudaMemcpy", nullptr);
        return false;
    }
    if (!allocation->holds(pointer, bytes)) {
        const auto first = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - allocation->address);
        say_what_is_wrong(DiagnosticKind::out_of_bounds, call,
                          describe(*allocation) + as + ", and would use " + std::to_string(bytes) +
                              " bytes from byte " + std::to_string(first) +
                              " on: " + std::to_string(bytes - (allocation->bytes - first)) + " bytes past its end",
                          std::string_view(call.function).starts_with("cub::")
                              ? "does the number of elements match the allocation?"
                              : "do the sizes, the leading dimension, and the increment match the allocation?",
                          &*allocation);
        return false;
    }
    return true;
}

void note_result(const void* pointer, std::size_t bytes) { note_host_write(pointer, bytes); }

}  // namespace cpu_device
