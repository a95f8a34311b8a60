// Finds what has to change in one CUDA source file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cpu_device::rewriter {

/// Puts `text` in place of the source between the offsets `begin` and `end`.
struct Edit {
    std::size_t begin;
    std::size_t end;
    std::string text;
};

/// An `#include "name"` or `#include <name>`; the offsets take in the quotes.
struct Include {
    std::size_t begin;
    std::size_t end;
    std::string name;
    bool quoted;
};

/// What one declaration or definition of a `__global__` function says about its parameters.
struct KernelDeclaration {
    std::string name;                     ///< without namespaces
    std::vector<std::string> parameters;  ///< their names; empty for one that has none
    bool takes_pack;                      ///< the last parameter is a parameter pack
    bool is_definition;
};

/// A launch of a kernel by its name.
struct NamedLaunch {
    std::size_t edit;                      ///< index in `Analysis::edits` of the room for the parameters' names
    std::string kernel;                    ///< without namespaces and template arguments
    std::optional<std::size_t> arguments;  ///< how many; nothing when one of them may be any number of arguments
    std::vector<std::size_t> not_passed;   ///< positions of those that stay in the call of the kernel
};

struct Analysis {
    std::vector<Edit> edits;  ///< none of them removes a line end
    std::vector<Include> includes;
    std::vector<KernelDeclaration> kernels;
    std::vector<NamedLaunch> launches;
};

/// Throws Error for what cannot be read or is not supported; `file_name` is used in messages only.
Analysis analyze(std::string_view source, const std::string& file_name);

/// The edits of `analysis` with the names of the kernels' parameters filled in, as far as `kernels`, everything that
/// the file can see, leaves no doubt about them. They line up with the arguments that the launch gets.
std::vector<Edit> name_parameters(const Analysis& analysis, const std::vector<const KernelDeclaration*>& kernels);

/// The source with the edits made, behind a `#line` directive that names `file_name`.
std::string apply_edits(std::string_view source, std::vector<Edit> edits, const std::string& file_name);

}  // namespace cpu_device::rewriter
