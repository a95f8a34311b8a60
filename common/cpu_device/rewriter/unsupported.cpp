#include "unsupported.h"

#include <string>
#include <string_view>

#include "ptx.h"
#include "words.h"

namespace cpu_device::rewriter {

void UnsupportedFeatures::refuse_ptx(std::size_t i) const {
    std::size_t at = i + 1;
    while (tokens_.identifier_at(at)) ++at;  // volatile, inline, goto
    if (!tokens_.is(at, "(") || tokens_.match(at) == none) return;
    std::string code;
    for (std::size_t k = at + 1; k < tokens_.match(at) && !tokens_.is(k, ":"); ++k) {
        if (tokens_[k].kind != Token::Kind::string) continue;
        const std::string_view literal = tokens_[k].text;
        const std::size_t open = literal.find('"');
        for (std::size_t c = open + 1; c + 1 < literal.size(); ++c) {
            if (literal[c] == '\\' && c + 2 < literal.size()) {
                ++c;
                code += literal[c] == 'n' || literal[c] == 't' ? ' ' : literal[c];
            } else {
                code += literal[c];
            }
        }
    }
    if (code.find_first_not_of(" \n\t") == std::string::npos) return;
    const std::string feature = ptx_feature(code);
    if (!feature.empty()) tokens_.fail(i, "inline PTX is not supported on the CPU device: " + feature);
    if (scopes_.on_device_only(i)) tokens_.fail(i, "inline PTX is not supported on the CPU device: asm in device code");
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
