// The names that a function or a class declares.
#pragma once

#include <string_view>
#include <unordered_set>

#include "token_sequence.h"

namespace cpu_device::rewriter {

/// Looks for declarations in one function or class at a time, and keeps what it found there.
class LocalNames {
public:
    explicit LocalNames(const TokenSequence& tokens) : tokens_(tokens) {}

    /// Whether `name` may be declared by the function or class whose declaration begins at `head` and whose bracket
    /// opens at `bracket`.
    bool declares(std::size_t head, std::size_t bracket, std::string_view name);

    /// Whether it surely declares `name`, or in all likelihood: an assignment alone, or a product, declares nothing.
    bool hides(std::size_t head, std::size_t bracket, std::string_view name);

private:
    void look_at(std::size_t head, std::size_t bracket);
    bool hides_at(std::size_t i, std::size_t head) const;
    bool is_in_list_of_names(std::size_t i, std::size_t head) const;
    bool is_declared_at(std::size_t i) const;

    const TokenSequence& tokens_;
    std::size_t bracket_ = none;  ///< of the function or class
    std::unordered_set<std::string_view> names_, hiding_names_;
};

}  // namespace cpu_device::rewriter
