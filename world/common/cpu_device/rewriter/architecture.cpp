#include "architecture.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cpu_device::rewriter {
namespace {

constexpr std::array<std::string_view, 21> decorating_words{
    "__host__",     "__device__", "__global__",      "__constant__", "__shared__", "__managed__", "inline",
    "__inline__",   "__inline",   "__forceinline__", "__noinline__", "static",     "const",       "constexpr",
    "__restrict__", "__restrict", "restrict",        "volatile",     "extern",     "noexcept",    "thread_local"};
constexpr std::array<std::string_view, 6> attribute_names{"__attribute__", "__attribute",       "__align__",
                                                          "alignas",       "__launch_bounds__", "__cluster_dims__"};

/// The tokens of `#define NAME(parameters) body` from the body on.
std::size_t body_begin(const std::vector<Token>& tokens) {
    if (tokens.size() < 2 || !tokens[1].is("(") || tokens[1].begin != tokens[0].end()) return 1;
    std::size_t i = 2;
    while (i < tokens.size() && !tokens[i].is(")")) ++i;
    return std::min(i + 1, tokens.size());
}

template <class Words>
bool is_one_of(std::string_view text, const Words& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_decoration(const std::vector<Token>& tokens) {
    for (std::size_t i = body_begin(tokens); i < tokens.size(); ++i) {
        if (is_one_of(tokens[i].text, attribute_names)) return true;
        if (!is_one_of(tokens[i].text, decorating_words) && tokens[i].kind != Token::Kind::string) return false;
    }
    return true;
}

bool has_whole_brackets(const std::vector<Token>& tokens) {
    std::string open;
    for (const Token& token : tokens) {
        if (token.kind != Token::Kind::punctuator || token.text.size() != 1) continue;
        const char c = token.text[0];
        if (c == '(' || c == '[' || c == '{') open += c;
        if (c != ')' && c != ']' && c != '}') continue;
        if (open.empty() || open.back() != (c == ')' ? '(' : c == ']' ? '[' : '{')) return false;
        open.pop_back();
    }
    return open.empty();
}

/// Adds the macros whose value depends on one that does. True if there was one to add.
bool add_users(const std::vector<Directive>& directives, ProgramFacts& program) {
    bool added = false;
    for (const Directive& directive : directives) {
        if (directive.name != "define" || directive.tokens.empty()) continue;
        const auto depends = [&](const Token& token) { return program.two_valued.count(token.text) != 0; };
        const auto begin = directive.tokens.begin() + static_cast<std::ptrdiff_t>(body_begin(directive.tokens));
        if (std::none_of(begin, directive.tokens.end(), depends)) continue;
        added = program.two_valued.emplace(directive.tokens[0].text).second || added;
    }
    return added;
}

/// The name of a macro that no other group has.
std::string marker_of(std::string_view source, std::size_t offset) {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const unsigned char c : source) hash = (hash ^ c) * 1099511628211u;
    return "CPU_DEVICE_MACROS_" + std::to_string(hash) + "_" + std::to_string(offset);
}

/// Adds the macros that a group of `facts` defines for one side, and keeps the group.
bool add_groups(FileFacts& facts, std::string_view source, ProgramFacts& program) {
    const std::vector<Directive>& directives = facts.file.directives;
    facts.groups.clear();
    bool added = false;
    int depth = 0;
    for (std::size_t first = 0; first < directives.size(); ++first) {
        if (directives[first].name == "endif") --depth;
        if (!directives[first].opens_conditional()) continue;
        ++depth;
        const std::vector<std::size_t> branches = branches_of(directives, first);
        const Directive& end = directives[branches.back()];
        if (end.name != "endif" || end.position != directives[first].position) continue;
        if (!depends_on_side(directives, branches, program)) continue;
        MacroGroup group;
        group.end = end.end;
        if (depth > 1) group.marker = marker_of(source, directives[first].hash);
        group.position = directives[first].position;
        group.text = source.substr(directives[first].hash, end.end - directives[first].hash);
        constexpr std::string_view no_inline = "__noinline__";  // as the rewriter has it everywhere
        for (std::size_t at = 0; (at = group.text.find(no_inline, at)) != std::string::npos;)
            group.text.replace(at, no_inline.size(), "__attribute__((noinline))");
        bool only_macros = true;
        for (std::size_t i = first; i < branches.back(); ++i) {
            const Directive& directive = directives[i];
            if (directive.name == "include" && (directive.sides & device_side) != 0) only_macros = false;
            const bool defines = directive.name == "define";
            if ((!defines && directive.name != "undef") || directive.tokens.empty()) continue;
            const std::string name(directive.tokens[0].text);
            group.names.insert(name);
            if (defines && (directive.sides & host_side) != 0) group.of_host.insert(name);
        }
        if (!only_macros) continue;
        for (const std::string& name : group.names) added = program.two_valued.insert(name).second || added;
        facts.groups.push_back(std::move(group));
        first = branches.back();
        --depth;
    }
    return added;
}

/// Notes macros that stand for qualifiers. True if there was one to add.
bool add_qualifiers(const std::vector<Directive>& directives, ProgramFacts& program) {
    bool added = false;
    for (const Directive& directive : directives) {
        if (directive.name != "define" || directive.tokens.empty()) continue;
        std::uint8_t sides = no_side;
        for (std::size_t i = body_begin(directive.tokens); i < directive.tokens.size(); ++i) {
            const Token& token = directive.tokens[i];
            if (!token.is_identifier() && token.kind != Token::Kind::string && !token.is("(") && !token.is(")")) {
                sides = no_side;  // more than qualifiers: a whole function, perhaps
                break;
            }
            sides |= sides_of(token.text, program);
        }
        if (sides == no_side) continue;
        std::uint8_t& known = program.qualifiers[std::string(directive.tokens[0].text)];
        added = added || (known | sides) != known;
        known |= sides;
    }
    return added;
}

/// Notes the functions whose declarations begin with qualifiers: the name in front of the first parenthesis behind them
/// that holds no attribute's arguments.
void add_functions(const std::vector<Token>& tokens, ProgramFacts& program) {
    constexpr std::size_t longest_head = 64;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::uint8_t sides = sides_of(tokens[i].text, program);
        if (sides == no_side) continue;
        std::size_t last = i;
        int depth = 0;
        for (std::size_t k = i + 1; k < std::min(tokens.size(), i + longest_head); ++k) {
            const Token& token = tokens[k];
            if (depth == 0 && (token.is(";") || token.is("{") || token.is("}") || token.is("="))) break;
            const std::uint8_t more = depth == 0 ? sides_of(token.text, program) : std::uint8_t{no_side};
            if (more != no_side) last = k;
            sides |= more;
            if (token.is("(") && depth == 0 && tokens[k - 1].is_identifier() &&
                !is_one_of(tokens[k - 1].text, attribute_names)) {
                program.functions[std::string(tokens[k - 1].text)] |= sides;
                break;
            }
            if (token.is("(")) ++depth;
            if (token.is(")")) --depth;
        }
        i = last;
    }
}

}  // namespace

std::uint8_t sides_of(std::string_view word, const ProgramFacts& program) {
    if (word == "__device__" || word == "__global__") return device_side;
    if (word == "__host__") return host_side;
    const auto found = program.qualifiers.find(word);
    return found == program.qualifiers.end() ? std::uint8_t{no_side} : found->second;
}

std::vector<std::size_t> branches_of(const std::vector<Directive>& directives, std::size_t first) {
    std::vector<std::size_t> branches{first};
    int depth = 0;
    for (std::size_t i = first + 1; i < directives.size(); ++i) {
        const std::string_view name = directives[i].name;
        if (!directives[i].is_conditional()) continue;
        if (directives[i].opens_conditional()) {
            ++depth;
        } else if (depth > 0) {
            depth -= name == "endif";
        } else {
            branches.push_back(i);
            if (name == "endif") break;
        }
    }
    return branches;
}

bool depends_on_side(const std::vector<Directive>& directives, const std::vector<std::size_t>& branches,
                     const ProgramFacts& program) {
    const auto differs = [](std::uint8_t sides) { return sides == host_side || sides == device_side; };
    bool mentioned = false, uncertain = false;
    for (const std::size_t i : branches) {
        const Directive& directive = directives[i];
        if (directive.name == "endif") break;
        if (directive.sides == host_side) return false;
        // What stands inside a part that only the device sees has to be told so.
        uncertain = uncertain || directive.sides == device_side || directive.may_take != directive.surely_take;
        if (directive.sides == both_sides && (differs(directive.may_take) || differs(directive.surely_take)))
            return true;
        for (const Token& token : directive.tokens) mentioned = mentioned || program.two_valued.count(token.text) != 0;
    }
    return mentioned && uncertain;
}

FileFacts read_facts(std::string_view source) { return {tokenize(source), {}}; }

ProgramFacts combine_facts(std::vector<FileFacts*> files, const std::vector<std::string_view>& sources) {
    ProgramFacts program;
    program.two_valued.insert("__CUDA_ARCH__");
    for (bool more = true; more;) {
        more = false;
        for (std::size_t i = 0; i < files.size(); ++i) {
            more = add_users(files[i]->file.directives, program) || more;
            more = add_groups(*files[i], sources[i], program) || more;
            more = add_qualifiers(files[i]->file.directives, program) || more;
        }
    }
    program.decorations = program.two_valued;
    for (const FileFacts* file : files) {
        for (const Directive& directive : file->file.directives) {
            if (directive.name != "define" || directive.tokens.empty()) continue;
            program.macros.emplace(directive.tokens[0].text);
            program.macros_hold_half_brackets =
                program.macros_hold_half_brackets || !has_whole_brackets(directive.tokens);
            if (!is_decoration(directive.tokens)) program.decorations.erase(std::string(directive.tokens[0].text));
        }
        add_functions(file->file.tokens, program);
    }
    program.decorations.erase("__CUDA_ARCH__");
    return program;
}

DeviceSection device_section(const std::vector<const MacroGroup*>& groups) {
    DeviceSection section{"#define __CUDA_ARCH__ " + std::to_string(device_architecture) + "\n",
                          "#undef __CUDA_ARCH__\n"};
    std::string end;
    for (const MacroGroup* group : groups) {
        std::string before, after;
        for (const std::string& name : group->names) {
            before += "#pragma push_macro(\"" + name + "\")\n";
            if (group->of_host.count(name) != 0) before += "#undef " + name + "\n";
            after += "#pragma pop_macro(\"" + name + "\")\n";
        }
        const std::string only = group->marker.empty() ? "" : "#ifdef " + group->marker + "\n";
        const std::string done = group->marker.empty() ? "" : "#endif\n";
        section.begin += only + before + group->text + "\n" + done;
        end.insert(0, only + after + done);  // the last one first: two groups may define one macro
    }
    section.end += end;
    return section;
}

}  // namespace cpu_device::rewriter
