#include "shared_variables.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "shared_syntax.h"

namespace cpu_device::rewriter {
namespace {

class SharedRewriter {
public:
    SharedRewriter(const TokenSequence& tokens, Scopes& scopes, Analysis& analysis)
        : tokens_(tokens),
          scopes_(scopes),
          analysis_(analysis),
          editor_(tokens.source().text, analysis.edits),
          reader_(tokens) {}

    std::size_t rewrite_shared(std::size_t i) {
        std::size_t begin = reader_.specifiers_begin(i, false);
        SharedSpecifiers specifiers = reader_.read_specifiers(begin);
        if (!specifiers.has_type) {
            begin = reader_.specifiers_begin(i, true);
            specifiers = reader_.read_specifiers(begin);
        }
        if (!specifiers.has_type || specifiers.end <= i) {
            if (tokens_.in_macro() && is_shared_alias(tokens_.macro()->body)) return tokens_.size() - 1;
            tokens_.fail(i, "cannot read this __shared__ declaration");
        }
        if (scopes_.scope() == Scope::type) tokens_.fail(i, "__shared__ cannot stand in a class");
        if (scopes_.scope() == Scope::code && scopes_.certain_sides(i) == host_side)
            analysis_.refusals.push_back({tokens_[i].line,
                                          "a __shared__ variable cannot be in host code: only kernels and __device__ "
                                          "functions have shared memory"});
        if (scopes_.in_parentheses())
            tokens_.fail(i, "a __shared__ declaration in parentheses or a macro's arguments cannot be read");

        std::size_t at = specifiers.end;
        std::string declarations;
        std::string base = specifiers.type;
        while (true) {
            const std::size_t first = at;
            const SharedDeclarator declarator = reader_.read_declarator(at);
            if (first == specifiers.end && specifiers.body != none && !specifiers.named_class)
                add_word(base, joined_name("cpu_device_struct_", declarator));
            if (!declarations.empty()) declarations += "; ";
            declarations += shared_declaration(specifiers, declarator, base);
            scopes_.declare_shared(tokens_[declarator.name].text);
            if (!tokens_.is(at, ",")) break;
            ++at;
        }
        if (at == tokens_.size() && !tokens_.in_macro()) tokens_.fail(i, "no ';' ends this __shared__ declaration");
        tokens_.require_no_directive(begin, at - 1, "a __shared__ declaration");
        const std::size_t end = tokens_[at - 1].end();
        if (specifiers.body == none) {
            editor_.replace(tokens_[begin].begin, end, declarations);
            return at - 1;
        }
        // The class stays where it is, with a name, and the variables follow it.
        const std::size_t brace_end = tokens_[tokens_.match(specifiers.body)].end();
        const std::size_t tag = base.rfind(' ') == std::string::npos ? 0 : base.rfind(' ') + 1;
        editor_.replace(tokens_[begin].begin, tokens_[specifiers.class_key].begin, "");
        if (!specifiers.named_class) editor_.insert(tokens_[specifiers.body].begin, base.substr(tag) + ' ');
        editor_.replace(brace_end, end, "; " + declarations);
        return at - 1;
    }

private:
    std::string shared_declaration(const SharedSpecifiers& specifiers, const SharedDeclarator& declarator,
                                   const std::string& base) const {
        const std::string name = tokens_.text(declarator.name, declarator.name_end);
        const std::string type = joined_name("cpu_device_type_", declarator);
        std::string result =
            "using " + type + " = " + base + (declarator.abstract.empty() ? "" : " ") + declarator.abstract + "; ";
        if (specifiers.is_extern) {
            if (!declarator.is_array)
                tokens_.fail(
                    declarator.name,
                    "extern __shared__ needs an array without a size, such as 'extern __shared__ float data[];'");
            if (scopes_.scope() == Scope::name_space)
                return result + "[[maybe_unused]] static thread_local std::remove_extent_t<" + type + ">* " + name +
                       " = nullptr; static const ::cpu_device::NamespaceDynamicShared cpu_device_dynamic_" + name +
                       "([](void* start) { " + name + " = static_cast<std::remove_extent_t<" + type + ">*>(start); })";
            return result + "[[maybe_unused]] auto& " + name + " = *static_cast<" + type +
                   "*>(::cpu_device::dynamic_shared_memory())";
        }
        std::string alignment = specifiers.alignment;
        if (!declarator.alignment.empty()) add_word(alignment, declarator.alignment);
        std::string alignment_of = type;
        if (!alignment.empty()) {
            alignment_of = joined_name("cpu_device_alignment_", declarator);
            result += "struct " + alignment_of + " { " + alignment + ' ' + type + " value; }; ";
        }
        const std::string label = tokens_.spelled(declarator.name, declarator.name_end);
        const std::string place = tokens_.site(declarator.name);
        if (scopes_.scope() == Scope::name_space)
            return result + "[[maybe_unused]] static const ::cpu_device::NamespaceShared<" + type + "> " + name + "{" +
                   label + ", " + place + (alignment.empty() ? "" : ", alignof(" + alignment_of + ")") + "}";
        const std::string variable = joined_name("cpu_device_shared_", declarator);
        return result + "static constinit ::cpu_device::SharedVariable " + variable + "{" + label + ", sizeof(" + type +
               "), alignof(" + alignment_of + "), " + place + "}; [[maybe_unused]] auto& " + name +
               " = ::cpu_device::shared<" + type + ">(" + variable + ")";
    }

    /// `prefix` and the declared name as one identifier.
    std::string joined_name(const char* prefix, const SharedDeclarator& declarator) const {
        const bool parameter = tokens_.in_macro() && tokens_.macro()->has_parameter(tokens_[declarator.name].text);
        return std::string(prefix) + (parameter ? "##" : "") + tokens_.text(declarator.name, declarator.name_end);
    }

    const TokenSequence& tokens_;
    Scopes& scopes_;
    Analysis& analysis_;
    Editor editor_;
    SharedDeclarationReader reader_;
};

}  // namespace

std::size_t rewrite_shared(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis) {
    return SharedRewriter(tokens, scopes, analysis).rewrite_shared(i);
}

void capture_shared_names(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    if (scopes.shared_names().empty() || tokens.match(i) == none || tokens.is(i + 1, "[")) return;
    if (i > 0) {
        const Token& before = tokens[i - 1];
        const bool operand = before.kind != Token::Kind::punctuator || before.is(")") || before.is("]");
        if ((operand && !before.is("return")) || before.is("[")) return;
    }
    const std::size_t close = tokens.match(i);
    if (tokens.is(i + 1, "&") && (tokens.is(i + 2, ",") || i + 2 == close)) return;  // captures everything by reference
    std::size_t brace = close + 1;
    while (brace < tokens.size() && !tokens.is(brace, "{") && !tokens.is(brace, ";") && !tokens.is(brace, ")") &&
           !tokens.is(brace, ",") && !tokens.is(brace, "}"))
        brace = (tokens.is(brace, "(") || tokens.is(brace, "[")) && tokens.match(brace) != none
                    ? tokens.match(brace) + 1
                    : brace + 1;
    if (!tokens.is(brace, "{") || tokens.match(brace) == none) return;
    std::string captures;
    std::vector<std::string_view> done;
    for (std::string_view name : scopes.shared_names()) {
        const auto mentioned = [&](std::size_t from, std::size_t to) {
            for (std::size_t k = from; k < to; ++k)
                if (tokens.is(k, name) && !tokens.is(k - 1, ".") && !tokens.is(k - 1, "->") && !tokens.is(k - 1, "::"))
                    return true;
            return false;
        };
        if (std::find(done.begin(), done.end(), name) != done.end()) continue;
        if (mentioned(i + 1, brace) || !mentioned(brace, tokens.match(brace))) continue;
        done.push_back(name);
        captures += (captures.empty() && close == i + 1 ? "&" : ", &") + std::string(name);
    }
    if (!captures.empty()) Editor(tokens.source().text, analysis.edits).insert(tokens[close].begin, captures);
}

}  // namespace cpu_device::rewriter
