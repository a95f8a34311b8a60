#include "launches.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "launch_syntax.h"

namespace cpu_device::rewriter {
namespace {

class LaunchRewriter {
public:
    LaunchRewriter(const TokenSequence& tokens, Scopes& scopes, Analysis& analysis)
        : tokens_(tokens),
          scopes_(scopes),
          analysis_(analysis),
          editor_(tokens.source().text, analysis.edits),
          reader_(tokens) {}

    void rewrite_launch(std::size_t i) {
        if (tokens_.in_macro() && is_launch_configuration(tokens_.macro()->body)) return rewrite_configuration_macro(i);
        const KernelExpression kernel = reader_.kernel_before(i);
        const std::size_t begin = i + 3;
        const std::size_t end = reader_.configuration_end(i);
        reader_.check_configuration(i, begin, end);
        tokens_.require_no_directive(kernel.begin, begin - 1, "a launch");
        tokens_.require_no_directive(end, std::min(end + 3, tokens_.size() - 1), "a launch");
        const std::size_t open = end + 3 < tokens_.size() ? end + 3 : none;
        NamedLaunch launch = rewrite_launch_head(kernel, i, tokens_[i + 2].end(), "::cpu_device::LaunchConfig(");
        rewrite_arguments(kernel, i, tokens_[end].begin, open, ")", launch);
        note_launch(kernel, i, open, std::move(launch));
    }

    /// `kernel SHAPE(grid, block)(arguments)` where SHAPE is such a macro.
    void rewrite_macro_launch(std::size_t i) {
        const KernelExpression kernel = reader_.kernel_before(i);
        std::size_t open = i + 1;
        if (tokens_.is(open, "(") && tokens_.match(open) != none && tokens_.is(tokens_.match(open) + 1, "("))
            open = tokens_.match(open) + 1;
        if (!tokens_.is(open, "("))
            tokens_.fail(i, "expected '(' and the kernel's arguments after the launch configuration");
        tokens_.require_no_directive(kernel.begin, open, "a launch");
        NamedLaunch launch = rewrite_launch_head(kernel, i, tokens_[i].begin, "");
        rewrite_arguments(kernel, i, tokens_[open].begin, open, "", launch);
        note_launch(kernel, i, open, std::move(launch));
    }

private:
    void rewrite_configuration_macro(std::size_t i) {
        if (i != 0) tokens_.fail(i, "expected the name of a kernel before '<<<'");
        const std::size_t end = tokens_.size() - 3;
        editor_.replace(tokens_[0].begin, tokens_[2].end(), "::cpu_device::LaunchConfig(");
        editor_.replace(tokens_[end].begin, tokens_[end + 2].end(), ")");
    }

    /// Puts the beginning of the launcher in place of everything from the kernel to offset `to`, then `after`. The
    /// kernel ends before token `end`. Returns the launch with room for what is known of the kernel.
    NamedLaunch rewrite_launch_head(const KernelExpression& kernel, std::size_t end, std::size_t to,
                                    const std::string& after) {
        const std::size_t from = tokens_[kernel.begin].begin;
        NamedLaunch launch;
        launch.line = tokens_[kernel.begin].line;
        editor_.insert(from, "::cpu_device::launcher");
        launch.references_edit = editor_.size();
        editor_.insert(from, "");
        editor_.insert(from, "({" + tokens_.spelled(kernel.begin, end) + ", " + tokens_.site(kernel.begin));
        launch.names_edit = editor_.size();
        editor_.insert(from, "");
        editor_.replace(from, to, "}, " + after);
        return launch;
    }

    /// Puts what calls the kernel in front of its arguments: everything from offset `from` to the opening parenthesis
    /// `open` is replaced. Without arguments, in a macro, `open` is `none`.
    void rewrite_arguments(const KernelExpression& kernel, std::size_t kernel_end, std::size_t from, std::size_t open,
                           const std::string& before, NamedLaunch& launch) {
        const std::size_t to = open == none ? tokens_.back().end() : tokens_[open].begin;
        const std::size_t close = open == none ? none : tokens_.match(open);
        if (open != none && close == none) tokens_.fail(open, "no ')' ends the kernel's arguments");
        const std::string name = tokens_.text(kernel.begin, kernel_end);
        if (!kernel.is_name) return editor_.replace(from, to, before + ", " + name + ")");
        const std::string typed = before + ", [&](auto cpu_device_type) { if constexpr (requires { cpu_device_type(" +
                                  name + "); }) return cpu_device_type(" + name +
                                  "); }, [&](auto&... cpu_device_arguments) CPU_DEVICE_UNSEEN { " + name +
                                  "(cpu_device_arguments...); })";
        const std::vector<LaunchArgument> arguments =
            open == none ? std::vector<LaunchArgument>() : reader_.arguments_to_split(open, close);
        if (arguments.empty()) {
            editor_.replace(from, to, typed);
        } else {
            split_arguments(arguments, name, from, to, before, launch);
            launch.when_certain.push_back({editor_.size() - 1, {from, to, typed + editor_.line_ends(from, to)}});
        }
        launch.call_edit = editor_.size();
        editor_.insert(to, "");
    }

    /// Leaves the literals among the arguments in the call of the kernel, whose parameters' types are not known. The
    /// last edit is that call.
    void split_arguments(const std::vector<LaunchArgument>& arguments, const std::string& kernel, std::size_t from,
                         std::size_t to, const std::string& before, NamedLaunch& launch) {
        const auto replace_unless_certain = [&](std::size_t begin, std::size_t end, const char* text) {
            launch.when_certain.push_back({editor_.size(), {begin, begin, ""}});
            editor_.replace(begin, end, text);
        };
        std::string parameters, call;
        int number = 0;
        for (const LaunchArgument& argument : arguments) {
            const std::size_t begin = tokens_[argument.begin].begin;
            if (!call.empty()) call += ", ";
            if (argument.literal) {
                call += tokens_.text(argument.begin, argument.end);
                replace_unless_certain(begin, tokens_[argument.end - 1].end(), "");
            } else {
                const std::string name = "cpu_device_argument_" + std::to_string(number);
                if (number++ > 0) {
                    parameters += ", ";
                    replace_unless_certain(begin, begin, ", ");
                }
                parameters += (argument.pack ? "auto&... " : "auto& ") + name;
                call += name + (argument.pack ? "..." : "");
            }
            if (&argument != &arguments.back())
                replace_unless_certain(tokens_[argument.end].begin, tokens_[argument.end].end(), "");
        }
        editor_.replace(from, to,
                        before + ", [&](" + parameters + ") CPU_DEVICE_UNSEEN { " + kernel + "(" + call + "); })");
    }

    /// Keeps the launch, to say more about its kernel later, if the kernel is one that has a name, or is in a variable.
    /// The arguments open at `open`, which is `none` where a macro leaves them to its use.
    void note_launch(const KernelExpression& kernel, std::size_t end, std::size_t open, NamedLaunch launch) {
        const std::size_t name = kernel.is_name ? tokens_.unqualified_name(kernel.begin, end) : none;
        if (name == none) return;
        launch.through_variable = scopes_.is_local_name(tokens_[name].text);
        if (launch.through_variable && (tokens_.in_macro() || kernel.begin + 1 != end)) return;
        if (tokens_.in_macro() && (tokens_.macro()->has_parameter(tokens_[name].text) || tokens_.is(name - 1, "##") ||
                                   tokens_.is(name + 1, "##")))
            return;
        launch.kernel = tokens_[name].text;
        launch.template_arguments = reader_.count_template_arguments(name + 1);
        if (open != none && !count_arguments(open, tokens_.match(open), launch)) return;
        analysis_.launches.push_back(std::move(launch));
    }

    /// Fills in which arguments the launcher gets. False when an argument that stays in the call of the kernel
    /// stands after one that may be any number of arguments.
    bool count_arguments(std::size_t open, std::size_t close, NamedLaunch& launch) const {
        std::vector<std::size_t> ends = tokens_.separators(open + 1, close);
        if (close > open + 1) ends.push_back(close);
        const bool split = !reader_.arguments_to_split(open, close).empty();
        bool any_number = false;
        std::size_t begin = open + 1, position = 0;
        for (std::size_t end : ends) {
            if (split && reader_.is_literal(begin, end)) {
                if (any_number) return false;
                launch.not_passed.push_back(position);
            }
            any_number = any_number || tokens_.is(end - 1, "...") ||
                         (tokens_.in_macro() && reader_.holds_macro_rest(begin, end));
            begin = end + 1;
            ++position;
        }
        if (!any_number) launch.arguments = ends.size();
        for (std::size_t i = open; i < close; ++i)
            if (tokens_.is(i, "<") ||
                (tokens_.identifier_at(i) && tokens_.source().program.macros.count(tokens_[i].text) != 0))
                launch.arguments_are_clear = false;
        return true;
    }

    const TokenSequence& tokens_;
    Scopes& scopes_;
    Analysis& analysis_;
    Editor editor_;
    LaunchReader reader_;
};

}  // namespace

void rewrite_launch(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis) {
    LaunchRewriter(tokens, scopes, analysis).rewrite_launch(i);
}

void rewrite_macro_launch(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis) {
    LaunchRewriter(tokens, scopes, analysis).rewrite_macro_launch(i);
}

}  // namespace cpu_device::rewriter
