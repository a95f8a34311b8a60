// Where in a file a token stands: in which namespaces, classes, functions and brackets, and what can be seen there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "local_names.h"
#include "token_sequence.h"

namespace cpu_device::rewriter {

enum class Scope { name_space, type, code };

/// A bracket that is open while a pass goes over the tokens.
struct OpenBracket {
    std::string_view bracket;
    Scope scope;               ///< of what is inside
    std::uint8_t sides;        ///< where the function around it may run; both where there is none
    bool begins_function;      ///< the body of a function that stands in no other that may run on the device
    bool is_lambda;            ///< the body of a lambda that does so
    bool is_plain_lambda;      ///< the body of a lambda without qualifiers
    std::size_t at;            ///< the bracket's own position
    std::size_t head;          ///< where the declaration or statement around the bracket began
    std::size_t shared_names;  ///< how many were visible outside
};

/// What the head of a declaration says about the braces that follow it.
struct DeclarationHead {
    bool name_space = false, linkage = false, type = false, function = false, assigned = false;
    std::uint8_t sides = no_side;  ///< that qualifiers name
    bool constant = false;         ///< constexpr or consteval
    std::size_t name = none;       ///< of a function: the last one before its parameters
};

/// Follows the brackets, declarations and `#if` branches of the tokens that a pass goes over. The functions without a
/// position are about the token that the pass has reached.
class Scopes {
public:
    explicit Scopes(const TokenSequence& tokens) : tokens_(tokens), local_names_(tokens) {}

    // ---- what the pass reports as it goes

    void open_bracket(std::size_t i);
    /// The bracket that the one at `i` closes; nothing where none is open.
    std::optional<OpenBracket> close_bracket(std::size_t i);
    /// At the `;` at `i`.
    void end_statement(std::size_t i);
    /// Each branch of an `#if` begins where the `#if` itself began.
    void follow_condition(const Directive& directive);
    void declare_shared(std::string_view name) { state_.shared_names.push_back(name); }

    // ---- where the pass is

    Scope scope() const;
    /// Where the present code may run: it is seen there, and what is around it runs there.
    std::uint8_t sides() const { return state_.open.empty() ? std::uint8_t{both_sides} : state_.open.back().sides; }
    bool device_only() const { return sides() == device_side; }
    bool runs_nowhere(std::size_t i) const { return (tokens_[i].sides & sides()) == no_side; }
    bool on_device_only(std::size_t i) const { return (tokens_[i].sides & sides()) == device_side; }
    bool in_parentheses() const { return !state_.open.empty() && state_.open.back().bracket != "{"; }
    /// True if a statement begins at `i`, inside of a function or a macro's body, as far as can be told.
    bool begins_statement(std::size_t i) const;
    /// Whether the present token stands in parentheses in which nothing is called.
    bool is_unevaluated() const;
    /// Where the code at hand surely runs: the function around it says so. No side where nothing is certain.
    std::uint8_t certain_sides(std::size_t i) const;
    /// All open brackets, the outermost first.
    const std::vector<OpenBracket>& open() const { return state_.open; }
    /// First token of the present declaration or statement.
    std::size_t head() const { return state_.head; }

    // ---- declarations

    DeclarationHead read_head(std::size_t begin, std::size_t end) const;
    /// Where a function may run. One without qualifiers may have got them from an earlier declaration.
    std::uint8_t sides_of_function(const DeclarationHead& head) const;
    /// Whether no macro of another file can hide a qualifier in the word at `k` of a function's head.
    bool has_clear_meaning(std::size_t k) const;

    // ---- names

    /// Whether the function or class around the present token declares `name`: a pointer to a kernel, or a template
    /// parameter, that may be called like some kernel.
    bool is_local_name(std::string_view name);
    /// Whether the function or class around the present token declares something of this name, so that a variable of
    /// a namespace is not meant.
    bool hides(std::string_view name);
    /// The `__shared__` variables that the present token can name.
    const std::vector<std::string_view>& shared_names() const { return state_.shared_names; }

private:
    struct State {
        std::vector<OpenBracket> open;
        std::size_t head = 0;
        std::vector<std::string_view> shared_names;
    };

    /// The bracket of the function or class around the present token; null in none.
    const OpenBracket* outermost_code() const;
    void classify_brace(std::size_t i, OpenBracket& open) const;
    void classify_lambda(std::size_t i, OpenBracket& open) const;
    std::uint8_t lambda_sides(std::size_t i, bool* is_lambda) const;
    bool in_device_function() const;
    bool holds_only_invocations(std::size_t begin, std::size_t end) const;

    const TokenSequence& tokens_;
    State state_;
    std::vector<std::pair<std::size_t, State>> saved_states_;  ///< at each open #if, with its position
    LocalNames local_names_;
};

}  // namespace cpu_device::rewriter
