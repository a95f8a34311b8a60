// Words of C++ and CUDA, by what they can mean in a declaration or an expression.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace cpu_device::rewriter {

template <std::size_t n>
bool one_of(std::string_view text, const std::array<std::string_view, n>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// Words after which an expression begins: never the name of a kernel.
inline constexpr std::array<std::string_view, 17> expression_keywords{
    "return", "else",     "do",     "case", "default", "goto", "throw",  "co_return", "co_await",
    "new",    "co_yield", "delete", "and",  "or",      "not",  "sizeof", "operator"};
inline constexpr std::array<std::string_view, 6> statement_keywords{"if",     "while",     "for",
                                                                    "switch", "constexpr", "catch"};
inline constexpr std::array<std::string_view, 17> builtin_types{
    "void",     "bool",    "char",    "short",    "int",      "long",     "float",    "double", "signed",
    "unsigned", "wchar_t", "char8_t", "char16_t", "char32_t", "__int128", "_Float16", "auto"};
inline constexpr std::array<std::string_view, 9> dropped_specifiers{
    "__shared__", "static", "extern", "inline", "__device__", "thread_local", "register", "__restrict__", "constexpr"};
inline constexpr std::array<std::string_view, 6> cv_qualifiers{"const",     "volatile",     "__const",
                                                               "__const__", "__volatile__", "__volatile"};
inline constexpr std::array<std::string_view, 7> attribute_words{
    "alignas", "__align__", "__attribute__", "__attribute", "__declspec", "__builtin_align__", "_Alignas"};
inline constexpr std::array<std::string_view, 4> class_keys{"struct", "class", "union", "enum"};
inline constexpr std::array<std::string_view, 3> device_variable_qualifiers{"__device__", "__constant__",
                                                                            "__managed__"};
/// Words of a declaration that is no definition of an ordinary variable with an address of its own.
inline constexpr std::array<std::string_view, 23> not_a_device_variable{
    "template",          "using",           "typedef",    "friend",     "extern",   "constexpr", "consteval",
    "thread_local",      "__thread",        "operator",   "namespace",  "concept",  "requires",  "asm",
    "static_assert",     "__host__",        "__shared__", "__global__", "explicit", "virtual",   "this",
    "__launch_bounds__", "__cluster_dims__"};
inline constexpr std::array<std::string_view, 8> storage_words{
    "static", "inline", "__inline__", "constinit", "__restrict__", "__restrict", "__extension__", "typename"};
/// Words in a parameter's declaration that neither name it nor are its type.
inline constexpr std::array<std::string_view, 3> restrict_words{"__restrict__", "__restrict", "restrict"};
inline constexpr std::array<std::string_view, 6> parameter_words{"__restrict__", "__restrict",        "restrict",
                                                                 "typename",     "__grid_constant__", "register"};

}  // namespace cpu_device::rewriter
