// Turns a CUDA `.cu` file into plain C++ for the CPU device.
//
// Only what a C++ compiler cannot read is touched: kernel launches, `__shared__` declarations and `__noinline__`; and
// behind each definition of a `__device__`, `__constant__` or `__managed__` variable, or of a kernel, follows, on the
// same line, what tells the runtime of it. Everything else, comments and line numbers included, stays as it is. What
// the CPU device does not offer (inline PTX, texture references, calls of the runtime in device code that have to wait)
// is refused by name. Code that depends on __CUDA_ARCH__ gets that macro in device code (architecture.h); launches and
// calls that nvcc refuses (checks.h) and brackets that nothing closes (brackets.h) are refused, too. Host code that
// reads or writes a device variable by its name gets the host's own copy of it, as on a GPU (host_uses.h).
//
//     std::string cpp = cpu_device::rewriter::rewrite(source, "/home/me/add.cu");
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cpu_device::rewriter {

/// Something the rewriter cannot read or the CPU device does not offer. `what()` is the bare message.
struct Error : std::runtime_error {
    Error(const std::string& message, std::string file_name, int line_number)
        : std::runtime_error(message), file(std::move(file_name)), line(line_number) {}

    std::string file;
    int line;  ///< from 1; 0 when the whole file is meant
};

/// Rewrites one source text. The result starts with a `#line` directive that names `file_name`; every line of the
/// source keeps its number, and `#include` directives stay as they are. Throws Error.
std::string rewrite(std::string_view source, const std::string& file_name);

struct Result {
    std::string text;                       ///< the input file, rewritten
    std::vector<std::string> dependencies;  ///< absolute path of every file read, the input first
};

/// Rewrites a file and the local files it includes.
///
/// An included file is rewritten too when it is a `.cu` or `.cuh` file, holds CUDA syntax, or includes such a file;
/// it is written to `include_folder` under a name of its own, and the `#include` directive names it there. Other
/// local includes become absolute paths. Included files are looked for beside the file that includes them
/// and then in `search_folders`; what is not found there is left to the compiler.
/// Throws Error, also for a file that cannot be read or written.
Result rewrite_file(const std::filesystem::path& input, const std::filesystem::path& include_folder,
                    const std::vector<std::filesystem::path>& search_folders = {});

/// The rule for `make` and `ninja` that makes `target` depend on `dependencies`.
std::string depfile(const std::string& target, const std::vector<std::string>& dependencies);

}  // namespace cpu_device::rewriter
