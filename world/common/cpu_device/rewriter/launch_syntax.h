// Reads the parts of `kernel<<<configuration>>>(arguments)`.
#pragma once

#include <vector>

#include "token_sequence.h"

namespace cpu_device::rewriter {

/// What stands left of `<<<`.
struct KernelExpression {
    std::size_t begin;
    bool is_name;  ///< a (qualified, templated) name, and not an expression to evaluate
};

struct LaunchArgument {
    std::size_t begin, end;
    bool literal;  ///< has no type of its own to be passed on with: stays in the call of the kernel
    bool pack;
};

class LaunchReader {
public:
    explicit LaunchReader(const TokenSequence& tokens) : tokens_(tokens) {}

    /// Walks back over the postfix expression that ends before token `end`.
    KernelExpression kernel_before(std::size_t end) const;

    /// Finds the first `>` of the `>>>` that ends the launch configuration of the `<<<` at `launch`.
    std::size_t configuration_end(std::size_t launch) const;
    /// Refuses a wrong number of arguments in the configuration in [begin, end).
    void check_configuration(std::size_t launch, std::size_t begin, std::size_t end) const;

    /// The arguments in (open, close), but only when one of them has to stay in the call and the others can be told
    /// apart.
    std::vector<LaunchArgument> arguments_to_split(std::size_t open, std::size_t close) const;
    /// Whether the argument in [begin, end) has no type of its own.
    bool is_literal(std::size_t begin, std::size_t end) const;
    /// How many arguments the template argument list at `open` surely has; 0 where there is no list.
    std::size_t count_template_arguments(std::size_t open) const;
    /// Whether a macro's parameter for all remaining arguments is in [begin, end).
    bool holds_macro_rest(std::size_t begin, std::size_t end) const;

private:
    bool is_macro_like(std::string_view name) const;
    bool is_type_of(std::size_t i) const;
    bool follows_operand(std::size_t open) const;
    bool only_name(std::size_t begin, std::size_t end) const;
    std::size_t next_closing_angle(std::size_t i, std::size_t& open) const;
    std::size_t left_open(std::size_t begin, std::size_t end, std::size_t open) const;
    bool may_follow_configuration(std::size_t i) const;
    std::size_t find_configuration_end(std::size_t begin, std::size_t& missing_parenthesis) const;
    bool is_null_literal(std::size_t begin, std::size_t end) const;

    const TokenSequence& tokens_;
};

}  // namespace cpu_device::rewriter
