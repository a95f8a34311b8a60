// Mistakes made on purpose, to be looked at: a lesson runs a wrong kernel and shows what the CPU device says of it.
//
//     for (const warpwise::Mistake& mistake : provoked_mistakes([&] { wrong_kernel<<<1, 64>>>(d_out); })) ...
//     for (const unsigned seed : {0u, 1u, 2u}) {
//         const OrderOfSeed order(seed);      // threads and blocks of launches run in another order
//         wrong_kernel<<<7, 64>>>(d_out);
//     }
//
// None of it counts against the lesson. On a GPU nobody sees mistakes, and the order is the GPU's own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "common/helpers/watch.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/execution.h"
#include "cpu_device/findings.h"
#endif

namespace memory_model {

/// Sets aside what the CPU device has found so far, and drops, unprinted, what it finds while this lives.
class MistakesAside {
public:
#ifdef __CPU_DEVICE__
    MistakesAside() : printed_(cpu_device::print_findings(false)), earlier_(cpu_device::take_findings()) {}
    ~MistakesAside() {
        cpu_device::take_findings();
        for (const cpu_device::Finding& finding : earlier_) cpu_device::report(finding);
        cpu_device::publish_findings();
        cpu_device::print_findings(printed_);
    }
#else
    MistakesAside() = default;
#endif
    MistakesAside(const MistakesAside&) = delete;
    MistakesAside& operator=(const MistakesAside&) = delete;

private:
#ifdef __CPU_DEVICE__
    bool printed_;
    std::vector<cpu_device::Finding> earlier_;
#endif
};

/// Runs `body` while mistakes are looked for, in every block, and returns what was found; nothing of it is printed or
/// kept. Empty where `warpwise::can_watch()` is false. Allocate the memory inside of `body`: only then it is known what
/// has been written.
inline std::vector<warpwise::Mistake> provoked_mistakes(const std::function<void()>& body) {
    [[maybe_unused]] const MistakesAside aside;
    const warpwise::Watching watching({.mistakes = true});
    body();
    return warpwise::take_mistakes();
}

/// Runs `body` without looking for mistakes, for wrong kernels whose results are the point.
inline void unwatched(const std::function<void()>& body) {
    const warpwise::Watching not_watching({});
    body();
}

/// The mistake's text as lines that Lesson::text prints as they are.
inline std::string as_printed(const warpwise::Mistake& mistake) {
    std::string lines = "    ";
    for (const char letter : mistake.text) {
        lines += letter;
        if (letter == '\n') lines += "    ";
    }
    return lines;
}

/// Gives the threads and blocks of launches the order of a seed, 0 the ascending one, for as long as it lives. After
/// that it is the order of the whole program again. Does nothing on a GPU.
class OrderOfSeed {
public:
#ifdef __CPU_DEVICE__
    explicit OrderOfSeed(std::uint64_t seed) { cpu_device::set_schedule_seed(seed); }
    ~OrderOfSeed() {
        const char* const of_program = std::getenv("CPU_DEVICE_SEED");
        cpu_device::set_schedule_seed(of_program == nullptr ? 0 : std::strtoull(of_program, nullptr, 10));
    }
#else
    explicit OrderOfSeed(std::uint64_t) {}
#endif
    OrderOfSeed(const OrderOfSeed&) = delete;
    OrderOfSeed& operator=(const OrderOfSeed&) = delete;
};

}  // namespace memory_model
