#include "common/lesson/kernel_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "common/helpers/child_process.h"
#include "common/helpers/lines.h"

namespace warpwise {
namespace {

/// Comments, `#include`, `#pragma once`, and the opening of a namespace, up to the first blank line after all of them.
bool belongs_to_the_head(std::string_view line) {
    return line.empty() || line.starts_with("//") || line.starts_with("#include") || line.starts_with("#pragma once") ||
           line.starts_with("namespace ") || line.starts_with("using ");
}

/// Begins what the comment above a step says about its speed, which a reader is about to guess.
bool tells_the_reason(std::string_view line) {
    const auto begins = [&](std::string_view words) { return line.starts_with(words); };
    return (begins("// Faster") || begins("// Slow") || begins("// Still slow") || begins("// Better")) &&
           line.find(" because") != std::string_view::npos;
}

/// Without the reasons, each up to the end of its comment.
std::vector<std::string> without_reasons(const std::vector<std::string>& lines) {
    std::vector<std::string> left;
    bool in_reason = false;
    for (const std::string& line : lines) {
        in_reason = line.starts_with("//") && (in_reason || tells_the_reason(line));
        if (!in_reason) left.push_back(line);
    }
    return left;
}

std::vector<std::string> lines_of_kernels(const std::filesystem::path& file) {
    std::vector<std::string> lines = file_lines(file);
    auto begin = std::find_if_not(lines.begin(), lines.end(), belongs_to_the_head);
    while (begin != lines.begin() && std::string_view(*(begin - 1)).starts_with("//")) --begin;
    lines.erase(lines.begin(), begin);
    while (!lines.empty() && (lines.back().empty() || std::string_view(lines.back()).starts_with("}  // namespace"))) {
        lines.pop_back();
    }
    return without_reasons(lines);
}

}  // namespace

std::vector<KernelFile> kernel_files(const std::string& folder) {
    std::vector<KernelFile> files;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        if (entry.path().extension() != ".cuh") continue;
        files.push_back({entry.path().filename(), lines_of_kernels(entry.path())});
    }
    std::sort(files.begin(), files.end(), [](const KernelFile& a, const KernelFile& b) { return a.name < b.name; });
    return files;
}

std::vector<std::string> edited_files(const std::string& folder) {
    // Where git itself has started this program, in a hook, its variables name another place.
    const std::optional<std::string> names =
        output_of({"env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "git", "--no-optional-locks",
                   "-C", folder, "diff", "--name-only", "HEAD", "--", "."});
    return text_lines(names.value_or(""));
}

}  // namespace warpwise
