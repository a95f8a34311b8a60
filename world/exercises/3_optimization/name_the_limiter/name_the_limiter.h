// The function that the grader calls, and what it gets.
#pragma once

/// What was measured and counted of one launch. No number is negative, and `seconds` is
/// above 0.
struct Kernel {
    double seconds;
    double sectors_moved;    ///< sectors of 32 bytes that its loads and stores touched
    double sectors_needed;   ///< how many its data fills; at most sectors_moved
    double fp32_operations;  ///< floating-point operations; a fused multiply-add is two
    double instructions;     ///< issued, each counted once per warp
};

/// What a GPU can do at most. All numbers are above 0.
struct Chip {
    double bytes_per_second;         ///< to and from global memory
    double fp32_per_second;          ///< floating-point operations
    double instructions_per_second;  ///< of warps, all SMs together
    double launch_seconds;           ///< a launch of a kernel that does nothing
};

enum class Limiter {
    launch_overhead,
    memory_bandwidth,
    excess_sectors,
    fp32,
    instruction_issue,
    latency
};

struct Verdict {
    Limiter limiter;
    double fraction;
};

/// What limits the kernel, by the rule in README.md.
Verdict limiter_of(const Kernel& kernel, const Chip& chip);
