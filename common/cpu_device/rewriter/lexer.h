// Splits C++ source into tokens and preprocessor directives.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cpu_device::rewriter {

struct Token {
    enum class Kind : std::uint8_t { identifier, number, string, character, punctuator };

    std::string_view text;  ///< a part of the source
    std::size_t begin;      ///< offset of `text` in the source
    int line;               ///< from 1
    Kind kind;

    std::size_t end() const { return begin + text.size(); }
    bool is(std::string_view spelling) const { return text == spelling; }
    bool is_identifier() const { return kind == Kind::identifier; }
};

/// One preprocessor directive of a part of the file that the compiler may see.
struct Directive {
    std::string_view name;      ///< "define", "include", "if", ...
    std::vector<Token> tokens;  ///< what follows the name on the (continued) line
    std::size_t position;       ///< number of tokens of the file in front of it
    std::size_t begin;          ///< offset just behind the name
    std::size_t end;            ///< offset of the end of the (continued) line
    int line;
};

/// A file without comments, white space, and the parts that `#if` and its kin certainly leave out on the CPU device:
/// `#if 0`, `#ifdef __CUDA_ARCH__` and the like.
///
/// `<` and `>` are tokens of their own (`>>` is two), because only the context tells shifts, template brackets and
/// launches apart.
struct TokenizedFile {
    std::vector<Token> tokens;
    std::vector<Directive> directives;
};

TokenizedFile tokenize(std::string_view source);

}  // namespace cpu_device::rewriter
