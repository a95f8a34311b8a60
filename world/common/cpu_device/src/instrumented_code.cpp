#include "instrumented_code.h"

#include <link.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "activity_log.h"
#include "allocations.h"
#include "block.h"
#include "cpu_device/atomics.h"
#include "cpu_device/host_access.h"
#include "diagnoser.h"
#include "faults.h"
#include "stream_order.h"

// Set by the linker: where this program begins.
extern "C" const char __executable_start;

namespace cpu_device {

constinit thread_local InstrumentedThread instrumented_thread{};

namespace {

bool instrumented_code_is_here = false;

// All device memory and managed memory so far lies between these two.
std::atomic<std::uintptr_t> device_begin{~std::uintptr_t{0}};
std::atomic<std::uintptr_t> device_end{0};
std::atomic<bool> host_may_use_device_memory{false};
thread_local bool this_thread_may = false;

using Kind = AccessKind;

/// Where a callback was called, and the stack there: to know how deep in calls the thread is. The canonical frame
/// address does without a frame.
#define HERE __builtin_return_address(0), __builtin_dwarf_cfa()
#define ALWAYS_INLINE inline __attribute__((always_inline))

/// What a callback does for most events has to need no register of its caller's: anything else is done by functions
/// that it ends with.
#define NEVER_INLINE __attribute__((noinline))

ALWAYS_INLINE std::uint32_t offset_of(const void* code) {
    return static_cast<std::uint32_t>(static_cast<const char*>(code) - &__executable_start);
}

ALWAYS_INLINE std::uint64_t order_of(const InstrumentedThread& self, TraceEvent::Kind kind, const void* code,
                                     const void* stack) {
    return TraceEvent::order_of(reinterpret_cast<std::uintptr_t>(stack) - self.lowest_height, offset_of(code), kind);
}

/// The trace is full, or there is none because nothing is counted.
NEVER_INLINE void record_slowly(std::uint64_t order, std::uint64_t place) {
    InstrumentedThread& self = instrumented_thread;
    if (self.next == nullptr) return;
    current_thread.block->make_room();
    *self.next++ = {order, place};
}

/// The trace is full, and an access comes that the diagnoser has not seen yet: once it has, no other thread may run
/// before the access has been carried out, because the diagnoser compares what memory held before and after.
NEVER_INLINE void make_room_before(InstrumentedThread& self, bool reads) {
    // `a = b` of structures is announced as a write and then as a read, and carried out after both.
    const bool must_go_on = reads && self.diagnoser->awaits_a_write();
    if (!must_go_on || !current_thread.block->has_spare_room()) current_thread.block->make_room();
}

ALWAYS_INLINE void record(InstrumentedThread& self, std::uint64_t order, std::uint64_t place) {
    if (self.next >= self.end) [[unlikely]]
        return record_slowly(order, place);
    *self.next++ = {order, place};
}

ALWAYS_INLINE void step(InstrumentedThread& self, const void* code, const void* stack) {
    if (self.steps != nullptr) self.steps->add(offset_of(code));
    record(self, order_of(self, TraceEvent::step, code, stack), 0);
}

/// Steps since the watchdog wanted the thread to end. The compiler gives some steps of a kernel the line of its launch,
/// and accesses their own: so the thread ends at the next access, where there is one in its loop.
thread_local unsigned steps_since_stop = 0;

[[noreturn]] void stop_at(const void* code) {
    steps_since_stop = 0;
    end_instrumented_thread(code);
}

/// The watchdog wants the thread to end, or the block to know where it goes on after a shuffle.
NEVER_INLINE void unusual_step(const void* code, const void* stack) {
    InstrumentedThread& self = instrumented_thread;
    if (self.stop != 0) {
        constexpr unsigned most_steps = 1000;
        if (self.diagnoser == nullptr || ++steps_since_stop > most_steps) stop_at(code);
    }
    if (self.awaits_step) {
        const Uninstrumented now;
        current_thread.block->note_way_on(offset_of(code));
    }
    step(self, code, stack);
}

/// Host code that follows a device pointer. On a GPU's host this ends the process.
NEVER_INLINE void see_from_host(const void* memory, std::size_t bytes, TraceEvent::Kind event, const void* code) {
    if (instrumented_thread.holds_lock || !instrumenting().diagnostics) return;
    const std::optional<Allocation> allocation = find_allocation(memory);
    const bool writes = event == TraceEvent::write || event == TraceEvent::copy_write;
    if (!this_thread_may && allocation && allocation->kind == MemoryKind::managed && look_at_host_access != nullptr)
        look_at_host_access(*allocation, memory, bytes, writes, code);
    if (!allocation || allocation->kind != MemoryKind::device) return;
    if (this_thread_may || host_may_use_device_memory.load(std::memory_order_relaxed)) {
        if (writes) note_host_write(memory, bytes);
        return;
    }
    Diagnostic found{};
    found.kind = DiagnosticKind::host_memory;
    const bool reads = event == TraceEvent::read || event == TraceEvent::copy_read;
    found.message = std::string("host code ") + (reads ? "reads " : "writes ") + std::to_string(bytes) +
                    " bytes of device memory, which only kernels and copies can reach: with a GPU the program crashes";
    found.memory = describe_address(memory);
    found.code = code;
    found.hint = "copy it to memory of the host with cudaMemcpy, and use the copy";
    static std::mutex mutex;
    static std::set<const void*> reported;
    {
        std::lock_guard lock(mutex);
        if (!reported.insert(code).second) return;
    }
    report(std::move(found));
}

/// The thread's access cannot be carried out: the kernel ends as on a GPU.
[[noreturn]] NEVER_INLINE void end_for(cudaError_t error) {
    current_thread.block->launch().fail(error);
    current_thread.block->abandon();
}

NEVER_INLINE void check_and_record(const void* memory, std::size_t bytes, Kind kind, const void* code,
                                   std::uint64_t order, std::uint64_t place, ThreadScope scope,
                                   MemoryOrder memory_order) {
    InstrumentedThread& self = instrumented_thread;
    if (self.stop != 0) [[unlikely]]
        stop_at(code);
    const TraceEvent::Kind event = TraceEvent::kind_of(order);
    if (self.next >= self.end && self.next != nullptr) [[unlikely]]
        make_room_before(self, event == TraceEvent::read || event == TraceEvent::copy_read);
    const bool copies = event == TraceEvent::copy_read || event == TraceEvent::copy_write;
    const Access access = {static_cast<const std::byte*>(memory),
                           static_cast<std::uint32_t>(bytes),
                           kind,
                           copies,
                           false,
                           false,
                           scope,
                           memory_order,
                           code};
    // Functions of the standard library that instrumented code uses, too, are linked once: the runtime's own use of
    // them is not to be instrumented.
    self.active = false;
    const cudaError_t error = self.diagnoser->access(self.thread, access);
    const AccessWatch watch = access_watch.load(std::memory_order_relaxed);
    if ((logs_activity() || watch != nullptr) && !TraceEvent::is_in_shared(place) && error == cudaSuccess)
        [[unlikely]] {
        if (logs_activity()) log_access(*current_thread.block, self.thread, memory, bytes, kind);
        if (watch != nullptr) watch(memory, bytes, kind, code);
    }
    self.active = true;
    if (error != cudaSuccess) [[unlikely]]
        end_for(error);
    if (self.next != nullptr) *self.next++ = {order, place};
}

ALWAYS_INLINE void see(const void* memory, std::size_t bytes, Kind kind, TraceEvent::Kind event, const void* code,
                       const void* stack, ThreadScope scope = ThreadScope::system,
                       MemoryOrder memory_order = MemoryOrder::relaxed) {
    InstrumentedThread& self = instrumented_thread;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    if (!self.active) {
        if (address >= device_begin.load(std::memory_order_relaxed) &&
            address < device_end.load(std::memory_order_relaxed) && !in_kernel()) [[unlikely]] {
            see_from_host(memory, bytes, event, code);
        }
        return;
    }
    const bool is_of_block = address - self.arena < self.block_bytes;
    if (is_of_block
            ? address - self.arena >= self.arena_bytes
            : address - self.stack < self.stack_bytes || address - self.own_variables < self.own_variable_bytes) {
        return;
    }
    const std::uint64_t order = order_of(self, event, code, stack);
    const std::uint64_t place = TraceEvent::place_of(address, is_of_block, bytes);
    if (self.diagnoser == nullptr) return record(self, order, place);
    check_and_record(memory, bytes, kind, code, order, place, scope, memory_order);
}

ALWAYS_INLINE void see_read(const void* memory, std::size_t bytes, const void* code, const void* stack) {
    see(memory, bytes, Kind::read, TraceEvent::read, code, stack);
}
ALWAYS_INLINE void see_write(const void* memory, std::size_t bytes, const void* code, const void* stack) {
    see(memory, bytes, Kind::write, TraceEvent::write, code, stack);
}
/// A structure that is aligned to less than its size, or memory that the C library copies.
ALWAYS_INLINE void see_copy_read(const void* memory, std::size_t bytes, const void* code, const void* stack) {
    see(memory, bytes, Kind::read, TraceEvent::copy_read, code, stack);
}
ALWAYS_INLINE void see_copy_write(const void* memory, std::size_t bytes, const void* code, const void* stack) {
    see(memory, bytes, Kind::write, TraceEvent::copy_write, code, stack);
}

}  // namespace

void note_device_memory(const void* begin, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    device_begin = std::min(device_begin.load(), address);
    device_end = std::max(device_end.load(), address + bytes);
}

bool allow_host_access() {
    host_may_use_device_memory = true;
    return true;
}

HostAccess::HostAccess() : before_(this_thread_may) { this_thread_may = true; }
HostAccess::~HostAccess() { this_thread_may = before_; }

bool has_instrumented_code() { return instrumented_code_is_here; }

void find_own_variables() {
    if (instrumented_thread.own_variables != 0) return;
    const auto find = [](dl_phdr_info* program, std::size_t, void*) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
            if (program->dlpi_phdr[i].p_type != PT_TLS) continue;
            instrumented_thread.own_variables = reinterpret_cast<std::uintptr_t>(program->dlpi_tls_data);
            instrumented_thread.own_variable_bytes = program->dlpi_phdr[i].p_memsz;
        }
        return 1;  // the first one is the program itself
    };
    dl_iterate_phdr(find, nullptr);
}

void see_atomic(const void* memory, std::size_t bytes, AtomicUse use, MemoryOrder order, ThreadScope scope) {
    Kind kind = Kind::atomic;
    TraceEvent::Kind event = TraceEvent::atomic;
    switch (use) {
        case AtomicUse::update:
            break;
        case AtomicUse::increment:
            event = TraceEvent::increment;
            break;
        case AtomicUse::compare_and_swap:
            event = TraceEvent::compare_and_swap;
            break;
        case AtomicUse::failed_compare_and_swap:
            kind = Kind::atomic_read;
            event = TraceEvent::compare_and_swap;
            break;
        case AtomicUse::load:
            kind = Kind::atomic_read;
            event = TraceEvent::read;
            break;
        case AtomicUse::store:
            kind = Kind::atomic_write;
            event = TraceEvent::write;
            break;
    }
    see(memory, bytes, kind, event, HERE, scope, order);
}

const void* see_late_copy(const void* to, const void* from, std::size_t bytes) {
    const void* const code = __builtin_return_address(0);
    const void* const stack = __builtin_dwarf_cfa();
    const bool is_unit = bytes >= 4 && (bytes & (bytes - 1)) == 0;
    see(from, bytes, Kind::read, is_unit ? TraceEvent::read : TraceEvent::copy_read, code, stack);
    see(to, bytes, Kind::write, is_unit ? TraceEvent::write : TraceEvent::copy_write, code, stack);
    return code;
}

namespace {

/// Looked at for errors, and not counted.
void look_at(const void* memory, std::size_t bytes, Kind kind, ThreadScope scope, const void* code) {
    InstrumentedThread& self = instrumented_thread;
    if (!self.active || self.diagnoser == nullptr) return;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    if (address - self.stack < self.stack_bytes) return;
    Access access;
    access.address = static_cast<const std::byte*>(memory);
    access.bytes = static_cast<std::uint32_t>(bytes);
    access.kind = kind;
    access.scope = scope;
    access.code = code;
    self.active = false;
    const cudaError_t error = self.diagnoser->access(self.thread, access);
    self.active = true;
    if (error != cudaSuccess) end_for(error);
}

}  // namespace

void see_barrier(const void* barrier, bool begins) {
    look_at(barrier, sizeof(std::uint64_t), begins ? Kind::write : Kind::atomic_read, ThreadScope::block,
            __builtin_return_address(0));
}

void see_read_of_lane(const void* memory, std::size_t bytes, const void* code) {
    look_at(memory, bytes, Kind::read, ThreadScope::system, code);
}

void see_fence(ThreadScope scope, MemoryOrder order) {
    InstrumentedThread& self = instrumented_thread;
    if (!self.active || self.diagnoser == nullptr) return;
    self.active = false;
    self.diagnoser->fence(self.thread, scope, order);
    self.active = true;
}

}  // namespace cpu_device

using cpu_device::AccessKind;

extern "C" {

// The names are those that g++ and clang call (g++: gcc/sanitizer.def; clang: ThreadSanitizer.cpp).
void __tsan_init() { cpu_device::instrumented_code_is_here = true; }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

void __sanitizer_cov_trace_pc() {
    cpu_device::InstrumentedThread& self = cpu_device::instrumented_thread;
    if (!self.active) return;
    if ((self.stop | self.awaits_step) != 0) [[unlikely]]
        return cpu_device::unusual_step(HERE);
    cpu_device::step(self, HERE);
}

#define INSTRUMENTED_ACCESS(bytes)                                                                                  \
    void __tsan_read##bytes(void* p) { cpu_device::see_read(p, bytes, HERE); }                                      \
    void __tsan_write##bytes(void* p) { cpu_device::see_write(p, bytes, HERE); }                                    \
    void __tsan_unaligned_read##bytes(void* p) { cpu_device::see_copy_read(p, bytes, HERE); }                       \
    void __tsan_unaligned_write##bytes(void* p) { cpu_device::see_copy_write(p, bytes, HERE); }                     \
    void __tsan_volatile_read##bytes(void* p) {                                                                     \
        cpu_device::note_unchanged_memory(); /* it may be waiting for another thread: others run before the read */ \
        cpu_device::see(p, bytes, AccessKind::volatile_read, cpu_device::TraceEvent::read, HERE);                   \
    }                                                                                                               \
    void __tsan_volatile_write##bytes(void* p) {                                                                    \
        cpu_device::see(p, bytes, AccessKind::volatile_write, cpu_device::TraceEvent::write, HERE);                 \
    }                                                                                                               \
    void __tsan_unaligned_volatile_read##bytes(void* p) { cpu_device::see_copy_read(p, bytes, HERE); }              \
    void __tsan_unaligned_volatile_write##bytes(void* p) { cpu_device::see_copy_write(p, bytes, HERE); }
INSTRUMENTED_ACCESS(1)
INSTRUMENTED_ACCESS(2)
INSTRUMENTED_ACCESS(4)
INSTRUMENTED_ACCESS(8)
INSTRUMENTED_ACCESS(16)
#undef INSTRUMENTED_ACCESS

void __tsan_read_range(void* p, size_t bytes) { cpu_device::see_copy_read(p, bytes, HERE); }
void __tsan_write_range(void* p, size_t bytes) { cpu_device::see_copy_write(p, bytes, HERE); }

// `__atomic_*` of a program that does without CUDA's functions (those announce themselves by see_atomic). The order
// that the caller asks for is met by the strongest.
#define INSTRUMENTED_ATOMIC(bits, type)                                                                           \
    type __tsan_atomic##bits##_load(const volatile type* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); } \
    void __tsan_atomic##bits##_store(volatile type* p, type value, int) {                                         \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                             \
    }                                                                                                             \
    type __tsan_atomic##bits##_exchange(volatile type* p, type value, int) {                                      \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                                   \
    }                                                                                                             \
    type __tsan_atomic##bits##_fetch_add(volatile type* p, type value, int) {                                     \
        return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);                                                    \
    }                                                                                                             \
    type __tsan_atomic##bits##_fetch_sub(volatile type* p, type value, int) {                                     \
        return __atomic_fetch_sub(p, value, __ATOMIC_SEQ_CST);                                                    \
    }                                                                                                             \
    type __tsan_atomic##bits##_fetch_and(volatile type* p, type value, int) {                                     \
        return __atomic_fetch_and(p, value, __ATOMIC_SEQ_CST);                                                    \
    }                                                                                                             \
    type __tsan_atomic##bits##_fetch_or(volatile type* p, type value, int) {                                      \
        return __atomic_fetch_or(p, value, __ATOMIC_SEQ_CST);                                                     \
    }                                                                                                             \
    type __tsan_atomic##bits##_fetch_xor(volatile type* p, type value, int) {                                     \
        return __atomic_fetch_xor(p, value, __ATOMIC_SEQ_CST);                                                    \
    }                                                                                                             \
    type __tsan_atomic##bits##_fetch_nand(volatile type* p, type value, int) {                                    \
        return __atomic_fetch_nand(p, value, __ATOMIC_SEQ_CST);                                                   \
    }                                                                                                             \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* expected, type value, int, int) {   \
        return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    }                                                                                                             \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* expected, type value, int, int) {     \
        return __atomic_compare_exchange_n(p, expected, value, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
    }                                                                                                             \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected, type value, int, int) {      \
        __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
        return expected;                                                                                          \
    }
INSTRUMENTED_ATOMIC(8, unsigned char)
INSTRUMENTED_ATOMIC(16, unsigned short)
INSTRUMENTED_ATOMIC(32, unsigned int)
INSTRUMENTED_ATOMIC(64, unsigned long)
#undef INSTRUMENTED_ATOMIC

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

// Instrumented code calls these in place of the C library's functions of the same names (see
// cpu_device/instrumented.h).
void* cpu_device_memcpy(void* to, const void* from, size_t bytes) {
    cpu_device::see_copy_read(from, bytes, HERE);
    cpu_device::see_copy_write(to, bytes, HERE);
    return std::memcpy(to, from, bytes);
}
void* cpu_device_memmove(void* to, const void* from, size_t bytes) {
    cpu_device::see_copy_read(from, bytes, HERE);
    cpu_device::see_copy_write(to, bytes, HERE);
    return std::memmove(to, from, bytes);
}
void* cpu_device_malloc(size_t bytes) {
    void* memory = std::malloc(bytes);
    if (cpu_device::instrumented_thread.active && memory != nullptr) {
        const cpu_device::Uninstrumented now;
        cpu_device::note_kernel_heap(memory, bytes);
    }
    return memory;
}
void* cpu_device_memset(void* to, int value, size_t bytes) {
    cpu_device::see_copy_write(to, bytes, HERE);
    return std::memset(to, value, bytes);
}

}  // extern "C"
