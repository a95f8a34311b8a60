// How well the learner knows each idea of the book, from exercises and predictions, and the map of the whole path.
//
//     for (const Idea& idea : ideas_of(catalog, progress)) fmt::print("{}: {}\n", idea.name, name_of(idea.mastery));
//     fmt::print("{}", map_text(catalog, progress, {.typed = "./warpwise", .today = today()}, terminal));
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/guide/catalog.h"
#include "common/guide/progress.h"
#include "common/lesson/terminal.h"

namespace guide {

enum class Mastery { open, begun, shaky, mastered };

const char* name_of(Mastery mastery);

/// So many wrong answers to an exercise are a sign that its idea is shaky.
constexpr int many_attempts = 5;

/// What was done about one idea, in all chapters.
struct IdeaMarks {
    std::size_t stops = 0;
    std::size_t stops_done = 0;
    std::size_t exercises = 0;
    std::size_t passed = 0;
    std::size_t predictions = 0;        ///< that were made
    std::size_t right = 0;              ///< of these, by the last answer to each
    std::vector<std::string> troubles;  ///< "6 attempts at grid_stride", "solution of grid_stride seen"
};

/// The rule.
///
/// An idea is **shaky** when fewer than two thirds of the predictions made about it are right (the last answer to each
/// counts, so a review can put that right), or when an exercise about it is in trouble: it took `many_attempts` wrong
/// answers or more, or its solution was seen before it passed. That trouble is over once a lesson of the idea was run
/// again on a later day than the exercise passed.
///
/// It is **mastered** when it is not shaky and all of its exercises are passed. An idea without exercises is mastered
/// when all of its lessons were run and at least one prediction was made.
///
/// Otherwise it is **begun** when something of it was done, and **open** when nothing was.
Mastery mastery_of(const IdeaMarks& marks);

struct Idea {
    std::string name;  ///< "grid-stride loops"
    Mastery mastery = Mastery::open;
    IdeaMarks marks;
    std::vector<std::string> reasons;  ///< why it is shaky, only that: "1 of 3 predictions right"
    Station look_at;                   ///< the lesson to run again when it is shaky; none: there is no such lesson
};

/// The ideas in the order in which the path comes to them.
std::vector<Idea> ideas_of(const Catalog& catalog, const Progress& progress);

enum class StopState { done, here, open, skipped };

const char* name_of(StopState state);

/// Stops of one chapter that follow each other and share an idea.
struct Stretch {
    std::string idea;
    std::string number;  ///< of its first lesson, "1.3"; may be empty
    std::vector<Station> stations;
    std::vector<StopState> states;
};

struct ChapterMap {
    const Chapter* chapter = nullptr;
    std::vector<Stretch> stretches;
    std::size_t stops = 0;
    std::size_t done = 0;
    bool is_touched() const;  ///< something of it is done, skipped, or comes next
};

/// The path as far as it was gone. Lives as long as the catalog.
struct PathMap {
    std::vector<ChapterMap> chapters;
    std::vector<Idea> ideas;
    Station here;  ///< what comes next; none: all is done

    const Idea* find_idea(const std::string& name) const;  ///< null when there is none
};

PathMap path_map(const Catalog& catalog, const Progress& progress);

struct MapOptions {
    std::string typed = {};    ///< "./warpwise"
    std::string today = {};    ///< "2026-11-21", for the reviews that are due
    std::string chapter = {};  ///< folder: only this one, with all of its ideas; empty: all, those not begun as a line
    bool all = false;          ///< all chapters with all of their ideas
};

/// Fits into 80 columns.
std::string map_text(const Catalog& catalog, const Progress& progress, const MapOptions& options,
                     const warpwise::Terminal& terminal);

nlohmann::ordered_json map_json(const Catalog& catalog, const Progress& progress, const MapOptions& options);

}  // namespace guide
