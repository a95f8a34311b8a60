#include "host_uses.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "words.h"

namespace cpu_device::rewriter {
namespace {

/// Operators behind a value. `&` is one of them: what stands in front of it is a variable, and no type.
constexpr std::array<std::string_view, 20> operators_behind{"+", "-", "*", "/", "%",  "==", "!=", "<=",  ">=",  "<",
                                                            ">", "&", "^", "|", "&&", "||", "?",  "<=>", "and", "or"};
/// Operators in front of a value, whatever is in front of them. Not `&` and `&&`, which may take an address or declare
/// a reference, and not `=`, behind which a reference may be initialized.
constexpr std::array<std::string_view, 25> operators_in_front{
    "+", "-",  "*",  "/",  "%",  "==", "!=", "<=", ">=", "^",   "|",   "||", "!",
    "~", "+=", "-=", "*=", "/=", "%=", "^=", "|=", "&=", "<=>", "and", "or"};
constexpr std::array<std::string_view, 8> compound_assignments{"+=", "-=", "*=", "/=", "%=", "^=", "|=", "&="};
constexpr std::array<std::string_view, 8> operators_on_names{"sizeof",   "alignof",    "typeid",      "noexcept",
                                                             "decltype", "__typeof__", "__alignof__", "typeof"};
/// Functions that take their arguments as values.
constexpr std::array<std::string_view, 6> take_values{"printf", "fprintf", "sprintf", "snprintf", "exit", "to_string"};

/// `void Type::function() {`: a name may be that of a member.
bool is_in_member_function(const TokenSequence& tokens, const Scopes& scopes) {
    for (const OpenBracket& open : scopes.open()) {
        if (!open.begins_function || open.is_lambda) continue;
        for (std::size_t k = open.head; k < open.at; ++k)
            if (tokens.is(k, "(")) {
                if (k >= 2 && tokens.is(k - 2, "::")) return true;
                break;
            }
    }
    return false;
}

/// A macro may do anything with its arguments.
bool is_in_macro_call(std::size_t name, const TokenSequence& tokens, const Scopes& scopes) {
    for (const OpenBracket& open : scopes.open())
        if (open.bracket == "(" && open.at > 0 && tokens.identifier_at(open.at - 1) &&
            tokens.source().program.macros.count(tokens[open.at - 1].text) != 0)
            return true;
    return tokens.source().program.macros.count(tokens[name].text) != 0;
}

/// The name of a variable with its subscripts and members, in host code.
class HostName {
public:
    HostName(std::size_t i, const TokenSequence& tokens, Scopes& scopes)
        : tokens_(tokens), scopes_(scopes), name_(i), begin_(i), end_(i + 1) {
        while (begin_ >= 2 && tokens_.is(begin_ - 1, "::") && is_scope_name(begin_ - 2)) begin_ -= 2;
        if (begin_ >= 1 && tokens_.is(begin_ - 1, "::")) --begin_;
        for (bool goes_on = true; goes_on;) {
            if (tokens_.is(end_, "[") && tokens_.match(end_) != none) {
                if (!has_member_) ++subscripts_;
                end_ = tokens_.match(end_) + 1;
            } else if ((tokens_.is(end_, ".") || tokens_.is(end_, "->")) && tokens_.identifier_at(end_ + 1)) {
                has_member_ = true;
                end_ += 2;
            } else {
                goes_on = false;
            }
        }
    }

    /// How it is used, if it is surely used.
    std::optional<HostUse> use() {
        if (begin_ == 0 || end_ >= tokens_.size() || !may_be_used()) return std::nullopt;
        const bool writes = is_written();
        if (!writes && !is_read()) return std::nullopt;
        if (!is_of_namespace_in(host_side)) return std::nullopt;
        const Token& token = tokens_[name_];
        return HostUse{std::string(token.text),
                       scope(),
                       tokens_[begin_].begin,
                       token.end(),
                       tokens_.site(name_),
                       subscripts_,
                       writes};
    }

    /// The write, if it surely is one, in device code, to all of a variable.
    std::optional<NamedWrite> write_in_device_code() {
        if (begin_ == 0 || end_ >= tokens_.size() || end_ != name_ + 1) return std::nullopt;
        if (!may_be_used() || !is_written()) return std::nullopt;
        if (!is_of_namespace_in(device_side)) return std::nullopt;
        return NamedWrite{std::string(tokens_[name_].text), scope(), tokens_[name_].line};
    }

private:
    bool is(std::size_t i, std::string_view text) const { return tokens_.is(i, text); }

    std::string scope() const { return std::string(name_ - begin_ >= 2 ? tokens_[name_ - 2].text : ""); }

    /// Whether code of this side surely means something at namespace scope. Costs more than the other questions.
    bool is_of_namespace_in(std::uint8_t side) {
        if (scopes_.certain_sides(name_) != side || scopes_.is_unevaluated() ||
            is_in_macro_call(name_, tokens_, scopes_))
            return false;
        return begin_ != name_ || (!is_in_member_function(tokens_, scopes_) && !scopes_.hides(tokens_[name_].text));
    }

    bool is_scope_name(std::size_t i) const {
        return tokens_.identifier_at(i) && !one_of(tokens_[i].text, expression_keywords);
    }

    /// False where another name is meant, or only the name's type or address.
    bool may_be_used() const {
        const Token& before = tokens_[begin_ - 1];
        if (before.is(".") || before.is("->") || before.is("::") || before.is("&") || before.is("#")) return false;
        if (before.is_identifier() && !is_operator_word(begin_ - 1)) return false;
        if (is(end_, "(") || is(end_, "::") || is(end_, ".*") || is(end_, "->*")) return false;
        if (is(end_, "<") && has_member_) {  // a member that is a template
            const std::size_t close = tokens_.closing_angle(end_, tokens_.size());
            if (close != none && is(close + 1, "(")) return false;
        }
        std::size_t at = begin_;  // sizeof *name, sizeof -name
        while (at > 0 && (is(at - 1, "*") || is(at - 1, "-") || is(at - 1, "!") || is(at - 1, "~"))) --at;
        return at == 0 || !one_of(tokens_[at - 1].text, operators_on_names);
    }

    bool is_operator_word(std::size_t i) const {
        const std::string_view word = tokens_[i].text;
        return word == "return" || word == "else" || word == "do" || word == "and" || word == "or" || word == "not";
    }

    // ---- written

    bool is_written() const {
        if (is(begin_ - 1, "++") || is(begin_ - 1, "--") || is(end_, "++") || is(end_, "--")) return true;
        if (end_ < tokens_.size() && one_of(tokens_[end_].text, compound_assignments)) return true;
        const bool shifts = (is(end_, "<") && is(end_ + 1, "<=")) || (is(end_, ">") && is(end_ + 1, ">="));
        if (shifts && tokens_[end_].end() == tokens_[end_ + 1].begin) return true;
        if (!is(end_, "=")) return false;
        if (scopes_.begins_statement(begin_)) return true;
        // After a comma a variable may be declared, and a parameter gets its default.
        return is(begin_ - 1, ":") || is(begin_ - 1, "=") || is(begin_ - 1, "||") ||
               (is(begin_ - 1, "(") && begin_ >= 2 &&
                (is(begin_ - 2, "(") || is(begin_ - 2, "if") || is(begin_ - 2, "while") || is(begin_ - 2, "for")));
    }

    // ---- read

    bool is_read() const {
        if (is(begin_ - 1, "*") && is(end_, "=") && !scopes_.begins_statement(begin_ - 1)) return false;
        if (is(begin_ - 1, "&&")) {
            if (!ends_operand(begin_ - 2)) return false;
        } else if (is(begin_ - 1, "<") || is(begin_ - 1, ">")) {
            if (is_behind_angle()) return true;
        } else if (one_of(tokens_[begin_ - 1].text, operators_in_front) || is(begin_ - 1, "not")) {
            return true;
        }
        if (is(end_, "<") && is(end_ + 1, "<") && is(end_ + 2, "<")) return false;        // the launch of a kernel
        if (is(end_, ">") && (is(begin_ - 1, "<") || is(begin_ - 1, ","))) return false;  // a template argument
        if (one_of(tokens_[end_].text, operators_behind)) return true;
        if (is(begin_ - 1, "&&")) return true;
        if (is(begin_ - 1, "=")) return initializes_value();
        if (is(begin_ - 1, "return")) return is(end_, ";") && returns_value();
        if (is(begin_ - 1, "[")) return is(end_, "]") && ends_operand(begin_ - 2);
        if (is(begin_ - 1, ";")) return is(end_, ";") && scopes_.in_parentheses();
        if (is(begin_ - 1, ")")) return is_cast(begin_ - 1);
        if (is(begin_ - 1, "{")) return is(end_, "}") && declares_number(begin_ - 1);
        if (is(begin_ - 1, "(") && is(end_, ")") && is_alone_in_parentheses()) return true;
        return (is(begin_ - 1, "(") || is(begin_ - 1, ",")) && (is(end_, ",") || is(end_, ")")) && is_passed_as_value();
    }

    /// Behind `<` or `>`: compares, or is put into a stream. Not where template arguments may begin.
    bool is_behind_angle() const {
        if (is(begin_ - 1, "<") && is(begin_ - 2, "<")) return !is(begin_ - 3, "<") || is(end_, ",");
        if (is(begin_ - 1, ">") && is(begin_ - 2, ">")) return false;  // std::cin >> name
        return is(end_, ")") || is(end_, ";");
    }

    /// Whether the token at `i` is the last one of an expression, so that an operator behind it has two operands.
    bool ends_operand(std::size_t i) const {
        if (i >= tokens_.size()) return false;
        const Token& token = tokens_[i];
        if (token.is_identifier()) return !is_operator_word(i) && !one_of(token.text, builtin_types);
        return token.kind != Token::Kind::punctuator || token.is(")") || token.is("]");
    }

    /// Whether the `=` in front sets a value, and neither a reference nor a member by its name.
    bool initializes_value() const {
        if (!is(end_, ";") && !is(end_, ",") && !is(end_, ")")) return false;
        std::size_t at = begin_ - 1;
        while (at > 0) {
            const Token& token = tokens_[at - 1];
            if (token.is("&") || token.is("&&") || token.is("using")) return false;
            if (token.is(";") || token.is("{") || token.is("}") || token.is("(") || token.is("[") || token.is(","))
                break;
            --at;
            if ((token.is(")") || token.is("]")) && tokens_.match(at) != none) at = tokens_.match(at);
        }
        return !is(at, ".");
    }

    /// Whether the function around it returns a number.
    bool returns_value() const {
        const OpenBracket* function = nullptr;
        for (const OpenBracket& open : scopes_.open()) {
            if (open.is_plain_lambda || open.is_lambda) return false;
            if (open.begins_function) function = &open;
        }
        if (function == nullptr) return false;
        bool is_number = false;
        for (std::size_t k = function->head; k < function->at && !is(k, "("); ++k) {
            if (is(k, "&") || is(k, "auto") || is(k, "decltype")) return false;
            is_number = is_number || one_of(tokens_[k].text, builtin_types);
        }
        return is_number;
    }

    bool holds_number_type(std::size_t begin, std::size_t end) const {
        bool is_number = false;
        for (std::size_t k = begin; k < end; ++k) {
            if (is_number_type(k)) {
                is_number = true;
            } else if (!is(k, "const")) {
                return false;
            }
        }
        return is_number;
    }

    bool is_number_type(std::size_t i) const {
        return i < tokens_.size() && !is(i, "void") && !is(i, "auto") && one_of(tokens_[i].text, builtin_types);
    }

    /// `(float)`, which ends at `close`.
    bool is_cast(std::size_t close) const {
        const std::size_t open = tokens_.match(close);
        return open != none && holds_number_type(open + 1, close) &&
               (open == 0 || !one_of(tokens_[open - 1].text, operators_on_names));
    }

    /// `int x` in front of the bracket at `open`.
    bool declares_number(std::size_t open) const {
        return open >= 2 && tokens_.identifier_at(open - 1) && !one_of(tokens_[open - 1].text, builtin_types) &&
               is_number_type(open - 2);
    }

    /// `if (name)`, `float(name)`, `static_cast<float>(name)`, `int x(name)`
    bool is_alone_in_parentheses() const {
        const std::size_t open = begin_ - 1;
        if (open == 0) return false;
        if (is(open - 1, "if") || is(open - 1, "while") || is(open - 1, "switch") || declares_number(open)) return true;
        if (is_number_type(open - 1))  // `int(name);` declares a variable
            return open >= 2 && tokens_[open - 2].kind == Token::Kind::punctuator &&
                   !scopes_.begins_statement(open - 1);
        if (!is(open - 1, ">")) return false;
        const std::size_t angle = tokens_.opening_angle(open - 1);
        return angle != none && angle >= 1 && is(angle - 1, "static_cast") && holds_number_type(angle + 1, open - 1);
    }

    /// An argument of a kernel, or of a function that is known to take values.
    bool is_passed_as_value() const {
        if (!scopes_.in_parentheses() || scopes_.open().back().bracket != "(") return false;
        const std::size_t open = scopes_.open().back().at;
        if (open < 3) return false;
        if (is(open - 1, ">") && is(open - 2, ">") && is(open - 3, ">")) return true;
        return one_of(tokens_[open - 1].text, take_values) && !is(open - 2, ".") && !is(open - 2, "->");
    }

    const TokenSequence& tokens_;
    Scopes& scopes_;
    std::size_t name_;   ///< the last one of a qualified name
    std::size_t begin_;  ///< of the qualified name
    std::size_t end_;    ///< after subscripts and members
    std::size_t subscripts_ = 0;
    bool has_member_ = false;
};

}  // namespace

void note_host_use(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis) {
    if (scopes.scope() != Scope::code || tokens.in_macro() || tokens.is(i + 1, "::")) return;
    if (std::optional<HostUse> use = HostName(i, tokens, scopes).use()) analysis.host_uses.push_back(std::move(*use));
}

void note_use_in_device_code(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis) {
    const std::string_view name = tokens[i].text;
    if (analysis.host_variables.count(name) == 0 || scopes.scope() != Scope::code) return;
    if (scopes.certain_sides(i) != device_side || scopes.is_unevaluated()) return;
    const bool is_global = i > 0 && tokens.is(i - 1, "::");
    const bool is_qualified = is_global && i > 1 && tokens.identifier_at(i - 2);
    if (i == 0 || is_qualified || tokens.is(i - 1, ".") || tokens.is(i - 1, "->")) return;
    if (tokens.is(i + 1, "(") || tokens.is(i + 1, "::") || one_of(tokens[i - 1].text, operators_on_names)) return;
    if (tokens.is(i - 1, "(") && i > 1 && one_of(tokens[i - 2].text, operators_on_names)) return;
    if (is_in_macro_call(i, tokens, scopes)) return;
    if (!is_global && (is_in_member_function(tokens, scopes) || scopes.hides(name))) return;
    analysis.uses_in_device_code.push_back({std::string(name), tokens[i].line});
}

void note_write_in_device_code(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis) {
    if (scopes.scope() != Scope::code || tokens.in_macro() || tokens.is(i + 1, "::") || !scopes.device_only()) return;
    if (auto write = HostName(i, tokens, scopes).write_in_device_code())
        analysis.writes_in_device_code.push_back(std::move(*write));
}

void redirect_host_uses(const Analysis& analysis, const std::vector<const Analysis*>& visible,
                        std::vector<Edit>& edits) {
    if (analysis.host_uses.empty()) return;
    std::map<std::string_view, std::vector<const DeviceVariableName*>> variables;
    for (const Analysis* file : visible)
        for (const DeviceVariableName& variable : file->device_variables) variables[variable.name].push_back(&variable);
    for (const HostUse& use : analysis.host_uses) {
        const auto found = variables.find(use.name);
        if (found == variables.end()) continue;
        const std::size_t dimensions = found->second.front()->dimensions;
        const bool is_certain =
            std::all_of(found->second.begin(), found->second.end(), [&](const DeviceVariableName* variable) {
                return !variable->is_for_host && variable->dimensions == dimensions &&
                       (use.scope.empty() || variable->namespaces.count(use.scope) != 0);
            });
        if (!is_certain || use.subscripts < dimensions) continue;
        edits.push_back({use.begin, use.begin,
                         std::string("::cpu_device::host_copy<") + (dimensions > 0 ? "true" : "false") + ">("});
        // In front of what an edit of a launch puts there in place of what follows.
        edits.push_back(
            {use.end, use.end, std::string(", ") + (use.writes ? "true" : "false") + ", " + use.site + ")", true});
    }
}

}  // namespace cpu_device::rewriter
