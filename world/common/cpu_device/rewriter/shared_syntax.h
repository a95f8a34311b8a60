// Reads the declarations of `__shared__` variables.
#pragma once

#include <string>

#include "token_sequence.h"

namespace cpu_device::rewriter {

/// What a declaration says about all of its variables.
struct SharedSpecifiers {
    std::size_t end = 0;  ///< first token of the declarators
    bool is_extern = false;
    bool has_type = false;
    std::string type;         ///< with const and volatile
    std::string alignment;    ///< alignas(...) and its kin
    std::size_t body = none;  ///< the brace of a class that is defined in the declaration
    std::size_t class_key = none;
    bool named_class = false;
};

/// What it says about one of them.
struct SharedDeclarator {
    std::size_t name = none;
    std::size_t name_end = none;
    std::string abstract;  ///< the declarator without its name, such as `*[4]`
    std::string alignment;
    bool is_array = false;
};

/// Throws Error for what cannot be read and for what nvcc refuses.
class SharedDeclarationReader {
public:
    explicit SharedDeclarationReader(const TokenSequence& tokens) : tokens_(tokens) {}

    /// First token of the specifiers before `i`: storage words, qualifiers, alignment and built-in types;
    /// with `any_type` a type of any other kind too.
    std::size_t specifiers_begin(std::size_t i, bool any_type) const;
    SharedSpecifiers read_specifiers(std::size_t i) const;
    /// Reads one declarator and moves `i` to the `,` or `;` after it.
    SharedDeclarator read_declarator(std::size_t& i) const;

private:
    std::size_t class_begin(std::size_t brace, std::size_t otherwise) const;
    std::size_t type_name_begin(std::size_t i) const;

    const TokenSequence& tokens_;
};

/// Appends a word to a list of words.
void add_word(std::string& list, const std::string& word);

}  // namespace cpu_device::rewriter
