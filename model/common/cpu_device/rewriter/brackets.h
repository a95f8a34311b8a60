// Finds brackets that nothing closes, and names the one that the author most likely forgot to close.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lexer.h"

namespace cpu_device::rewriter {

struct BracketMistake {
    int line;
    std::string message;
};

/// Nothing where all brackets match, or where the branches of an `#if` open and close different ones.
std::optional<BracketMistake> find_bracket_mistake(std::string_view source, const TokenizedFile& file);

}  // namespace cpu_device::rewriter
