// What a chapter's program wrote with --json, read back (common/lesson/json_output.h describes the layout).
//
//     const ChapterResults results = parse_results(text);
//     for (const warpwise::LessonResult& lesson : results.lessons) ...
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/lesson/results.h"

namespace guide {

struct ChapterResults {
    int number = 0;
    std::string title;
    std::string folder;  ///< "1_basics_and_pi"
    std::string date;    ///< "2026-01-31 12:00 UTC"
    warpwise::DeviceInfo device;
    std::vector<std::string> command;
    std::vector<warpwise::LessonResult> lessons;
    bool passed = false;
};

/// Throws std::runtime_error, which says what is wrong, for anything that is not the results of a chapter. What may be
/// missing (files of earlier versions have no counters) is left empty. Numbers that the file holds as null are NaN.
ChapterResults parse_results(std::string_view json);

/// Every step right and without diagnostics, every expectation met, and the lesson came to its end.
bool is_right(const warpwise::LessonResult& lesson);
bool is_right(const warpwise::StepResult& step);

/// The words of the command as it was typed or could be: paths below the root relative to it, without the options that
/// only say where results go and how they look (--json FILE, --trace FILE, --no-color, --no-pause).
std::vector<std::string> shown_words(const std::vector<std::string>& command, const std::filesystem::path& root);
std::string shown_command(const std::vector<std::string>& command, const std::filesystem::path& root);

/// What the book's roofline (docs/.vitepress/theme/components/roofline.ts) reads of results, in the layout in which
/// programs write them: the steps' times and work, the device, and the command in shown_words.
std::string times_as_json(const ChapterResults& results, const std::filesystem::path& root);

/// "1000 x 700"; empty where the results hold no size.
std::string text_of(const warpwise::Size& size);

}  // namespace guide
