// What a lesson asks its reader to predict, and where the answer comes from.
//
//     lesson.predict({.question = "A warp loads one float from each of 32 rows. How many sectors does the load touch?",
//                     .answer = warpwise::Number{.value = 32, .unit = "sectors"},
//                     .because = "Each lane touches a sector of its own."});
//
// Which answer to use:
//
//     Number      it can be worked out from the question, and is the same in every run: counts of sectors, conflicts,
//                 blocks, launches, lanes. Say by `shown_by` which counter or cell of the group's table shows it: then
//                 what was counted is the answer (also with another --size), and where it disagrees with `value`, the
//                 lesson fails.
//     Choice      the same for two to six outcomes, one of them a common misconception.
//     Measured    a figure that only a GPU can tell: a bandwidth, a ratio of times. It is what this run measured, and
//                 where no GPU measured anything, what was recorded on one; the answer says so. Right within `factor`.
//     Fastest     which of these steps is the fastest, from the same source. Every step that is at most 5 % slower than
//                 the fastest one counts as right.
//
// No answer about times is a constant: the next GPU has others.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/helpers/counts.h"

namespace warpwise {

/// What was counted of a step of the group: of its launches in one run.
struct StepCount {
    std::string step;
    double (*of)(const std::vector<LaunchCounts>& launches);
};

// The columns of the counters:
//
//     .shown_by = sectors_per_load("add_x_down_rows")

inline StepCount sectors_per_load(std::string step) {
    return {std::move(step), [](const std::vector<LaunchCounts>& launches) {
                return sum_of(launches).global_load.sectors_per_request();
            }};
}
inline StepCount sectors_per_store(std::string step) {
    return {std::move(step), [](const std::vector<LaunchCounts>& launches) {
                return sum_of(launches).global_store.sectors_per_request();
            }};
}
/// Active lanes of a global load.
inline StepCount lanes_per_load(std::string step) {
    return {std::move(step),
            [](const std::vector<LaunchCounts>& launches) { return sum_of(launches).global_load.lanes_per_request(); }};
}
/// Wavefronts of a load from shared memory.
inline StepCount wavefronts_per_shared_load(std::string step) {
    return {std::move(step), [](const std::vector<LaunchCounts>& launches) {
                return sum_of(launches).shared_load.wavefronts_per_request();
            }};
}
/// The same of a store to shared memory.
inline StepCount wavefronts_per_shared_store(std::string step) {
    return {std::move(step), [](const std::vector<LaunchCounts>& launches) {
                return sum_of(launches).shared_store.wavefronts_per_request();
            }};
}
/// Wavefronts of shared memory beyond those that are needed without bank conflicts, in the whole run.
inline StepCount bank_conflicts(std::string step) {
    return {std::move(step),
            [](const std::vector<LaunchCounts>& launches) { return sum_of(launches).shared().conflicts(); }};
}
/// Barriers that a warp passes, in all launches.
inline StepCount barriers_per_warp(std::string step) {
    return {std::move(step), [](const std::vector<LaunchCounts>& launches) {
                double barriers = 0;
                for (const LaunchCounts& launch : launches) barriers += launch.barriers_per_warp();
                return barriers;
            }};
}
inline StepCount launches_of(std::string step) {
    return {std::move(step),
            [](const std::vector<LaunchCounts>& launches) { return static_cast<double>(launches.size()); }};
}

/// The number at the beginning of a cell of a table of the lesson's own: of the row that begins with the cells `row`.
struct TableCell {
    std::string table;  ///< its name
    std::vector<std::string> row;
    std::string column;
};

/// A figure of a step, at the main size: the column of its Figure.
struct StepFigure {
    std::string step;
    std::string column;
};

using ShownBy = std::variant<std::monostate, StepCount, TableCell, StepFigure>;

struct Number {
    double value = 0;
    std::string unit = {};  ///< "sectors"; "%" for a share, where "1/4" is 25
    double factor = 1;      ///< right up to so many times too large or too small; 1: exactly
    ShownBy shown_by = {};
};

struct Choice {
    std::vector<std::string> choices;
    std::size_t right = 0;  ///< counted from 0
};

/// How many times as long `slow` takes as `fast`.
struct TimeRatio {
    std::string slow;
    std::string fast;
};

/// GB/s of a step.
struct Rate {
    std::string step;
};

/// A time of a step in microseconds.
struct Microseconds {
    std::string step;
};

/// A ratio of two cells of recorded tables, or of the tables of this run.
struct CellRatio {
    TableCell over;
    TableCell under;
};

using MeasuredBy = std::variant<TimeRatio, Rate, Microseconds, TableCell, CellRatio>;

struct Measured {
    MeasuredBy by;
    std::string unit = {};
    double factor = 1.2;  ///< 1.2 for bandwidths, 3 where the order of magnitude is meant
};

struct Fastest {
    std::vector<std::string> steps;  ///< the choices
};

using Answer = std::variant<Number, Choice, Measured, Fastest>;

struct Prediction {
    std::string question;  ///< with its choices at most Lesson::prediction_words words
    Answer answer;
    std::string because;    ///< the reason, in full sentences: at most Lesson::because_words words
    std::string idea = {};  ///< that a wrong guess is about, as chapter.json names it; empty: the idea of the lesson
};

}  // namespace warpwise
