// The tokens of a file, or of one macro's body, with the bracket that closes each bracket.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lexer.h"
#include "source_file.h"

namespace cpu_device::rewriter {

/// No token.
inline constexpr std::size_t none = static_cast<std::size_t>(-1);

/// Tokens are named by their positions. Positions at or past the end are allowed where a function says what the token
/// is; ranges are [begin, end).
class TokenSequence {
public:
    /// The tokens of a file.
    TokenSequence(const SourceFile& source, const TokenizedFile& file);
    /// The body of a macro that the file defines.
    TokenSequence(const SourceFile& source, const MacroDefinition& macro);

    std::size_t size() const { return tokens_.size(); }
    const Token& operator[](std::size_t i) const { return tokens_[i]; }
    const Token& back() const { return tokens_.back(); }
    const SourceFile& source() const { return source_; }
    const std::vector<Directive>& directives() const { return directives_; }  ///< none in a macro's body
    const MacroDefinition* macro() const { return macro_; }                   ///< null for a file
    bool in_macro() const { return macro_ != nullptr; }

    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].text == text; }
    bool identifier_at(std::size_t i) const { return i < tokens_.size() && tokens_[i].is_identifier(); }
    /// `__global__`, or a macro that holds it.
    bool is_global(std::size_t i) const;

    /// Throws Error with the line of token `i`.
    [[noreturn]] void fail(std::size_t i, const std::string& message) const;

    // ---- brackets

    /// The other one of the pair ( ), [ ] or { }, one of which is at `i`; `none` when there is none.
    std::size_t match(std::size_t i) const { return match_[i]; }
    /// The `>` that closes the template argument list opened at `open`, before `end`; `none` when there is none.
    std::size_t closing_angle(std::size_t open, std::size_t end) const;
    /// The `<` that opens the template argument list closed at `close`; `none` when there is none.
    std::size_t opening_angle(std::size_t close) const;
    /// Whether the `<` at `i` may open template arguments: it follows a name and is no part of `<<`.
    bool opens_angle(std::size_t i) const;
    /// Whether the `>` at `i` may close template arguments: what follows continues an expression.
    bool may_close_angle(std::size_t i) const;
    /// Positions of the commas in [begin, end) that separate arguments: not those in brackets or template arguments.
    std::vector<std::size_t> separators(std::size_t begin, std::size_t end) const;

    // ---- names

    /// The position after a possibly qualified name with template arguments at `i`; `none` when it cannot be read.
    std::size_t qualified_name_end(std::size_t i, std::size_t end) const;
    /// The last name of a qualified name, without its template arguments.
    std::size_t unqualified_name(std::size_t begin, std::size_t end) const;

    // ---- directives

    /// The first preprocessor directive between two tokens; null when there is none.
    const Directive* directive_between(std::size_t first, std::size_t last) const;
    /// Fails when a preprocessor directive stands between two tokens whose text is about to move.
    void require_no_directive(std::size_t first, std::size_t last, const char* where) const;

    // ---- text for the rewritten program

    /// Source lines as the program sees them: a macro's code is on the line of its use.
    std::string site(std::size_t i) const;
    /// Tokens on one line, without comments.
    std::string text(std::size_t begin, std::size_t end) const;
    /// A string literal that spells tokens; a macro's parameters appear as the caller wrote them.
    std::string spelled(std::size_t begin, std::size_t end) const;

private:
    void match_brackets();
    void match_angles();

    const SourceFile& source_;
    const std::vector<Token>& tokens_;
    const std::vector<Directive>& directives_;
    const MacroDefinition* macro_;
    std::vector<std::size_t> match_;          ///< of every bracket the other one's position
    std::vector<std::size_t> closing_angle_;  ///< of every `<` the position of the `>` that ends template arguments
};

}  // namespace cpu_device::rewriter
