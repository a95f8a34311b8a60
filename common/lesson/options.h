// What the command line asks of every lesson.
//
//     Lesson::Options options;
//     options.repeat = 20;
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/lesson/lesson.h"

namespace warpwise {

struct Lesson::Options {
    std::optional<Size> size;        ///< replaces the main sizes
    std::vector<std::string> steps;  ///< names or parts of names; empty: all
    std::optional<int> repeat;       ///< samples of a timing, at least
    std::string program = {};        ///< the chapter's program as lessons call it: "basics_and_pi"
    std::string typed = {};          ///< what the reader types for it: "./warpwise run 1"; empty: the same
};

}  // namespace warpwise
