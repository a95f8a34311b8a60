#include "scopes.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "words.h"

namespace cpu_device::rewriter {

void Scopes::open_bracket(std::size_t i) {
    OpenBracket open{tokens_[i].text,           scope(), sides(), false, false, false, i, state_.head,
                     state_.shared_names.size()};
    if (tokens_.is(i, "{")) {
        classify_brace(i, open);
        state_.head = i + 1;
    }
    state_.open.push_back(open);
}

std::optional<OpenBracket> Scopes::close_bracket(std::size_t i) {
    const std::string_view opener = tokens_.is(i, ")") ? "(" : tokens_.is(i, "]") ? "[" : "{";
    std::size_t depth = state_.open.size();
    while (depth > 0 && state_.open[depth - 1].bracket != opener) {
        if (opener != "{") return std::nullopt;
        --depth;
    }
    if (depth == 0) return std::nullopt;
    const OpenBracket closed = state_.open[depth - 1];
    state_.open.resize(depth - 1);
    state_.shared_names.resize(closed.shared_names);
    if (opener != "{") return closed;
    static constexpr std::array<std::string_view, 8> going_on{",", ")", "]", ".", "(", "{", ";", "}"};
    const bool initializer = i + 1 < tokens_.size() && one_of(tokens_[i + 1].text, going_on);
    const bool goes_on = initializer && !tokens_.is(i + 1, "}") && (!tokens_.is(i + 1, "{") || scope() != Scope::code);
    state_.head = goes_on || in_parentheses() ? closed.head : i + 1;
    return closed;
}

void Scopes::end_statement(std::size_t i) {
    if (!in_parentheses()) state_.head = i + 1;
}

void Scopes::follow_condition(const Directive& directive) {
    if (!directive.is_conditional()) return;
    if (directive.name == "endif") {
        if (!saved_states_.empty()) saved_states_.pop_back();
    } else if (directive.is_alternative()) {
        if (saved_states_.empty()) return;
        const auto& [position, state] = saved_states_.back();
        state_ = state;
        if (state.head == position) state_.head = directive.position;  // each branch begins a declaration of its own
    } else {
        saved_states_.emplace_back(directive.position, state_);
    }
}

Scope Scopes::scope() const {
    if (!state_.open.empty()) return state_.open.back().scope;
    return tokens_.in_macro() ? Scope::code : Scope::name_space;
}

bool Scopes::begins_statement(std::size_t i) const {
    if (i == 0 || scope() != Scope::code || in_parentheses()) return false;
    if (tokens_.is(i - 1, ";") || tokens_.is(i - 1, "{") || tokens_.is(i - 1, "}") || tokens_.is(i - 1, "else") ||
        tokens_.is(i - 1, "do"))
        return true;
    if (!tokens_.is(i - 1, ")") || tokens_.match(i - 1) == none || tokens_.match(i - 1) == 0) return false;
    const std::size_t before = tokens_.match(i - 1) - 1;
    return tokens_.is(before, "if") || tokens_.is(before, "for") || tokens_.is(before, "while") ||
           tokens_.is(before, "constexpr");
}

bool Scopes::is_unevaluated() const {
    static constexpr std::array<std::string_view, 7> operators{"decltype", "sizeof", "noexcept",  "requires",
                                                               "alignof",  "typeid", "__typeof__"};
    return std::any_of(state_.open.begin(), state_.open.end(), [&](const OpenBracket& open) {
        return open.at > 0 && open.bracket != "[" && one_of(tokens_[open.at - 1].text, operators);
    });
}

std::uint8_t Scopes::certain_sides(std::size_t i) const {
    const OpenBracket* function = nullptr;
    for (const OpenBracket& open : state_.open) {
        if (open.begins_function) function = &open;
        if (open.is_plain_lambda || open.scope == Scope::type) {
            if (function == nullptr || (function->sides & device_side) == 0) return no_side;
        }
    }
    if (tokens_.in_macro() || function == nullptr || sides() == both_sides) return no_side;
    for (std::size_t k = function->head; k < function->at && !function->is_lambda; ++k)
        if (!has_clear_meaning(k)) return no_side;
    // Of a template that nobody uses for the host, nvcc says nothing.
    const auto is_template = [&](const OpenBracket& open) {
        for (std::size_t k = open.head; k < open.at; ++k)
            if (tokens_.is(k, "template")) return true;
        return false;
    };
    if (sides() == host_side && std::any_of(state_.open.begin(), state_.open.end(), is_template)) return no_side;
    return tokens_[i].sides & sides();
}

DeclarationHead Scopes::read_head(std::size_t begin, std::size_t end) const {
    static constexpr std::array<std::string_view, 6> no_parameters{"decltype",          "noexcept",         "explicit",
                                                                   "__launch_bounds__", "__cluster_dims__", "requires"};
    DeclarationHead head;
    head.linkage = end - begin >= 2 && tokens_.is(end - 2, "extern") && tokens_[end - 1].kind == Token::Kind::string;
    for (std::size_t i = begin; i < end; ++i) {
        const Token& token = tokens_[i];
        if (token.is("(") || token.is("[")) {
            const bool attribute = i > begin && (one_of(tokens_[i - 1].text, no_parameters) ||
                                                 one_of(tokens_[i - 1].text, attribute_words));
            if (token.is("(") && !attribute) {
                if (!head.function && i > begin && tokens_[i - 1].is_identifier()) head.name = i - 1;
                head.function = true;
            }
            if (tokens_.match(i) != none && tokens_.match(i) < end) i = tokens_.match(i);
        } else if (token.is("{")) {
            if (tokens_.match(i) != none && tokens_.match(i) < end) i = tokens_.match(i);
        } else if (token.is("<") && i > begin && tokens_[i - 1].is_identifier() && !tokens_.is(i - 1, "operator")) {
            const std::size_t close = tokens_.closing_angle(i, end);
            if (close != none) i = close;
        } else if (token.is("namespace")) {
            head.name_space = true;
        } else if (one_of(token.text, class_keys)) {
            if (head.function && holds_only_invocations(begin, i)) head = {};
            head.type = true;
        } else if (token.is("=") && !tokens_.is(i - 1, "operator")) {
            head.assigned = true;
        } else if (token.is_identifier()) {
            head.sides |= sides_of(token.text, tokens_.source().program);
            head.constant = head.constant || token.is("constexpr") || token.is("consteval");
        }
    }
    return head;
}

std::uint8_t Scopes::sides_of_function(const DeclarationHead& head) const {
    if (head.sides != no_side) return head.sides;
    if (head.constant) return both_sides;
    if (head.name == none) return host_side;
    return tokens_.source().program.functions.count(tokens_[head.name].text) != 0 ? both_sides : host_side;
}

bool Scopes::has_clear_meaning(std::size_t k) const {
    if (!tokens_.identifier_at(k)) return true;
    const std::string_view word = tokens_[k].text;
    if (tokens_.source().program.macros.count(word) != 0 || word.substr(0, 2) == "__") return true;
    return std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0; }) ||
           word.size() == 1;
}

const OpenBracket* Scopes::outermost_code() const {
    const auto around = std::find_if(state_.open.begin(), state_.open.end(), [](const OpenBracket& open) {
        return open.bracket != "{" || open.scope != Scope::name_space;
    });
    return around != state_.open.end() ? &*around : nullptr;
}

bool Scopes::is_local_name(std::string_view name) {
    const OpenBracket* around = outermost_code();
    return around != nullptr && local_names_.declares(around->head, around->at, name);
}

bool Scopes::hides(std::string_view name) {
    const OpenBracket* around = outermost_code();
    return around != nullptr && local_names_.hides(around->head, around->at, name);
}

void Scopes::classify_brace(std::size_t i, OpenBracket& open) const {
    open.scope = Scope::code;
    if (in_parentheses() || scope() == Scope::code) {
        if (!in_parentheses() && state_.head < i && one_of(tokens_[state_.head].text, class_keys)) {
            const DeclarationHead head = read_head(state_.head, i);
            if (!head.function && !head.assigned) open.scope = Scope::type;
        }
        classify_lambda(i, open);
        if (open.scope == Scope::type && open.sides == host_side) open.sides = both_sides;
        return;
    }
    const DeclarationHead head = read_head(state_.head, i);
    if (head.linkage || head.name_space) {
        open.scope = Scope::name_space;
    } else if (head.type && !head.function && !head.assigned) {
        open.scope = Scope::type;
    } else if (head.function && !head.assigned) {
        if (!in_device_function()) {
            open.sides = sides_of_function(head);
            // `A() : a{1}, b{2} {}`: only the last braces are the function's.
            const bool of_member = tokens_.match(i) != none &&
                                   (tokens_.is(tokens_.match(i) + 1, ",") || tokens_.is(tokens_.match(i) + 1, "{"));
            open.begins_function = !of_member;
        } else if (head.sides == device_side) {
            open.sides = device_side;
        }
    } else if (!in_device_function()) {
        if (head.sides == device_side) open.sides = device_side;
        classify_lambda(i, open);
    }
}

void Scopes::classify_lambda(std::size_t i, OpenBracket& open) const {
    bool is_lambda = false;
    const std::uint8_t lambda = lambda_sides(i, &is_lambda);
    open.is_plain_lambda = is_lambda && lambda == no_side;
    if (lambda == no_side) return;
    if (in_device_function()) {
        if (lambda == device_side) open.sides = device_side;
        return;
    }
    open.sides = lambda;
    open.begins_function = open.is_lambda = true;
}

/// The sides that the qualifiers of the `[...] __device__ (...) {` name whose body opens at `i`; no side when there
/// are none.
std::uint8_t Scopes::lambda_sides(std::size_t i, bool* is_lambda) const {
    if (is_lambda != nullptr) *is_lambda = false;
    std::size_t at = i;
    for (int steps = 0; at > 0 && steps < 16 && !tokens_.is(at - 1, ")") && !tokens_.is(at - 1, "]"); ++steps) {
        --at;
        if (!tokens_.identifier_at(at) && !tokens_.is(at, "->") && !tokens_.is(at, "::") && !tokens_.is(at, "*") &&
            !tokens_.is(at, "&"))
            return no_side;
    }
    if (at == 0) return no_side;
    std::uint8_t sides = no_side;
    if (tokens_.is(at - 1, ")")) {
        if (tokens_.match(at - 1) == none) return no_side;
        for (at = tokens_.match(at - 1); at > 0 && tokens_.identifier_at(at - 1); --at)
            sides |= sides_of(tokens_[at - 1].text, tokens_.source().program);
    }
    if (at == 0 || !tokens_.is(at - 1, "]") || tokens_.match(at - 1) == none) return no_side;
    const std::size_t bracket = tokens_.match(at - 1);  // of captures, and not of an index or an array's bound
    const bool index =
        bracket > 0 &&
        (tokens_.is(bracket - 1, ")") || tokens_.is(bracket - 1, "]") ||
         (tokens_.identifier_at(bracket - 1) && !one_of(tokens_[bracket - 1].text, expression_keywords)));
    if (index) return no_side;
    if (is_lambda != nullptr) *is_lambda = true;
    return sides;
}

/// Whether a function around the present token may run on the device.
bool Scopes::in_device_function() const {
    if (tokens_.in_macro()) return true;
    return std::any_of(state_.open.begin(), state_.open.end(),
                       [](const OpenBracket& open) { return open.begins_function && (open.sides & device_side) != 0; });
}

/// True for `CASES(sin) CASES(cos)`: macros that are used without a semicolon, before a declaration.
bool Scopes::holds_only_invocations(std::size_t begin, std::size_t end) const {
    while (begin < end) {
        if (!tokens_[begin].is_identifier() || !tokens_.is(begin + 1, "(") || tokens_.match(begin + 1) == none)
            return false;
        begin = tokens_.match(begin + 1) + 1;
    }
    return begin == end;
}

}  // namespace cpu_device::rewriter
