#include "brackets.h"

#include <algorithm>
#include <vector>

#include "token_sequence.h"

namespace cpu_device::rewriter {
namespace {

/// A pair of braces, or one that lacks the other.
struct Braces {
    std::size_t open = none;
    std::size_t close = none;
};

class Search {
public:
    Search(std::string_view source, const TokenizedFile& file) : source_(source), tokens_(file.tokens), file_(file) {}

    std::optional<BracketMistake> run() {
        match_.assign(tokens_.size(), none);
        std::size_t directive = 0;
        for (std::size_t i = 0; i <= tokens_.size(); ++i) {
            for (; directive < file_.directives.size() && file_.directives[directive].position <= i; ++directive)
                if (!follow(file_.directives[directive])) return std::nullopt;
            if (i == tokens_.size()) break;
            if (tokens_[i].kind == Token::Kind::punctuator && tokens_[i].text.size() == 1) take(i);
            if (mistake_) break;
        }
        if (inside_conditional_ && mistake_) return std::nullopt;
        if (mistake_ || !open_.empty())  // brackets may be missing because a string swallowed them
            if (auto unclosed = unclosed_literal()) return unclosed;
        if (mistake_) return mistake_;
        if (open_.empty()) return std::nullopt;
        if (character(open_.back()) != '{') return unclosed(open_.back());
        return unclosed(forgotten(open_.back()));
    }

private:
    char character(std::size_t i) const { return tokens_[i].text[0]; }

    void take(std::size_t i) {
        const char c = character(i);
        if (c == '(' || c == '[' || c == '{') return open_.push_back(i);
        if (c != ')' && c != ']' && c != '}') return;
        const char opener = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (!open_.empty() && character(open_.back()) == opener) {
            match_[open_.back()] = i;
            match_[i] = open_.back();
            pairs_.push_back({open_.back(), i});
            if (opener != '{') pairs_.pop_back();
            open_.pop_back();
            return;
        }
        inside_conditional_ =
            std::any_of(saved_.begin(), saved_.end(), [](const Condition& one) { return !one.certain; });
        if (!open_.empty() && character(open_.back()) != '{') {
            mistake_ = unclosed(open_.back());
        } else if (c != '}') {
            mistake_ = {tokens_[i].line, "this '" + std::string(1, c) + "' closes nothing: there is no '" +
                                             std::string(1, opener) + "' for it"};
        } else {
            const std::size_t extra = one_too_many(i);
            mistake_ = {tokens_[extra].line, "this '}' closes nothing: a '{' is missing, or it is one '}' too many"};
        }
    }

    std::optional<BracketMistake> unclosed_literal() const {
        for (const Token& token : tokens_) {
            if (token.kind != Token::Kind::string && token.kind != Token::Kind::character) continue;
            const std::size_t open = token.text.find_first_of("\"'");
            const bool raw = open > 0 && token.text[open - 1] == 'R';
            if (raw || (token.text.size() > open + 1 && token.text.back() == token.text[open])) continue;
            const std::string quote(1, token.text[open]);
            return BracketMistake{token.line, "this " + quote + " is never closed: another " + quote + " is missing"};
        }
        return std::nullopt;
    }

    BracketMistake unclosed(std::size_t open) const {
        const std::string closer = character(open) == '(' ? ")" : character(open) == '[' ? "]" : "}";
        return {tokens_[open].line,
                "this '" + std::string(tokens_[open].text) + "' is never closed: a '" + closer + "' is missing"};
    }

    /// False when a branch of a conditional opens or closes brackets for what is outside of it. One that is certainly
    /// compiled, such as `#ifdef __cplusplus`, is like any other code.
    bool follow(const Directive& directive) {
        const std::string_view name = directive.name;
        if (name == "if" || name == "ifdef" || name == "ifndef") {
            saved_.push_back({open_, directive.surely_take == both_sides});
            return true;
        }
        const bool end = name == "endif";
        if (saved_.empty() || (!end && name != "else" && name.substr(0, 4) != "elif")) return true;
        const bool as_before = saved_.back().certain || open_ == saved_.back().before;
        if (!saved_.back().certain) open_ = saved_.back().before;
        if (end) saved_.pop_back();
        return as_before;
    }

    std::size_t indentation_of_line_at(std::size_t offset) const {
        const std::size_t end = offset == 0 ? std::string_view::npos : source_.rfind('\n', offset - 1);
        std::size_t at = end == std::string_view::npos ? 0 : end + 1, column = 0;
        for (; at < offset && (source_[at] == ' ' || source_[at] == '\t'); ++at)
            column = source_[at] == '\t' ? column / 8 * 8 + 8 : column + 1;
        return column;
    }

    bool is_first_on_line(std::size_t i) const { return i == 0 || tokens_[i - 1].line != tokens_[i].line; }

    /// Where the statement or declaration begins whose brace is at `open`.
    std::size_t statement_begin(std::size_t open) const {
        std::size_t i = open;
        while (i > 0) {
            const Token& before = tokens_[i - 1];
            if (before.is(";") || before.is("{") || before.is("}")) break;
            if ((before.is(")") || before.is("]")) && match_[i - 1] != none) {
                i = match_[i - 1];
            } else {
                --i;
            }
        }
        return i;
    }

    struct Indentation {
        std::size_t least, most, close;
    };

    Indentation indentation(const Braces& pair) const {
        const std::size_t brace = indentation_of_line_at(tokens_[pair.open].begin);
        const std::size_t begin = indentation_of_line_at(tokens_[statement_begin(pair.open)].begin);
        return {std::min(brace, begin), std::max(brace, begin), indentation_of_line_at(tokens_[pair.close].begin)};
    }

    /// The brace behind which the author forgot a `}`, when `open` is the one that is left: the first pair inside whose
    /// `}` stands further left than its `{`.
    std::size_t forgotten(std::size_t open) const {
        for (const Braces& pair : pairs_) {
            if (pair.open < open || !is_first_on_line(pair.close)) continue;
            const Indentation columns = indentation(pair);
            if (columns.close < columns.least) return pair.open;
        }
        return open;
    }

    /// The `}` that the author wrote once too often, when the one at `close` is left.
    std::size_t one_too_many(std::size_t close) const {
        for (const Braces& pair : pairs_) {
            if (!is_first_on_line(pair.close) || tokens_[pair.close].line == tokens_[pair.open].line) continue;
            const Indentation columns = indentation(pair);
            if (columns.close > columns.most) return pair.close;
        }
        return close;
    }

    /// An `#if` whose `#endif` has not come yet.
    struct Condition {
        std::vector<std::size_t> before;  ///< what was open in front of it
        bool certain;                     ///< its first branch is compiled, and no other
    };

    std::string_view source_;
    const std::vector<Token>& tokens_;
    const TokenizedFile& file_;
    std::vector<std::size_t> match_;
    std::vector<std::size_t> open_;
    std::vector<Braces> pairs_;
    std::vector<Condition> saved_;
    std::optional<BracketMistake> mistake_;
    bool inside_conditional_ = false;
};

}  // namespace

std::optional<BracketMistake> find_bracket_mistake(std::string_view source, const TokenizedFile& file) {
    return Search(source, file).run();
}

}  // namespace cpu_device::rewriter
