#include "macros.h"

#include "words.h"

namespace cpu_device::rewriter {
namespace {

/// Splits `NAME(parameters) body`.
MacroDefinition read_macro(const Directive& directive) {
    MacroDefinition macro;
    const std::vector<Token>& tokens = directive.tokens;
    macro.name = tokens[0].text;
    std::size_t i = 1;
    if (tokens.size() > 1 && tokens[1].is("(") && tokens[1].begin == tokens[0].end()) {
        for (i = 2; i < tokens.size() && !tokens[i].is(")"); ++i) {
            if (tokens[i].is_identifier()) macro.parameters.push_back(tokens[i].text);
            if (!tokens[i].is("...")) continue;
            if (tokens[i - 1].is_identifier()) macro.rest = tokens[i - 1].text;
            macro.parameters.push_back("__VA_ARGS__");
        }
        ++i;
    }
    for (; i < tokens.size(); ++i) macro.body.push_back(tokens[i]);
    return macro;
}

/// Specifiers and perhaps a type, with `__global__` among them: what a kernel's declaration begins with.
bool is_global_alias(const std::vector<Token>& body) {
    const auto global = [](const Token& token) { return token.is("__global__"); };
    const auto specifier = [](const Token& token) {
        return (token.is_identifier() && !token.is("template")) || token.kind == Token::Kind::string;
    };
    return std::any_of(body.begin(), body.end(), global) && std::all_of(body.begin(), body.end(), specifier);
}

}  // namespace

bool is_shared_alias(const std::vector<Token>& body) {
    bool shared = false;
    for (const Token& token : body) {
        if (!one_of(token.text, dropped_specifiers) && !one_of(token.text, cv_qualifiers)) return false;
        shared = shared || token.is("__shared__");
    }
    return shared;
}

bool is_launch_configuration(const std::vector<Token>& body) {
    if (body.size() < 7) return false;
    for (std::size_t i = 0; i < 3; ++i)
        if (!body[i].is("<") || !body[body.size() - 1 - i].is(">")) return false;
    return true;
}

FileMacros read_macros(const TokenizedFile& file) {
    FileMacros macros;
    for (const Directive& directive : file.directives) {
        if (directive.name != "define" || directive.tokens.empty()) continue;
        const MacroDefinition& macro = macros.definitions.emplace_back(read_macro(directive));
        macros.names.insert(macro.name);
        if (is_shared_alias(macro.body)) macros.shared_aliases.emplace(macro.name, macro.body);
        if (is_launch_configuration(macro.body)) macros.launch_configurations.insert(macro.name);
        if (is_global_alias(macro.body)) macros.global_aliases.insert(macro.name);
    }
    for (std::size_t i = 1; i < file.tokens.size(); ++i)
        if (file.tokens[i - 1].is(">") && macros.names.count(file.tokens[i].text) != 0)
            macros.after_template.insert(file.tokens[i].text);
    return macros;
}

}  // namespace cpu_device::rewriter
