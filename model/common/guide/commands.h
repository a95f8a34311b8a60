// The guide's commands, apart from the reading of the command line (main.cpp).
//
//     Session session(project, real_tools(project), Terminal::detect(true), is_interactive());
//     return grade_exercise(session, {.exercise = "grid"});
//
// Each returns the exit status and throws Refusal when the request cannot be met. What a reader asked for goes to
// stdout, complaints go to stderr.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/guide/builder.h"
#include "common/guide/catalog.h"
#include "common/guide/command.h"
#include "common/guide/console.h"
#include "common/guide/grader.h"
#include "common/guide/progress.h"
#include "common/guide/project.h"
#include "common/lesson/terminal.h"

namespace guide {

enum ExitStatus { all_right = 0, something_wrong = 1, request_not_met = 2, interrupted_status = 130 };

/// What the commands do their work with; tests put others in place of the real ones.
struct Tools {
    std::function<BuildResult(const std::vector<std::string>& targets, const std::function<void(int, int)>& progress)>
        build;
    std::function<GradeResult(const Exercise&, const GradeOptions&)> grade;
    std::function<CommandResult(const std::vector<std::string>&, const CommandOptions&)> run;
    std::function<int(const Catalog&, ProgressFile&, const Exercise&)> watch;
    /// Prints the question and waits for one of the keys (letters in lower case). Escape, Ctrl-C, and the end of the
    /// input come always.
    std::function<Key(const std::string& question, const std::vector<Key>& keys)> ask;
    /// Prints the question and reads a line. Nothing: the input has ended.
    std::function<std::optional<std::string>(const std::string& question)> read_line;
    std::function<std::string()> today = guide::today;
};

/// The project has to live as long as the tools.
Tools real_tools(const Project& project);

/// What all commands share. Catalog and progress are read when they are first asked for.
class Session {
public:
    Session(const Project& project, Tools tools, const warpwise::Terminal& terminal, bool interactive);

    const Project& project() const { return project_; }
    const Tools& tools() const { return tools_; }
    const warpwise::Terminal& terminal() const { return terminal_; }
    bool interactive() const { return interactive_; }  ///< somebody is there to answer a question
    const Catalog& catalog();                          ///< throws Refusal
    ProgressFile& progress();                          ///< throws Refusal

    /// A command as the reader would type it: "./warpwise grade grid_stride".
    std::string typed(std::string_view command) const;
    /// The exercise of this name; without a name the first that was neither passed nor skipped, else the first that was
    /// not passed, null when all are.
    const Exercise* exercise(const std::string& word);
    /// What the learner should be told of the progress file, once.
    std::string take_message() { return progress_ ? progress_->take_message() : ""; }

private:
    const Project& project_;
    Tools tools_;
    warpwise::Terminal terminal_;
    bool interactive_;
    std::optional<Catalog> catalog_;
    std::optional<ProgressFile> progress_;
};

/// `word` itself when it is a name, else the only name that begins with it. Throws Refusal that names what is near.
std::string resolve_command(const std::string& word, const std::vector<std::string>& names, const std::string& typed);

/// Without a command: a welcome at the first start, then on from where the learner is.
int start(Session& session);

struct ListRequest {
    std::string word = {};  ///< only stops that match it
    bool json = false;
};
int list(Session& session, const ListRequest& request);

struct MapRequest {
    std::string chapter = {};  ///< empty: all of them
    bool all = false;          ///< also the ideas of chapters that were not begun
    bool json = false;
};
/// The path through the book, and which ideas are mastered or shaky.
int show_map(Session& session, const MapRequest& request);

struct ReviewRequest {
    std::string lesson = {};  ///< only the predictions of this one; empty: all of them
    bool all = false;         ///< also those that are not due yet
};
/// Asks predictions again that are due.
int review(Session& session, const ReviewRequest& request);

/// `arguments`: a chapter or a lesson, then lessons and options of the chapter's program in any order.
int run_chapter(Session& session, const std::vector<std::string>& arguments);

struct GradeRequest {
    std::string exercise = {};  ///< empty: the first that was not passed; "all"
    bool json = false;
    bool catch2 = false;  ///< shows Catch2's own output, or all that the compiler says
    /// The grader is run as it is with these options, and nothing is marked.
    std::optional<std::vector<std::string>> grader_options = {};
};
int grade_exercise(Session& session, const GradeRequest& request);

/// Watch mode, from this exercise on.
int watch_exercise(Session& session, const std::string& exercise);

struct HintRequest {
    std::string exercise = {};
    std::optional<int> level = {};  ///< from 1; without it the one after the last that was shown
    bool json = false;
};
int show_hint(Session& session, const HintRequest& request);

int show_task(Session& session, const std::string& exercise);

/// A page of the book in the terminal. A page of the path that was read to its end is marked.
int show_page_of_book(Session& session, const std::string& page);

/// `yes`: without asking.
int reset_answer(Session& session, const std::string& exercise, bool yes);
int show_solution(Session& session, const std::string& exercise, bool yes);

/// Builds everything and runs ctest with these options; returns its status.
int run_tests(Session& session, const std::vector<std::string>& ctest_options);

}  // namespace guide
