#include "runtime_calls.h"

#include <string>
#include <string_view>

#include "status_functions.h"

namespace cpu_device::rewriter {
namespace {

/// The end of a cast to `void*` or `const void*` that begins at `i`, `(void*)` or `reinterpret_cast<void*>`; `none`
/// when there is none.
std::size_t void_cast_end(const TokenSequence& tokens, std::size_t i) {
    const bool named = tokens.is(i, "reinterpret_cast") && tokens.is(i + 1, "<");
    if (!named && !tokens.is(i, "(")) return none;
    std::size_t at = i + (named ? 2 : 1);
    if (tokens.is(at, "const")) ++at;
    if (!tokens.is(at, "void")) return none;
    ++at;
    if (tokens.is(at, "const")) ++at;
    return tokens.is(at, "*") && tokens.is(at + 1, named ? ">" : ")") ? at + 2 : none;
}

}  // namespace

void mark_dropped_result(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    const std::string_view name = tokens[i].text;
    const bool is_call = tokens.is(i + 1, "(") && returns_status(name) && tokens.source().macros.names.count(name) == 0;
    if (!is_call || scopes.device_only() || !scopes.begins_statement(i)) return;
    const std::size_t close = tokens.match(i + 1);
    if (close == none || !tokens.is(close + 1, ";")) return;
    Editor(tokens.source().text, analysis.edits)
        .insert(tokens[i].begin,
                "::cpu_device::dropped(" + as_string_literal(std::string(name)) + ", " + tokens.site(i) + "), ");
}

void keep_type_of_kernel(std::size_t i, const TokenSequence& tokens, Analysis& analysis) {
    const std::size_t end = tokens.is(i + 1, "(") ? void_cast_end(tokens, i + 2) : none;
    if (end != none)
        Editor(tokens.source().text, analysis.edits).replace(tokens[i + 2].begin, tokens[end - 1].end(), "");
}

void keep_type_of_template(std::size_t i, const TokenSequence& tokens, Analysis& analysis) {
    std::size_t begin = void_cast_end(tokens, i);
    if (begin == none || (i >= 2 && tokens.is(i - 1, "(") && launches_by_function(tokens, i - 2))) return;
    if (tokens.is(begin, "(")) ++begin;
    const std::size_t end = tokens.qualified_name_end(tokens.is(begin, "&") ? begin + 1 : begin, tokens.size());
    if (end == none || !tokens.is(end - 1, ">")) return;
    if (!tokens.is(end, ",") && !tokens.is(end, ")") && !tokens.is(end, "}") && !tokens.is(end, ";")) return;
    Editor editor(tokens.source().text, analysis.edits);
    editor.insert(tokens[begin].begin, "::cpu_device::known(");
    editor.insert(tokens[end - 1].end(), ")");
}

bool launches_by_function(const TokenSequence& tokens, std::size_t i) {
    return tokens.is(i, "cudaLaunchKernel") || tokens.is(i, "cudaLaunchCooperativeKernel");
}

}  // namespace cpu_device::rewriter
