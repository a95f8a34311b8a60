#include "device_versions.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "architecture.h"
#include "words.h"

namespace cpu_device::rewriter {

/// What the branches of an `#if` hold that host and device do not both compile.
struct DeviceVersions::Branches {
    bool device_has_more = false;  ///< the device has what the host has not
    bool device_is_pure = true;    ///< and all of it is of the device only
    bool drops_functions = false;  ///< the host has functions of the device that the device itself has not
    bool host_has_others = false;  ///< the host has what is not of the device only
    bool certain = true;           ///< it is known of each branch who compiles it
    std::set<std::string_view> of_device, of_host;  ///< what looks like the name of a function
};

void DeviceVersions::choose_side(std::size_t first) {
    const Directive& begin = tokens_.directives()[first];
    if (tokens_.in_macro() || !tokens_.source().differs_by_side || !begin.opens_conditional()) return;
    if (scopes_.scope() == Scope::code) return;
    const std::vector<std::size_t> branches = branches_of(tokens_.directives(), first);
    if (tokens_.directives()[branches.back()].name != "endif") return;
    if (!depends_on_side(tokens_.directives(), branches, tokens_.source().program)) return;
    const Branches found = read_branches(branches);
    if (!found.device_has_more && !found.drops_functions) return;  // nothing, macros, or what only the host needs
    if (scopes_.in_parentheses() || scopes_.head() != begin.position) refuse_choice(begin.line);
    if (!found.device_is_pure || (found.drops_functions && found.host_has_others)) refuse_choice(begin.line);
    if (!found.host_has_others) return take_devices(branches);
    const bool two_of_one_name = std::any_of(found.of_device.begin(), found.of_device.end(),
                                             [&](std::string_view name) { return found.of_host.count(name) != 0; });
    if (two_of_one_name || !found.certain) refuse_choice(begin.line);
    take_both(branches);
}

/// `branches` are the directives of one `#if`, by index.
DeviceVersions::Branches DeviceVersions::read_branches(const std::vector<std::size_t>& branches) const {
    Branches found;
    for (std::size_t k = 0; k + 1 < branches.size(); ++k) read_branch(branches[k], branches[k + 1], found);
    return found;
}

/// Adds the branch between directives `first` and `last`.
void DeviceVersions::read_branch(std::size_t first, std::size_t last, Branches& found) const {
    const std::vector<Directive>& directives = tokens_.directives();
    const Directive& branch = directives[first];
    const std::size_t begin = branch.position, end = directives[last].position;
    const bool unsure = branch.may_take != branch.surely_take;
    const std::uint8_t sides = branch.sides == device_side ? branch.sides : branch.may_take;
    found.certain = found.certain && !unsure;
    if (sides == both_sides && !unsure) return;
    bool includes = false, defines = false;
    for (std::size_t d = first + 1; d < last; ++d) {
        includes = includes || directives[d].name == "include";
        defines = defines || directives[d].name == "define" || directives[d].name == "undef";
    }
    bool any = false;
    const bool pure = declares_for_device(begin, end, any);
    const bool declares = begin != end || includes;
    if ((sides & device_side) != 0) {
        found.device_has_more = found.device_has_more || declares;
        if (!pure || (declares && defines)) found.device_is_pure = false;
    }
    if ((sides & host_side) != 0) {
        found.drops_functions = found.drops_functions || any;
        found.host_has_others = found.host_has_others || !pure || includes;
    }
    std::set<std::string_view>& names = (sides & host_side) != 0 ? found.of_host : found.of_device;
    for (std::size_t i = begin; i + 1 < end; ++i)
        if (tokens_.identifier_at(i) && tokens_.is(i + 1, "(")) names.insert(tokens_[i].text);
}

void DeviceVersions::finish_function(const OpenBracket& function, std::size_t close) {
    two_valued_at_ = none;
    if (tokens_.in_macro() || (function.sides & device_side) == 0) return;
    const bool whole = function.sides == device_side && !function.is_lambda;
    bool only_arch = true;
    if (line_that_differs(whole ? function.head : function.at, close, only_arch) == 0) return;
    for (std::size_t i = function.head; i < function.at && !function.is_lambda; ++i) {
        const Directive* directive = tokens_.directive_between(i, i + 1);
        if (directive != nullptr && directive->is_conditional() &&
            std::any_of(directive->tokens.begin(), directive->tokens.end(),
                        [&](const Token& token) { return differs_by_side(token); }))
            refuse_choice(directive->line);
    }
    const DeviceSection section = section_at(function.head, only_arch);
    const std::size_t begin = whole ? tokens_[function.head].begin : tokens_[function.at].end();
    const int begin_line = tokens_[whole ? function.head : function.at].line;
    const std::size_t end = whole ? tokens_[close].end() : tokens_[close].begin;
    const int end_line = tokens_[close].line;
    const std::string enter = '\n' + section.begin + line_directive(begin, begin_line);
    const std::string leave = '\n' + section.end;
    if (function.sides == device_side) {
        editor_.insert_first(begin, enter);
        editor_.insert(end, leave + line_directive(end, end_line));
        return;
    }
    for (std::size_t i = function.at; i < close; ++i)
        if (tokens_.is(i, "goto"))
            tokens_.source().fail(
                tokens_[i].line,
                "not supported on the CPU device: goto in a __host__ __device__ function that depends on "
                "__CUDA_ARCH__ (the function is compiled twice, so its labels would be there twice)");
    analysis_.two_versions.push_back({begin, end, " if (::cpu_device::runs_device_version()) {" + enter,
                                      leave + "} else {\n" + line_directive(begin, begin_line), "}"});
}

void DeviceVersions::note_two_valued(std::size_t i) {
    if (tokens_.in_macro() || !tokens_.source().differs_by_side || scopes_.scope() == Scope::code ||
        two_valued_at_ != none || tokens_[i].is("__CUDA_ARCH__"))
        return;
    if (!differs_by_side(tokens_[i]) || tokens_.source().program.decorations.count(tokens_[i].text) != 0) return;
    two_valued_at_ = i;
}

void DeviceVersions::refuse_two_valued(std::size_t end) {
    if (two_valued_at_ == none) return;
    const std::size_t at = std::exchange(two_valued_at_, none);
    if (scopes_.scope() == Scope::code || at < scopes_.head()) return;
    const DeclarationHead head = scopes_.read_head(scopes_.head(), end);
    const bool function = head.function && !head.assigned;
    if (function && (tokens_.is(end, ";") || scopes_.sides_of_function(head) != both_sides)) return;
    refuse_two_valued_at(at);
}

void DeviceVersions::refuse_two_valued_within(std::size_t begin, std::size_t end) const {
    if (tokens_.in_macro() || !tokens_.source().differs_by_side) return;
    for (std::size_t i = begin; i < end; ++i)
        if (differs_by_side(tokens_[i]) && tokens_.source().program.decorations.count(tokens_[i].text) == 0)
            refuse_two_valued_at(i);
}

bool DeviceVersions::differs_by_side(const Token& token) const {
    return tokens_.source().program.two_valued.count(token.text) != 0;
}

/// The first line in tokens [first, last] or in a directive between them where something differs between host and
/// device; 0 where nothing does. `only_arch` becomes false where it is more than `__CUDA_ARCH__` itself.
int DeviceVersions::line_that_differs(std::size_t first, std::size_t last, bool& only_arch) const {
    int line = 0;
    const auto look_at = [&](const Token& token) {
        if (!differs_by_side(token)) return;
        if (line == 0) line = token.line;
        if (!token.is("__CUDA_ARCH__")) only_arch = false;
    };
    if (!tokens_.source().differs_by_side) return 0;
    for (std::size_t i = first; i <= last; ++i) look_at(tokens_[i]);
    const auto from =
        std::upper_bound(tokens_.directives().begin(), tokens_.directives().end(), first,
                         [](std::size_t i, const Directive& directive) { return i < directive.position; });
    for (auto directive = from; directive != tokens_.directives().end() && directive->position <= last; ++directive)
        for (const Token& token : directive->tokens) look_at(token);
    return line;
}

/// A `#line` for the text from `offset` on, which stands on line `line`, at its column.
std::string DeviceVersions::line_directive(std::size_t offset, int line) const {
    const std::size_t start = offset == 0 ? std::string_view::npos : tokens_.source().text.rfind('\n', offset - 1);
    const std::size_t column = offset - (start == std::string_view::npos ? 0 : start + 1);
    return "#line " + std::to_string(line) + ' ' + as_string_literal(tokens_.source().name) + '\n' +
           std::string(std::min<std::size_t>(column, 200), ' ');
}

DeviceSection DeviceVersions::section_at(std::size_t position, bool only_arch) const {
    std::vector<const MacroGroup*> groups;
    if (!only_arch) {
        groups = tokens_.source().included_groups;
        for (const MacroGroup& group : tokens_.source().own_groups)
            if (group.position <= position) groups.push_back(&group);
    }
    return device_section(groups);
}

/// Whether [begin, end) declares nothing but functions and variables of the device. `any` becomes true if one of
/// its declarations is of the device only.
bool DeviceVersions::declares_for_device(std::size_t begin, std::size_t end, bool& any) const {
    bool all = true;
    for (std::size_t i = begin; i < end;) {
        std::uint8_t sides = no_side;
        std::size_t at = i;
        bool braces = false;
        for (; at < end && !tokens_.is(at, ";"); ++at) {
            if (tokens_.is(at, "{") || tokens_.is(at, "(") || tokens_.is(at, "[")) {
                if (tokens_.match(at) == none || tokens_.match(at) >= end) return false;
                braces = tokens_.is(at, "{");
                at = tokens_.match(at);
                if (braces && !tokens_.is(at + 1, ";") && !tokens_.is(at + 1, ",")) break;
                continue;
            }
            if (tokens_.is(at, "}")) return false;
            sides |= one_of(tokens_[at].text, device_variable_qualifiers)
                         ? std::uint8_t{device_side}
                         : sides_of(tokens_[at].text, tokens_.source().program);
        }
        if (sides == device_side) any = true;
        all = all && sides == device_side;
        i = at + 1;
    }
    return all;
}

int DeviceVersions::line_after(const Directive& directive) const {
    const std::string_view text = tokens_.source().text.substr(directive.hash, directive.end - directive.hash);
    return directive.line + static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
}

std::string DeviceVersions::file_line(int line) const {
    return "#line " + std::to_string(line) + ' ' + as_string_literal(tokens_.source().name);
}

/// Lets the conditions of a group see what they see in device code.
void DeviceVersions::take_devices(const std::vector<std::size_t>& branches) {
    const Directive& first = tokens_.directives()[branches.front()];
    const DeviceSection section = section_at(first.position, false);
    editor_.insert_first(first.hash, section.begin + file_line(first.line) + '\n');
    for (const std::size_t i : branches) {
        const Directive& directive = tokens_.directives()[i];
        editor_.insert(directive.end, '\n' + section.end + file_line(line_after(directive)));
    }
}

/// Compiles both the branch of the host and that of the device.
void DeviceVersions::take_both(const std::vector<std::size_t>& branches) {
    for (const std::size_t i : branches) {
        const Directive& directive = tokens_.directives()[i];
        if (directive.name == "endif") continue;
        const std::string taken = directive.surely_take != no_side ? "#if 1" : "#if 0";
        const bool first = i == branches.front();
        editor_.add({directive.hash, directive.end,
                     (first ? "" : "#endif\n") + taken + '\n' + file_line(line_after(directive))});
    }
}

void DeviceVersions::refuse_choice(int line) const {
    tokens_.source().fail(
        line,
        "not supported on the CPU device: this #if on __CUDA_ARCH__ chooses between declarations that host "
        "code sees, too, and here host and device code are compiled together; put the #if inside the "
        "functions");
}

void DeviceVersions::refuse_two_valued_at(std::size_t at) const {
    tokens_.source().fail(tokens_[at].line,
                          "not supported on the CPU device: " + std::string(tokens_[at].text) +
                              " depends on __CUDA_ARCH__, so this declaration is one thing in host code "
                              "and another in device code; here both are compiled together");
}

}  // namespace cpu_device::rewriter
