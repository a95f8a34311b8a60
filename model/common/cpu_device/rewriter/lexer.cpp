#include "lexer.h"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace cpu_device::rewriter {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_identifier_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool is_identifier_character(char c) { return is_identifier_start(c) || is_digit(c); }

// ---- conditions of #if -----------------------------------------------------------------------------------

/// Value of a preprocessor expression; nothing where it depends on what the rewriter does not know.
using Value = std::optional<long long>;

/// Whether a macro is defined while compiling for one side of the CPU device, where that is certain.
std::optional<bool> is_defined(std::string_view macro, Sides side) {
    if (macro == "__CUDA_ARCH__") return side == device_side;
    for (std::string_view known : {"__CUDACC__", "__NVCC__", "__CPU_DEVICE__", "__cplusplus"})
        if (macro == known) return true;
    for (std::string_view known : {"__CUDACC_RTC__", "__INTELLISENSE__"})
        if (macro == known) return false;
    return std::nullopt;
}

/// Evaluates the expression of an `#if` by precedence climbing.
class Condition {
public:
    Condition(const std::vector<Token>& tokens, Sides side) : tokens_(tokens), side_(side) {}

    Value evaluate() {
        Value value = conditional();
        return at_ == tokens_.size() ? value : std::nullopt;
    }

private:
    std::string_view peek() const { return at_ < tokens_.size() ? tokens_[at_].text : std::string_view(); }

    bool accept(std::string_view text) {
        if (peek() != text) return false;
        ++at_;
        return true;
    }

    static constexpr int deepest = 200;  ///< conditions that are nested deeper are taken to be unknown

    Value conditional() {
        const Deeper deeper(depth_);
        if (depth_ > deepest) return give_up();
        Value condition = binary(1);
        if (!accept("?")) return condition;
        Value yes = conditional();
        if (!accept(":")) return give_up();
        Value no = conditional();
        if (!condition) return std::nullopt;
        return *condition ? yes : no;
    }

    struct Operator {
        std::string_view text;
        int precedence = 0;  ///< 0: no operator
        int tokens = 1;
    };

    Operator next_operator() const {
        static constexpr std::array<Operator, 16> operators{{{"||", 1},
                                                             {"&&", 2},
                                                             {"|", 3},
                                                             {"^", 4},
                                                             {"&", 5},
                                                             {"==", 6},
                                                             {"!=", 6},
                                                             {"<", 7},
                                                             {">", 7},
                                                             {"<=", 7},
                                                             {">=", 7},
                                                             {"+", 9},
                                                             {"-", 9},
                                                             {"*", 10},
                                                             {"/", 10},
                                                             {"%", 10}}};
        if ((peek() == "<" || peek() == ">") && at_ + 1 < tokens_.size() && tokens_[at_ + 1].text == peek())
            return {peek() == "<" ? "<<" : ">>", 8, 2};
        for (const Operator& candidate : operators)
            if (candidate.text == peek()) return candidate;
        return {};
    }

    Value binary(int lowest) {
        Value left = unary();
        while (true) {
            const Operator next = next_operator();
            if (next.precedence < lowest || next.precedence == 0) return left;
            at_ += next.tokens;
            left = apply(next.text, left, binary(next.precedence + 1));
        }
    }

    static Value apply(std::string_view operation, Value left, Value right) {
        if (operation == "&&") {
            if ((left && !*left) || (right && !*right)) return 0;
            return left && right ? Value(1) : std::nullopt;
        }
        if (operation == "||") {
            if ((left && *left) || (right && *right)) return 1;
            return left && right ? Value(0) : std::nullopt;
        }
        if (!left || !right) return std::nullopt;
        const long long a = *left, b = *right;
        if (operation == "==") return a == b;
        if (operation == "!=") return a != b;
        if (operation == "<") return a < b;
        if (operation == ">") return a > b;
        if (operation == "<=") return a <= b;
        if (operation == ">=") return a >= b;
        if (operation == "|") return a | b;
        if (operation == "^") return a ^ b;
        if (operation == "&") return a & b;
        if (operation == "+") return wrapped(a) + wrapped(b);
        if (operation == "-") return wrapped(a) - wrapped(b);
        if (operation == "*") return wrapped(a) * wrapped(b);
        const bool divides = b > 0;  // anything else decides no branch in practice
        if (operation == "/" && divides) return a / b;
        if (operation == "%" && divides) return a % b;
        return std::nullopt;
    }

    struct Wrapped {
        unsigned long long bits;
        operator Value() const { return static_cast<long long>(bits); }
        Wrapped operator+(Wrapped other) const { return {bits + other.bits}; }
        Wrapped operator-(Wrapped other) const { return {bits - other.bits}; }
        Wrapped operator*(Wrapped other) const { return {bits * other.bits}; }
    };
    /// For arithmetic that may overflow, as the source of a stranger may have it.
    static Wrapped wrapped(long long value) { return {static_cast<unsigned long long>(value)}; }

    Value unary() {
        const Deeper deeper(depth_);
        if (depth_ > deepest) return give_up();
        if (accept("!")) {
            Value value = unary();
            return value ? Value(!*value) : std::nullopt;
        }
        if (accept("-")) {
            Value value = unary();
            return value ? Value(static_cast<long long>(0ull - static_cast<unsigned long long>(*value))) : std::nullopt;
        }
        if (accept("+")) return unary();
        if (accept("~")) {
            Value value = unary();
            return value ? Value(~*value) : std::nullopt;
        }
        if (accept("(")) {
            Value value = conditional();
            return accept(")") ? value : give_up();
        }
        return primary();
    }

    Value primary() {
        if (at_ >= tokens_.size()) return give_up();
        const Token& token = tokens_[at_++];
        if (token.kind == Token::Kind::number) {
            long long value = 0;
            const char* last = token.text.data() + token.text.size();
            const auto [end, error] = std::from_chars(token.text.data(), last, value);
            const bool decimal = token.text.size() == 1 || token.text[0] != '0';
            for (const char* suffix = end; suffix != last; ++suffix)
                if (std::string_view("uUlL").find(*suffix) == std::string_view::npos) return std::nullopt;
            return error == std::errc() && decimal ? Value(value) : std::nullopt;
        }
        if (token.is("defined")) {
            const bool parenthesis = accept("(");
            if (at_ >= tokens_.size()) return give_up();
            const std::optional<bool> defined = is_defined(tokens_[at_++].text, side_);
            if (parenthesis && !accept(")")) return give_up();
            return defined ? Value(*defined) : std::nullopt;
        }
        if (token.is("true")) return 1;
        if (token.is("false")) return 0;
        if (!token.is_identifier()) return give_up();
        if (peek() == "(") {  // a macro call or __has_include(...)
            int depth = 0;
            do {
                depth += peek() == "(" ? 1 : peek() == ")" ? -1 : 0;
                ++at_;
            } while (depth > 0 && at_ < tokens_.size());
            return std::nullopt;
        }
        const std::optional<bool> defined = is_defined(token.text, side_);
        if (defined && !*defined) return 0;
        if (token.is("__CUDA_ARCH__")) return device_architecture;
        if (token.is("__CUDACC__") || token.is("__NVCC__") || token.is("__CPU_DEVICE__")) return 1;
        return std::nullopt;
    }

    /// Counts how deep the evaluation of one part is in that of others.
    struct Deeper {
        explicit Deeper(int& depth_now) : depth(depth_now) { ++depth; }
        ~Deeper() { --depth; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        int& depth;
    };

    Value give_up() {
        at_ = tokens_.size() + 1;
        return std::nullopt;
    }

    const std::vector<Token>& tokens_;
    Sides side_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

// ---- the lexer -------------------------------------------------------------------------------------------

class Lexer {
public:
    explicit Lexer(std::string_view source) : source_(source) {
        file_.tokens.reserve(source.size() / 5);
        if (source_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
    }

    TokenizedFile run() {
        bool line_start = true;
        while (at_ < source_.size()) {
            if (source_[at_] == '\n') {
                newline();
                line_start = true;
            } else if (skip_space_or_comment()) {
                continue;
            } else if (source_[at_] == '#' && line_start) {
                directive();
            } else {
                line_start = false;
                Token token = next_token();
                token.sides = active();
                if (token.sides != no_side) file_.tokens.push_back(token);
            }
        }
        return std::move(file_);
    }

private:
    /// An `#if` whose `#endif` has not come yet.
    struct Group {
        std::uint8_t outer_active;         ///< sides that may see the group
        std::uint8_t active;               ///< sides that may see the present branch
        std::uint8_t certainly_taken;      ///< sides that certainly compile a branch so far, so not the later ones
        std::uint8_t uncertain = no_side;  ///< sides that may compile a branch so far
    };

    std::uint8_t active() const { return groups_.empty() ? std::uint8_t{both_sides} : groups_.back().active; }

    char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

    void newline() {
        ++at_;
        ++line_;
    }

    /// Length of a backslash and the line end behind it at `at`; 0 when there is none.
    std::size_t splice_at(std::size_t at) const {
        if (at >= source_.size() || source_[at] != '\\') return 0;
        std::size_t end = at + 1;
        while (end < source_.size() && (source_[end] == ' ' || source_[end] == '\t' || source_[end] == '\r')) ++end;
        return end < source_.size() && source_[end] == '\n' ? end + 1 - at : 0;
    }

    bool skip_splice() {
        const std::size_t length = splice_at(at_);
        if (length == 0) return false;
        at_ += length;
        ++line_;
        return true;
    }

    bool skip_space_or_comment() {
        const char c = source_[at_];
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++at_;
            return true;
        }
        if (c == '\\') return skip_splice();
        if (c != '/') return false;
        if (peek(1) == '/') {
            while (at_ < source_.size() && source_[at_] != '\n')
                if (!skip_splice()) ++at_;
            return true;
        }
        if (peek(1) == '*') {
            const std::size_t close = source_.find("*/", at_ + 2);
            const std::size_t end = close == std::string_view::npos ? source_.size() : close + 2;
            skip_to(end);
            return true;
        }
        return false;
    }

    void skip_to(std::size_t end) {
        for (; at_ < end; ++at_)
            if (source_[at_] == '\n') ++line_;
    }

    Token finish(std::size_t begin, int line, Token::Kind kind) const {
        return {source_.substr(begin, at_ - begin), begin, line, kind};
    }

    Token next_token() {
        const std::size_t begin = at_;
        const int line = line_;
        const char c = source_[at_];
        if (is_identifier_start(c)) {
            while (is_identifier_character(peek())) ++at_;
            const std::string_view word = source_.substr(begin, at_ - begin);
            if (peek() == '"' || peek() == '\'') {
                const bool raw = word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
                if (raw && peek() == '"') return raw_string(begin, line);
                if (word == "u8" || word == "u" || word == "U" || word == "L") return quoted(begin, line);
            }
            return finish(begin, line, Token::Kind::identifier);
        }
        if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(begin, line);
        if (c == '"' || c == '\'') return quoted(begin, line);
        static constexpr std::string_view long_punctuators[] = {"->*", "...", "<=>", "::", "->", ".*", "##", "&&",
                                                                "||",  "==",  "!=",  "<=", ">=", "++", "--", "+=",
                                                                "-=",  "*=",  "/=",  "%=", "&=", "|=", "^="};
        std::size_t length = 1;
        for (std::string_view punctuator : long_punctuators)
            if (source_.compare(at_, punctuator.size(), punctuator) == 0) {
                length = punctuator.size();
                break;
            }
        at_ += length;
        return finish(begin, line, Token::Kind::punctuator);
    }

    Token number(std::size_t begin, int line) {
        ++at_;
        while (true) {
            const char c = peek();
            if (is_identifier_character(c) || c == '.') {
                ++at_;
                const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
                if (exponent && (peek() == '+' || peek() == '-')) ++at_;
            } else if (c == '\'' && is_identifier_character(peek(1))) {
                at_ += 2;
            } else {
                return finish(begin, line, Token::Kind::number);
            }
        }
    }

    /// A string or character literal from its opening quote on; one that is not closed ends with its line.
    Token quoted(std::size_t begin, int line) {
        const char quote = source_[at_++];
        while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n') {
            if (skip_splice()) continue;
            at_ += source_[at_] == '\\' && at_ + 1 < source_.size() ? 2 : 1;
        }
        if (peek() == quote) ++at_;
        return finish(begin, line, quote == '"' ? Token::Kind::string : Token::Kind::character);
    }

    Token raw_string(std::size_t begin, int line) {
        const std::size_t open = source_.find('(', at_);
        std::size_t end = source_.size();
        if (open != std::string_view::npos) {
            const std::string close = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
            const std::size_t found = source_.find(close, open + 1);
            if (found != std::string_view::npos) end = found + close.size();
        }
        skip_to(end);
        return finish(begin, line, Token::Kind::string);
    }

    void directive() {
        Directive directive{};
        directive.line = line_;
        directive.position = file_.tokens.size();
        directive.hash = at_;
        directive.sides = active();
        ++at_;
        bool named = false;
        while (at_ < source_.size() && source_[at_] != '\n') {
            if (skip_space_or_comment()) continue;
            const Token token = next_token();
            if (named) {
                directive.tokens.push_back(token);
            } else {
                directive.name = token.text;
                directive.begin = at_;
                named = true;
                if (token.is("include")) {  // its <name> is no sequence of tokens
                    while (at_ < source_.size() && source_[at_] != '\n')
                        if (!skip_splice()) ++at_;
                }
            }
        }
        directive.end = at_;
        if (follow_condition(directive) && active() != no_side) file_.directives.push_back(std::move(directive));
    }

    /// Keeps `groups_` up to date. False for a conditional directive, which is noted here.
    bool follow_condition(Directive& directive) {
        const std::string_view name = directive.name;
        if (name == "if" || name == "ifdef" || name == "ifndef") {
            groups_.push_back({active(), no_side, no_side});
            take_branch(directive, groups_.back());
            return false;
        }
        const bool alternative = name == "else" || name == "elif" || name == "elifdef" || name == "elifndef";
        if (alternative && !groups_.empty()) {
            take_branch(directive, groups_.back());
            return false;
        }
        if (name == "endif" && !groups_.empty()) {
            directive.sides = groups_.back().outer_active;
            groups_.pop_back();
            if (directive.sides != no_side) file_.directives.push_back(directive);
            return false;
        }
        return true;
    }

    /// Works out which sides compile the branch that `directive` begins.
    void take_branch(Directive& directive, Group& group) {
        directive.sides = group.outer_active;
        if (group.outer_active == no_side) return;
        directive.may_take = directive.surely_take = no_side;
        for (const Sides side : {host_side, device_side}) {
            if ((group.outer_active & side) == 0 || (group.certainly_taken & side) != 0) continue;
            const Value value = condition(directive, side);
            if (value == Value(0)) continue;
            directive.may_take |= side;
            // After a branch of which nothing is known, this one is not certain; but what follows is not compiled.
            if (value && (group.uncertain & side) == 0) directive.surely_take |= side;
            if (value) group.certainly_taken |= side;
            if (!value) group.uncertain |= side;
        }
        group.active = directive.may_take;
        file_.directives.push_back(directive);
    }

    static Value condition(const Directive& directive, Sides side) {
        if (directive.name == "else") return 1;
        if (directive.name == "if" || directive.name == "elif") return Condition(directive.tokens, side).evaluate();
        if (directive.tokens.empty()) return std::nullopt;
        const std::optional<bool> defined = is_defined(directive.tokens[0].text, side);
        if (!defined) return std::nullopt;
        const bool negated = directive.name == "ifndef" || directive.name == "elifndef";
        return *defined != negated;
    }

    std::string_view source_;
    std::size_t at_ = 0;
    int line_ = 1;
    std::vector<Group> groups_;
    TokenizedFile file_;
};

}  // namespace

TokenizedFile tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace cpu_device::rewriter
