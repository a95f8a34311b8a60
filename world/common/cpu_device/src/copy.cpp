// Copying and filling memory.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "allocations.h"
#include "api_call.h"
#include "capture.h"
#include "copy_diagnostics.h"
#include "cpu_device/device_model.h"
#include "cpu_device/instrument.h"
#include "cpu_device/runtime_api.h"
#include "device_races.h"
#include "device_work.h"
#include "devices.h"
#include "diagnoser.h"
#include "memory_map.h"
#include "stream_order.h"
#include "streams.h"

namespace cpu_device {
namespace {

/// One side of a copy.
enum class Side {
    device,  ///< must be memory that the device can reach: device, managed or pinned
    any,     ///< plain host memory will do
};

cudaError_t check_side(Side side, const void* pointer, std::size_t bytes) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const auto allocation = find_for_host(pointer);
    if (!allocation) return side == Side::device ? cudaErrorInvalidValue : cudaSuccess;
    // Host memory may be pinned in part.
    if (side == Side::any && allocation->kind == MemoryKind::registered) return cudaSuccess;
    return allocation->holds(pointer, bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

// ---- what is wrong with a call, in words ---------------------------------------------------------------------

/// One of the pointers that a call was given.
struct Operand {
    const char* role;  ///< "destination", "source"
    const char* verb;  ///< "write", "read"
    Side side;
    bool called_host;  ///< the direction says that it is host memory
    const void* pointer;
    std::size_t bytes;
};

const char* name_of(cudaMemcpyKind kind) {
    switch (kind) {
        case cudaMemcpyHostToHost:
            return "cudaMemcpyHostToHost";
        case cudaMemcpyHostToDevice:
            return "cudaMemcpyHostToDevice";
        case cudaMemcpyDeviceToHost:
            return "cudaMemcpyDeviceToHost";
        case cudaMemcpyDeviceToDevice:
            return "cudaMemcpyDeviceToDevice";
        case cudaMemcpyDefault:
            break;
    }
    return "cudaMemcpyDefault";
}

/// Memory that only the device reaches.
bool is_device_only(const void* pointer) {
    const auto allocation = find_for_host(pointer);
    return allocation && (allocation->kind == MemoryKind::device || allocation->kind == MemoryKind::symbol);
}

thread_local std::optional<cudaStream_t> stream_of_call;

/// Reports that the operand is memory of a pool, and that nothing orders the call after its allocation.
void look_at_order(const Allocation& allocation, const Operand& operand, const ApiCall& call) {
    if (!allocation.is_of_pool || note_pool_use == nullptr || !stream_of_call) return;
    if (note_pool_use(allocation, *stream_of_call, call.function, call)) return;
    report_misuse(DiagnosticKind::missing_order, call,
                  std::string("would ") + operand.verb + " " + describe(allocation) +
                      ", in another stream than that of its allocation, and nothing orders the two",
                  order_hint, allocation.display_name(),
                  OtherSide{allocation.made_at, {}, {}, "allocated in the order of another stream"});
}

/// Reports that the operand, which begins in the allocation, goes past its end, if it does.
bool report_overrun(const Operand& operand, const Allocation& allocation, const ApiCall& call) {
    if (allocation.holds(operand.pointer, operand.bytes)) return false;
    const auto first = static_cast<std::size_t>(static_cast<const std::byte*>(operand.pointer) - allocation.address);
    const std::size_t excess = operand.bytes - (allocation.bytes - first);
    report_misuse(DiagnosticKind::out_of_bounds, call,
                  std::string("would ") + operand.verb + " " + std::to_string(operand.bytes) + " bytes from byte " +
                      std::to_string(first) + " on of " + describe(allocation) + ": " + std::to_string(excess) +
                      (excess == 1 ? " byte" : " bytes") + " past its end",
                  "a size is in bytes: the number of elements times sizeof(element), at most what was allocated",
                  allocation.display_name());
    return true;
}

/// Reports that the operand begins past the end of an allocation or before its start.
void report_missed(const Operand& operand, const Allocation& missed, const ApiCall& call) {
    const auto* pointer = static_cast<const std::byte*>(operand.pointer);
    const std::byte* end = missed.address + missed.bytes;
    const std::ptrdiff_t distance = pointer < missed.address ? missed.address - pointer : pointer - end;
    const std::string far = distance == 0 ? "right" : std::to_string(distance) + (distance == 1 ? " byte" : " bytes");
    const char* where = pointer < missed.address ? " before the start of "
                        : distance == 0          ? " at the end of "
                                                 : " past the end of ";
    report_misuse(DiagnosticKind::out_of_bounds, call,
                  std::string("would ") + operand.verb + " " + std::to_string(operand.bytes) + " bytes that begin " +
                      far + where + describe(missed),
                  "which offset was added to the pointer, and how many elements has the allocation? (An unsigned "
                  "difference that would be negative is a huge number.)",
                  missed.display_name());
}

/// Reports what is wrong with the operand, if anything is. `with`: " with cudaMemcpyHostToDevice", or nothing.
bool report_operand(const Operand& operand, const ApiCall& call, const std::string& with, const char* hint) {
    if (operand.pointer == nullptr) return false;
    const auto given = [&](const std::string& what) {
        return (with.empty() ? "was given " : with + " was given ") + what + " as its " + operand.role;
    };
    if (const auto freed = find_freed(operand.pointer)) {
        report_misuse(DiagnosticKind::use_after_free, call, given(describe(*freed) + ", which was freed,"),
                      "free memory after its last use", freed->display_name(),
                      OtherSide{freed->freed_at, {}, {}, "freed it"});
        return true;
    }
    if (const auto allocation = find_for_host(operand.pointer)) {
        const bool is_part_of_host_memory = operand.side == Side::any && allocation->kind == MemoryKind::registered;
        if (!is_part_of_host_memory && report_overrun(operand, *allocation, call)) return true;
        look_at_order(*allocation, operand, call);
        if (!operand.called_host || !is_device_only(operand.pointer)) return false;
        report_misuse(DiagnosticKind::host_memory, call, given(describe(*allocation) + ","), hint,
                      allocation->display_name());
        return true;
    }
    if (operand.side == Side::any) return false;
    if (const auto variable = find_allocation(operand.pointer)) {
        report_misuse(
            DiagnosticKind::host_memory, call,
            given(describe(*variable) + ", whose name stands for host memory in host code,"),
            "copy with cudaMemcpyToSymbol and cudaMemcpyFromSymbol, or ask cudaGetSymbolAddress for the address",
            variable->display_name());
        return true;
    }
    if (const auto missed = find_missed(operand.pointer)) {
        report_missed(operand, *missed, call);
        return true;
    }
    char address[32];
    std::snprintf(address, sizeof address, "%p", operand.pointer);
    report_misuse(DiagnosticKind::host_memory, call, given(std::string("host memory (") + address + ")"), hint);
    return true;
}

/// Reports the first thing that is wrong with a copy, whether the runtime minds or not.
void report_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes, cudaMemcpyKind kind,
                 const ApiCall& call) {
    if (!instrumenting().diagnostics) return;
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const auto side = [](bool device) { return device ? Side::device : Side::any; };
    const bool says_host = kind != cudaMemcpyDefault;
    const Operand destination{"destination", "write", side(to_device), says_host && !to_device, to, to_bytes};
    const Operand source{"source", "read", side(from_device), says_host && !from_device, from, from_bytes};
    const char* hint =
        is_device_only(to) ? is_device_only(from) ? "these two pointers need cudaMemcpyDeviceToDevice"
                             : kind == cudaMemcpyDeviceToHost
                                 ? "these two pointers need cudaMemcpyHostToDevice; or were they swapped? The "
                                   "destination comes first"
                                 : "these two pointers need cudaMemcpyHostToDevice"
        : is_device_only(from)
            ? "these two pointers need cudaMemcpyDeviceToHost; or were they swapped? The destination comes first"
            : "neither pointer is device memory: is an index beyond the array, was another variable meant, or "
              "cudaMalloc "
              "forgotten?";
    const std::string with = std::string("with ") + name_of(kind);
    report_operand(destination, call, with, hint) || report_operand(source, call, with, hint);
}

/// The same for a copy whose other side is a variable.
void report_source_or_destination(const Operand& operand, cudaMemcpyKind kind, const ApiCall& call) {
    if (!instrumenting().diagnostics) return;
    const char* hint = operand.called_host ? "for device memory there is cudaMemcpyDeviceToDevice"
                                           : "for host memory leave the direction away: the default is right";
    report_operand(operand, call, std::string("with ") + name_of(kind), hint);
}

void report_fill(const void* pointer, std::size_t bytes, const ApiCall& call) {
    if (!instrumenting().diagnostics) return;
    report_operand({"destination", "write", Side::device, false, pointer, bytes}, call, "",
                   "host memory is filled with memset; this function fills device memory");
}

void report_symbol(const Operand& operand, Symbol symbol, const ApiCall& call) {
    if (!instrumenting().diagnostics) return;
    Allocation whole = find_allocation(symbol.address).value_or(Allocation{});
    whole.address = static_cast<std::byte*>(symbol.address);
    whole.bytes = symbol.bytes;
    whole.kind = MemoryKind::symbol;
    report_overrun(operand, whole, call);
}

// ---- copying and filling -------------------------------------------------------------------------------------

bool is_kind(cudaMemcpyKind kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

/// The side that a direction calls "device" must be within the device's reach; the runtime does not mind what the
/// other one is.
cudaError_t check_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                       cudaMemcpyKind kind, const ApiCall& call) {
    report_copy(to, to_bytes, from, from_bytes, kind, call);
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const cudaError_t wrong = check_side(to_device ? Side::device : Side::any, to, to_bytes);
    return wrong != cudaSuccess ? wrong : check_side(from_device ? Side::device : Side::any, from, from_bytes);
}

void move_bytes(void* to, const void* from, std::size_t bytes) {
    const DeviceWork::Lock alone = enter_device();
    if (use_in_device_step != nullptr) {
        use_in_device_step(from, bytes, false);
        use_in_device_step(to, bytes, true);
    }
    std::memmove(to, from, bytes);
    note_host_write(to, bytes);
    if (logs_activity()) log_copy(to, from, bytes);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const ApiCall& call) {
    if (bytes == 0) return cudaSuccess;
    if (!is_kind(kind)) return cudaErrorInvalidMemcpyDirection;
    if (logs_activity()) log_kind(kind, bytes);
    const cudaError_t wrong = check_copy(to, bytes, from, bytes, kind, call);
    if (wrong == cudaSuccess) move_bytes(to, from, bytes);
    return wrong;
}

/// Bytes from the start of the first row to the end of the last; 0 if they are too many to count.
std::size_t extent_of_rows(std::size_t pitch, std::size_t width, std::size_t height) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(pitch, height - 1, &bytes) || __builtin_add_overflow(bytes, width, &bytes)) return 0;
    return bytes;
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, const ApiCall& call) {
    if (width == 0 || height == 0) return cudaSuccess;
    if (!is_kind(kind)) return cudaErrorInvalidMemcpyDirection;
    if (logs_activity()) log_kind(kind, width * height);
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    if (to_pitch > model::max_pitch || from_pitch > model::max_pitch) return cudaErrorInvalidValue;
    const std::size_t to_bytes = extent_of_rows(to_pitch, width, height);
    const std::size_t from_bytes = extent_of_rows(from_pitch, width, height);
    if (to_bytes == 0 || from_bytes == 0) return cudaErrorInvalidValue;
    const cudaError_t wrong = check_copy(to, to_bytes, from, from_bytes, kind, call);
    if (wrong != cudaSuccess) return wrong;
    for (std::size_t row = 0; row < height; ++row) {
        move_bytes(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
                   width);
    }
    return cudaSuccess;
}

cudaError_t fill_rows(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                      const ApiCall& call) {
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && width > pitch) return cudaErrorInvalidValue;
    const std::size_t bytes = extent_of_rows(pitch, width, height);
    if (bytes == 0) return cudaErrorInvalidValue;
    report_fill(pointer, bytes, call);
    if (check_side(Side::device, pointer, bytes) != cudaSuccess) return cudaErrorInvalidValue;
    for (std::size_t row = 0; row < height; ++row) {
        const DeviceWork::Lock alone = enter_device();
        std::byte* first = static_cast<std::byte*>(pointer) + row * pitch;
        if (use_in_device_step != nullptr) use_in_device_step(first, width, true);
        std::memset(first, value, width);
        note_host_write(first, width);
        if (logs_activity()) log_fill(first, width);
    }
    return cudaSuccess;
}

/// The copy, or a node of a graph that will do it.
cudaError_t copy_in_stream(const CopiedRows& rows, cudaStream_t stream, const ApiCall& call) {
    if (StreamCapture* const capture = stream_capture()) {
        if (const auto captured = capture->copy(rows, stream, call)) return *captured;
    }
    if (!is_busy(stream)) return carry_out(rows, call);
    // Host memory that is not pinned is copied before the call returns.
    if (!find_allocation(rows.from) || !find_allocation(rows.to)) {
        const cudaError_t error = finish_stream(stream);
        return error == cudaSuccess ? carry_out(rows, call) : error;
    }
    if (const cudaError_t wrong = check_rows(rows, call); wrong != cudaSuccess) return wrong;
    device_work()->add(stream, [rows, stream, call](bool) {
        const StreamOfCall in(stream);
        (void)carry_out(rows, call);
        return true;
    });
    return cudaSuccess;
}

/// An asynchronous copy into host memory that is not pinned is over when the call returns: it waits.
Waits waits_for(const void* to, cudaMemcpyKind kind) {
    const bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDefault;
    return to_host && !find_for_host(to) ? Waits::yes : Waits::no;
}

/// `body()`, in a stream.
template <class Body>
cudaError_t call_in_stream(Waits waits, cudaStream_t stream, const Body& body, const ApiCall& call) {
    return api_call(
        waits,
        [&]() -> cudaError_t {
            if (logs_activity()) log_stream(stream);
            nothing_overlaps();
            if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
            if (is_captured(stream)) return body();
            if (waits == Waits::yes) {
                if (const cudaError_t error = finish_stream(stream); error != cudaSuccess) return error;
            }
            const StreamOfCall in(stream);
            note_order(OrderStep::work, stream);
            const InDeviceStep step(call.function, stream, call);
            const cudaError_t error = body();
            if (waits == Waits::yes) note_order(OrderStep::stream_done, stream);
            return error;
        },
        call);
}

/// The same in the default stream, for a call that waits.
template <class Body>
cudaError_t call_in_default_stream(const Body& body, const ApiCall& call) {
    return api_call(
        Waits::yes,
        [&]() -> cudaError_t {
            if (const cudaError_t error = finish_stream(nullptr); error != cudaSuccess) return error;
            const StreamOfCall in(nullptr);
            note_order(OrderStep::work);
            const InDeviceStep step(call.function, nullptr, call);
            const cudaError_t error = body();
            note_order(OrderStep::stream_done);
            return error;
        },
        call);
}

// ---- variables of the device ---------------------------------------------------------------------------------

/// The variable of the device that begins at `pointer`.
std::optional<Allocation> variable_at(const void* pointer) {
    if (pointer == nullptr) return std::nullopt;
    std::optional<Allocation> found = find_allocation(pointer);
    const bool begins = found && found->kind == MemoryKind::symbol && found->address == pointer;
    return begins ? found : std::nullopt;
}

bool is_in_variable(const void* pointer) {
    const auto found = pointer != nullptr ? find_allocation(pointer) : std::nullopt;
    return found && found->kind == MemoryKind::symbol;
}

/// How a call names its variable: "cudaMemcpyToSymbol(limits, &value, bytes)", and with `offset` behind the bytes.
std::string call_with(const std::string& variable, const ApiCall& call, const std::string& offset = "") {
    const std::string_view function = call.function;
    const std::string bytes = ", bytes" + (offset.empty() ? "" : ", " + offset) + ")";
    const std::string name = std::string(function) + "(";
    if (function.find("ToSymbol") != function.npos) return name + variable + ", &value" + bytes;
    if (function.find("FromSymbol") != function.npos) return name + "&value, " + variable + bytes;
    return name + "&result, " + variable + ")";
}

/// Reports what a call got in place of a variable of the device. `other`: what it copies from or to; may be null.
void report_no_symbol(Symbol symbol, const void* other, const ApiCall& call) {
    if (!instrumenting().diagnostics) return;
    const auto say = [&](const std::string& given, const std::string& hint, const std::string& name = {}) {
        report_misuse(DiagnosticKind::host_memory, call, "was given " + given, hint.c_str(), name);
    };
    if (symbol.shared_name != nullptr) {
        const std::string name = symbol.shared_name;
        return say("'" + name +
                       "', a __shared__ variable: each block has one of its own while it runs, and the host reaches "
                       "none of them",
                   "declare a variable that outlives the kernel with __device__", name);
    }
    const void* const given = symbol.pointer != nullptr ? symbol.pointer : symbol.address;
    const auto variable = given != nullptr ? find_allocation(given) : std::nullopt;
    if (variable && variable->kind == MemoryKind::symbol) {
        const std::string& name = variable->name;
        const auto offset = static_cast<const std::byte*>(given) - variable->address;
        const std::string bytes = std::to_string(offset);
        if (offset == 0)
            return say("the address of " + describe(*variable) + ", where it needs the variable itself",
                       "write the name of the variable without &: " + call_with(name, call), name);
        return say("a part of " + describe(*variable) + ", which begins " + bytes + (offset == 1 ? " byte" : " bytes") +
                       " after its start; a symbol is a whole variable",
                   "name the variable" + (other != nullptr ? ", and give the distance in bytes as its offset: " +
                                                                 call_with(name, call, bytes)
                                                           : " without an index or a member: " + call_with(name, call)),
                   name);
    }
    if (variable)
        return say(describe(*variable) + ", where it needs a variable of the device",
                   std::string("memory that is reached through a pointer is copied with cudaMemcpy"),
                   variable->display_name());
    const bool is_swapped = other != nullptr && is_in_variable(other);
    say(symbol.pointer != nullptr && symbol.address == nullptr
            ? "an address in the memory of the host, where it needs a "
              "variable of the device"
        : symbol.address == nullptr ? "a value, where it needs a variable of the device"
                                    : "a variable of the host, where it needs a variable of the device",
        is_swapped ? "were the two swapped? The call is " + call_with("variable", call)
                   : "name a variable that is declared outside of all functions with __device__ or __constant__: " +
                         call_with("variable", call));
}

/// Completes the symbol; cudaErrorInvalidSymbol, which is reported, for what is no variable of the device. `other` as
/// above.
cudaError_t find_symbol(Symbol& symbol, const void* other, const ApiCall& call) {
    auto variable = variable_at(symbol.address);
    if (!variable && symbol.is_address) variable = variable_at(symbol.pointer);
    if (variable) {
        symbol.address = variable->address;
        symbol.bytes = variable->bytes;
        return cudaSuccess;
    }
    // A template's variable, for example.
    const bool may_be_variable = symbol.shared_name == nullptr && has_unregistered_variables() &&
                                 !is_in_variable(symbol.address) && is_in_program_data(symbol.address);
    if (may_be_variable) return cudaSuccess;
    report_no_symbol(symbol, other, call);
    return cudaErrorInvalidSymbol;
}

/// Reports that the call has a direction where its offset belongs.
void report_kind_for_offset(Symbol symbol, std::size_t offset, const ApiCall& call) {
    if (!symbol.takes_kind_for_offset || offset == 0) return;
    const auto kind = static_cast<cudaMemcpyKind>(offset);
    const std::string bytes = std::to_string(offset) + (offset == 1 ? " byte" : " bytes");
    report_misuse(DiagnosticKind::out_of_bounds, call,
                  std::string("was given ") + (is_kind(kind) ? name_of(kind) : "a direction") +
                      " as its fourth argument, which is the offset in bytes: it would begin " + bytes +
                      " after the start of the variable",
                  "leave the direction away, for the default is right, or write it as the fifth argument, behind the "
                  "offset 0");
}

bool is_inside(Symbol symbol, std::size_t bytes, std::size_t offset) {
    return offset <= symbol.bytes && bytes <= symbol.bytes - offset;
}

}  // namespace

StreamOfCall::StreamOfCall(cudaStream_t stream) : before_(std::exchange(stream_of_call, stream)) {}
StreamOfCall::~StreamOfCall() { stream_of_call = before_; }

void report_copied_memory(const CopiedMemory& memory, std::size_t bytes, const ApiCall& call) {
    if (!instrumenting().diagnostics) return;
    const bool on_device = memory.called_device();
    report_operand(
        {memory.is_destination ? "destination" : "source", memory.is_destination ? "write" : "read",
         on_device ? Side::device : Side::any, !on_device && memory.kind != cudaMemcpyDefault, memory.pointer, bytes},
        call, std::string("with ") + name_of(memory.kind),
        "the direction has to say what each side is; cudaMemcpyDefault leaves that to the runtime");
}

cudaError_t check_rows(const CopiedRows& rows, const ApiCall& call) {
    if (rows.width == 0 || rows.height == 0) return cudaSuccess;
    if (!is_kind(rows.kind)) return cudaErrorInvalidMemcpyDirection;
    if (rows.of_variable) return cudaSuccess;  // it was checked with the variable at hand
    if (rows.width > rows.to_pitch || rows.width > rows.from_pitch) return cudaErrorInvalidPitchValue;
    const std::size_t to_bytes = extent_of_rows(rows.to_pitch, rows.width, rows.height);
    const std::size_t from_bytes = extent_of_rows(rows.from_pitch, rows.width, rows.height);
    if (to_bytes == 0 || from_bytes == 0) return cudaErrorInvalidValue;
    return check_copy(rows.to, to_bytes, rows.from, from_bytes, rows.kind, call);
}

cudaError_t carry_out(const CopiedRows& rows, const ApiCall& call) {
    if (rows.height != 1 || rows.width != rows.to_pitch || rows.width != rows.from_pitch) {
        return copy_rows(rows.to, rows.to_pitch, rows.from, rows.from_pitch, rows.width, rows.height, rows.kind, call);
    }
    if (!rows.of_variable) return copy(rows.to, rows.from, rows.width, rows.kind, call);
    move_bytes(rows.to, rows.from, rows.width);
    return cudaSuccess;
}

cudaError_t check_rows(const FilledRows& rows, const ApiCall& call) {
    if (rows.width == 0 || rows.height == 0) return cudaSuccess;
    const std::size_t width = rows.width * rows.element_bytes;
    if (rows.height > 1 && width > rows.pitch) return cudaErrorInvalidValue;
    const std::size_t bytes = extent_of_rows(rows.pitch, width, rows.height);
    if (bytes == 0) return cudaErrorInvalidValue;
    report_fill(rows.to, bytes, call);
    return check_side(Side::device, rows.to, bytes);
}

cudaError_t carry_out(const FilledRows& rows, const ApiCall& call) {
    if (rows.element_bytes == 1) {
        return fill_rows(rows.to, rows.pitch, static_cast<int>(rows.value), rows.width, rows.height, call);
    }
    if (rows.width == 0 || rows.height == 0) return cudaSuccess;
    if (const cudaError_t wrong = check_rows(rows, call); wrong != cudaSuccess) return wrong;
    for (std::size_t row = 0; row < rows.height; ++row) {
        std::byte* const first = static_cast<std::byte*>(rows.to) + row * rows.pitch;
        const std::size_t bytes = rows.width * rows.element_bytes;
        for (std::size_t i = 0; i < bytes; i += rows.element_bytes) {
            std::memcpy(first + i, &rows.value, rows.element_bytes);
        }
        note_host_write(first, bytes);
        if (logs_activity()) log_fill(first, bytes);
    }
    return cudaSuccess;
}

cudaError_t copy_to_symbol(Symbol symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool waits, Site site) {
    const ApiCall call{waits ? "cudaMemcpyToSymbol" : "cudaMemcpyToSymbolAsync", site, nullptr};
    return call_in_stream(
        waits ? Waits::yes : Waits::no, stream,
        [&]() -> cudaError_t {
            if (const cudaError_t error = find_symbol(symbol, from, call); error != cudaSuccess) return error;
            report_kind_for_offset(symbol, offset, call);
            if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
                return cudaErrorInvalidMemcpyDirection;
            }
            auto* const to = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(symbol.address) + offset);
            if (!is_inside(symbol, bytes, offset)) {
                if (!symbol.takes_kind_for_offset)
                    report_symbol({"destination", "write", Side::device, false, to, bytes}, symbol, call);
                return cudaErrorInvalidValue;
            }
            if (bytes == 0) return cudaSuccess;
            if (logs_activity()) log_kind(kind, bytes);
            const bool from_device = kind == cudaMemcpyDeviceToDevice;
            const Side side = from_device ? Side::device : Side::any;
            report_source_or_destination({"source", "read", side, kind == cudaMemcpyHostToDevice, from, bytes}, kind,
                                         call);
            const cudaError_t wrong = check_side(side, from, bytes);
            if (wrong != cudaSuccess) return wrong;
            const CopiedRows rows{to, bytes, from, bytes, bytes, 1, kind, true};
            return waits ? carry_out(rows, call) : copy_in_stream(rows, stream, call);
        },
        call);
}

cudaError_t copy_from_symbol(void* to, Symbol symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                             cudaStream_t stream, bool waits, Site site) {
    const ApiCall call{waits ? "cudaMemcpyFromSymbol" : "cudaMemcpyFromSymbolAsync", site, nullptr};
    return call_in_stream(
        waits ? Waits::yes : waits_for(to, kind), stream,
        [&]() -> cudaError_t {
            if (const cudaError_t error = find_symbol(symbol, to, call); error != cudaSuccess) return error;
            report_kind_for_offset(symbol, offset, call);
            if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
                return cudaErrorInvalidMemcpyDirection;
            }
            const auto* const from =
                reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(symbol.address) + offset);
            if (!is_inside(symbol, bytes, offset)) {
                if (!symbol.takes_kind_for_offset)
                    report_symbol({"source", "read", Side::device, false, from, bytes}, symbol, call);
                return cudaErrorInvalidValue;
            }
            if (bytes == 0) return cudaSuccess;
            if (logs_activity()) log_kind(kind, bytes);
            const Side side = kind == cudaMemcpyDeviceToDevice ? Side::device : Side::any;
            report_source_or_destination({"destination", "write", side, kind == cudaMemcpyDeviceToHost, to, bytes},
                                         kind, call);
            const cudaError_t wrong = check_side(side, to, bytes);
            if (wrong != cudaSuccess) return wrong;
            const CopiedRows rows{to, bytes, from, bytes, bytes, 1, kind, true};
            return waits ? carry_out(rows, call) : copy_in_stream(rows, stream, call);
        },
        call);
}

cudaError_t symbol_address(void** pointer, Symbol symbol, Site site) {
    const ApiCall call{"cudaGetSymbolAddress", site, nullptr};
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            if (pointer == nullptr) return cudaErrorInvalidValue;
            if (const cudaError_t error = find_symbol(symbol, nullptr, call); error != cudaSuccess) return error;
            // From now on copies by address know it as device memory.
            if (find_allocation(symbol.address)) {
                give_device_address(symbol.address);
            } else {
                remember({static_cast<std::byte*>(symbol.address), symbol.bytes, MemoryKind::symbol, 0});
            }
            *pointer = symbol.address;
            return cudaSuccess;
        },
        call);
}

cudaError_t symbol_size(std::size_t* bytes, Symbol symbol, Site site) {
    const ApiCall call{"cudaGetSymbolSize", site, nullptr};
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            if (bytes == nullptr) return cudaErrorInvalidValue;
            if (const cudaError_t error = find_symbol(symbol, nullptr, call); error != cudaSuccess) return error;
            *bytes = symbol.bytes;
            return cudaSuccess;
        },
        call);
}

}  // namespace cpu_device

using namespace cpu_device;

namespace {

/// Whether the memory lies on another device than the call says; reports it.
bool is_elsewhere(const void* memory, int device, const char* role, const ApiCall& call) {
    const auto found = find_for_host(memory);
    if (!found || found->kind != MemoryKind::device || found->device == device) return false;
    report_misuse(DiagnosticKind::wrong_device, call,
                  "was given " + describe(*found) + " as its " + role + ", and " + std::to_string(device) +
                      " as the number of that device",
                  "the order is destination, its device, source, its device, bytes", found->display_name());
    return true;
}

/// The host waits for all work of that device, if there are several.
cudaError_t wait_for_device(int device) {
    if (device_work() == nullptr || !device_exists(device)) return cudaSuccess;
    const OnDevice on(device);
    const cudaError_t error = finish_device();
    note_order(OrderStep::all_done);
    return error;
}

cudaError_t copy_between_devices(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                 cudaStream_t stream, const ApiCall& call) {
    return call_in_stream(
        Waits::no, stream,
        [&]() -> cudaError_t {
            if (!device_exists(to_device) || !device_exists(from_device)) return cudaErrorInvalidDevice;
            if (is_elsewhere(to, to_device, "destination", call) || is_elsewhere(from, from_device, "source", call)) {
                return cudaErrorInvalidValue;
            }
            return copy_in_stream({to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice}, stream, call);
        },
        call);
}

cudaError_t fill_in_stream(void* pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream,
                           const ApiCall& call) {
    return call_in_stream(
        Waits::no, stream,
        [&]() -> cudaError_t {
            if (StreamCapture* const capture = stream_capture()) {
                const FilledRows rows{pointer, pitch, static_cast<unsigned>(value) & 0xFF, 1, width, height};
                if (const auto captured = capture->fill(rows, stream, call)) return *captured;
            }
            if (is_busy(stream)) {
                const FilledRows rows{pointer, pitch, static_cast<unsigned>(value) & 0xFF, 1, width, height};
                if (const cudaError_t wrong = check_rows(rows, call); wrong != cudaSuccess) return wrong;
                device_work()->add(stream, [rows, stream, call](bool) {
                    const StreamOfCall in(stream);
                    (void)carry_out(rows, call);
                    return true;
                });
                return cudaSuccess;
            }
            return fill_rows(pointer, pitch, value, width, height, call);
        },
        call);
}

cudaError_t fill_slices(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream,
                        const ApiCall& call) {
    return call_in_stream(
        Waits::no, stream,
        [&]() -> cudaError_t {
            if (StreamCapture* const capture = stream_capture()) {
                if (const auto refused = capture->refuse(stream)) return *refused;
            }
            if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
            if (extent.height > pointer.ysize) return cudaErrorInvalidValue;
            const size_t slice = pointer.pitch * pointer.ysize;
            size_t all_rows = 0;
            const bool too_many = __builtin_mul_overflow(pointer.ysize, extent.depth - 1, &all_rows) ||
                                  __builtin_add_overflow(all_rows, extent.height, &all_rows);
            if (too_many || (all_rows > 1 && extent.width > pointer.pitch)) return cudaErrorInvalidValue;
            const size_t bytes = extent_of_rows(pointer.pitch, extent.width, all_rows);
            if (bytes == 0) return cudaErrorInvalidValue;
            if (const cudaError_t error = finish_stream(stream); error != cudaSuccess) return error;
            if (check_side(Side::device, pointer.ptr, bytes) != cudaSuccess) {
                report_fill(pointer.ptr, bytes, call);
                return cudaErrorInvalidValue;
            }
            for (size_t z = 0; z < extent.depth; ++z) {
                std::byte* first_row = static_cast<std::byte*>(pointer.ptr) + z * slice;
                const cudaError_t wrong = fill_rows(first_row, pointer.pitch, value, extent.width, extent.height, call);
                if (wrong != cudaSuccess) return wrong;
            }
            return cudaSuccess;
        },
        call);
}

}  // namespace

// A function that calls another one of these would name itself as the program's code: each calls the shared body.

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    const ApiCall call{"cudaMemcpy", {}, __builtin_return_address(0)};
    return call_in_default_stream([&] { return copy(to, from, bytes, kind, call); }, call);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    const ApiCall call{"cudaMemcpyAsync", {}, __builtin_return_address(0)};
    return call_in_stream(
        waits_for(to, kind), stream,
        [&] {
            return copy_in_stream({to, bytes, from, bytes, bytes, 1, kind}, stream, call);
        },
        call);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
    const ApiCall call{"cudaMemcpy2D", {}, __builtin_return_address(0)};
    return call_in_default_stream([&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, call); },
                                  call);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    const ApiCall call{"cudaMemcpy2DAsync", {}, __builtin_return_address(0)};
    return call_in_stream(
        waits_for(to, kind), stream,
        [&] {
            return copy_in_stream({to, to_pitch, from, from_pitch, width, height, kind}, stream, call);
        },
        call);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
    const ApiCall call{"cudaMemcpyPeer", {}, __builtin_return_address(0)};
    // It comes after all work of both devices, and before what they are given later.
    cudaError_t error = wait_for_device(to_device);
    if (error == cudaSuccess) error = wait_for_device(from_device);
    if (error != cudaSuccess) return api_result(error);
    error = copy_between_devices(to, to_device, from, from_device, bytes, nullptr, call);
    if (device_work() != nullptr) note_order(OrderStep::stream_done);
    return error;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    const ApiCall call{"cudaMemcpyPeerAsync", {}, __builtin_return_address(0)};
    return copy_between_devices(to, to_device, from, from_device, bytes, stream, call);
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
    const ApiCall call{"cudaMemset", {}, __builtin_return_address(0)};
    return fill_in_stream(pointer, bytes, value, bytes, 1, nullptr, call);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
    const ApiCall call{"cudaMemsetAsync", {}, __builtin_return_address(0)};
    return fill_in_stream(pointer, bytes, value, bytes, 1, stream, call);
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
    const ApiCall call{"cudaMemset2D", {}, __builtin_return_address(0)};
    return fill_in_stream(pointer, pitch, value, width, height, nullptr, call);
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    const ApiCall call{"cudaMemset2DAsync", {}, __builtin_return_address(0)};
    return fill_in_stream(pointer, pitch, value, width, height, stream, call);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
    const ApiCall call{"cudaMemset3D", {}, __builtin_return_address(0)};
    return fill_slices(pointer, value, extent, nullptr, call);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
    const ApiCall call{"cudaMemset3DAsync", {}, __builtin_return_address(0)};
    return fill_slices(pointer, value, extent, stream, call);
}
