// The `#include` directives of a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "architecture.h"

namespace cpu_device::rewriter {

/// An `#include "name"` or `#include <name>`; the offsets take in the quotes.
struct Include {
    std::size_t begin;
    std::size_t end;
    std::string name;
    bool quoted;
};

std::vector<Include> read_includes(std::string_view source, const FileFacts& facts);

}  // namespace cpu_device::rewriter
