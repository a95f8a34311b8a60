// Finds what has to change in one CUDA source file.
#pragma once

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

struct Analysis {
    std::vector<Edit> edits;  ///< none of them removes a line end
    std::vector<Include> includes;
};

/// Throws Error for what cannot be read or is not supported; `file_name` is used in messages only.
Analysis analyze(std::string_view source, const std::string& file_name);

/// The source with the edits made, behind a `#line` directive that names `file_name`.
std::string apply_edits(std::string_view source, std::vector<Edit> edits, const std::string& file_name);

}  // namespace cpu_device::rewriter
