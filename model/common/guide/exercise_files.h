// An exercise's texts: hints, the solution, and how an answer differs from it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/guide/catalog.h"

namespace guide {

/// The hints in hints.md, in order, as Markdown without their headings ("## Hint 1" ...). Empty when there is no such
/// file; throws Refusal when it cannot be read.
std::vector<std::string> hints_of(const Exercise& exercise);

/// Markdown as it reads well in a terminal. Headings, emphasis and links lose their marks; an address stays, in
/// parentheses, unless it says no more than the text. Paragraphs and lists are wrapped to `width` characters; code
/// (with its backticks inside a sentence) and tables are kept as they are.
std::string plain_text(const std::string& markdown, std::size_t width);

/// The solution's text. Throws Refusal when it cannot be read.
std::string solution_text(const Exercise& exercise);

/// Differences between two texts line by line, as `diff -u` shows them (with its help), under the files' names as far
/// as these differ; empty when they are the same. Throws Refusal when a file cannot be read, or `diff` is not there.
std::string difference(const std::filesystem::path& before, const std::filesystem::path& after);

}  // namespace guide
