#include "launch_syntax.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "words.h"

namespace cpu_device::rewriter {

// ---- the kernel

KernelExpression LaunchReader::kernel_before(std::size_t end) const {
    const auto missing = [&]() { tokens_.fail(end, "expected the name of a kernel before '<<<'"); };
    KernelExpression kernel{end, true};
    std::size_t at = end;  // tokens [at, end) are the kernel so far
    bool need_operand = true;
    while (at > 0) {
        const Token& before = tokens_[at - 1];
        if (!need_operand) {
            if (before.is("::") || before.is(".") || before.is("->") || before.is("##")) {
                if (!before.is("::") && !before.is("##")) kernel.is_name = false;
                --at;
                if (before.is("::")) {  // a leading `::` needs nothing in front
                    const bool qualified =
                        at > 0 &&
                        ((tokens_.identifier_at(at - 1) && !one_of(tokens_[at - 1].text, expression_keywords)) ||
                         tokens_.is(at - 1, ">") || is_type_of(at - 1));
                    if (!qualified) break;
                }
                need_operand = true;
                continue;
            }
            if (before.is("template") && at >= 2 &&
                (tokens_.is(at - 2, "::") || tokens_.is(at - 2, ".") || tokens_.is(at - 2, "->"))) {
                --at;
                continue;
            }
            break;
        }
        if (before.is(")") || before.is("]")) {
            const std::size_t open = tokens_.match(at - 1);
            if (open == none) missing();
            const bool is_operand = before.is(")") && !follows_operand(open);
            if (before.is("]") || !is_operand) {
                const bool macro_call =
                    before.is(")") && tokens_.identifier_at(open - 1) && is_macro_like(tokens_[open - 1].text);
                if (!macro_call && !is_type_of(at - 1)) kernel.is_name = false;
                at = open;
                if (at == 0) missing();
                continue;  // what is called or indexed comes first
            }
            if (!only_name(open + 1, at - 1)) kernel.is_name = false;
            at = open;
            need_operand = false;
        } else if (before.is(">")) {
            const std::size_t open = tokens_.opening_angle(at - 1);
            if (open == none) missing();
            at = open;
        } else if (before.is_identifier() && !one_of(before.text, expression_keywords)) {
            --at;
            need_operand = false;
        } else {
            missing();
        }
    }
    if (need_operand && !(at < end && tokens_.is(at, "::"))) missing();
    kernel.begin = at;
    return kernel;
}

bool LaunchReader::is_macro_like(std::string_view name) const {
    if (tokens_.source().macros.names.count(name) != 0) return true;
    return std::all_of(name.begin(), name.end(), [](unsigned char c) { return !std::islower(c); });
}

/// Whether the `)` at `i` closes a decltype(...).
bool LaunchReader::is_type_of(std::size_t i) const {
    return tokens_.is(i, ")") && tokens_.match(i) != none && tokens_.match(i) > 0 &&
           tokens_.is(tokens_.match(i) - 1, "decltype");
}

/// Whether the bracket at `open` belongs to the operand in front of it, as in `f(x)`.
bool LaunchReader::follows_operand(std::size_t open) const {
    while (open > 0) {
        const Token& before = tokens_[open - 1];
        if (before.is("]")) return true;
        if (before.is(">")) return tokens_.opening_angle(open - 1) != none;
        if (!before.is(")"))
            return before.is_identifier() && !one_of(before.text, expression_keywords) &&
                   !one_of(before.text, statement_keywords);
        open = tokens_.match(open - 1);  // f(x)(y), but not if (x) (y)
        if (open == none || (open > 0 && one_of(tokens_[open - 1].text, statement_keywords))) return false;
    }
    return false;
}

bool LaunchReader::only_name(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
        if (tokens_.is(i, "<")) {
            const std::size_t close = tokens_.closing_angle(i, end);
            if (close == none) return false;
            i = close;
        } else if (!tokens_.identifier_at(i) && !tokens_.is(i, "::")) {
            return false;
        }
    }
    return begin < end;
}

// ---- the configuration

std::size_t LaunchReader::configuration_end(std::size_t launch) const {
    std::size_t missing_parenthesis = none;
    const std::size_t end = find_configuration_end(launch + 3, missing_parenthesis);
    if (end != none) return end;
    if (missing_parenthesis != none)
        tokens_.fail(missing_parenthesis - 1, "expected '(' and the kernel's arguments after '>>>'");
    tokens_.fail(launch, "no '>>>' ends the launch configuration, or its brackets are not balanced");
}

/// A `>>>` that may as well close templates, as in f<A<B<int>>>(x), does so if another one after it can end the
/// configuration.
std::size_t LaunchReader::find_configuration_end(std::size_t begin, std::size_t& missing_parenthesis) const {
    struct Doubt {
        std::size_t begin, end;  ///< of the `>>>`
        std::size_t open;        ///< template brackets in front of it
    };
    std::vector<Doubt> doubts;
    std::set<std::pair<std::size_t, std::size_t>> tried;  // positions with the template brackets open there
    std::size_t i = begin, open = 0;
    while (true) {
        const std::size_t at = next_closing_angle(i, open);
        if (at != none) {
            i = at;
            while (tokens_.is(i, ">")) ++i;
            const std::size_t run = i - at;
            if (run < 3 || open + 3 < run) {
                open = left_open(at, i, open);
                continue;
            }
            if (open >= run) {
                doubts.push_back({at, i, open});
                open -= run;
                if (tried.emplace(i, open).second) continue;
            } else {
                if (may_follow_configuration(i)) return i - 3;
                if (missing_parenthesis == none) missing_parenthesis = i;
            }
        }
        do {  // that was wrong: back to the last doubt
            if (doubts.empty()) return none;
            const Doubt last = doubts.back();
            doubts.pop_back();
            if (may_follow_configuration(last.end)) return last.end - 3;
            if (missing_parenthesis == none) missing_parenthesis = last.end;
            i = last.end;
            open = left_open(last.begin, last.end, last.open);
        } while (!tried.emplace(i, open).second);
    }
}

/// The next `>` of a launch configuration that is in no brackets of its own. `open` counts the template brackets.
std::size_t LaunchReader::next_closing_angle(std::size_t i, std::size_t& open) const {
    for (; i < tokens_.size(); ++i) {
        const std::string_view text = tokens_[i].text;
        if (text == "(" || text == "[" || text == "{") {
            if (tokens_.match(i) == none) return none;
            i = tokens_.match(i);
        } else if (text == ")" || text == "]" || text == "}" || text == ";") {
            return none;
        } else if (text == "<" && tokens_.opens_angle(i)) {
            ++open;
        } else if (text == "<" && tokens_.is(i + 1, "<")) {
            ++i;  // a shift
        } else if (text == ">") {
            return i;
        }
    }
    return none;
}

/// Template brackets that are left open after the `>`s in [begin, end), some of which may be comparisons.
std::size_t LaunchReader::left_open(std::size_t begin, std::size_t end, std::size_t open) const {
    for (std::size_t i = begin; i < end && open > 0; ++i)
        if (i + 1 < end || tokens_.may_close_angle(i)) --open;
    return open;
}

/// The arguments, or the end of a macro: then the arguments follow its use.
bool LaunchReader::may_follow_configuration(std::size_t i) const {
    return tokens_.is(i, "(") || (tokens_.in_macro() && i == tokens_.size());
}

void LaunchReader::check_configuration(std::size_t launch, std::size_t begin, std::size_t end) const {
    const std::size_t count = begin == end ? 0 : tokens_.separators(begin, end).size() + 1;
    if (count > 4)
        tokens_.fail(launch,
                     "a launch has at most four arguments between '<<<' and '>>>': grid, block, shared bytes, stream");
    if (count >= 2) return;
    bool open_ended = false;  // a macro or a parameter pack may stand for several arguments
    for (std::size_t i = begin; i < end; ++i) {
        const bool parameter =
            tokens_.in_macro() && (tokens_.macro()->has_parameter(tokens_[i].text) || tokens_.is(i, "__VA_ARGS__"));
        if (parameter || tokens_.is(i, "...") || (tokens_.identifier_at(i) && is_macro_like(tokens_[i].text)))
            open_ended = true;
    }
    if (!open_ended)
        tokens_.fail(launch, "a launch needs at least two arguments between '<<<' and '>>>': grid and block");
}

// ---- the arguments

std::vector<LaunchArgument> LaunchReader::arguments_to_split(std::size_t open, std::size_t close) const {
    std::vector<LaunchArgument> arguments;
    std::vector<std::size_t> ends = tokens_.separators(open + 1, close);
    ends.push_back(close);
    std::size_t begin = open + 1;
    for (std::size_t end : ends) {
        if (begin == end) return {};
        arguments.push_back({begin, end, is_literal(begin, end), tokens_.is(end - 1, "...")});
        begin = end + 1;
    }
    const auto literal = [](const LaunchArgument& argument) { return argument.literal; };
    if (std::none_of(arguments.begin(), arguments.end(), literal)) return {};
    bool pack_before = false;  // only the last parameter of a lambda can be a pack
    for (const LaunchArgument& argument : arguments) {
        if (argument.literal) continue;
        if (pack_before) return {};
        const bool rest =
            tokens_.in_macro() && (tokens_.is(argument.begin, "__VA_ARGS__") || tokens_.is(argument.begin, "##"));
        pack_before = argument.pack || rest;
        if (rest) return {};
    }
    if (tokens_.directive_between(open, close)) return {};
    return arguments;
}

bool LaunchReader::is_literal(std::size_t begin, std::size_t end) const {
    return (tokens_.is(begin, "{") && tokens_.match(begin) == end - 1) || is_null_literal(begin, end);
}

/// An integer literal of value zero, `NULL` or `nullptr`, perhaps in parentheses: a null pointer constant.
bool LaunchReader::is_null_literal(std::size_t begin, std::size_t end) const {
    while (end - begin > 2 && tokens_.is(begin, "(") && tokens_.match(begin) == end - 1) ++begin, --end;
    if (end - begin != 1) return false;
    const Token& token = tokens_[begin];
    if (token.is("NULL") || token.is("nullptr") || token.is("__null")) return true;
    if (token.kind != Token::Kind::number) return false;
    std::string_view digits = token.text;
    const std::string_view prefix = digits.substr(0, 2);
    if (prefix == "0x" || prefix == "0X" || prefix == "0b" || prefix == "0B") digits.remove_prefix(2);
    while (!digits.empty() && std::string_view("uUlLzZ").find(digits.back()) != std::string_view::npos)
        digits.remove_suffix(1);
    return !digits.empty() && digits.find_first_not_of("0'") == std::string_view::npos;
}

std::size_t LaunchReader::count_template_arguments(std::size_t open) const {
    const std::size_t close = tokens_.is(open, "<") ? tokens_.closing_angle(open, tokens_.size()) : none;
    if (close == none || close == open + 1) return 0;
    std::vector<std::size_t> ends = tokens_.separators(open + 1, close);
    ends.push_back(close);
    const bool pack =
        std::any_of(ends.begin(), ends.end(), [&](std::size_t end) { return tokens_.is(end - 1, "..."); });
    return pack ? 0 : ends.size();
}

bool LaunchReader::holds_macro_rest(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i)
        if (tokens_.is(i, "__VA_ARGS__") || (!tokens_.macro()->rest.empty() && tokens_.is(i, tokens_.macro()->rest)))
            return true;
    return false;
}

}  // namespace cpu_device::rewriter
