#include "local_names.h"

#include <array>

#include "words.h"

namespace cpu_device::rewriter {
namespace {

/// Words whose parentheses make a type.
constexpr std::array<std::string_view, 4> type_operators{"decltype", "typeof", "__typeof__", "__attribute__"};

}  // namespace

bool LocalNames::declares(std::size_t head, std::size_t bracket, std::string_view name) {
    look_at(head, bracket);
    return names_.count(name) != 0;
}

bool LocalNames::hides(std::size_t head, std::size_t bracket, std::string_view name) {
    look_at(head, bracket);
    return hiding_names_.count(name) != 0;
}

void LocalNames::look_at(std::size_t head, std::size_t bracket) {
    if (bracket_ == bracket) return;
    bracket_ = bracket;
    names_.clear();
    hiding_names_.clear();
    const std::size_t end = tokens_.match(bracket) == none ? tokens_.size() : tokens_.match(bracket);
    for (std::size_t i = head; i < end; ++i) {
        if (!tokens_.identifier_at(i)) continue;
        if (is_declared_at(i)) names_.insert(tokens_[i].text);
        if (hides_at(i, head)) hiding_names_.insert(tokens_[i].text);
    }
}

/// Whether the name at `i` is declared there, as far as what stands around it tells. `head`: where to look no further
/// back.
bool LocalNames::hides_at(std::size_t i, std::size_t head) const {
    if (i <= head) return false;
    const auto is = [&](std::size_t k, std::string_view text) { return tokens_.is(k, text); };
    if (is(i - 1, "=") || is(i - 1, "::") || is(i - 1, ".") || is(i - 1, "->")) return false;
    if (is(i - 1, ">")) return tokens_.opening_angle(i - 1) != none;  // and no comparison
    if (is(i - 1, "[")) return is(i + 1, "=") || !is(i + 1, "]");     // [name = 1](...), auto [name, other]
    if (is(i - 1, "{") || is(i - 1, ",")) return is_in_list_of_names(i, head);
    if (is(i - 1, "*") || is(i - 1, "&") || is(i - 1, "&&")) {
        std::size_t type = i - 1;  // int* const* name
        while (type > head && (is(type - 1, "*") || is(type - 1, "const"))) --type;
        if (type > head && is(type - 1, ",")) return is_in_list_of_names(i, head);  // int one, *name
        if (type > head && is(type - 1, "::")) return true;                         // int Type::*name
        if (type > head && is(type - 1, ")") && tokens_.match(type - 1) != none && tokens_.match(type - 1) > head)
            return one_of(tokens_[tokens_.match(type - 1) - 1].text, type_operators);  // decltype(other)* name
        if (type == head || !(is(type - 1, ">") || tokens_.identifier_at(type - 1)))
            return !is(i + 1, "=") && is_declared_at(i);  // (*name)(int)
        if (is(type - 1, ">")) return tokens_.opening_angle(type - 1) != none;
        --type;
        if (one_of(tokens_[type].text, expression_keywords)) return false;  // return *name
        if (one_of(tokens_[type].text, builtin_types)) return true;
        while (type > head + 1 && is(type - 1, "::") && tokens_.identifier_at(type - 2)) type -= 2;
        if (type == head) return true;
        const Token& before = tokens_[type - 1];  // `count * name` behind an operator is a product
        return before.is(";") || before.is("{") || before.is("}") || before.is("(") || before.is(",") ||
               before.is(")") || before.is("<") || before.is(":") ||
               (before.is_identifier() && !one_of(before.text, expression_keywords));
    }
    return !is(i + 1, "=") ? is_declared_at(i)
                           : tokens_.identifier_at(i - 1) && !one_of(tokens_[i - 1].text, expression_keywords);
}

/// Whether the name at `i` is one of several that are declared: `int one, name`, `auto [one, name]`, `[one, name = 1]`,
/// `enum { one, name }`. False for arguments and elements.
bool LocalNames::is_in_list_of_names(std::size_t i, std::size_t head) const {
    const auto is = [&](std::size_t k, std::string_view text) { return tokens_.is(k, text); };
    std::size_t begin = i;  // of the list
    while (begin > head && !is(begin - 1, ";") && !is(begin - 1, "{") && !is(begin - 1, "[") && !is(begin - 1, "(")) {
        --begin;
        const bool closes = is(begin, ")") || is(begin, "]") || is(begin, "}");
        if (closes && tokens_.match(begin) != none) begin = tokens_.match(begin);
    }
    if (begin == head) return false;
    const std::size_t open = begin - 1;
    if (is(open, "[")) return is(i + 1, "=") || is(i + 1, ",") || is(i + 1, "]");
    if (is(open, "(") && !(open > head && is(open - 1, "for"))) return false;
    if (is(open, "{"))
        for (std::size_t k = open; k-- > head && open - k < 6 && (tokens_.identifier_at(k) || is(k, ":"));)
            if (is(k, "enum")) return true;
    if (begin == i || !tokens_.identifier_at(begin) || one_of(tokens_[begin].text, expression_keywords)) return false;
    const std::size_t type_end = tokens_.qualified_name_end(begin, i);
    return type_end != none && (tokens_.identifier_at(type_end) || is(type_end, "*") || is(type_end, "&"));
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
