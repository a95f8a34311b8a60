#include "device_variables.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host_library.h"
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
void note_name(std::size_t name, bool is_read_only, const TokenSequence& tokens, const Scopes& scopes,
               Analysis& analysis) {
    DeviceVariableName variable{std::string(tokens[name].text), 0, false, is_read_only, false, {}};
    for (const OpenBracket& open : scopes.open())
        for (std::size_t at = open.head; at < open.at; ++at) variable.namespaces.emplace(tokens[at].text);
    for (std::size_t at = name + 1; tokens.is(at, "[") && tokens.match(at) != none; at = tokens.match(at) + 1)
        ++variable.dimensions;
    // What `*` points to may be constant without the pointer being so.
    bool is_constant = false;
    for (std::size_t at = scopes.head(); at < name; ++at) {
        if (tokens.is(at, "*")) is_constant = false;
        variable.is_scalar = variable.is_scalar || tokens.is(at, "*") ||
                             (one_of(tokens[at].text, builtin_types) && !tokens.is(at, "auto"));
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

/// The names that the declaration around the present token defines, and the `;` behind them. No names when it may be
/// something else.
struct Definition {
    std::vector<std::size_t> names;
    std::size_t end = none;
    bool is_constant = false;
};

Definition read_definition(const TokenSequence& tokens, const Scopes& scopes) {
    Definition definition;
    std::size_t end = skip_specifiers(tokens, scopes.head(), definition.is_constant);
    std::vector<std::size_t> names;
    do {
        if (end == none) return definition;
        if (!names.empty()) ++end;
        end = skip_declarator(tokens, end, names);
    } while (tokens.is(end, ","));
    if (!tokens.is(end, ";") || tokens.directive_between(scopes.head(), end)) return definition;
    definition.names = std::move(names);
    definition.end = end;
    return definition;
}

/// Whether the declaration around the qualifier at `i`, which could not be read, may define a variable all the same.
bool may_define_variables(std::size_t i, const TokenSequence& tokens, const Scopes& scopes) {
    static constexpr std::array<std::string_view, 8> other_words{"using",     "typedef",  "friend",  "operator",
                                                                 "namespace", "requires", "concept", "extern"};
    if (scopes.in_parentheses()) return true;  // an argument of a macro
    constexpr std::size_t longest = 1024;      // of those that are looked through
    const std::size_t end = std::min(tokens.size(), i + longest);
    bool has_class_key = false;
    for (std::size_t k = scopes.head(); k < end; ++k) {
        const std::string_view word = tokens[k].text;
        if (one_of(word, other_words)) return false;
        has_class_key = has_class_key || (one_of(word, class_keys) && !tokens.is(k - 1, "<"));
        if (tokens.is(k, "<") && k > 0 && tokens.identifier_at(k - 1)) {
            const std::size_t close = tokens.closing_angle(k, tokens.size());
            if (close != none) k = close;
        } else if (tokens.is(k, "(")) {
            if (tokens.match(k) == none) return true;
            const bool is_attribute =
                k > 0 && (one_of(tokens[k - 1].text, attribute_words) || tokens.is(k - 1, "decltype"));
            if (k > i && !is_attribute) {
                // `int f(int)` is a function; `T v(3)` and `T MACRO(v)` may be variables.
                const bool of_macro =
                    tokens.identifier_at(k - 1) && tokens.source().program.macros.count(tokens[k - 1].text) != 0;
                return of_macro || tokens[k + 1].kind == Token::Kind::number;
            }
            k = tokens.match(k);
        } else if (tokens.is(k, "{")) {
            const std::size_t close = tokens.match(k);
            return !has_class_key || close == none || !tokens.is(close + 1, ";");
        } else if (k > i && (tokens.is(k, ";") || tokens.is(k, "=") || tokens.is(k, "["))) {
            return !has_class_key || !tokens.is(k, ";");
        }
    }
    return false;
}

/// A variable in a function: nvcc takes static ones in device code, and none in host code.
void refuse_local_variables(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    if (scopes.in_parentheses()) return;
    const std::uint8_t sides = scopes.certain_sides(i);
    if (sides != host_side && sides != device_side) return;
    bool is_static = false;
    for (std::size_t k = scopes.head(); k < i; ++k) {
        if (!tokens.identifier_at(k) || one_of(tokens[k].text, device_variable_qualifiers)) return;
        is_static = is_static || tokens.is(k, "static");
    }
    const Definition definition = read_definition(tokens, scopes);
    if (definition.names.empty()) return;
    for (std::size_t k = i; k < definition.names.front(); ++k) is_static = is_static || tokens.is(k, "static");
    if (is_static && sides == device_side) return;
    const std::string name(tokens[definition.names.front()].text);
    const std::string qualifier(tokens[i].text);
    analysis.refusals.push_back(
        {tokens[i].line, name + " is a " + qualifier + " variable in a " +
                             (sides == host_side ? "function of the host" : "function of the device, and not static") +
                             ": declare it outside of all functions"});
}

}  // namespace

void note_variables_of_macro(std::size_t i, const TokenSequence& tokens, Analysis& analysis) {
    static constexpr std::array<std::string_view, 6> of_functions{"__host__",        "__global__", "inline",
                                                                  "__forceinline__", "__inline__", "__noinline__"};
    for (std::size_t k = 0; k < tokens.size(); ++k)
        if (one_of(tokens[k].text, of_functions)) return;
    for (std::size_t k = i + 1; k < tokens.size() && !tokens.is(k, "=") && !tokens.is(k, ";"); ++k) {
        const bool is_attribute = one_of(tokens[k - 1].text, attribute_words);
        if (tokens.is(k, "(") && tokens.identifier_at(k - 1) && !is_attribute) return;
    }
    analysis.may_hold_unregistered_variables = true;
}

void register_device_variables(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    if (scopes.scope() == Scope::code) return refuse_local_variables(i, tokens, scopes, analysis);
    bool has_class_key = false;
    for (std::size_t k = scopes.head(); k < i; ++k) {
        if (one_of(tokens[k].text, device_variable_qualifiers)) return;
        has_class_key = has_class_key || one_of(tokens[k].text, class_keys);
    }
    Definition definition;
    if (scopes.scope() == Scope::name_space && !scopes.in_parentheses() && !has_class_key)
        definition = read_definition(tokens, scopes);
    const std::vector<std::size_t>& names = definition.names;
    if (names.empty()) {
        analysis.may_hold_unregistered_variables =
            analysis.may_hold_unregistered_variables || may_define_variables(i, tokens, scopes);
        return;
    }
    const std::size_t end = definition.end;
    const bool is_constant = definition.is_constant || tokens.is(i, "__constant__");
    bool is_managed = false;
    for (std::size_t k = scopes.head(); k < names.front(); ++k) is_managed = is_managed || tokens.is(k, "__managed__");
    std::string objects;
    for (std::size_t name : names) {
        note_name(name, is_constant, tokens, scopes, analysis);
        note_class_of_variable(name, tokens, scopes, analysis);
        const std::string word(tokens[name].text);
        objects += " [[maybe_unused]] static const ::cpu_device::DeviceVariable cpu_device_variable_" + word + "{\"" +
                   word + "\", (const void*)__builtin_addressof(" + word + "), sizeof(" + word + "), " +
                   (is_constant ? "true" : "false") + ", " + tokens.site(name) + (is_managed ? ", true};" : "};");
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
