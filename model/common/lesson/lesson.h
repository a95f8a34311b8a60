// What a lesson is written against: its text, its steps, its tables.
//
//     void vector_add(warpwise::Lesson& lesson) {
//         lesson.question("Adding two vectors moves twelve bytes per addition ...");
//         lesson.predict({.question = "Which of these kernels is the fastest on a GPU?",
//                         .answer = warpwise::Fastest{{"one_per_thread", "grid_stride", "float4"}},
//                         .because = "It keeps the most bytes in flight."});
//         lesson.steps<VectorAdd>({.gpu = {1 << 28}, .cpu = {1 << 20}, .awkward = {{0}, {1}, {31}, {33}, {1009}}},
//             {{"one_per_thread", "one element per thread", [](VectorAdd& problem) { ... }}, ...});
//         lesson.conclusion("The one with the most bytes in flight ...");
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/helpers/compare.h"
#include "common/helpers/counts.h"
#include "common/lesson/prediction.h"
#include "common/lesson/record.h"
#include "common/lesson/refusal.h"

namespace warpwise {

struct KernelFile;

/// Extents of a problem: {n}, {rows, cols} or {m, n, k}. `--size 1000x700` on the command line.
class Size {
public:
    Size() = default;
    Size(std::initializer_list<std::size_t> extents) : extents_(extents) {}
    explicit Size(std::vector<std::size_t> extents) : extents_(std::move(extents)) {}

    std::size_t dimensions() const { return extents_.size(); }
    std::size_t operator[](std::size_t dimension) const { return extents_.at(dimension); }
    std::size_t count() const;  ///< product of the extents
    std::string text() const;   ///< "1000 x 700"
    bool operator==(const Size&) const = default;

private:
    std::vector<std::size_t> extents_;
};

/// The least work that any implementation of a problem has to do; the table turns it into GB/s and Gop/s.
struct Work {
    double bytes = 0;       ///< read and written once each, in device memory
    double operations = 0;  ///< additions and multiplications, or what else the lesson counts
};

/// One extra column of the table for one step, such as pi's error.
struct Figure {
    std::string column;
    double value = 0;
    std::string unit = {};  ///< may be empty
};

/// What stands above a table of a lesson's own.
struct TableTitle {
    std::string
        name;  ///< how predictions, records, and pages refer to the table: "stride". Keep it when the words change
    std::string text;       ///< "Lane k reads element k * stride"
    std::string note = {};  ///< where some of its figures are from: "GB/s recorded on one NVIDIA H200 (...)"

    std::string heading() const { return note.empty() ? text : text + "; " + note; }
};

/// The sizes a lesson runs at. Every step is checked at every awkward size before it is measured at the main size.
struct Sizes {
    Size gpu;                        ///< main size on a GPU; halved until it fits the free memory
    Size cpu;                        ///< main size on the CPU device
    std::vector<Size> awkward = {};  ///< 0, 1, 31, 32, 33, a prime, several blocks, non-square ...
};

/// What a step runs on, and how it is timed.
enum class StepKind {
    device,  ///< kernels; timed by device events
    host,    ///< serial or OpenMP code on the host; timed by the host's clock
    vendor,  ///< the library routine that a user would call instead; timed by device events
};

/// One numbered step of a lesson. `Problem` holds inputs, reference and output, and offers
///   explicit Problem(const Size&)     prepares inputs, reference and device memory
///   void poison()                     fills the output with NaN or another value that cannot be right
///   Comparison compare()              copies the output back and compares it with the double reference
///   Work work() const                 the least bytes and operations of the main size
///   std::size_t device_bytes(const Size&)   static: device memory that such a problem allocates
///   std::vector<Figure> figures()     optional: extra columns, read after compare()
template <class Problem>
struct Step {
    std::string name;                   ///< what `--step` matches: the kernel's name
    std::string change;                 ///< what changed against the step before, in a clause
    std::function<void(Problem&)> run;  ///< all of the step's work: memsets, second kernels and copies included
    StepKind kind = StepKind::device;
};

class Lesson {
public:
    /// Set by the chapter program; see chapter.h.
    struct Options;
    class Output;

    Lesson(std::string name, const Options& options, Output& output);

    /// What a lesson tells in the terminal around each group of steps or tables: its question, what the reader should
    /// predict, and, after the table, what it showed. Why that is so, mistakes to avoid, and tasks stand on the
    /// lesson's page, to which the last line of each lesson points. So that a group fits on a screen, a question has at
    /// most `question_words` words, and so on; longer ones throw std::logic_error. Text is wrapped to the terminal.
    /// Blank lines separate paragraphs; a line that starts with four spaces is printed as it is.
    void question(std::string_view paragraphs);
    void conclusion(std::string_view paragraphs);

    /// Asks for a prediction (see prediction.h), before the steps or tables that answer it. Somebody at a terminal is
    /// asked for a guess; the answer comes after the tables, before the conclusion: with the guess, or alone where
    /// nobody guessed. Call it before slow work starts. A lesson may have several, also of one group.
    void predict(const Prediction& prediction);

    static constexpr std::size_t question_words = 80;
    static constexpr std::size_t prediction_words = 60;  ///< the choices included
    static constexpr std::size_t because_words = 45;
    static constexpr std::size_t conclusion_words = 80;

    /// Prints what a lesson draws of its results with letters, such as a time line; wrapped like the texts above.
    void text(std::string_view paragraphs);

    /// The same, for a drawing of what was measured that a page shows: `name` is how the page refers to it.
    void drawing(const std::string& name, std::string_view paragraphs);

    /// True when the program was built by nvcc and runs on a GPU, false on the CPU device.
    static bool on_gpu();

    /// True on a GPU, unless each step is to run once only: then tables of times of the lesson's own are left to
    /// recorded figures, as on the CPU device.
    bool measures() const;

    /// What was recorded of this lesson on a GPU. Empty where measures() is true, and where nothing is recorded.
    /// Throws std::runtime_error when the file of records cannot be understood.
    const Record& recorded() const;

    /// Runs the steps: each at every awkward size, then all of them at the main size, poisoned and compared before
    /// and after they are timed in turn with a copy; prints the table. On the CPU device each device step is run once
    /// more and counted, and the table shows its counters. Wrong steps print their first mismatches and make the
    /// chapter's exit status 1; so do errors that the CPU device finds. Throws Refusal when the size has the wrong
    /// number of extents or does not fit.
    template <class Problem>
    void steps(const Sizes& sizes, const std::vector<Step<Problem>>& steps);

    /// Runs `launches` and returns what its kernels did, all launches together: for tables of the lesson's own. Absent
    /// where nothing is counted: on a GPU, with --no-counters, and in programs that were not compiled for
    /// instrumenting.
    ///     if (const auto counts = lesson.count([&] { transpose<<<grid, block>>>(d_in, d_out, rows, cols); })) {
    ///         counts->global_store.sectors_per_request() ...
    std::optional<Counts> count(const std::function<void()>& launches) const;

    /// A table that is not a list of steps: table({"stride", "Lane k reads element k * stride"}, header, rows). All
    /// rows have as many cells as `header`. Columns in which every cell is "-" or empty are left out, except the first.
    void table(const TableTitle& title, const std::vector<std::string>& header,
               const std::vector<std::vector<std::string>>& rows);

    /// The table of this name as it was recorded on a GPU, with where and when in its title: "TITLE; recorded on ...".
    /// Nothing is printed where nothing is recorded.
    void show_recorded(const std::string& name);

    /// A check outside of `steps`; a failed one is printed and makes the exit status 1.
    void expect(bool passed, const std::string& what);

    /// Answers what is still open, and tells the score. The chapter program calls it after the lesson.
    void finish();

    /// `--size` where it was given, else `gpu` or `cpu` by the device. For lessons without `steps`.
    Size size(const Size& gpu, const Size& cpu) const;

private:
    struct ErasedStep;
    struct ErasedProblem;
    class StepRunner;
    void run_steps(const Sizes& sizes, std::size_t (*device_bytes)(const Size&),
                   const std::function<std::unique_ptr<ErasedProblem>(const Size&)>& make,
                   const std::vector<ErasedStep>& steps);

    bool counts_kernels() const;
    /// What belongs below recorded figures where the lesson's files were edited; empty where they were not.
    const std::string& note_on_edits() const;
    static void require_words(const char* part, std::size_t most_words, std::string_view paragraphs);
    void tell(const char* part, std::size_t most_words, const std::string& heading, std::string_view paragraphs);

    // Predictions: predictions.cpp.
    struct FoundAnswer;
    void answer_predictions();
    void answer_prediction(const Prediction& prediction, std::size_t index);
    void show_question(const std::string& text);
    bool show_kernels(const std::vector<KernelFile>& files, std::size_t number);
    FoundAnswer find_answer(const Number& number) const;
    FoundAnswer find_answer(const Choice& choice) const;
    FoundAnswer find_answer(const Measured& measured) const;
    FoundAnswer find_answer(const Fastest& fastest) const;
    std::optional<double> shown(const ShownBy& shown_by) const;
    std::optional<double> measured_or_recorded(const MeasuredBy& by, bool& recorded) const;
    const Record& whole_record() const;
    void check_shown(const Number& number);

    std::string name_;
    const Options& options_;
    Output& output_;
    mutable std::optional<Record> recorded_;                // once it was asked for
    mutable std::optional<Record> whole_record_;            // the same, also where this run measures
    mutable std::optional<std::string> note_on_edits_;      // once it was asked for
    std::vector<std::pair<Prediction, std::size_t>> open_;  // predictions without an answer yet, and their numbers
    bool shown_since_ = false;                              // something that may answer them
};

}  // namespace warpwise

#include "common/lesson/lesson_steps.h"  // the template above
