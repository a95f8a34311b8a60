// What the warps of a launch did, line by line, as the CPU device saw it: from this follows how often each basic block
// of the GPU's machine code runs. Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace warpwise::code {

/// What can be counted on the CPU device and in the machine code alike.
enum class Counted : unsigned char {
    load_global,    ///< bytes of a lane
    store_global,   ///< the same
    load_shared,    ///< the same
    store_shared,   ///< the same
    load_local,     ///< the same
    store_local,    ///< the same
    load_constant,  ///< by a variable index
    atomic_global,
    atomic_shared,
    flops,    ///< sums and products; a multiply-add is two of them
    special,  ///< approximations: quotients, roots, exponentials
    shuffle,  ///< shuffles, votes, matches
};
inline constexpr std::size_t kCounted = 12;

/// Over all warps of the launch.
struct SeenLine {
    double times = 0;                        ///< the most that any instruction of the line ran
    std::array<double, kCounted> counted{};  ///< 0: nothing of the kind
    bool flops_are_known = true;             ///< false where the line calls functions that nvcc expands

    double& operator[](Counted kind) { return counted[static_cast<std::size_t>(kind)]; }
    double operator[](Counted kind) const { return counted[static_cast<std::size_t>(kind)]; }
};

/// By file and line. Files as the running program knows them: they end with the name that a kernel's lines have.
using SeenLines = std::map<std::pair<std::string, int>, SeenLine>;

}  // namespace warpwise::code
