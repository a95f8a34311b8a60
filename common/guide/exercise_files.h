// An exercise's texts: hints, the answer as it was handed out, the solution.
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

/// Whether the answer differs from the original. False when there is no answer: nothing is lost then. True when there
/// is no original to compare it with. Throws Refusal when either cannot be read.
bool is_edited(const Exercise& exercise);

/// Puts the original back. What was there is kept beside it as NAME.cu.before_reset (earlier ones as .1, .2 ...);
/// returns that path, empty when nothing had been changed. The answer keeps its permissions. Throws Refusal when there
/// is no original or the files cannot be written; the answer is as it was then.
std::filesystem::path reset(const Exercise& exercise);

/// The solution's text. Throws Refusal when it cannot be read.
std::string solution_text(const Exercise& exercise);

/// Differences between two texts line by line, as `diff -u` shows them (with its help), under the files' names as far
/// as these differ; empty when they are the same. Throws Refusal when a file cannot be read, or `diff` is not there.
std::string difference(const std::filesystem::path& before, const std::filesystem::path& after);

}  // namespace guide
