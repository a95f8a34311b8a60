#include "common/tests/api_corpus/declared.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "common/cpu_device/rewriter/lexer.h"

namespace api_corpus {
namespace {

using cpu_device::rewriter::Token;
using Tokens = std::vector<Token>;

/// The lines that come from files below the folder. Lines like `# 12 "file.h"` say where those behind them stand.
std::string lines_of(std::string_view preprocessed, std::string_view folder) {
    std::string text;
    bool wanted = false;
    while (!preprocessed.empty()) {
        const std::size_t end = preprocessed.find('\n');
        const std::string_view line = preprocessed.substr(0, end);
        preprocessed.remove_prefix(end == std::string_view::npos ? preprocessed.size() : end + 1);
        if (line.substr(0, 2) == "# ") {
            wanted = line.find(folder) != std::string_view::npos;
        } else if (wanted) {
            text += line;
            text += '\n';
        }
    }
    return text;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

class Declarations {
public:
    explicit Declarations(const Tokens& tokens) : tokens_(tokens) { read_scope(0, tokens.size(), true); }

    std::set<std::string> names;

private:
    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }

    /// Behind the bracket that closes the one at `open`.
    std::size_t behind(std::size_t open, std::string_view opens, std::string_view closes) const {
        int depth = 0;
        for (std::size_t i = open; i < tokens_.size(); ++i) {
            if (is(i, opens)) ++depth;
            if (is(i, closes) && --depth == 0) return i + 1;
        }
        return tokens_.size();
    }

    /// The declarations between two tokens, in a namespace whose functions programs see or do not see.
    void read_scope(std::size_t begin, std::size_t end, bool visible) {
        std::size_t start = begin;
        for (std::size_t i = begin; i < end;) {
            if (is(i, "{")) {
                const std::size_t after = behind(i, "{", "}");
                read_body(start, i, after - 1, visible);
                // Behind a class there may be a semicolon; behind everything else a declaration begins.
                i = start = after;
            } else if (is(i, "(")) {
                i = behind(i, "(", ")");
            } else if (is(i, ";")) {
                if (visible) note_function(start, i);
                start = ++i;
            } else {
                ++i;
            }
        }
    }

    void read_body(std::size_t start, std::size_t open, std::size_t close, bool visible) {
        if (is(start, "inline") && is(start + 1, "namespace")) ++start;
        if (is(start, "namespace")) {
            bool is_ours = false;
            for (std::size_t i = start; i < open; ++i) is_ours = is_ours || is(i, "cpu_device");
            return read_scope(open + 1, close, visible && !is_ours);
        }
        if (is(start, "extern") && open == start + 2) return read_scope(open + 1, close, visible);
        if (is_class(start, open)) return read_friends(open + 1, close);
        if (visible) note_function(start, open);
    }

    bool is_class(std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end && !is(i, "("); ++i) {
            if (is(i, "template") && is(i + 1, "<")) {
                i = behind(i + 1, "<", ">") - 1;
            } else if (is_one_of(tokens_[i].text, {"struct", "class", "union", "enum"})) {
                return true;
            }
        }
        return false;
    }

    void read_friends(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (!is(i, "friend")) continue;
            std::size_t last = i;
            while (last < end && !is(last, "(") && !is(last, ";") && !is(last, "{")) ++last;
            if (is(last, "(")) note_function(i, last + 1);
        }
    }

    /// The function that tokens [begin, end) declare, if they do.
    void note_function(std::size_t begin, std::size_t end) {
        if (is(begin, "using") || is(begin, "typedef") || is(begin, "static_assert")) return;
        for (std::size_t i = begin; i < end; ++i) {
            if (is(i, "operator") || is(i, "=")) return;
            if (is(i, "template") && is(i + 1, "<")) {
                i = behind(i + 1, "<", ">") - 1;
            } else if (is_one_of(tokens_[i].text, {"__attribute__", "requires", "decltype", "alignas", "__asm__"})) {
                if (is(i + 1, "(")) i = behind(i + 1, "(", ")") - 1;
            } else if (is(i, "(") && i > begin && tokens_[i - 1].is_identifier()) {
                names.insert(std::string(tokens_[i - 1].text));
                return;
            }
        }
    }

    const Tokens& tokens_;
};

}  // namespace

std::set<std::string> declared_functions(std::string_view preprocessed, std::string_view folder) {
    const std::string text = lines_of(preprocessed, folder);
    const cpu_device::rewriter::TokenizedFile file = cpu_device::rewriter::tokenize(text);
    return Declarations(file.tokens).names;
}

std::set<std::string> identifiers(std::string_view source) {
    std::set<std::string> names;
    const cpu_device::rewriter::TokenizedFile file = cpu_device::rewriter::tokenize(source);
    const auto add = [&](const Tokens& tokens) {
        for (const Token& token : tokens) {
            if (token.is_identifier()) names.insert(std::string(token.text));
        }
    };
    add(file.tokens);
    return names;
}

}  // namespace api_corpus
