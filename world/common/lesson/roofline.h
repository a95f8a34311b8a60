// What every roofline of recorded steps relies on: the FP32 peak, and which steps may be compared with it.
//
//     const double peak = peak_gop_per_s(9, 0, 132, 1980);         // 66908: an H200
//     const std::vector<bool> fp32 = are_below_fp32_peak(rates, peak);
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace warpwise {

/// FP32 units of an SM, 0 where they are not known. Source: CUDA C++ Programming Guide, throughput of native arithmetic
/// instructions.
constexpr int fp32_lanes(int major, int minor) {
    if (major == 7 || (major == 8 && minor == 0)) return 64;
    return major >= 8 && major <= 12 ? 128 : 0;
}

/// 1e9 operations per second at the highest clock: SMs x FP32 units of an SM x 2 (an FMA) x clock. 0 where the units of
/// the compute capability are not known.
constexpr double peak_gop_per_s(int major, int minor, int processors, double clock_mhz) {
    return processors * fp32_lanes(major, minor) * 2.0 * clock_mhz * 1e-3;
}

/// A step's number in its table (each table counts from 1; vendor routines have none), and its operations: 0 where
/// nothing was measured or counted, or the step was wrong.
struct StepRate {
    std::optional<int> number = {};
    double gop_per_s = 0;
};

/// For each step of a lesson, in their order: can it be FP32 work? Where one step of a table is faster than the FP32
/// peak, by more than a clock that is not known exactly explains, the whole table is work of tensor cores, to which the
/// FP32 peak is no limit.
inline std::vector<bool> are_below_fp32_peak(const std::vector<StepRate>& steps, double peak) {
    constexpr double clock_tolerance = 1.05;
    std::vector<bool> below(steps.size(), true);
    std::size_t begin = 0;
    while (begin < steps.size()) {
        std::size_t end = begin;
        bool is_faster = false;
        std::optional<int> last;
        for (; end < steps.size() && (!last || !steps[end].number || *steps[end].number > *last); ++end) {
            if (steps[end].number) last = steps[end].number;
            is_faster = is_faster || steps[end].gop_per_s > clock_tolerance * peak;
        }
        for (; begin < end; ++begin) below[begin] = !is_faster;
    }
    return below;
}

}  // namespace warpwise
