#include "parameters.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "words.h"

namespace cpu_device::rewriter {
namespace {

/// The name in a declarator such as `*name`, `&name`, `*name[4]` or `*(*name)(int)`.
std::string inner_parameter_name(const TokenSequence& tokens, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        if (tokens.is(i, "(")) end = std::min(end, tokens.match(i));
        const bool name = tokens.identifier_at(i) && !tokens.is(i + 1, "::") &&
                          !one_of(tokens[i].text, cv_qualifiers) && !one_of(tokens[i].text, parameter_words);
        if (name) return std::string(tokens[i].text);
    }
    return {};
}

/// The name that the parameter in [begin, end) has; empty when it has none.
std::string parameter_name(const TokenSequence& tokens, std::size_t begin, std::size_t end, bool& is_reference,
                           bool& is_pack) {
    std::size_t types = 0;  // before the last name
    std::size_t name = none;
    bool pointer = false;  // what comes now can only be the name
    for (std::size_t i = begin; i < end && !tokens.is(i, "="); ++i) {
        const std::string_view word = tokens[i].text;
        if (one_of(word, attribute_words) || word == "decltype" || word == "typeof" || word == "__typeof__" ||
            word == "noexcept") {
            if (word == "decltype" || word == "typeof" || word == "__typeof__") ++types;
            if (tokens.is(i + 1, "(") && tokens.match(i + 1) != none && tokens.match(i + 1) < end)
                i = tokens.match(i + 1);
        } else if (word == "(" || word == "[") {
            if (tokens.match(i) == none || tokens.match(i) >= end) return {};
            const bool declarator =
                word == "(" && (tokens.is(i + 1, "*") || tokens.is(i + 1, "&") || tokens.is(i + 1, "&&") ||
                                (tokens.identifier_at(i + 1) && tokens.is(i + 2, "::") && tokens.is(i + 3, "*")));
            if (declarator) {
                is_reference = tokens.is(i + 1, "&") || tokens.is(i + 1, "&&");
                return inner_parameter_name(tokens, i + 1, tokens.match(i));
            }
            if (word == "(") ++types;  // of a macro that makes a type
            i = tokens.match(i);
        } else if (word == "*" || word == "&" || word == "&&" || word == "...") {
            is_pack = is_pack || word == "...";
            is_reference = is_reference || word == "&" || word == "&&";
            pointer = true;
            name = none;
        } else if (one_of(word, builtin_types)) {
            ++types;
            name = none;
        } else if (tokens.source().macros.names.count(word) != 0) {
            ++types;
        } else if (tokens.is(i, "::") || (tokens.identifier_at(i) && !one_of(word, cv_qualifiers) &&
                                          !one_of(word, class_keys) && !one_of(word, parameter_words))) {
            const std::size_t after = tokens.qualified_name_end(i, end);
            if (after == none) return {};
            if (name != none) ++types;
            if (after == i + 1 && !tokens.is(i, "::")) {
                name = i;
            } else {
                name = none;
                ++types;
            }
            i = after - 1;
        }
    }
    return name != none && (types > 0 || pointer) ? std::string(tokens[name].text) : std::string();
}

}  // namespace

std::size_t parameter_end(const TokenSequence& tokens, std::size_t begin, std::size_t end) {
    bool default_argument = false;
    for (std::size_t i = begin; i < end; ++i) {
        if (tokens.is(i, ",")) return i;
        default_argument = default_argument || tokens.is(i, "=");
        if (tokens.is(i, "(") || tokens.is(i, "[") || tokens.is(i, "{")) {
            if (tokens.match(i) != none && tokens.match(i) < end) i = tokens.match(i);
        } else if (tokens.is(i, "<") && tokens.opens_angle(i)) {
            const std::size_t close = tokens.closing_angle(i, end);
            const bool comparison =
                default_argument && close != none && close + 1 < end && !tokens.may_close_angle(close);
            if (close != none && !comparison) i = close;
        }
    }
    return end;
}

KernelParameter read_parameter(const TokenSequence& tokens, std::size_t begin, std::size_t end, bool& is_pack) {
    KernelParameter parameter;
    for (std::size_t i = begin; i < end; ++i)
        parameter.is_restrict = parameter.is_restrict || one_of(tokens[i].text, restrict_words);
    parameter.name = parameter_name(tokens, begin, end, parameter.is_reference, is_pack);
    for (std::size_t i = begin; i < end; ++i) parameter.has_default = parameter.has_default || tokens.is(i, "=");
    return parameter;
}

}  // namespace cpu_device::rewriter
