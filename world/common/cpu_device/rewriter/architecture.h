// What a program's files say about `__CUDA_ARCH__`, which nvcc defines in device code only.
//
// nvcc compiles each file once for the host and once for the device; the CPU device compiles it once. So the rewriter
// defines `__CUDA_ARCH__` around device functions, and writes the body of a function that is for both sides twice.
// Macros that the file defines under an `#if` on `__CUDA_ARCH__` get their other definitions around device functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lexer.h"

namespace cpu_device::rewriter {

/// An `#if` with all of its branches and its `#endif`, which depends on `__CUDA_ARCH__` and holds no code: it defines
/// macros.
struct MacroGroup {
    std::size_t position;           ///< number of tokens of the file in front of it
    std::string text;               ///< all of its lines
    std::set<std::string> names;    ///< macros that it defines or undefines
    std::set<std::string> of_host;  ///< those that it defines for the host
    /// Where the group itself stands in another `#if`: a macro that is defined behind it, where it is compiled.
    std::string marker;
    std::size_t end = 0;  ///< offset of the end of its last line
};

/// What one file says.
struct FileFacts {
    TokenizedFile file;
    std::vector<MacroGroup> groups;
};

/// What all files of a program say together.
struct ProgramFacts {
    /// Macros that stand for `__host__`, `__device__`, `__global__`, with the sides that those mean.
    std::map<std::string, std::uint8_t, std::less<>> qualifiers;
    std::set<std::string, std::less<>> macros;      ///< all that are defined
    std::set<std::string, std::less<>> two_valued;  ///< those that may differ between host and device code
    /// Those of them that are only qualifiers or attributes on both sides: it matters little which side's is taken.
    std::set<std::string, std::less<>> decorations;
    bool macros_hold_half_brackets = false;  ///< `#define BEGIN {`
    /// Functions that are declared with `__host__`, `__device__` or `__global__` anywhere, with the sides.
    std::map<std::string, std::uint8_t, std::less<>> functions;
};

FileFacts read_facts(std::string_view source);

ProgramFacts combine_facts(std::vector<FileFacts*> files, const std::vector<std::string_view>& sources);

/// The sides that a qualifier, or a macro that stands for some, names.
std::uint8_t sides_of(std::string_view word, const ProgramFacts& program);

/// Directives of the group that begins with directive `first`: its branches and its #endif, by index.
std::vector<std::size_t> branches_of(const std::vector<Directive>& directives, std::size_t first);

/// Whether host and device may compile different branches of the group with these directives.
bool depends_on_side(const std::vector<Directive>& directives, const std::vector<std::size_t>& branches,
                     const ProgramFacts& program);

/// Lines that turn what follows into device code, and back: from and to the beginning of a line.
struct DeviceSection {
    std::string begin, end;
};

DeviceSection device_section(const std::vector<const MacroGroup*>& groups);

}  // namespace cpu_device::rewriter
