// Mistakes that the CPU device found in a program: printed when they happen, kept for whoever grades.
//
// A program in which something was found ends with exit status 86, unless it already failed or took its findings
// with `take_findings()`.
#pragma once

#include <string>
#include <vector>

#include "cpu_device/execution.h"

namespace cpu_device {

enum class FindingKind {
    divergent_barrier,    ///< __syncthreads reached by some threads of the block only
    missing_lane,         ///< a warp-wide operation names a lane that never comes
    mask_without_caller,  ///< a lane calls a warp-wide operation whose mask leaves it out
    endless_kernel,       ///< stopped by the watchdog
    illegal_access,       ///< an address that belongs to nobody
    kernel_trap,          ///< __trap(), a failed assert, or exhausted stack
    unsupported,          ///< something the CPU device does not do
};

const char* name_of(FindingKind kind);

struct Finding {
    FindingKind kind;
    std::string message;  ///< what happened, in one sentence
    std::string kernel;   ///< as written left of `<<<`; empty outside kernels
    Site site;            ///< where; file empty when unknown
    uint3 block{};
    uint3 thread{};
    std::string hint;  ///< what to try
};

/// Prints the finding on stderr and keeps it.
void report(Finding finding);

/// Hands over what was found so far and forgets it. With this the exit status stays the program's own.
std::vector<Finding> take_findings();

/// Turns printing off (graders show findings their own way) or on again; returns the former setting.
bool print_findings(bool on);

}  // namespace cpu_device
