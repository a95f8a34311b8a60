// What the learner has done: one small JSON file in the learner's copy (.warpwise.json), meant to be readable.
//
//     ProgressFile file(project.progress_file(), catalog);
//     file.update([](Progress& progress) { progress.exercises["grid_stride"].passed = today(); });
//
// Every change reads the file, changes it and writes it anew under a lock, so that two guides at once lose nothing; it
// is replaced as a whole, so that a crash leaves the old one. A file that makes no sense is moved aside. What a newer
// version of Warpwise has written into it, and this one does not know, stays in it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/guide/catalog.h"

namespace guide {

struct ExerciseProgress {
    std::string passed;          ///< date of the first time, "2026-11-21"; empty: not yet
    int attempts = 0;            ///< times it was graded while not passed
    int hints = 0;               ///< hints shown, 0 to 3
    bool solution_seen = false;  ///< before it was passed
    bool operator==(const ExerciseProgress&) const = default;
};

/// The first guess at a prediction of a lesson, with all that is needed to ask the question again. Predictions that
/// were skipped are not recorded.
struct PredictionProgress {
    std::string lesson;                ///< "coalescing"
    std::string idea;                  ///< of the prediction, else of its lesson, from chapter.json: "coalescing"
    std::string question;              ///< as it was asked
    std::vector<std::string> choices;  ///< empty: the answer is a number
    std::string unit;                  ///< of a number, "sectors"; may be empty
    std::string answer;                ///< as it was shown: "32", or one of the choices
    double factor = 1;                 ///< a number up to so many times too large or too small is right; 1: exactly
    std::string because;               ///< why that is the answer
    std::string guess;                 ///< as it was understood: "8", or one of the choices
    bool right = false;
    std::string date;  ///< of the guess
    bool operator==(const PredictionProgress&) const = default;
};

struct LessonProgress {
    std::string run;    ///< date when it was first run
    std::string again;  ///< the last later date when it was run; empty: none
    bool operator==(const LessonProgress&) const = default;
};

/// The answers to a prediction that was asked again (common/guide/review.h).
struct ReviewProgress {
    std::string date;    ///< of the last answer
    bool right = false;  ///< the last answer
    int in_a_row = 0;    ///< so many answers in a row, the first guess included, were like the last one
    std::string guess;   ///< the last answer
    bool operator==(const ReviewProgress&) const = default;
};

struct Progress {
    std::map<std::string, ExerciseProgress> exercises;  ///< by name
    std::map<std::string, LessonProgress> lessons;  ///< by name; a file without them: those of chapters that were run
    std::map<std::string, std::string> pages;       ///< by name: date when it was read
    std::map<std::string, std::string> skipped;     ///< by Station::key(): date when the learner went on without it
    std::map<std::string, std::string> chapters;    ///< by folder: date when all of its lessons had been run
    std::map<std::string, PredictionProgress> predictions;  ///< by lesson and number there: "coalescing/1"
    std::map<std::string, ReviewProgress> reviews;          ///< by the prediction's key
    std::string started;                                    ///< date of the first start; empty: this is the first one
    std::string last_start;                                 ///< date of the last start without a command
    bool operator==(const Progress&) const = default;

    bool has_passed(const std::string& exercise) const;
    bool has_run(const std::string& lesson) const;

    /// These lessons of the chapter were run on this date; the chapter, too, once all of them were.
    void note_run(const Chapter& chapter, const std::vector<std::string>& names, const std::string& date);

    /// Keeps a guess unless there is one for the same question: the first guess counts, whatever was guessed later.
    void keep_prediction(const std::string& key, const PredictionProgress& prediction);
};

class ProgressFile {
public:
    /// Marks of exercises under a former name go to the present one; marks of unknown exercises are kept as they are.
    ProgressFile(std::filesystem::path file, const Catalog& catalog);

    /// The state as it is in the file now; empty when there is none, or when it cannot be read (see take_message).
    Progress read();
    /// Whether the file may have changed since `read` was called last, by whomever.
    bool may_have_changed() const;
    /// Returns the new state. Throws Refusal, naming the file, when it cannot be read or written, or when another
    /// process has been changing it for five seconds. When `change` throws, the file stays as it was.
    Progress update(const std::function<void(Progress&)>& change);

    /// What the learner should be told: "... could not be read and was moved to ...". Told once, then empty.
    std::string take_message();

private:
    /// A file that is replaced is another one: its number, its size, and when it was written; zeros where there is
    /// none.
    using Stamp = std::array<std::int64_t, 4>;
    Stamp stamp() const;
    void note(const std::string& message);

    std::filesystem::path file_;
    Stamp when_read_{};
    std::map<std::string, std::string> renamed_;               ///< former name -> name
    std::map<std::string, std::vector<std::string>> lessons_;  ///< of each chapter, by its folder
    std::string message_;
    std::set<std::string> noted_;  ///< each message is told once, however often the file is read
};

/// Today's date, "2026-11-21".
std::string today();

/// Whether there is nothing left to do at this stop: the exercise was passed, the lesson run, the page read. What leads
/// up to something is done, too, once that is: a lesson when an exercise of its idea in its chapter was passed, and a
/// page also when a lesson of its idea there was run.
bool is_done(const Station& station, const Progress& progress);

/// The stop that comes next on the way: the first from the one after `after` on, and round to the beginning, that is
/// neither done nor skipped; else the first that is not done. Without `after` the search starts at the beginning. None:
/// all is done.
Station next_station(const std::vector<Station>& way, const Progress& progress, const Station& after = {});
Station next_station(const Catalog& catalog, const Progress& progress);

/// What was done last, by the dates: of several on one day the one farthest on the way. None: nothing was.
struct LastDone {
    Station station;
    std::string date;
};
LastDone last_done(const std::vector<Station>& way, const Progress& progress);

}  // namespace guide
