// What the reader guessed in one run of a chapter's program, taken from the JSON that the program leaves.
//
//     const RunResults results({.may_guess = true, .kept = project.results() / "1_basics_and_pi.json"});
//     ... run the program with results.options() ...
//     const Guesses guesses = results.take();
//     progress.update([&](Progress& p) { guesses.keep(p); });
//     if (guesses.left) ...    // the reader had enough before the end
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/guide/progress.h"

namespace warpwise {
class TemporaryFile;
}

namespace guide {

struct Guesses {
    std::map<std::string, PredictionProgress> predictions;  ///< by lesson and number there: "coalescing/1"
    bool left = false;                                      ///< the reader left a lesson, or the lessons after it
    std::vector<std::string> lessons;                       ///< that came to their end

    /// The first guess at a question stays.
    void keep(Progress& progress) const;
};

/// The guesses in results of a chapter. None where the file is missing or holds something else: a run that was stopped
/// leaves nothing. Skipped predictions, and those whose answer nothing told, are left out.
Guesses guesses_in(const std::filesystem::path& results, const std::string& date);

/// Where the results of a run go. What is to be kept replaces the results of the run before only when it is complete.
class RunResults {
public:
    struct Request {
        bool may_guess = false;             ///< somebody is at the terminal
        std::filesystem::path kept = {};    ///< where the results stay; empty: nowhere
        std::filesystem::path theirs = {};  ///< the reader's own --json file; empty: none
    };
    explicit RunResults(Request request);
    ~RunResults();
    RunResults(const RunResults&) = delete;
    RunResults& operator=(const RunResults&) = delete;

    /// For the chapter's program.
    std::vector<std::string> options() const;

    /// Call when the program has ended.
    Guesses take() const;

private:
    std::filesystem::path file() const;

    Request request_;
    std::unique_ptr<warpwise::TemporaryFile> temporary_;  ///< null: results go where they stay
};

}  // namespace guide
