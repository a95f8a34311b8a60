#include "device_variables.h"

#include <string>
#include <string_view>
#include <vector>

#include "words.h"

namespace cpu_device::rewriter {
namespace {

/// The first token of the declarators of a declaration that begins at `i`; `none` when it may define no variable.
std::size_t skip_specifiers(const TokenSequence& tokens, std::size_t i, bool& is_constant) {
    bool built_in = false;       // the type is of built-in words
    std::size_t names = 0;       // after those words, if there are any
    std::size_t last = none;     // the last name
    bool last_is_plain = false;  // neither qualified nor with template arguments
    for (; i < tokens.size(); ++i) {
        const std::string_view word = tokens[i].text;
        if (one_of(word, not_a_device_variable) || tokens.source().macros.shared_aliases.count(word) != 0) return none;
        if (one_of(word, attribute_words) || word == "decltype" || word == "typeof" || word == "__typeof__") {
            if (!one_of(word, attribute_words)) built_in = true;
            if (!tokens.is(i + 1, "(") || tokens.match(i + 1) == none) return none;
            i = tokens.match(i + 1);
            if (tokens.is(i + 1, "::")) return none;
        } else if (tokens.is(i, "[") && tokens.is(i + 1, "[")) {
            if (tokens.match(i) == none) return none;
            i = tokens.match(i);
        } else if (one_of(word, builtin_types)) {
            if (built_in && names > 0) return none;
            built_in = true;
            names = 0;  // a macro in front of the type
        } else if (tokens.is(i, "::") ||
                   (tokens.identifier_at(i) && !one_of(word, cv_qualifiers) && !one_of(word, class_keys) &&
                    !one_of(word, storage_words) && !one_of(word, device_variable_qualifiers))) {
            last = i;
            ++names;
            const std::size_t end = tokens.qualified_name_end(i, tokens.size());
            if (end == none) return none;
            last_is_plain = end == i + 1;
            i = end - 1;
        } else if (!tokens.identifier_at(i)) {
            break;
        }
        is_constant = is_constant || word == "__constant__";
    }
    const std::size_t type_names = built_in ? 0 : 1;
    if (tokens.is(i, "*") || tokens.is(i, "(")) return names == type_names ? i : none;
    return names == type_names + 1 && last_is_plain ? last : none;
}

/// Keeps what is known of the variable whose name is at `name`, in the present declaration.
void note_name(std::size_t name, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    DeviceVariableName variable{std::string(tokens[name].text), 0, false, {}};
    for (const OpenBracket& open : scopes.open())
        for (std::size_t at = open.head; at < open.at; ++at) variable.namespaces.emplace(tokens[at].text);
    for (std::size_t at = name + 1; tokens.is(at, "[") && tokens.match(at) != none; at = tokens.match(at) + 1)
        ++variable.dimensions;
    // What `*` points to may be constant without the pointer being so.
    bool is_constant = false;
    for (std::size_t at = scopes.head(); at < name; ++at) {
        if (tokens.is(at, "*")) is_constant = false;
        is_constant = is_constant || tokens.is(at, "const") || tokens.is(at, "constexpr");
        variable.is_for_host = variable.is_for_host || tokens.is(at, "__managed__");
    }
    variable.is_for_host = variable.is_for_host || is_constant;
    analysis.device_variables.push_back(std::move(variable));
}

/// After one declarator and its initializer: at a `,` or `;`. Adds the name; `none` when it is no plain variable.
std::size_t skip_declarator(const TokenSequence& tokens, std::size_t i, std::vector<std::size_t>& names) {
    while (tokens.is(i, "*") ||
           (i < tokens.size() && (one_of(tokens[i].text, cv_qualifiers) || tokens.is(i, "__restrict__"))))
        ++i;
    std::size_t name = i;
    if (tokens.is(i, "(")) {  // a pointer to a function or an array
        if (!tokens.is(i + 1, "*") || tokens.match(i) == none) return none;
        name = i + 1;
        while (tokens.is(name, "*") || (tokens.identifier_at(name) && one_of(tokens[name].text, cv_qualifiers))) ++name;
        std::size_t end = name + 1;
        while (tokens.is(end, "[") && tokens.match(end) != none) end = tokens.match(end) + 1;
        if (end != tokens.match(i)) return none;
        i = end + 1;
        if ((!tokens.is(i, "(") && !tokens.is(i, "[")) || tokens.match(i) == none) return none;
    } else {
        ++i;
        if (tokens.is(i, "(")) return none;
    }
    if (!tokens.identifier_at(name) || tokens.source().macros.names.count(tokens[name].text) != 0) return none;
    names.push_back(name);
    for (; i < tokens.size(); ++i) {
        const bool attribute = one_of(tokens[i].text, attribute_words);
        if (!attribute && !tokens.is(i, "[") && !(tokens.is(i, "(") && tokens.is(i - 1, ")"))) break;
        if (attribute) ++i;
        if (i >= tokens.size() || tokens.match(i) == none) return none;
        i = tokens.match(i);
    }
    if (tokens.is(i, "{")) return tokens.match(i) == none ? none : tokens.match(i) + 1;
    if (!tokens.is(i, "=")) return i;
    if (tokens.is(i + 1, "[")) return none;  // a lambda
    while (++i < tokens.size() && !tokens.is(i, ";") && !tokens.is(i, ",")) {
        if (tokens.is(i, "(") || tokens.is(i, "[") || tokens.is(i, "{")) {
            if (tokens.match(i) == none) return none;
            i = tokens.match(i);
        } else if (tokens.is(i, "<") && tokens.opens_angle(i)) {
            const std::size_t close = tokens.closing_angle(i, tokens.size());
            if (close != none && tokens.may_close_angle(close)) i = close;
        }
    }
    return i;
}

}  // namespace

void register_device_variables(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    if (scopes.scope() != Scope::name_space || scopes.in_parentheses()) return;
    bool is_constant = tokens.is(i, "__constant__");
    for (std::size_t k = scopes.head(); k < i; ++k)
        if (one_of(tokens[k].text, device_variable_qualifiers) || one_of(tokens[k].text, class_keys)) return;
    std::size_t end = skip_specifiers(tokens, scopes.head(), is_constant);
    std::vector<std::size_t> names;
    do {
        if (end == none) return;
        if (!names.empty()) ++end;
        end = skip_declarator(tokens, end, names);
    } while (tokens.is(end, ","));
    if (!tokens.is(end, ";") || tokens.directive_between(scopes.head(), end)) return;
    std::string objects;
    for (std::size_t name : names) {
        note_name(name, tokens, scopes, analysis);
        const std::string word(tokens[name].text);
        objects += " [[maybe_unused]] static const ::cpu_device::DeviceVariable cpu_device_variable_" + word + "{\"" +
                   word + "\", (const void*)__builtin_addressof(" + word + "), sizeof(" + word + "), " +
                   (is_constant ? "true" : "false") + ", " + tokens.site(name) + "};";
    }
    Editor(tokens.source().text, analysis.edits).insert(tokens[end].end(), objects);
}

void note_host_variables(std::size_t end, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    if (scopes.scope() != Scope::name_space || scopes.in_parentheses() || scopes.sides() == device_side) return;
    const std::size_t begin = scopes.head();
    for (std::size_t k = begin; k < end && !tokens.is(k, "="); ++k) {
        const std::string_view word = tokens[k].text;
        if (word == "const" || word == "__const" || one_of(word, device_variable_qualifiers) ||
            one_of(word, class_keys) || tokens.source().macros.names.count(word) != 0)
            return;
    }
    bool is_constant = false;
    std::size_t at = skip_specifiers(tokens, begin, is_constant);
    std::vector<std::size_t> names;
    do {
        if (at == none) return;
        if (!names.empty()) ++at;
        at = skip_declarator(tokens, at, names);
    } while (tokens.is(at, ","));
    if (at != end || tokens.directive_between(begin, end)) return;
    for (std::size_t name : names) analysis.host_variables.emplace(tokens[name].text);
}

}  // namespace cpu_device::rewriter
