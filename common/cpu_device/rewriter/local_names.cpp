#include "local_names.h"

#include "words.h"

namespace cpu_device::rewriter {

bool LocalNames::declares(std::size_t head, std::size_t bracket, std::string_view name) {
    if (bracket_ != bracket) {
        bracket_ = bracket;
        names_.clear();
        const std::size_t end = tokens_.match(bracket) == none ? tokens_.size() : tokens_.match(bracket);
        for (std::size_t i = head; i < end; ++i)
            if (tokens_.identifier_at(i) && is_declared_at(i)) names_.insert(tokens_[i].text);
    }
    return names_.count(name) != 0;
}

/// Whether the name at `i` may stand there to be declared, and not to be used.
bool LocalNames::is_declared_at(std::size_t i) const {
    if (i == 0) return false;
    if (tokens_.is(i + 1, "=") || tokens_.is(i - 1, ">") || tokens_.is(i - 1, "...")) return true;
    const auto may_be_type = [&](std::size_t k) {
        return tokens_.is(k, ">") || (tokens_.identifier_at(k) && !one_of(tokens_[k].text, expression_keywords));
    };
    if (tokens_.identifier_at(i - 1)) return may_be_type(i - 1) && !tokens_.is(i - 1, "template");
    if (i == 1) return false;
    if (tokens_.is(i - 1, "*"))
        return tokens_.is(i - 2, "(") || tokens_.is(i - 2, "*") || tokens_.is(i - 2, "::") || may_be_type(i - 2);
    if (tokens_.is(i - 1, "&") || tokens_.is(i - 1, "&&"))
        return may_be_type(i - 2) || (tokens_.is(i - 2, "(") && tokens_.is(i + 1, ")") && tokens_.is(i + 2, "("));
    std::size_t at = i;  // auto& [name, kernel]
    while (at > 0 && (tokens_.identifier_at(at) || tokens_.is(at, ","))) --at;
    if (!tokens_.is(at, "[") || at == 0) return false;
    if (tokens_.is(at - 1, "&") || tokens_.is(at - 1, "&&")) --at;
    return at > 0 && tokens_.is(at - 1, "auto");
}

}  // namespace cpu_device::rewriter
