// What the CPU device does not offer and is seen by a word.
#pragma once

#include "analysis.h"
#include "scopes.h"

namespace cpu_device::rewriter {

/// The functions throw Error, which names the feature.
class UnsupportedFeatures {
public:
    UnsupportedFeatures(const TokenSequence& tokens, const Scopes& scopes) : tokens_(tokens), scopes_(scopes) {}

    /// Writes the PTX of the inline assembly at `i` as C++, or refuses it. Leaves the host's assembly alone.
    void rewrite_ptx(std::size_t i, Analysis& analysis) const;
    /// Refuses the `texture` at `i` if it declares a texture reference, unless the file has a `texture` of its own.
    void refuse_texture_reference(std::size_t i);

private:
    const TokenSequence& tokens_;
    const Scopes& scopes_;
    bool own_texture_ = false;  ///< the file defines a `texture` of its own
};

}  // namespace cpu_device::rewriter
