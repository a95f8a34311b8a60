// What there is to learn: chapters, their lessons, and exercises, in the order in which they are best done. CMake
// writes it (common/cmake/Programs.cmake: add_chapter, add_exercise) to catalog.json in the build's folder.
//
//     const Catalog catalog = Catalog::load(project);
//     const Exercise& exercise = catalog.find_exercise("grid");       // names may be shortened
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "common/guide/project.h"

namespace guide {

struct Lesson {
    std::string name;       ///< "vector_add"
    std::string title;      ///< one line, "about" in chapter.json
    std::string idea = {};  ///< that it teaches, "grid-stride loops"; several stops share one. May be empty
};

/// A page of the book that is read before what follows it on the path.
struct BookPage {
    std::string name;        ///< "thread_hierarchy": docs/thread_hierarchy.md
    std::string idea = {};   ///< as a lesson's
    std::string title = {};  ///< its heading, "Grids, blocks, threads"; empty where the page cannot be read
};

struct Exercise {
    std::string name;                       ///< "grid_stride"
    std::string chapter;                    ///< folder of its chapter: "1_basics_and_pi"
    std::string kind;                       ///< "fill" (write the missing part), "fix" (find the mistake), "speed"
    std::string title;                      ///< one line, from the first comment of the stub
    std::vector<std::string> former_names;  ///< what it was called in earlier versions
    std::filesystem::path folder;           ///< absolute: ROOT/exercises/1_basics_and_pi/grid_stride
    std::filesystem::path answers;          ///< absolute: ROOT/answers/1_basics_and_pi/grid_stride
    std::filesystem::path solution;         ///< absolute: ROOT/solutions/1_basics_and_pi/grid_stride/grid_stride.cu
    std::string idea = {};                  ///< that it is about; may be empty

    // Which of the two counts as the answer: common/guide/answers.h.
    std::filesystem::path own_answer() const { return answers / (name + ".cu"); }  ///< the learner's file
    std::filesystem::path stub() const { return folder / (name + ".cu"); }         ///< may be edited in place
    std::filesystem::path handed_out() const { return answers / ".handed_out"; }   ///< from which the answer was made
    std::filesystem::path task() const { return folder / "README.md"; }
    std::filesystem::path hints() const { return folder / "hints.md"; }
};

enum class StopKind { lesson, exercise, page };

/// An entry of a chapter's path: its place in `lessons`, `exercises` or `pages`.
struct Stop {
    StopKind kind = StopKind::lesson;
    std::size_t index = 0;
};

struct Chapter {
    int number = 0;
    std::string folder;   ///< "1_basics_and_pi"
    std::string program;  ///< "basics_and_pi", also the name of its CMake target
    std::string title;    ///< "Basics and pi"
    std::vector<Lesson> lessons;
    std::vector<Exercise> exercises;
    std::vector<BookPage> pages = {};
    std::vector<Stop> path = {};  ///< the order in which they are taken; empty: lessons, then exercises
};

/// A stop on the way through all chapters: a lesson to run, an exercise to do, or a page to read. One of the three
/// pointers is set; none: there is no such stop.
struct Station {
    const Chapter* chapter = nullptr;
    const Exercise* exercise = nullptr;
    const Lesson* lesson = nullptr;
    const BookPage* page = nullptr;

    explicit operator bool() const { return exercise != nullptr || lesson != nullptr || page != nullptr; }
    bool operator==(const Station&) const = default;

    std::string name() const;    ///< "vector_add"; empty where there is none, as the next two
    std::string idea() const;    ///< "grid-stride loops"
    std::string key() const;     ///< "lesson/vector_add": no two stops have the same
    std::string number() const;  ///< of a lesson: "1.3"; else empty
    std::string title() const;   ///< what it is about, one line; may be empty
    std::string text() const;    ///< "lesson 1.3, vector_add", "exercise grid_stride", "the page Thread hierarchy"
};

/// The stops of one chapter in the order of its path.
std::vector<Station> stations_of(const Chapter& chapter);

/// The stop before this one on the way; none before the first, and for a stop that is not on it.
Station station_before(const std::vector<Station>& way, const Station& station);

class Catalog {
public:
    /// Reads catalog.json; throws Refusal when it is missing or cannot be read.
    static Catalog load(const Project& project);
    /// The same from the file's text. Relative paths of exercises are then looked for below `root` only.
    static Catalog from_json(const std::string& text, const std::filesystem::path& root);

    /// Titles of lessons that catalog.json does not have, as those of earlier versions: from the chapters' programs
    /// that are built (`PROGRAM --list --json -`).
    void add_lesson_titles(const Project& project);

    const std::vector<Chapter>& chapters() const { return chapters_; }
    std::vector<const Exercise*> exercises() const;
    std::vector<Station> way() const;  ///< the paths of all chapters, one after another

    // Upper and lower case are the same to all of these, and so are "vector_add", "vector-add" and "vector add".

    /// By number, folder, program, or an unambiguous beginning of one of them. Throws Refusal that names what is near.
    const Chapter& find_chapter(const std::string& word) const;
    /// By name, a former name, "1/grid_stride", the path of a folder or file of it, or an unambiguous part of its name
    /// (its beginning before other parts). Throws Refusal that names what is near.
    const Exercise& find_exercise(const std::string& word) const;
    /// A lesson of the chapter, likewise; also by its number, "5" or "1.5".
    static const Lesson& find_lesson(const Chapter& chapter, const std::string& word);
    /// A lesson of any chapter by its name, "1.5", or an unambiguous part of its name.
    Station find_lesson(const std::string& word) const;
    /// A chapter, or a lesson where no chapter is called so: then the station has one. Throws Refusal as the two above.
    Station find_chapter_or_lesson(const std::string& word) const;

private:
    std::vector<Chapter> chapters_;
    std::filesystem::path root_;
    std::filesystem::path caller_;      ///< relative paths start here
    std::string typed_ = "./warpwise";  ///< what starts the guide, in messages
};

}  // namespace guide
