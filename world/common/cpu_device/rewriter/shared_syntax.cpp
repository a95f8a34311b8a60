#include "shared_syntax.h"

#include <algorithm>

#include "words.h"

namespace cpu_device::rewriter {
namespace {

/// The specifiers of one declaration while they are being read.
class SpecifierReader {
public:
    explicit SpecifierReader(const TokenSequence& tokens) : tokens_(tokens) {}

    SharedSpecifiers read(std::size_t i) {
        while (i < tokens_.size()) {
            const std::size_t next = read_specifier(i);
            if (next == none) break;
            i = next;
        }
        if (!cv_.empty()) result_.type = cv_ + ' ' + result_.type;
        result_.end = i;
        const bool declarator =
            tokens_.identifier_at(i) || tokens_.is(i, "*") || tokens_.is(i, "&") || tokens_.is(i, "(");
        result_.has_type = result_.has_type && declarator;
        return result_;
    }

private:
    // Each of these reads what is at `i` and returns the position after it; `none` when the declarators begin there.

    std::size_t read_specifier(std::size_t i) {
        const Token& token = tokens_[i];
        const auto alias = tokens_.source().macros.shared_aliases.find(token.text);
        if (alias != tokens_.source().macros.shared_aliases.end()) {
            for (const Token& word : alias->second) add_qualifier(word);
        } else if (one_of(token.text, dropped_specifiers) || one_of(token.text, cv_qualifiers)) {
            add_qualifier(token);
        } else if (token.is("[") && tokens_.is(i + 1, "[")) {
            return tokens_.match(i) == none ? none : tokens_.match(i) + 1;
        } else if (one_of(token.text, attribute_words)) {
            return read_attribute(i);
        } else if (one_of(token.text, builtin_types) && !(tokens_.is(i + 1, "::") || tokens_.is(i + 1, "<"))) {
            if (plain_name_) turn_name_into_attribute();
            add_type(i, i + 1);
        } else if (result_.has_type) {
            if (!(plain_name_ && token.is_identifier() && tokens_.identifier_at(i + 1))) return none;
            turn_name_into_attribute();
            return i;
        } else {
            return read_type(i);
        }
        return i + 1;
    }

    std::size_t read_attribute(std::size_t i) {
        if (!tokens_.is(i + 1, "(") || tokens_.match(i + 1) == none)
            tokens_.fail(i, "cannot read this __shared__ declaration");
        const std::size_t end = tokens_.match(i + 1) + 1;
        add_word(result_.alignment, tokens_.text(i, end));
        return end;
    }

    /// A type that is not built in.
    std::size_t read_type(std::size_t i) {
        const Token& token = tokens_[i];
        if (one_of(token.text, class_keys)) return read_class(i);
        if (token.is("decltype") || token.is("typeof") || token.is("__typeof__")) {
            if (!tokens_.is(i + 1, "(") || tokens_.match(i + 1) == none) return none;
            const std::size_t close = tokens_.match(i + 1);
            return add_type(i, tokens_.is(close + 1, "::") ? name_end(close + 1) : close + 1);
        }
        if (!token.is_identifier() && !token.is("::")) return none;
        const std::size_t end = name_end(token.is("typename") ? i + 1 : i);
        if (end == i + 1 && tokens_.is(end, "(") && tokens_.match(end) != none) return read_macro_call(i);
        plain_name_ = end == i + 1;
        return add_type(i, end);
    }

    /// MACRO(x): an attribute or a type.
    std::size_t read_macro_call(std::size_t i) {
        const std::size_t after = tokens_.match(i + 1) + 1;
        if (!tokens_.identifier_at(after)) return none;
        const bool attribute =
            tokens_.identifier_at(after + 1) || tokens_.is(after + 1, "::") || tokens_.is(after + 1, "<");
        if (!attribute) return add_type(i, after);
        add_word(result_.alignment, tokens_.text(i, after));
        return after;
    }

    /// Reads `struct Name`, `struct Name {...}` or `struct {...}` at `i` and returns the position after it.
    std::size_t read_class(std::size_t i) {
        result_.class_key = i;
        std::size_t at = i + 1;
        if (tokens_.is(i, "enum") && (tokens_.is(at, "class") || tokens_.is(at, "struct"))) ++at;
        while (at < tokens_.size() && (one_of(tokens_[at].text, attribute_words) || tokens_.is(at, "["))) {
            if (!tokens_.is(at, "[")) ++at;
            if (at >= tokens_.size() || tokens_.match(at) == none)
                tokens_.fail(i, "cannot read this __shared__ declaration");
            at = tokens_.match(at) + 1;
        }
        const std::size_t name = at;
        at = name_end(at);
        result_.named_class = at > name;
        std::size_t brace = at;
        if (tokens_.is(at, ":"))
            while (brace < tokens_.size() && !tokens_.is(brace, "{") && !tokens_.is(brace, ";")) ++brace;
        result_.has_type = true;
        if (!tokens_.is(brace, "{")) {
            add_word(result_.type, tokens_.text(i, at));
            return at;
        }
        if (tokens_.match(brace) == none) tokens_.fail(brace, "no '}' ends this class");
        result_.body = brace;
        if (result_.named_class) add_word(result_.type, tokens_.text(name, at));
        return tokens_.match(brace) + 1;
    }

    // ---- what has been read

    void add_qualifier(const Token& word) {
        if (word.is("extern")) result_.is_extern = true;
        if (one_of(word.text, cv_qualifiers)) add_word(cv_, std::string(word.text));
    }

    std::size_t add_type(std::size_t begin, std::size_t end) {
        add_word(result_.type, tokens_.text(begin, end));
        result_.has_type = true;
        return end;
    }

    void turn_name_into_attribute() {
        add_word(result_.alignment, result_.type);
        result_.type.clear();
        result_.has_type = plain_name_ = false;
    }

    /// The position after a possibly qualified name with template arguments at `i`.
    std::size_t name_end(std::size_t i) const {
        if (tokens_.is(i, "::")) ++i;
        while (tokens_.identifier_at(i)) {
            ++i;
            while (tokens_.in_macro() && tokens_.is(i, "##")) i += 2;
            if (tokens_.is(i, "<")) {
                const std::size_t close = tokens_.closing_angle(i, tokens_.size());
                if (close == none) tokens_.fail(i, "no '>' ends these template arguments");
                i = close + 1;
            }
            if (!tokens_.is(i, "::")) break;
            ++i;
            if (tokens_.is(i, "template")) ++i;
        }
        return i;
    }

    const TokenSequence& tokens_;
    SharedSpecifiers result_;
    std::string cv_;
    bool plain_name_ = false;  ///< the type is a single name that may turn out to be an attribute macro
};

}  // namespace

void add_word(std::string& list, const std::string& word) {
    if (!list.empty()) list += ' ';
    list += word;
}

std::size_t SharedDeclarationReader::specifiers_begin(std::size_t i, bool any_type) const {
    bool type_seen = false;
    while (i > 0) {
        const Token& before = tokens_[i - 1];
        if (one_of(before.text, dropped_specifiers) || one_of(before.text, cv_qualifiers) ||
            one_of(before.text, builtin_types) || tokens_.source().macros.shared_aliases.count(before.text) != 0) {
            type_seen = type_seen || one_of(before.text, builtin_types);
            --i;
            continue;
        }
        if ((before.is(")") || before.is("]")) && tokens_.match(i - 1) != none) {
            const std::size_t open = tokens_.match(i - 1);
            if (before.is("]") && tokens_.is(open + 1, "[")) {
                i = open;
                continue;
            }
            if (before.is(")") && open > 0 && one_of(tokens_[open - 1].text, attribute_words)) {
                i = open - 1;
                continue;
            }
            if (before.is(")") && open > 0 && any_type && !type_seen && tokens_.is(open - 1, "decltype")) {
                i = open - 1;
                type_seen = true;
                continue;
            }
        }
        if (!any_type || type_seen) break;
        if (before.is("}") && tokens_.match(i - 1) != none) {
            i = class_begin(tokens_.match(i - 1), i);
            type_seen = true;
            continue;
        }
        const bool name = before.is_identifier() && !one_of(before.text, expression_keywords);
        if (!name && !before.is(">")) break;
        i = type_name_begin(i);
        type_seen = true;
    }
    return i;
}

/// First token of a class definition whose brace is at `brace`; `otherwise` when it is none.
std::size_t SharedDeclarationReader::class_begin(std::size_t brace, std::size_t otherwise) const {
    for (std::size_t i = brace; i-- > 0 && !tokens_.is(i, ";") && !tokens_.is(i, "{") && !tokens_.is(i, "}");)
        if (one_of(tokens_[i].text, class_keys)) return i;
    return otherwise;
}

/// First token of the (qualified, templated) type name that ends in front of `i`.
std::size_t SharedDeclarationReader::type_name_begin(std::size_t i) const {
    while (i > 0) {
        if (tokens_.is(i - 1, ">")) {
            const std::size_t open = tokens_.opening_angle(i - 1);
            if (open == none) return i;
            i = open;
        }
        if (i == 0 || !tokens_.identifier_at(i - 1)) return i;
        --i;
        if (i > 0 && tokens_.is(i - 1, "template")) --i;
        if (i == 0 || !tokens_.is(i - 1, "::")) break;
        --i;
        if (i == 0 || !(tokens_.identifier_at(i - 1) || tokens_.is(i - 1, ">"))) return i;
    }
    if (i > 0 && (tokens_.is(i - 1, "typename") || one_of(tokens_[i - 1].text, class_keys))) --i;
    return i;
}

SharedSpecifiers SharedDeclarationReader::read_specifiers(std::size_t i) const {
    return SpecifierReader(tokens_).read(i);
}

SharedDeclarator SharedDeclarationReader::read_declarator(std::size_t& i) const {
    SharedDeclarator result;
    const std::size_t first = i;
    int depth = 0;
    std::string abstract;
    for (; i < tokens_.size(); ++i) {
        const Token& token = tokens_[i];
        if (depth == 0 && (token.is(",") || token.is(";"))) break;
        if (token.is("=") || token.is("{") || (token.is("(") && result.name != none && depth == 0))
            tokens_.fail(i, "a __shared__ variable cannot have an initializer");
        if (one_of(token.text, attribute_words)) {
            if (!tokens_.is(i + 1, "(") || tokens_.match(i + 1) == none)
                tokens_.fail(i, "cannot read this __shared__ declaration");
            add_word(result.alignment, tokens_.text(i, tokens_.match(i + 1) + 1));
            i = tokens_.match(i + 1);
        } else if (token.is("[")) {
            if (tokens_.match(i) == none) tokens_.fail(i, "no ']' ends the array bound");
            if (result.name != none && depth == 0) result.is_array = true;
            abstract += tokens_.text(i, tokens_.match(i) + 1);
            i = tokens_.match(i);
        } else if (token.is("(") && result.name != none) {  // parameters of a function pointer
            if (tokens_.match(i) == none) tokens_.fail(i, "no ')' ends the parameters");
            abstract += tokens_.text(i, tokens_.match(i) + 1);
            i = tokens_.match(i);
        } else if (token.is("(")) {
            ++depth;
            abstract += '(';
        } else if (token.is(")")) {
            if (--depth < 0) tokens_.fail(i, "a __shared__ declaration in a macro's arguments cannot be read");
            abstract += ')';
            if (depth == 0 && tokens_.is(i + 1, "(") && tokens_.match(i + 1) != none) {
                abstract += tokens_.text(i + 1, tokens_.match(i + 1) + 1);
                i = tokens_.match(i + 1);
            }
        } else if (token.is("*") || token.is("::") || one_of(token.text, cv_qualifiers) || token.is("__restrict__")) {
            abstract += token.is_identifier() ? ' ' + std::string(token.text) + ' ' : std::string(token.text);
        } else if (token.is_identifier() && result.name == none) {
            result.name = i;
            while (tokens_.in_macro() && tokens_.is(i + 1, "##")) i += 2;
            result.name_end = i + 1;
        } else if (token.is("&") || token.is("&&")) {
            tokens_.fail(i, "a __shared__ variable cannot be a reference");
        } else {
            if (result.name != none && i > 0 && (token.is("}") || token.line > tokens_[i - 1].line))
                tokens_.fail(i - 1, "no ';' ends this __shared__ declaration");
            tokens_.fail(i, "cannot read this __shared__ declaration");
        }
    }
    if (result.name == none)
        tokens_.fail(std::min(first, tokens_.size() - 1), "cannot read this __shared__ declaration");
    result.abstract = abstract;
    return result;
}

}  // namespace cpu_device::rewriter
