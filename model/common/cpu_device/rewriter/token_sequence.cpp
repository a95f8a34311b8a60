#include "token_sequence.h"

#include <algorithm>

#include "edits.h"

namespace cpu_device::rewriter {
namespace {

const std::vector<Directive> no_directives;

}  // namespace

TokenSequence::TokenSequence(const SourceFile& source, const TokenizedFile& file)
    : source_(source), tokens_(file.tokens), directives_(file.directives), macro_(nullptr) {
    match_brackets();
    match_angles();
}

TokenSequence::TokenSequence(const SourceFile& source, const MacroDefinition& macro)
    : source_(source), tokens_(macro.body), directives_(no_directives), macro_(&macro) {
    match_brackets();
    match_angles();
}

void TokenSequence::fail(std::size_t i, const std::string& message) const {
    source_.fail(tokens_[std::min(i, tokens_.size() - 1)].line, message);
}

bool TokenSequence::is_global(std::size_t i) const {
    return is(i, "__global__") || source_.macros.global_aliases.count(tokens_[i].text) != 0;
}

std::size_t TokenSequence::closing_angle(std::size_t open, std::size_t end) const {
    const std::size_t close = closing_angle_[open];
    return close < end ? close : none;
}

std::size_t TokenSequence::opening_angle(std::size_t close) const {
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
        const std::string_view text = tokens_[i].text;
        if (text == ")" || text == "]" || text == "}") {
            if (match_[i] == none) return none;
            i = match_[i];
        } else if (text == "(" || text == "[" || text == "{" || text == ";") {
            return none;
        } else if (text == ">") {
            ++depth;
        } else if (text == "<") {
            if (i > 0 && is(i - 1, "<")) {  // a shift
                --i;
                continue;
            }
            if (--depth == 0) return i > 0 && identifier_at(i - 1) ? i : none;
        }
    }
    return none;
}

bool TokenSequence::opens_angle(std::size_t i) const {
    return i > 0 && tokens_[i - 1].is_identifier() && !is(i + 1, "<") && !is(i - 1, "operator");
}

bool TokenSequence::may_close_angle(std::size_t i) const {
    if (i + 1 >= tokens_.size()) return true;
    return tokens_[i + 1].kind == Token::Kind::punctuator && !is(i + 1, "!") && !is(i + 1, "~");
}

std::vector<std::size_t> TokenSequence::separators(std::size_t begin, std::size_t end) const {
    std::vector<std::size_t> commas, angles;
    for (std::size_t i = begin; i < end; ++i) {
        const std::string_view text = tokens_[i].text;
        if (text == "(" || text == "[" || text == "{") {
            if (match_[i] != none && match_[i] < end) i = match_[i];
        } else if (text == ",") {
            commas.push_back(i);
        } else if (text == "<" && opens_angle(i)) {
            angles.push_back(i);
        } else if (text == ">" && !angles.empty() && (i + 1 == end || may_close_angle(i))) {
            while (!commas.empty() && commas.back() > angles.back()) commas.pop_back();
            angles.pop_back();
        }
    }
    return commas;
}

std::size_t TokenSequence::qualified_name_end(std::size_t i, std::size_t end) const {
    if (is(i, "::")) ++i;
    while (i < end && identifier_at(i)) {
        ++i;
        if (i < end && is(i, "<")) {
            i = closing_angle(i, end);
            if (i == none) return none;
            ++i;
        }
        if (i >= end || !is(i, "::")) return i;
        ++i;
        if (is(i, "template")) ++i;
    }
    return none;
}

std::size_t TokenSequence::unqualified_name(std::size_t begin, std::size_t end) const {
    while (end > begin && is(end - 1, ")")) --end;
    if (end > begin && is(end - 1, ">")) end = opening_angle(end - 1);
    return end != none && end > begin && identifier_at(end - 1) ? end - 1 : none;
}

const Directive* TokenSequence::directive_between(std::size_t first, std::size_t last) const {
    const auto found =
        std::upper_bound(directives_.begin(), directives_.end(), first,
                         [](std::size_t i, const Directive& directive) { return i < directive.position; });
    return found != directives_.end() && found->position <= last ? &*found : nullptr;
}

void TokenSequence::require_no_directive(std::size_t first, std::size_t last, const char* where) const {
    if (const Directive* found = directive_between(first, last))
        source_.fail(found->line, std::string("a preprocessor directive inside ") + where + " cannot be read");
}

std::string TokenSequence::site(std::size_t i) const {
    return "{__FILE__, " + (macro_ ? std::string("__LINE__") : std::to_string(tokens_[i].line)) + "}";
}

std::string TokenSequence::text(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t i = begin; i < end; ++i) {
        if (i > begin && tokens_[i - 1].end() < tokens_[i].begin) result += ' ';
        result += tokens_[i].text;
    }
    return result;
}

std::string TokenSequence::spelled(std::size_t begin, std::size_t end) const {
    if (!macro_) return as_string_literal(text(begin, end));
    std::string result, plain;
    for (std::size_t i = begin; i < end; ++i) {
        if (i > begin && !is(i, "##") && !is(i - 1, "##") && tokens_[i - 1].end() < tokens_[i].begin) plain += ' ';
        if (is(i, "##")) continue;
        if (macro_->has_parameter(tokens_[i].text)) {
            if (!plain.empty()) result += as_string_literal(plain) + ' ';
            plain.clear();
            result += '#' + std::string(tokens_[i].text) + ' ';
        } else {
            plain += tokens_[i].text;
        }
    }
    if (!plain.empty() || result.empty()) return result + as_string_literal(plain);
    result.pop_back();
    return result;
}

/// Fills `match_`. The branches of an #if begin with the same open brackets.
void TokenSequence::match_brackets() {
    match_.assign(tokens_.size(), none);
    std::vector<std::size_t> open;
    std::vector<std::vector<std::size_t>> saved;
    std::size_t directive = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
        for (; directive < directives_.size() && directives_[directive].position <= i; ++directive) {
            const Directive& next = directives_[directive];
            if (!next.is_conditional()) continue;
            if (next.name == "endif") {
                if (!saved.empty()) saved.pop_back();
            } else if (next.is_alternative()) {
                if (!saved.empty()) open = saved.back();
            } else {
                saved.push_back(open);
            }
        }
        const std::string_view text = tokens_[i].text;
        if (text.size() != 1 || tokens_[i].kind != Token::Kind::punctuator) continue;
        const char c = text[0];
        if (c == '(' || c == '[' || c == '{') {
            open.push_back(i);
        } else if (c == ')' || c == ']' || c == '}') {
            const char opener = c == ')' ? '(' : c == ']' ? '[' : '{';
            if (c == '}')  // a brace closes what was left open inside it
                while (!open.empty() && tokens_[open.back()].text[0] != '{') open.pop_back();
            if (open.empty() || tokens_[open.back()].text[0] != opener) continue;
            match_[i] = open.back();
            if (match_[open.back()] == none) match_[open.back()] = i;
            open.pop_back();
        }
    }
}

/// Fills `closing_angle_` for each `<` after a name. Template arguments end inside the brackets where they begin, and
/// before a `;`.
void TokenSequence::match_angles() {
    struct Level {
        std::size_t end;  ///< the closing bracket
        std::vector<std::size_t> open;
    };
    closing_angle_.assign(tokens_.size(), none);
    std::vector<Level> levels{{none, {}}};
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
        if (tokens_[i].kind != Token::Kind::punctuator || tokens_[i].text.size() != 1) continue;
        const char c = tokens_[i].text[0];
        while (levels.back().end < i) levels.pop_back();
        std::vector<std::size_t>& open = levels.back().open;
        if (c == '<' && opens_angle(i)) {
            open.push_back(i);
        } else if (c == '>' && !open.empty()) {
            closing_angle_[open.back()] = i;
            open.pop_back();
        } else if ((c == '(' || c == '[' || c == '{') && match_[i] != none) {
            levels.push_back({match_[i], {}});
        } else if (c == '(' || c == '[' || c == '{' || c == ')' || c == ']' || c == '}' || c == ';') {
            open.clear();
        }
    }
}

}  // namespace cpu_device::rewriter
