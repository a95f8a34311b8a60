// What the macros that a file defines have to do with CUDA syntax.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lexer.h"

namespace cpu_device::rewriter {

/// `#define NAME(parameters) body`
struct MacroDefinition {
    std::string_view name;
    std::vector<std::string_view> parameters;
    std::string_view rest;  ///< name of the parameter that takes all remaining arguments; may be empty
    std::vector<Token> body;

    bool has_parameter(std::string_view word) const {
        return std::find(parameters.begin(), parameters.end(), word) != parameters.end();
    }
};

/// What the macros that a file defines have to do with CUDA syntax.
struct FileMacros {
    std::vector<MacroDefinition> definitions;
    std::unordered_set<std::string_view> names;
    std::unordered_map<std::string_view, std::vector<Token>> shared_aliases;  ///< `#define SHARED __shared__`
    std::unordered_set<std::string_view> launch_configurations;               ///< `#define SHAPE(g, b) <<<g, b>>>`
    std::unordered_set<std::string_view> global_aliases;  ///< `#define KERNEL extern "C" __global__ void`
    std::unordered_set<std::string_view> after_template;  ///< `template <class T> DEFINE_KERNEL(name, T)`
};

FileMacros read_macros(const TokenizedFile& file);

/// Whether the body is nothing but the specifiers of a shared variable: `#define SHARED __shared__`.
bool is_shared_alias(const std::vector<Token>& body);

/// Whether the body is nothing but a launch configuration: `#define SHAPE(g, b) <<<g, b>>>`.
bool is_launch_configuration(const std::vector<Token>& body);

}  // namespace cpu_device::rewriter
