#include "faults.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "allocations.h"
#include "diagnoser.h"
#include "instrumented_code.h"
#include "source_lines.h"

// Set by the linker: where this program's own code begins and ends.
extern "C" const char __executable_start;
extern "C" const char etext;

namespace cpu_device {
namespace {

constexpr std::size_t kSignalStackBytes = 128 * 1024;
constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
struct sigaction before[kFaults.size()];  // the handlers that are set while no kernel runs
std::atomic<double> watchdog_limit{0};

int watchdog_signal() { return SIGRTMIN + 4; }

const char* instruction_pointer(const void* context) {
#if defined(__x86_64__)
    return reinterpret_cast<const char*>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return reinterpret_cast<const char*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
#error "the CPU device knows x86-64 and 64-bit Arm"
#endif
}

[[noreturn]] void end_kernel(Diagnostic found, cudaError_t error) {
    Block& block = *current_thread.block;
    const Uninstrumented now;
    if (block.launch().is_first_diagnostic(found.kind, 0)) report(std::move(found));
    block.launch().fail(error);
    block.abandon();  // leaves the signal stack for good; the signal is not blocked (SA_NODEFER)
}

/// `code`: where the thread was, as a return address.
Diagnostic endless_kernel(const void* code) {
    const Uninstrumented now;
    const Site& launch = current_thread.block->launch().site.site;
    // The line of the code may turn out to be unknown; the launch and the barriers are not.
    Diagnostic found = current_thread.block->diagnostic(DiagnosticKind::endless_kernel, launch);
    char text[80];
    const double limit = watchdog_limit.load();
    std::snprintf(text, sizeof text, "has finished for %g second%s", limit, limit == 1 ? "" : "s");
    found.message =
        "stopped by the watchdog: no block " +
        (launch.line > 0 ? "of the launch in " + short_name(launch.file) + ":" + std::to_string(launch.line) + " "
                         : std::string()) +
        text;
    found.action = "was running";
    const std::string waiting = current_thread.block->waiting_text();
    if (!waiting.empty()) found.message += "; this thread runs on while " + waiting;
    found.code = code;
    found.hint =
        "is there a loop that never ends, or a thread that waits for another one in vain? To wait longer, set "
        "CPU_DEVICE_TIMEOUT=SECONDS (0: without a limit)";
    return found;
}

void on_fault(int signal, siginfo_t* info, void* context) {
    if (!in_kernel()) {  // the host's own error: the instruction runs again, and into the handler it would have had
        const auto which = std::find(kFaults.begin(), kFaults.end(), signal) - kFaults.begin();
        sigaction(signal, &before[which], nullptr);
        return;
    }
    Block& block = *current_thread.block;
    const Uninstrumented now;
    Diagnostic found = block.diagnostic(DiagnosticKind::illegal_access, block.launch().site.site);
    found.code = instruction_pointer(context) + 1;  // as if it were a return address
    char text[512];
    cudaError_t error = cudaErrorIllegalAddress;
    if (signal == SIGFPE) {
        // A GPU gives some value; this processor cannot.
        std::snprintf(text, sizeof text, "an integer is divided by zero");
        found.kind = DiagnosticKind::kernel_trap;
        found.hint = "a GPU goes on with a meaningless value here";
        error = cudaErrorLaunchFailure;
    } else if (signal == SIGILL || signal == SIGTRAP) {
        std::snprintf(text, sizeof text, "the kernel ran into a trap");
        found.kind = DiagnosticKind::kernel_trap;
        error = cudaErrorLaunchFailure;
    } else if (is_stack_guard(info->si_addr)) {
        std::snprintf(text, sizeof text, "a device thread needs more than 256 KB of stack");
        found.kind = DiagnosticKind::kernel_trap;
        found.hint = "is there a recursion without end, or a large local array?";
    } else if (signal == SIGBUS || (signal == SIGSEGV && info->si_code == SI_KERNEL)) {
        // The processor does not say where: no address at all, or one that its instruction wants to be aligned.
        std::snprintf(text, sizeof text, "an access to an address that is misaligned, or no address");
        found.kind = DiagnosticKind::misaligned_access;
        found.hint = "a float4 has to lie at a multiple of 16 bytes, a float2 or double at one of 8";
        error = cudaErrorMisalignedAddress;
    } else if (was_reported(info->si_addr)) {
        block.launch().fail(error);
        block.abandon();
    } else {
        const std::string nearby = describe_address(info->si_addr);
        std::snprintf(text, sizeof text, "access to address %#zx, %s", reinterpret_cast<std::size_t>(info->si_addr),
                      nearby.empty() ? "which belongs to no allocation" : nearby.c_str());
        found.hint = info->si_addr < reinterpret_cast<void*>(65536)
                         ? "that is a null pointer plus a small offset: was the memory allocated, and the call checked?"
                         : "check the index against the size, and that the pointer was not freed";
    }
    found.message = text;
    end_kernel(std::move(found), error);
}

void on_watchdog(int, siginfo_t*, void* context) {
    const char* at = instruction_pointer(context);
    if (!in_kernel() || at < &__executable_start || at >= &etext) return;
    // It may be anywhere in the runtime, and most likely in the diagnoser, where it is not active: its next callback
    // ends it. One that makes no call for so long, `while (true) {}` say, is not in the runtime.
    constexpr unsigned char most_signals = 3;
    const bool calls_back = instrumented_thread.active || instrumented_thread.diagnoser != nullptr;
    if (calls_back && instrumented_thread.stop < most_signals) {
        instrumented_thread.stop = instrumented_thread.stop + 1;
        return;
    }
    end_kernel(endless_kernel(at + 1), cudaErrorLaunchTimeout);
}

struct sigaction action_for(void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    return action;
}

}  // namespace

void end_instrumented_thread(const void* code) { end_kernel(endless_kernel(code), cudaErrorLaunchTimeout); }

void give_signal_stack() {
    stack_t stack{};
    stack.ss_sp = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack.ss_size = kSignalStackBytes;
    if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, nullptr);
    static std::once_flag once;
    std::call_once(once, [] {
        const struct sigaction action = action_for(on_watchdog);
        sigaction(watchdog_signal(), &action, nullptr);
    });
}

FaultHandlers::FaultHandlers() {
    const struct sigaction action = action_for(on_fault);
    for (std::size_t i = 0; i < kFaults.size(); ++i) sigaction(kFaults[i], &action, &before[i]);
}

FaultHandlers::~FaultHandlers() {
    for (std::size_t i = 0; i < kFaults.size(); ++i) sigaction(kFaults[i], &before[i], nullptr);
}

void interrupt_device_threads(double seconds, pthread_t owner, const std::vector<pthread_t>& helpers) {
    watchdog_limit = seconds;
    pthread_kill(owner, watchdog_signal());
    for (const pthread_t thread : helpers) pthread_kill(thread, watchdog_signal());
}

}  // namespace cpu_device

// assert() in a kernel ends the kernel, not the process; in host code it does what it always did.
extern "C" void __assert_fail(const char* assertion, const char* file, unsigned line,
                              const char* function) noexcept(true) {
    if (cpu_device::in_kernel()) {
        cpu_device::Block& block = *cpu_device::current_thread.block;
        const cpu_device::Uninstrumented now;
        cpu_device::Diagnostic found =
            block.diagnostic(cpu_device::DiagnosticKind::kernel_trap, {file, static_cast<int>(line)});
        found.message = std::string("assertion failed: ") + assertion;
        if (block.launch().is_first_diagnostic(found.kind, static_cast<int>(line)))
            cpu_device::report(std::move(found));
        block.launch().fail(cudaErrorAssert);
        block.abandon();
    }
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
    std::abort();
}
