// From addresses of machine code to lines of source, by the debug information of the running program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cpu_device {

struct SourceLine {
    std::string file;  ///< empty when unknown
    int line = 0;
    std::string function{};  ///< with namespaces and the types of its parameters; empty when unknown
    /// Where the function was compiled into others: the lines of the program that call it, innermost first.
    std::vector<SourceLine> callers{};
};

/// For each address (a return address: the instruction before it is meant) the innermost line of the program itself:
/// functions of the CPU device's headers that were inlined there count for the line that called them.
/// Asks `addr2line` once for all addresses it has not seen; keeps what it learned. Unknown everywhere when there is
/// none.
std::vector<SourceLine> source_lines(const std::vector<const void*>& code);

/// "/home/me/add.cu" as messages name it: "add.cu", or with folders as name_sources_from (diagnostics.h) wants it.
std::string short_name(std::string_view file);

/// Line `line` (from 1) of `file` without leading blanks; empty when it cannot be read. Files are kept.
std::string source_text(const std::string& file, int line);

/// The line, in the same function (as far as its text shows), that compares something before line `line` or in it: the
/// nearest above with an `if`, a loop, min, or `?` and with < or >. 0 when there is none. A loop over neighbors
/// does not count: line `line` adds its variable to another index.
int comparing_line(const std::string& file, int line);

/// The nearest line above whose loop holds line `line`, by indentation; 0 when there is none.
int loop_around(const std::string& file, int line);

/// A barrier of the block that stands in a branch or loop.
struct BarrierInBranch {
    int line = 0;  ///< 0: there is none
    int branch = 0;
    bool is_loop = false;
};

/// The first barrier from line `first` on and before line `last` whose branch or loop does not hold line `last`, as far
/// as indentation shows: who does not take the branch comes to line `last` without it.
BarrierInBranch barrier_in_branch(const std::string& file, int first, int last);

}  // namespace cpu_device
