// One file with what is known about it and about the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "architecture.h"
#include "macros.h"
#include "rewriter.h"

namespace cpu_device::rewriter {

struct SourceFile {
    std::string_view text;
    const std::string& name;  ///< as messages give it
    FileMacros macros;
    const ProgramFacts& program;
    const std::vector<const MacroGroup*>& included_groups;  ///< of the files that this one includes
    const std::vector<MacroGroup>& own_groups;
    bool differs_by_side = false;  ///< something in the file may differ between host and device code

    [[noreturn]] void fail(int line, const std::string& message) const { throw Error(message, name, line); }
};

}  // namespace cpu_device::rewriter
