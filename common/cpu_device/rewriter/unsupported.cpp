#include "unsupported.h"

#include <string>
#include <string_view>
#include <vector>

#include "ptx.h"
#include "ptx_code.h"
#include "words.h"

namespace cpu_device::rewriter {
namespace {

/// The expressions of the operands between the parentheses at `open`: each follows a string that says what it may be.
std::vector<std::string> operands_of_asm(const TokenSequence& tokens, std::size_t open) {
    std::vector<std::string> operands;
    for (std::size_t k = open + 1; k < tokens.match(open); ++k) {
        if (tokens[k].kind != Token::Kind::string || !tokens.is(k + 1, "(") || tokens.match(k + 1) == none) continue;
        operands.push_back(tokens.text(k + 2, tokens.match(k + 1)));
        k = tokens.match(k + 1);
    }
    return operands;
}

/// A part of PTX with a name of its own, as ptx_feature says it: "wgmma (warpgroup matrix multiply)".
bool is_named_feature(const std::string& feature) { return feature.find(' ') != std::string::npos; }

}  // namespace

void UnsupportedFeatures::rewrite_ptx(std::size_t i, Analysis& analysis) const {
    std::size_t at = i + 1;
    while (tokens_.identifier_at(at)) ++at;  // volatile, inline, goto
    if (!tokens_.is(at, "(") || tokens_.match(at) == none) return;
    std::string code;
    for (std::size_t k = at + 1; k < tokens_.match(at) && !tokens_.is(k, ":") && !tokens_.is(k, "::"); ++k) {
        if (tokens_[k].kind != Token::Kind::string) continue;
        const std::string_view literal = tokens_[k].text;
        const std::size_t open = literal.find('"');
        for (std::size_t c = open + 1; c + 1 < literal.size(); ++c) {
            if (literal[c] == '\\' && c + 2 < literal.size()) {
                ++c;
                code += literal[c] == 'n' ? '\n' : literal[c] == 't' ? ' ' : literal[c];
            } else {
                code += literal[c];
            }
        }
    }
    if (code.find_first_not_of(" \n\t") == std::string::npos) return;
    const std::string feature = ptx_feature(code);
    if (feature.empty() && !scopes_.on_device_only(i)) return;
    const PtxResult result = translate_ptx(code, operands_of_asm(tokens_, at));
    if (result.unknown.empty()) {
        Editor(tokens_.source().text, analysis.edits)
            .replace(tokens_[i].begin, tokens_[tokens_.match(at)].end(), result.statement);
        return;
    }
    const std::string_view named = is_named_feature(feature) ? std::string_view(feature)
                                   : feature.empty()         ? std::string_view("asm in device code")
                                                             : std::string_view(result.unknown);
    if (tokens_.in_macro()) {  // which the program may never use
        Editor(tokens_.source().text, analysis.edits)
            .replace(tokens_[i].begin, tokens_[tokens_.match(at)].end(),
                     "::cpu_device::abort_kernel(::cudaErrorNotSupported, \"%s\", \"inline PTX is not supported on the "
                     "CPU device: " +
                         std::string(named) + "\")");
        return;
    }
    tokens_.fail(i, "inline PTX is not supported on the CPU device: " + std::string(named));
}

void UnsupportedFeatures::refuse_texture_reference(std::size_t i) {
    if (i > 0 && (one_of(tokens_[i - 1].text, class_keys) || tokens_.is(i - 1, "using"))) own_texture_ = true;
    if (!tokens_.is(i + 1, "<") || scopes_.scope() != Scope::name_space || scopes_.in_parentheses() || own_texture_)
        return;
    for (std::size_t k = scopes_.head(); k < i; ++k)
        if (!tokens_.is(k, "static") && !tokens_.is(k, "extern") && !tokens_.is(k, "const")) return;
    tokens_.fail(i, "texture references left CUDA with version 12; use texture objects");
}

}  // namespace cpu_device::rewriter
