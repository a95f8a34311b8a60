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
    std::string name;   ///< "vector_add"
    std::string title;  ///< one line; empty while the chapter's program is not built
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

    // Which of the two counts as the answer: common/guide/answers.h.
    std::filesystem::path own_answer() const { return answers / (name + ".cu"); }  ///< the learner's file
    std::filesystem::path stub() const { return folder / (name + ".cu"); }         ///< may be edited in place
    std::filesystem::path handed_out() const { return answers / ".handed_out"; }   ///< from which the answer was made
    std::filesystem::path task() const { return folder / "README.md"; }
    std::filesystem::path hints() const { return folder / "hints.md"; }
};

struct Chapter {
    int number = 0;
    std::string folder;   ///< "1_basics_and_pi"
    std::string program;  ///< "basics_and_pi", also the name of its CMake target
    std::string title;    ///< "Basics and pi"
    std::vector<Lesson> lessons;
    std::vector<Exercise> exercises;
};

/// A part of the way: a chapter to read and run, then its exercises, then the next chapter.
struct Station {
    const Chapter* chapter = nullptr;
    const Exercise* exercise = nullptr;  ///< null: the chapter itself
};

class Catalog {
public:
    /// Reads catalog.json; throws Refusal when it is missing or cannot be read.
    static Catalog load(const Project& project);
    /// The same from the file's text. Relative paths of exercises are then looked for below `root` only.
    static Catalog from_json(const std::string& text, const std::filesystem::path& root);

    /// Titles of lessons, from the chapters' programs that are built (`PROGRAM --list --json -`).
    void add_lesson_titles(const Project& project);

    const std::vector<Chapter>& chapters() const { return chapters_; }
    std::vector<const Exercise*> exercises() const;
    std::vector<Station> way() const;

    // Upper and lower case are the same to all of these, and so are "vector_add", "vector-add" and "vector add".

    /// By number, folder, program, or an unambiguous beginning of one of them. Throws Refusal that names what is near.
    const Chapter& find_chapter(const std::string& word) const;
    /// By name, a former name, "1/grid_stride", the path of a folder or file of it, or an unambiguous part of its name
    /// (its beginning before other parts). Throws Refusal that names what is near.
    const Exercise& find_exercise(const std::string& word) const;
    /// A lesson of the chapter, likewise; also by its number, "5" or "1.5".
    static const Lesson& find_lesson(const Chapter& chapter, const std::string& word);

private:
    std::vector<Chapter> chapters_;
    std::filesystem::path root_;
    std::filesystem::path caller_;      ///< relative paths start here
    std::string typed_ = "./warpwise";  ///< what starts the guide, in messages
};

}  // namespace guide
