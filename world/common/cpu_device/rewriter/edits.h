// Changes of a source text: which part of it becomes what.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cpu_device::rewriter {

/// Puts `text` in place of the source between the offsets `begin` and `end`.
struct Edit {
    std::size_t begin;
    std::size_t end;
    std::string text;
    bool goes_first = false;  ///< before other insertions at the same place
};

/// The inside of a function's braces that is written twice: for the device and for the host.
struct TwoVersions {
    std::size_t begin;
    std::size_t end;
    std::string before, between, after;
};

/// Adds to the edits of one source text.
class Editor {
public:
    /// Both have to outlive the editor.
    Editor(std::string_view source, std::vector<Edit>& edits) : source_(source), edits_(edits) {}

    /// Puts `text` in place of the source between two offsets, and keeps the line ends that were there.
    void replace(std::size_t begin, std::size_t end, std::string text);
    void insert(std::size_t at, std::string text) { add({at, at, std::move(text)}); }
    /// In front of whatever else is inserted there, so far.
    void insert_first(std::size_t at, std::string text) { add({at, at, std::move(text), true}); }
    void add(Edit edit) { edits_.push_back(std::move(edit)); }

    /// The index that the next edit gets.
    std::size_t size() const { return edits_.size(); }
    /// The line ends between two offsets, with the backslash of a continued line.
    std::string line_ends(std::size_t begin, std::size_t end) const;

private:
    std::string_view source_;
    std::vector<Edit>& edits_;
};

std::string as_string_literal(std::string_view text);

/// The source with the edits made, after a `#line` directive that names `file_name`.
std::string apply_edits(std::string_view source, std::vector<Edit> edits, std::vector<TwoVersions> two_versions,
                        const std::string& file_name);

}  // namespace cpu_device::rewriter
