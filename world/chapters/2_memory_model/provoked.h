// Mistakes made on purpose, to be looked at: a lesson runs a wrong kernel and shows what
// the CPU device says of it.
//
//     const std::vector<warpwise::Diagnostic> diagnostics =
//         provoked_diagnostics([&] { wrong_kernel<<<1, 64>>>(d_out); });
//     for (const unsigned seed : {0u, 1u, 2u}) {
//         const OrderOfSeed order(seed);  // threads and blocks run in another order
//         wrong_kernel<<<7, 64>>>(d_out);
//     }
//
// None of it counts against the lesson. On a GPU nothing is diagnosed, and the order is the
// GPU's own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "common/helpers/instrument.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/diagnostics.h"
#include "cpu_device/execution.h"
#endif

namespace memory_model {

/// Sets aside what the CPU device has found so far, and drops, unprinted, what it finds
/// while this lives.
class DiagnosticsAside {
public:
#ifdef __CPU_DEVICE__
    DiagnosticsAside()
        : printed_(cpu_device::print_diagnostics(false)),
          earlier_(cpu_device::take_diagnostics()) {}
    ~DiagnosticsAside() {
        cpu_device::take_diagnostics();
        for (const cpu_device::Diagnostic& diagnostic : earlier_)
            cpu_device::report(diagnostic);
        cpu_device::publish_diagnostics();
        cpu_device::print_diagnostics(printed_);
    }
#else
    DiagnosticsAside() = default;
#endif
    DiagnosticsAside(const DiagnosticsAside&) = delete;
    DiagnosticsAside& operator=(const DiagnosticsAside&) = delete;

private:
#ifdef __CPU_DEVICE__
    bool printed_;
    std::vector<cpu_device::Diagnostic> earlier_;
#endif
};

/// Runs `body` while errors are looked for, in every block, and returns what was found;
/// nothing of it is printed or kept. Empty where `warpwise::can_instrument()` is false.
/// Allocate the memory inside of `body`: only then it is known what has been written.
inline std::vector<warpwise::Diagnostic> provoked_diagnostics(
    const std::function<void()>& body) {
    [[maybe_unused]] const DiagnosticsAside aside;
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    body();
    return warpwise::take_diagnostics();
}

/// Runs `body` without looking for errors, for wrong kernels whose results are the point.
inline void uninstrumented(const std::function<void()>& body) {
    const warpwise::Instrumentation not_instrumenting({});
    body();
}

/// The diagnostic's text as lines that Lesson::text prints as they are.
inline std::string as_printed(const warpwise::Diagnostic& diagnostic) {
    std::string lines = "    ";
    for (const char letter : diagnostic.text) {
        lines += letter;
        if (letter == '\n') lines += "    ";
    }
    return lines;
}

/// Gives the threads and blocks of launches the order of a seed, 0 the ascending one, for
/// as long as it lives. After that it is the order of the whole program again. Does nothing
/// on a GPU.
class OrderOfSeed {
public:
#ifdef __CPU_DEVICE__
    explicit OrderOfSeed(std::uint64_t seed) { cpu_device::set_schedule_seed(seed); }
    ~OrderOfSeed() {
        const char* const of_program = std::getenv("CPU_DEVICE_SEED");
        cpu_device::set_schedule_seed(
            of_program == nullptr ? 0 : std::strtoull(of_program, nullptr, 10));
    }
#else
    explicit OrderOfSeed(std::uint64_t) {}
#endif
    OrderOfSeed(const OrderOfSeed&) = delete;
    OrderOfSeed& operator=(const OrderOfSeed&) = delete;
};

}  // namespace memory_model
