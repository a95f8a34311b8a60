// For writers: the files of a new lesson or exercise, from common/guide/templates, and its entry in the chapter's list.
//
//     create(project, {.what = "lesson", .name = "scan", .chapter = "4"})
//         // chapters/4_examples/scan/{lesson.cu, kernels.cuh}, docs/4_examples/scan.md, docs/zh/4_examples/scan.md,
//         // and a line in chapters/4_examples/chapter.json
//
// What is created is complete: it builds, and its tests pass. Writers replace its problem by their own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/guide/project.h"

namespace guide {

struct NewItem {
    std::string what;                           ///< "lesson" or "exercise"
    std::string name;                           ///< an identifier of C++ without capital letters
    std::string chapter = {};                   ///< its number, folder or program; empty: the last chapter
    std::string kind = "fill";                  ///< of an exercise: fill, fix or speed
    std::string about = "TODO: what it shows";  ///< of a lesson: what lists show
    std::string after = {};                     ///< entry of that chapter which comes before it; empty: the last one
};

struct NewFiles {
    std::vector<std::filesystem::path> created;
    std::filesystem::path list;  ///< the chapter.json that was changed
    int chapter = 0;             ///< its number
    bool stamped = true;         ///< the Chinese page names the English text that it renders
};

/// Creates all files, or none: throws Refusal when the name cannot be used or is taken, when there is no such chapter
/// or nothing called `after` in it, or when one of the files is there already.
NewFiles create(const Project& project, const NewItem& item);

/// The text of a chapter.json: one line for each item of its path, members in their order. Throws Refusal when `json`
/// is none.
std::string formatted_list(std::string_view json);

}  // namespace guide
