#include "functions.h"

#include <string>
#include <string_view>

#include "host_library.h"
#include "words.h"

namespace cpu_device::rewriter {

void note_function(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    constexpr std::size_t longest_head = 64;  // of those that are looked through
    if (scopes.scope() == Scope::type || (i > 0 && tokens.is(i - 1, "::"))) analysis.members.emplace(tokens[i].text);
    if (scopes.scope() != Scope::name_space || scopes.in_parentheses() || i == 0) return;
    const bool type_before = tokens.is(i - 1, "*") || tokens.is(i - 1, "&") || tokens.is(i - 1, ">") ||
                             (tokens.identifier_at(i - 1) && !one_of(tokens[i - 1].text, expression_keywords));
    if (!type_before) return;
    for (std::size_t k = i - scopes.head() <= longest_head ? scopes.head() : i; k < i; ++k)
        if (tokens.is_global(k)) return;
    analysis.other_functions.emplace(tokens[i].text);
    if (tokens.match(i + 1) == none) return;
    const std::size_t after = tokens.match(i + 1) + 1;
    bool is_void = false, clear = i - scopes.head() <= longest_head && !tokens.directive_between(scopes.head(), i);
    for (std::size_t k = scopes.head(); k < i && clear; ++k) {
        is_void = is_void || tokens.is(k, "void");
        clear = scopes.has_clear_meaning(k);
    }
    const DeclarationHead head = scopes.read_head(scopes.head(), i + 1);
    const bool is_function = tokens.is(after, "{") || (tokens.is(after, ";") && is_void);
    analysis.functions.push_back({std::string(tokens[i].text),
                                  head.constant ? std::uint8_t{both_sides} : scopes.sides_of_function(head),
                                  clear && is_function && !head.assigned});
}

void note_call(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis) {
    const std::string_view word = tokens[i].text;
    if (one_of(word, expression_keywords) || one_of(word, statement_keywords) || one_of(word, builtin_types) ||
        tokens.source().program.macros.count(word) != 0 || i == 0)
        return;
    const Token& before = tokens[i - 1];
    const bool in_std = is_in_std(i, tokens);
    if (before.is(".") || before.is("->") || before.is("~") || before.is(">")) return;
    if (before.is("::") && !in_std && i >= 2 && (tokens.identifier_at(i - 2) || tokens.is(i - 2, ">"))) return;
    if (before.is_identifier() && !one_of(before.text, expression_keywords)) return;
    const bool may_declare = (before.is("*") || before.is("&") || before.is("&&")) && i >= 2 &&
                             (tokens.identifier_at(i - 2) || tokens.is(i - 2, ">")) && scopes.head() + 2 == i;
    if (may_declare || scopes.is_unevaluated() || scopes.is_local_name(word)) return;
    analysis.calls.push_back({std::string(word), tokens[i].line, scopes.certain_sides(i), in_std});
}

}  // namespace cpu_device::rewriter
