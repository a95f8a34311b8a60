// A page of the book for the terminal, where there is no Node.js and no browser: tables of recorded runs and code stand
// in it, and the answers to its questions are parts of their own.
//
//     for (const PagePart& part : page_parts(project.root, "thread_hierarchy", terminal)) ...
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/lesson/terminal.h"

namespace guide {

struct PagePart {
    std::string text;
    bool is_answer = false;  ///< to the question before it: to be shown when the reader has thought about it. What the
                             ///< site folds for other reasons is no answer.
};

/// The English page of this name, wherever it lies in docs: "thread_hierarchy", "first_program", "debugging.md". Throws
/// Refusal, with names that are near, when there is none or it cannot be read.
std::vector<PagePart> page_parts(const std::filesystem::path& root, const std::string& name,
                                 const warpwise::Terminal& terminal);

/// Markdown that is no page of the book, as a task: laid out for the terminal, with its tables.
std::string text_with_tables(const std::string& markdown, const warpwise::Terminal& terminal);

/// Shows the page on stdout: where somebody reads along, a screen at a time, and each answer when it is asked for.
/// False when the reader left before the end.
bool show_page(const std::filesystem::path& root, const std::string& name, const warpwise::Terminal& terminal,
               bool reads_along);

}  // namespace guide
