#include "edits.h"

#include <algorithm>

namespace cpu_device::rewriter {
namespace {

/// The text of [begin, end) with the edits in it made. `next` is the first edit that may be in it, and becomes the
/// first one after it.
std::string with_edits(std::string_view source, std::size_t begin, std::size_t end, const std::vector<Edit>& edits,
                       std::size_t& next) {
    std::string result;
    std::size_t at = begin;
    for (; next < edits.size() && edits[next].begin < end; ++next) {
        const Edit& edit = edits[next];
        if (edit.begin < at) continue;  // inside text that another edit has moved
        result += source.substr(at, edit.begin - at);
        result += edit.text;
        at = edit.end;
    }
    if (at < end) result += source.substr(at, end - at);
    return result;
}

}  // namespace

void Editor::replace(std::size_t begin, std::size_t end, std::string text) {
    add({begin, end, std::move(text) + line_ends(begin, end)});
}

std::string Editor::line_ends(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t at = begin; at < end; ++at) {
        if (source_[at] != '\n') continue;
        std::size_t before = at;
        while (before > begin && (source_[before - 1] == '\r' || source_[before - 1] == ' ')) --before;
        result += before > begin && source_[before - 1] == '\\' ? "\\\n" : "\n";
    }
    return result;
}

std::string as_string_literal(std::string_view text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (c == '\n') {
            result += "\\n";
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string apply_edits(std::string_view source, std::vector<Edit> edits, std::vector<TwoVersions> two_versions,
                        const std::string& file_name) {
    const auto in_order = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.goes_first > b.goes_first;
    });
    std::sort(two_versions.begin(), two_versions.end(), in_order);
    std::string result = "#line 1 " + as_string_literal(file_name) + "\n";
    result.reserve(source.size() + source.size() / 4);
    std::size_t at = source.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;  // a byte order mark may only stand in front
    std::size_t next = 0;
    for (const TwoVersions& function : two_versions) {
        if (function.begin < at) continue;
        result += with_edits(source, at, function.begin, edits, next);
        std::size_t again = next;
        result += function.before + with_edits(source, function.begin, function.end, edits, next) + function.between;
        result += with_edits(source, function.begin, function.end, edits, again) + function.after;
        at = function.end;
    }
    return result + with_edits(source, at, source.size() + 1, edits, next);
}

}  // namespace cpu_device::rewriter
