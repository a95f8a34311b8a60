// What the command line asks of every lesson.
//
//     Lesson::Options options;
//     options.repeat = 20;
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/helpers/instrument.h"
#include "common/lesson/lesson.h"

namespace warpwise {

struct Lesson::Options {
    std::optional<Size> size;        ///< replaces the main sizes
    std::vector<std::string> steps;  ///< names or parts of names; empty: all
    std::optional<int> repeat;       ///< samples of a timing, at least
    bool counters = true;            ///< count what kernels do, where this program can
    bool diagnose = false;           ///< look for errors in them, where this program can
    bool leaks = false;              ///< with `diagnose`: what is never freed is an error, and not only a note
    bool all_blocks = false;         ///< instrument every block of a launch instead of a sample
    bool list_lines = false;         ///< show the kernels' source with the counts of each line
    bool keep_lines = false;         ///< counts of each line are wanted in the results
    bool once = false;             ///< each step once at the main size, as profilers want it: no other sizes, no times
    bool trace = false;            ///< keep what the warps of the first block of each launch did
    bool model = false;            ///< estimate times of a GPU: model::chosen_gpu()
    std::optional<int> registers;  ///< per thread, for theoretical occupancy; only nvcc knows them
    std::string plain_program =
        {};  ///< this program built without instrumenting: times host code; empty: there is none
    std::string recorded_file = {};  ///< what was recorded of the chapter's lessons on a GPU; may be missing
    std::string lessons = {};        ///< the chapter's folder: a folder for each lesson, with its kernels
    std::string program = {};        ///< the chapter's program as lessons call it: "basics_and_pi"
    std::string typed = {};          ///< what the reader types for it: "./warpwise run 1"; empty: the same

    CountOptions count_options() const {
        return {.blocks = all_blocks ? 0 : sampled_blocks,
                .registers = registers.value_or(0),
                .model = model,
                .lines = list_lines || keep_lines,
                .traced_blocks = trace ? 1u : 0u};
    }
};

}  // namespace warpwise
