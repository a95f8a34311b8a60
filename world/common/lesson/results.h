// What the lesson runner found out, before it becomes a table or JSON.
//
//     bool all_right = result.passed();
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/helpers/benchmark.h"
#include "common/helpers/compare.h"
#include "common/helpers/counts.h"
#include "common/helpers/instrument.h"
#include "common/lesson/lesson.h"

namespace warpwise {

/// One size at which a step was wrong.
struct WrongAtSize {
    Size size;
    Comparison comparison;
    std::string failure = {};  ///< message of what the step threw; empty when it finished with a wrong result
};

/// One step of a lesson. Times are absent where none may be given.
struct StepResult {
    std::optional<int> number;  ///< as in the table; absent for vendor routines
    std::string name;
    std::string change;
    StepKind kind = StepKind::device;
    Size size;                             ///< the main size
    std::size_t sizes_compared = 0;        ///< the main size included
    std::optional<Comparison> comparison;  ///< at the main size; absent when the step threw or never had its turn
    std::vector<WrongAtSize> wrong;
    Work work;
    std::optional<Timing> timing;
    std::optional<double> gb_per_s;         ///< 1e9 bytes of Work::bytes a second
    std::optional<double> gop_per_s;        ///< 1e9 of Work::operations a second
    std::optional<double> share_of_roof;    ///< gb_per_s over the copy's
    std::optional<double> share_of_vendor;  ///< time of the fastest vendor routine over this step's
    std::optional<double> speed_up;         ///< time of the first timed step over this step's
    std::vector<Figure> figures;
    std::optional<std::vector<LaunchCounts>> launches;  ///< one run at the main size; absent when it was not counted
    std::vector<Diagnostic> diagnostics;                ///< found in any of its runs
    std::optional<RecordedStep> recorded = {};          ///< what a GPU took, where this device has no times

    /// Every size that was checked gave the right values.
    bool right() const { return comparison.has_value() && wrong.empty(); }
    bool passed() const { return right() && !any_error(diagnostics); }
};

/// Bandwidth of a device-to-device copy of the lesson's size, bytes read and written counted.
struct Roof {
    std::string name;
    double bytes = 0;
    Timing timing;
    double gb_per_s = 0;
};

/// Where the recorded figures of a lesson's steps come from.
struct Recording {
    std::string label;   ///< as columns call the device: "H200"
    std::string device;  ///< "NVIDIA H200"
    std::string cuda;    ///< "13.0"; empty where it is not known
    std::string date;    ///< "2026-11-22"
    std::string file;    ///< "docs/results/h200_chapter_1.json"
    Size size;           ///< no extents where it is not known
    std::optional<RecordedCopy> copy;
    std::vector<RecordedStep> vendors;  ///< library routines that were timed beside the steps
};

struct TableResult {
    TableTitle title;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
};

struct Drawing {
    std::string name;
    std::string text;
};

struct Expectation {
    std::string what;
    bool passed = false;
};

/// A prediction, its answer, and what the reader guessed.
struct PredictionResult {
    std::string question;
    std::vector<std::string> choices;  ///< empty: the answer is a number
    std::string unit;
    std::string answer;  ///< "32", or one of the choices; empty where nothing told it in this run
    double factor = 1;
    std::string because;
    std::string idea;                      ///< that it is about; empty: the lesson's
    std::string recorded;                  ///< where the answer was recorded; empty: it is of this run
    std::optional<double> guessed_number;  ///< absent where nobody guessed
    std::optional<std::size_t> guessed_choice;
    std::optional<bool> right;  ///< absent where nobody guessed, or nothing told the answer

    bool has_guess() const { return guessed_number || guessed_choice; }
    std::string guess() const;  ///< as `answer`; empty where nobody guessed
};

/// What a lesson told: Lesson::question, prediction, or conclusion, and the answers of predictions.
struct StoryPart {
    std::string part;  ///< "question", "prediction", "answer", "conclusion"
    std::string text;
};

struct LessonResult {
    std::string name;
    std::string idea = {};  ///< that it teaches
    std::vector<StoryPart> story;
    std::vector<PredictionResult> predictions = {};
    std::vector<std::string> texts;
    std::vector<Drawing> drawings = {};
    std::vector<StepResult> steps;
    std::optional<Roof> roof;            ///< of the first list of steps
    std::optional<Recording> recording;  ///< of the first list of steps that has one
    std::vector<TableResult> tables;
    std::vector<Expectation> expectations;
    std::vector<Diagnostic> diagnostics;    ///< found outside of steps
    std::vector<LaunchCounts> traced = {};  ///< launches outside of steps, where traces are asked for
    std::string failure;                    ///< what ended the lesson early; empty when it came to its end
    bool left = false;                      ///< the reader had enough before its end

    bool passed() const;
};

struct DeviceInfo {
    std::string name;
    bool on_gpu = false;
    int major = 0;  ///< compute capability
    int minor = 0;
    int driver_version = 0;  ///< as cudaDriverGetVersion gives it: 1000 * major + 10 * minor
    int runtime_version = 0;
    int processors = 0;        ///< streaming multiprocessors
    std::optional<int> clock;  ///< boost clock in MHz
    std::size_t l2_bytes = 0;
    std::size_t memory_bytes = 0;

    /// "NVIDIA H200 (compute capability 9.0, 132 SMs)".
    std::string text() const;
};

/// Asks the runtime about the current device. Throws CudaError.
DeviceInfo query_device();

}  // namespace warpwise
