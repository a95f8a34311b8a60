// Splits C++ source into tokens and preprocessor directives.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cpu_device::rewriter {

/// Which compilation sees a part of a file. nvcc compiles each file twice: once for the host, where `__CUDA_ARCH__` is
/// not defined, and once for the device, where it is. The values can be combined.
enum Sides : std::uint8_t { no_side = 0, host_side = 1, device_side = 2, both_sides = 3 };

/// The value of `__CUDA_ARCH__` in device code: the compute capability of the CPU device, 9.0.
constexpr int device_architecture = 900;

struct Token {
    enum class Kind : std::uint8_t { identifier, number, string, character, punctuator };

    std::string_view text;  ///< a part of the source
    std::size_t begin;      ///< offset of `text` in the source
    int line;               ///< from 1
    Kind kind;
    std::uint8_t sides = both_sides;  ///< which compilations may see it

    std::size_t end() const { return begin + text.size(); }
    bool is(std::string_view spelling) const { return text == spelling; }
    bool is_identifier() const { return kind == Kind::identifier; }
};

/// One preprocessor directive of a part of the file that the compiler may see.
struct Directive {
    std::string_view name;      ///< "define", "include", "if", ...
    std::vector<Token> tokens;  ///< what follows the name on the (continued) line
    std::size_t position;       ///< number of tokens of the file in front of it
    std::size_t hash;           ///< offset of its `#`
    std::size_t begin;          ///< offset just behind the name
    std::size_t end;            ///< offset of the end of the (continued) line
    int line;
    std::uint8_t sides = both_sides;  ///< which compilations may see it
    // Of a conditional directive that begins a branch:
    std::uint8_t may_take = both_sides;     ///< compilations that may compile the branch
    std::uint8_t surely_take = both_sides;  ///< compilations that certainly do

    /// `#if`, `#ifdef` or `#ifndef`
    bool opens_conditional() const { return name == "if" || name == "ifdef" || name == "ifndef"; }
    /// `#else`, `#elif` and its kin
    bool is_alternative() const { return name == "else" || name.substr(0, 4) == "elif"; }
    bool is_conditional() const { return opens_conditional() || is_alternative() || name == "endif"; }
};

/// A file without comments, white space, and the parts that `#if` and its kin certainly leave out on the CPU device,
/// for the host and for the device: `#if 0`, `#ifndef __CUDACC__` and the like.
///
/// `<` and `>` are tokens of their own (`>>` is two), because only the context tells shifts, template brackets and
/// launches apart.
struct TokenizedFile {
    std::vector<Token> tokens;
    std::vector<Directive> directives;
};

TokenizedFile tokenize(std::string_view source);

}  // namespace cpu_device::rewriter
