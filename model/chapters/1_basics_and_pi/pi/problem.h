// The integral that pi and pi_precision compute, its error, and its launches.
//
//     Pi problem(warpwise::Size{1 << 20});
//     const unsigned blocks = problem.blocks(kernel, kThreads);
//     kernel<<<blocks, kThreads>>>(problem.slices, problem.width, problem.d_pi.data());
//     problem.rounds_like(problem.chain(blocks, kThreads), kFloatEpsilon);
//     problem.compare().passed;
//
// The midpoint rule is off by 1 / (12 n^2). Euler-Maclaurin for midpoints gives
// -h^2/24 * (f'(1) - f'(0)), and here f'(1) = -2, f'(0) = 0. The next term, of order h^4,
// contains f'''(1) - f'''(0) = 0 and vanishes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/lesson/lesson.h"

namespace basics_and_pi {
namespace {

constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();
constexpr double kDoubleEpsilon = std::numeric_limits<double>::epsilon();

/// The loop as the formula has it, in double precision on one core: also the reference for
/// few slices.
inline double serial_sum(std::uint64_t slices) {
    const double width = 1.0 / static_cast<double>(slices);
    double sum = 0;
    for (std::uint64_t i = 0; i < slices; ++i) {
        const double x = (static_cast<double>(i) + 0.5) * width;
        sum += 4 / (1 + x * x);
    }
    return slices == 0 ? 0 : sum * width;
}

/// What the midpoint rule gives without any rounding: the formula above, wrong by less than
/// 1e-20 from 1000 slices on.
inline double midpoint_rule(std::uint64_t slices) {
    if (slices < 1000) return serial_sum(slices);
    const double n = static_cast<double>(slices);
    return std::numbers::pi + 1 / (12 * n * n);
}

/// The estimate of pi always ends in `d_pi`. Steps say with `rounds_like` what rounding may
/// do to their way of adding.
struct Pi {
    std::uint64_t slices;
    double width;
    warpwise::DeviceBuffer<double> d_pi{1};
    double tolerance = 0;
    double estimate = 0;  ///< as of the last compare()

    explicit Pi(const warpwise::Size& size)
        : slices(size[0]), width(slices == 0 ? 0 : 1.0 / static_cast<double>(slices)) {}

    void poison() {
        d_pi.fill_bytes(0xFF);
        tolerance = 0;
    }

    void rounds_like(std::size_t chain, double epsilon) {
        tolerance = warpwise::sum_tolerance(chain, epsilon, std::numbers::pi);
    }

    warpwise::Comparison compare() {
        const std::vector<double> result = d_pi.download();
        estimate = result[0];
        return warpwise::compare(result, {midpoint_rule(slices)}, {.absolute = tolerance});
    }

    std::vector<warpwise::Figure> figures() const {
        return {{"error against pi", std::fabs(estimate - std::numbers::pi), ""}};
    }

    /// What the formula asks for in each slice: + 1/2, times h, squared, + 1, 4 divided by
    /// it, added to the sum.
    warpwise::Work work() const {
        return {.bytes = 0, .operations = 6.0 * static_cast<double>(slices)};
    }

    static std::size_t device_bytes(const warpwise::Size&) { return sizeof(double); }

    /// Blocks for a kernel whose threads stride over the slices: no more than fit on the
    /// device at once.
    template <class Kernel>
    unsigned blocks(Kernel kernel, unsigned threads) const {
        const std::size_t needed =
            std::max<std::size_t>(1, warpwise::ceil_div(slices, threads));
        return static_cast<unsigned>(
            std::min<std::size_t>(needed, warpwise::blocks_that_fill(kernel, threads)));
    }

    /// Longest chain of roundings behind a block's sum: the additions of a thread, then
    /// the log2(threads) rounds of a tree.
    std::size_t chain(unsigned blocks, unsigned threads) const {
        return warpwise::ceil_div(slices, std::size_t{blocks} * threads) +
               std::bit_width(threads - 1);
    }
};

}  // namespace
}  // namespace basics_and_pi
