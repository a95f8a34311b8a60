#include "kernels.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "parameters.h"
#include "words.h"

namespace cpu_device::rewriter {
namespace {

class KernelReader {
public:
    KernelReader(const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis)
        : tokens_(tokens), scopes_(scopes), analysis_(analysis), editor_(tokens.source().text, analysis.edits) {}

    void note_kernel(std::size_t i) {
        refuse_variable(i);
        if (tokens_.in_macro() ? !scopes_.open().empty() : scopes_.scope() == Scope::code || scopes_.in_parentheses())
            return;
        for (std::size_t open = i + 1; open < tokens_.size(); ++open) {
            if (tokens_.is_global(open) || tokens_.is(open, ";") || tokens_.is(open, "{") || tokens_.is(open, "}") ||
                tokens_.is(open, "=") || tokens_.is(open, ")"))
                return;
            if (tokens_.is(open, "<")) {
                const std::size_t close =
                    tokens_.identifier_at(open - 1) ? tokens_.closing_angle(open, tokens_.size()) : none;
                if (close == none) return;
                open = close;
            }
            if (!tokens_.is(open, "(") && !tokens_.is(open, "[")) continue;
            const std::size_t close = tokens_.match(open);
            if (close == none) return;
            static constexpr std::array<std::string_view, 9> after_parameters{
                "{", ";", "->", "noexcept", "requires", "__attribute__", "[", "__launch_bounds__", "__cluster_dims__"};
            const std::size_t name = tokens_.unqualified_name(i + 1, open);
            const bool attribute = name == none || one_of(tokens_[name].text, attribute_words) ||
                                   tokens_.is(name, "__launch_bounds__") || tokens_.is(name, "__cluster_dims__") ||
                                   tokens_.is(name, "decltype");
            if (tokens_.is(open, "(") && !attribute && close + 1 < tokens_.size() &&
                one_of(tokens_[close + 1].text, after_parameters)) {
                if (tokens_.directive_between(i, close)) return;
                check_kernel(i, name);
                if (!tokens_.in_macro()) analysis_.kernels.push_back(read_kernel(i, name, open, close));
                make_kernel_known(i, open, close);
                return;
            }
            open = close;
        }
    }

private:
    /// Refuses `__global__ int x;`. The `__global__` is at `i`.
    void refuse_variable(std::size_t i) const {
        if (tokens_.in_macro() || !tokens_.is(i, "__global__") || scopes_.in_parentheses()) return;
        std::size_t words = 0, name = none;
        constexpr std::size_t longest = 64;
        const std::size_t end = std::min(tokens_.size(), i + longest);
        if (i - scopes_.head() > longest) return;
        for (std::size_t k = scopes_.head(); k < end; ++k) {
            const std::string_view word = tokens_[k].text;
            if (tokens_.is(k, ";") || tokens_.is(k, "=") || (tokens_.is(k, "[") && !tokens_.is(k + 1, "["))) {
                if (k <= i || words < 2 || name != k - 1) return;
                const std::string variable(tokens_[name].text);
                analysis_.refusals.push_back(
                    {tokens_[i].line, variable +
                                          " is a variable, and __global__ is for kernels: a variable of the device is "
                                          "declared with __device__, or with __constant__ where kernels only read it"});
                return;
            }
            if (tokens_.is(k, "<") && k > 0 && tokens_.identifier_at(k - 1)) {
                const std::size_t close = tokens_.closing_angle(k, tokens_.size());
                if (close == none) return;
                k = close;
            } else if (tokens_.identifier_at(k)) {
                if (one_of(word, class_keys) || one_of(word, not_a_kernel) || !scopes_.has_clear_meaning(k) ||
                    tokens_.source().program.macros.count(word) != 0)
                    return;
                if (one_of(word, cv_qualifiers) || one_of(word, storage_words) || word == "__global__" ||
                    one_of(word, device_variable_qualifiers))
                    continue;
                name = k;
                ++words;
            } else if (!tokens_.is(k, "*") && !tokens_.is(k, "&") && !tokens_.is(k, "::")) {
                return;
            }
        }
    }

    static constexpr std::array<std::string_view, 6> not_a_kernel{"template", "using",    "typedef",
                                                                  "friend",   "operator", "requires"};

    /// Refuses a kernel that nvcc refuses. The first `__global__` is at `global`.
    void check_kernel(std::size_t global, std::size_t name) const {
        if (tokens_.in_macro() || name == none) return;
        const std::string kernel(tokens_[name].text);
        bool is_friend = false;
        for (std::size_t i = scopes_.head(); i < name; ++i) is_friend = is_friend || tokens_.is(i, "friend");
        if (scopes_.scope() == Scope::type && !is_friend)
            tokens_.fail(global, "the kernel " + kernel +
                                     " cannot be a member of a class: put it outside, and give it what it "
                                     "needs as arguments");
        for (std::size_t i = name; i-- > scopes_.head();) {
            if ((tokens_.is(i, ")") || tokens_.is(i, "]")) && tokens_.match(i) != none &&
                tokens_.match(i) >= scopes_.head()) {
                i = tokens_.match(i);
            } else if (tokens_.is(i, ">")) {
                return;  // of template arguments: what is in front has been seen, or cannot be
            } else if (tokens_.is(i, "void") || tokens_.is(i, "auto")) {
                return;
            } else if (one_of(tokens_[i].text, builtin_types)) {
                tokens_.fail(name, "the kernel " + kernel +
                                       " has to return void: what it computes goes to memory, through a "
                                       "pointer that it gets as an argument");
            }
        }
    }

    KernelDeclaration read_kernel(std::size_t global, std::size_t name, std::size_t open, std::size_t close) const {
        KernelDeclaration kernel;
        kernel.name = tokens_[name].text;
        for (std::size_t begin = open + 1; begin < close;) {
            const std::size_t end = parameter_end(tokens_, begin, close);
            const bool no_parameters =
                begin == open + 1 && end == close && end == begin + 1 && tokens_.is(begin, "void");
            if (!no_parameters) kernel.parameters.push_back(read_parameter(tokens_, begin, end, kernel.takes_pack));
            if (end == begin + 1 && tokens_.source().program.macros.count(tokens_[begin].text) != 0)
                kernel.is_clear = false;
            begin = end + 1;
        }
        kernel.is_definition = tokens_.is(after_declarator(close), "{");
        read_template_head(global, kernel);
        return kernel;
    }

    /// What stands in front of `__global__` says whether the kernel is a template, and of how many parameters.
    void read_template_head(std::size_t global, KernelDeclaration& kernel) const {
        kernel.template_arguments = 0;
        for (std::size_t i = scopes_.head(); i < global; ++i) {
            if (!tokens_.is(i, "template")) continue;
            const std::size_t close = tokens_.is(i + 1, "<") ? tokens_.closing_angle(i + 1, global) : none;
            const bool nothing_known = kernel.is_template || close == none || close == i + 2;
            kernel.is_template = true;
            kernel.template_arguments.reset();
            if (nothing_known) return;  // a member, a specialization or an instantiation
            std::vector<std::size_t> ends = tokens_.separators(i + 2, close);
            ends.push_back(close);
            std::size_t count = 0;
            for (std::size_t begin = i + 2; std::size_t end : ends) {
                bool has_default = false;
                for (; begin < end; ++begin) {
                    if (tokens_.is(begin, "...")) return;
                    has_default = has_default || tokens_.is(begin, "=");
                }
                ++begin;
                count += has_default ? 0 : 1;
            }
            kernel.template_arguments = count;
            i = close;
        }
    }

    /// Puts a registration after the definition of a kernel that is no template, so that a program can launch it by
    /// its address. The cast to the kernel's type chooses between overloads.
    void make_kernel_known(std::size_t global, std::size_t open, std::size_t close) {
        const std::size_t brace = after_declarator(close);
        if (!tokens_.is(brace, "{") || tokens_.match(brace) == none || scopes_.scope() == Scope::type) return;
        const std::string cluster = shape_of_cluster(brace);
        if (tokens_.in_macro() && tokens_.source().macros.after_template.count(tokens_.macro()->name) != 0) return;
        for (std::size_t i = scopes_.head(); i < global; ++i) {
            if (tokens_.is(i, "template") && !cluster.empty())
                tokens_.fail(i,
                             "__cluster_dims__ of a template is not supported on the CPU device: give the cluster's "
                             "shape when you launch the kernel, by cudaLaunchKernelEx with "
                             "cudaLaunchAttributeClusterDimension");
            if (tokens_.is(i, "template") || tokens_.is(i, "friend")) return;
        }
        std::size_t name = open - 1;
        if (tokens_.is(name, ")")) {  // (name), or a macro that makes a name
            name = tokens_.match(name);
            if (name != none && tokens_.identifier_at(name - 1) && !one_of(tokens_[name - 1].text, builtin_types))
                --name;
        }
        while (name != none && tokens_.is(name - 1, "##")) name -= 2;
        if (name == none || tokens_.is(name - 1, "::") || tokens_.is(open - 1, ">")) return;
        std::string types;
        for (std::size_t begin = open + 1; begin < close;) {
            const std::size_t end = parameter_end(tokens_, begin, close);
            std::size_t default_argument = begin;
            for (; default_argument < end && !tokens_.is(default_argument, "="); ++default_argument)
                if (tokens_.is(default_argument, "auto")) return;
            types += (types.empty() ? "" : ", ") + tokens_.text(begin, default_argument);
            begin = end + 1;
        }
        if (!has_whole_conditionals(scopes_.head(), tokens_.match(brace))) return;
        const std::string kernel = "(void (*)(" + types + "))" + tokens_.text(name, open);
        std::string known = " static_assert(::cpu_device::known_kernel<" + kernel + ">);";
        if (!cluster.empty())
            known += " static_assert(::cpu_device::clustered_kernel<" + kernel + ", " + cluster + ">);";
        editor_.insert(tokens_[tokens_.match(brace)].end(), known);
    }

    /// What stands in the parentheses of `__cluster_dims__` in front of the kernel's body; empty without.
    std::string shape_of_cluster(std::size_t brace) const {
        for (std::size_t i = scopes_.head(); i < brace; ++i) {
            if (!tokens_.is(i, "__cluster_dims__") || !tokens_.is(i + 1, "(")) continue;
            const std::size_t close = tokens_.match(i + 1);
            return close == none ? std::string() : tokens_.text(i + 2, close);
        }
        return {};
    }

    /// The `{` or `;` after the parameters that close at `close`.
    std::size_t after_declarator(std::size_t close) const {
        std::size_t after = close + 1;
        while (after < tokens_.size() && !tokens_.is(after, "{") && !tokens_.is(after, ";")) ++after;
        return after;
    }

    /// Whether every `#if` between two tokens ends there, and no branch begins there that belongs to one outside.
    bool has_whole_conditionals(std::size_t first, std::size_t last) const {
        int depth = 0;
        for (const Directive& directive : tokens_.directives()) {
            if (directive.position <= first || directive.position > last || !directive.is_conditional()) continue;
            if (directive.is_alternative() || directive.name == "endif") {
                if (depth == 0) return false;
                depth -= directive.name == "endif";
            } else {
                ++depth;
            }
        }
        return depth == 0;
    }

    const TokenSequence& tokens_;
    const Scopes& scopes_;
    Analysis& analysis_;
    Editor editor_;
};

}  // namespace

void note_kernel(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    KernelReader(tokens, scopes, analysis).note_kernel(i);
}

}  // namespace cpu_device::rewriter
