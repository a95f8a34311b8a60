// The main function of a chapter program. CMake writes it from the chapter's list (common/cmake/Chapters.cmake):
//
//     int main(int argc, char** argv) {
//         return warpwise::run_chapter(argc, argv, {1, "Basics and pi", "1_basics_and_pi", {
//             {"device_query", "what this machine has", device_query, "what a device has"},
//             {"hello_threads", "grids, blocks, threads, warps and lanes", hello_threads, "thread indices and guards"},
//         }});
//     }
#pragma once

#include <string>
#include <vector>

#include "common/lesson/lesson.h"

namespace warpwise {

struct LessonEntry {
    std::string name;     ///< as on the command line, and the name of its folder
    std::string summary;  ///< one line for `--list`
    void (*run)(Lesson&);
    std::string idea = {};  ///< that it teaches: predictions and exercises are counted by it
};

struct Chapter {
    int number;
    std::string title;
    std::string folder;
    std::vector<LessonEntry> lessons;  ///< in the order in which they are taught
};

/// Parses the command line, runs the lessons asked for, and returns the exit status:
/// 0 all right, 1 a step was wrong, 2 the request could not be met.
int run_chapter(int argc, char** argv, const Chapter& chapter);

}  // namespace warpwise
