// Gives device code its own version of what depends on `__CUDA_ARCH__`, and refuses what cannot have two versions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis.h"
#include "scopes.h"

namespace cpu_device::rewriter {

/// Looks at the conditionals, functions and declarations that a pass goes over. All functions that refuse something
/// throw Error.
class DeviceVersions {
public:
    DeviceVersions(const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis)
        : tokens_(tokens), scopes_(scopes), analysis_(analysis), editor_(tokens.source().text, analysis.edits) {}

    /// At an `#if` outside of functions: where host and device compile different declarations, takes those of the
    /// device for the device, or refuses. `first` is the index of the directive.
    void choose_side(std::size_t first);
    /// Gives a function what differs in device code: to one for the device only `__CUDA_ARCH__`, to one for both sides
    /// two versions of its body, of which the running one is chosen. `close` is its last brace.
    void finish_function(const OpenBracket& function, std::size_t close);
    /// Notes a macro outside of functions that is one thing for the host and another for the device.
    void note_two_valued(std::size_t i);
    /// At the end of a declaration that is no function of the device: such a macro cannot have both values here.
    void refuse_two_valued(std::size_t end);
    /// The same for what stands in the braces of an initializer.
    void refuse_two_valued_within(std::size_t begin, std::size_t end) const;

private:
    struct Branches;

    Branches read_branches(const std::vector<std::size_t>& branches) const;
    void read_branch(std::size_t first, std::size_t last, Branches& found) const;
    bool differs_by_side(const Token& token) const;
    int line_that_differs(std::size_t first, std::size_t last, bool& only_arch) const;
    std::string line_directive(std::size_t offset, int line) const;
    DeviceSection section_at(std::size_t position, bool only_arch) const;
    bool declares_for_device(std::size_t begin, std::size_t end, bool& any) const;
    int line_after(const Directive& directive) const;
    std::string file_line(int line) const;
    void take_devices(const std::vector<std::size_t>& branches);
    void take_both(const std::vector<std::size_t>& branches);
    [[noreturn]] void refuse_choice(int line) const;
    [[noreturn]] void refuse_two_valued_at(std::size_t at) const;

    const TokenSequence& tokens_;
    const Scopes& scopes_;
    Analysis& analysis_;
    Editor editor_;
    std::size_t two_valued_at_ = none;  ///< a macro in the present declaration that depends on `__CUDA_ARCH__`
};

}  // namespace cpu_device::rewriter
