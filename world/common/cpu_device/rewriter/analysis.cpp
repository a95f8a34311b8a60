#include "analysis.h"

#include <algorithm>
#include <string>

#include "brackets.h"
#include "device_variables.h"
#include "device_versions.h"
#include "functions.h"
#include "host_library.h"
#include "host_uses.h"
#include "kernels.h"
#include "launches.h"
#include "runtime_calls.h"
#include "scopes.h"
#include "shared_variables.h"
#include "source_file.h"
#include "token_sequence.h"
#include "unsupported.h"
#include "words.h"

namespace cpu_device::rewriter {
namespace {

/// Goes over the tokens of a file, or of one macro's body, and hands each construct of CUDA to what rewrites it.
class Pass {
public:
    Pass(const TokenSequence& tokens, Analysis& analysis)
        : tokens_(tokens),
          analysis_(analysis),
          scopes_(tokens),
          versions_(tokens, scopes_, analysis),
          unsupported_(tokens, scopes_) {}

    void run() {
        const std::vector<Directive>& directives = tokens_.directives();
        std::size_t next = 0;
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            for (; next < directives.size() && directives[next].position <= i; ++next) {
                versions_.choose_side(next);
                scopes_.follow_condition(directives[next]);
            }
            i = visit(i);
        }
        for (; next < directives.size(); ++next) versions_.choose_side(next);
    }

private:
    /// Handles token `i` and returns the last token that is done with.
    std::size_t visit(std::size_t i) {
        const Token& token = tokens_[i];
        if (token.kind == Token::Kind::punctuator) return visit_punctuator(i);
        if (token.kind != Token::Kind::identifier || scopes_.runs_nowhere(i)) return i;
        versions_.note_two_valued(i);
        mark_dropped_result(i, tokens_, scopes_, analysis_);
        if (token.is("__shared__") || tokens_.source().macros.shared_aliases.count(token.text) != 0)
            return rewrite_shared(i, tokens_, scopes_, analysis_);
        const bool is_keyword = visit_keyword(i);
        if (!is_keyword && !tokens_.in_macro()) visit_name(i);
        if (!is_keyword && tokens_.in_macro() && one_of(token.text, device_variable_qualifiers))
            note_variables_of_macro(i, tokens_, analysis_);
        return i;
    }

    std::size_t visit_punctuator(std::size_t i) {
        if (tokens_[i].text.size() != 1) return i;
        switch (tokens_[i].text[0]) {
            case '[':
                capture_shared_names(i, tokens_, scopes_, analysis_);
                scopes_.open_bracket(i);
                break;
            case '(':
                keep_type_of_template(i, tokens_, analysis_);
                scopes_.open_bracket(i);
                break;
            case '{':
                versions_.refuse_two_valued(i);
                scopes_.open_bracket(i);
                break;
            case ')':
            case ']':
            case '}':
                close_bracket(i);
                break;
            case ';':
                versions_.refuse_two_valued(i);
                note_host_variables(i, tokens_, scopes_, analysis_);
                scopes_.end_statement(i);
                break;
            case '<':
                if (!begins_launch(i)) break;
                rewrite_launch(i, tokens_, scopes_, analysis_);
                return i + 2;
            default:
                break;
        }
        return i;
    }

    void close_bracket(std::size_t i) {
        const std::optional<OpenBracket> closed = scopes_.close_bracket(i);
        if (!closed) return;
        if (closed->begins_function) {
            versions_.finish_function(*closed, i);
        } else if (closed->bracket == "{" && closed->scope == Scope::code && scopes_.scope() != Scope::code) {
            versions_.refuse_two_valued_within(closed->at, i);  // an initializer
        }
    }

    bool begins_launch(std::size_t i) const {
        return !scopes_.runs_nowhere(i) && tokens_.is(i + 1, "<") && tokens_.is(i + 2, "<") &&
               !(i > 0 && tokens_.is(i - 1, "operator"));
    }

    /// Handles a word that means something to CUDA or to the CPU device wherever it stands. False for any other.
    bool visit_keyword(std::size_t i) {
        const Token& token = tokens_[i];
        if (token.is("__noinline__")) {
            rewrite_noinline(i);
        } else if (token.is("asm") || token.is("__asm__") || token.is("__asm")) {
            unsupported_.rewrite_ptx(i, analysis_);
        } else if (launches_by_function(tokens_, i)) {
            keep_type_of_kernel(i, tokens_, analysis_);
        } else if (token.is("reinterpret_cast")) {
            keep_type_of_template(i, tokens_, analysis_);
        } else if (token.is("texture")) {
            unsupported_.refuse_texture_reference(i);
        } else if (tokens_.is_global(i)) {
            note_kernel(i, tokens_, scopes_, analysis_);
        } else {
            return false;
        }
        return true;
    }

    /// Handles any other word of a file.
    void visit_name(std::size_t i) {
        const Token& token = tokens_[i];
        note_host_use(i, tokens_, scopes_, analysis_);
        note_use_in_device_code(i, tokens_, scopes_, analysis_);
        note_write_in_device_code(i, tokens_, scopes_, analysis_);
        note_class_of_host(i, tokens_, scopes_, analysis_);
        const bool in_code = scopes_.scope() == Scope::code;
        if (one_of(token.text, device_variable_qualifiers)) {
            register_device_variables(i, tokens_, scopes_, analysis_);
        } else if (tokens_.source().macros.launch_configurations.count(token.text) != 0) {
            rewrite_macro_launch(i, tokens_, scopes_, analysis_);
        } else if (tokens_.is(i, "cout") || tokens_.is(i, "cerr")) {
            if (in_code) note_call(i, tokens_, scopes_, analysis_);
        } else if (tokens_.is(i + 1, "(")) {
            if (in_code) {
                note_call(i, tokens_, scopes_, analysis_);
            } else {
                note_function(i, tokens_, scopes_, analysis_);
            }
        } else if (tokens_.is(i + 1, "<") && in_code) {
            const std::size_t close = tokens_.closing_angle(i + 1, tokens_.size());
            if (close != none && tokens_.is(close + 1, "(")) note_call(i, tokens_, scopes_, analysis_);
        }
    }

    void rewrite_noinline(std::size_t i) {
        const std::vector<OpenBracket>& open = scopes_.open();
        for (std::size_t depth = open.size(); depth-- > 0 && open[depth].bracket != "{";)
            if (open[depth].bracket == "[") return;                              // [[gnu::__noinline__]]
        if (i >= 2 && tokens_.is(i - 1, "(") && tokens_.is(i - 2, "(")) return;  // __attribute__((__noinline__))
        if (i >= 1 && scopes_.in_parentheses() && tokens_.is(i - 1, ",")) return;
        Editor(tokens_.source().text, analysis_.edits)
            .replace(tokens_[i].begin, tokens_[i].end(), "__attribute__((noinline))");
    }

    const TokenSequence& tokens_;
    Analysis& analysis_;
    Scopes scopes_;
    DeviceVersions versions_;
    UnsupportedFeatures unsupported_;
};

/// Whether something in the file may differ between host and device code.
bool differs_by_side(const TokenizedFile& file, const ProgramFacts& program) {
    const auto differs = [&](const Token& token) { return program.two_valued.count(token.text) != 0; };
    return std::any_of(file.tokens.begin(), file.tokens.end(), differs) ||
           std::any_of(file.directives.begin(), file.directives.end(), [&](const Directive& directive) {
               return std::any_of(directive.tokens.begin(), directive.tokens.end(), differs);
           });
}

/// Only nvcc defines `__NVCC__`, and libraries of the host count on that: it is another name here.
void rename_nvcc(const TokenizedFile& file, Editor& editor) {
    for (const Directive& directive : file.directives) {
        const bool defines = directive.name == "define";
        if (!defines && directive.name.substr(0, 2) != "if" && directive.name.substr(0, 4) != "elif") continue;
        for (std::size_t i = defines ? 1 : 0; i < directive.tokens.size(); ++i)
            if (const Token& token = directive.tokens[i]; token.is("__NVCC__"))
                editor.replace(token.begin, token.end(), "__CUDACC__");
    }
}

/// Defines the marker of each group of macros that has one, after the group.
void define_markers(const std::vector<MacroGroup>& groups, const SourceFile& source, Editor& editor) {
    for (const MacroGroup& group : groups) {
        if (group.marker.empty()) continue;
        const std::string_view before = source.text.substr(0, group.end);
        const auto line = std::count(before.begin(), before.end(), '\n') + 2;
        editor.insert(group.end, "\n#define " + group.marker + "\n#line " + std::to_string(line) + ' ' +
                                     as_string_literal(source.name));
    }
}

}  // namespace

Analysis analyze(std::string_view source, const std::string& file_name, const FileFacts& facts,
                 const ProgramFacts& program, const std::vector<const MacroGroup*>& groups) {
    const TokenizedFile& file = facts.file;
    const SourceFile source_file{
        source, file_name, read_macros(file), program, groups, facts.groups, differs_by_side(file, program)};
    if (!program.macros_hold_half_brackets)
        if (const auto diagnostic = find_bracket_mistake(source, file))
            source_file.fail(diagnostic->line, diagnostic->message);
    Analysis analysis;
    analysis.file_name = file_name;
    analysis.names_relaxed_constexpr =
        source.find("relaxed-constexpr") != source.npos || source.find("__CUDACC_RELAXED_CONSTEXPR__") != source.npos;
    Editor editor(source, analysis.edits);
    rename_nvcc(file, editor);
    define_markers(facts.groups, source_file, editor);
    for (const MacroDefinition& macro : source_file.macros.definitions)
        Pass(TokenSequence(source_file, macro), analysis).run();
    Pass(TokenSequence(source_file, file), analysis).run();
    return analysis;
}

}  // namespace cpu_device::rewriter
