// Lesson::predict: asks, keeps the guess, finds the answer in what the lesson showed, and tells it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "common/lesson/guess.h"
#include "common/lesson/kernel_files.h"
#include "common/lesson/lesson.h"
#include "common/lesson/options.h"
#include "common/lesson/output.h"
#include "common/lesson/reader.h"
#include "common/lesson/results.h"
#include "common/lesson/source_listing.h"
#include "common/lesson/terminal.h"

namespace warpwise {
namespace {

constexpr double as_fast_as = 1.05;  // a step that takes at most so many times as long is as fast
constexpr std::size_t most_choices = 6;

/// Of the last table of this name: a lesson may print one for each of its groups.
const TableResult* table_of(const LessonResult& lesson, const std::string& name) {
    const auto found = std::find_if(lesson.tables.rbegin(), lesson.tables.rend(),
                                    [&](const TableResult& table) { return table.title.name == name; });
    return found == lesson.tables.rend() ? nullptr : &*found;
}

std::optional<double> number_in(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end == text.c_str() ? std::nullopt : std::optional(value);
}

std::optional<double> number_in(const LessonResult& lesson, const TableCell& cell) {
    const TableResult* const table = table_of(lesson, cell.table);
    if (table == nullptr) return std::nullopt;
    const auto place = std::find(table->header.begin(), table->header.end(), cell.column) - table->header.begin();
    for (const std::vector<std::string>& row : table->rows) {
        if (static_cast<std::size_t>(place) >= row.size() || cell.row.size() > row.size()) continue;
        if (std::equal(cell.row.begin(), cell.row.end(), row.begin())) return number_in(row[place]);
    }
    return std::nullopt;
}

/// Of the last step of this name.
const StepResult* step_of(const LessonResult& lesson, const std::string& name) {
    const auto found = std::find_if(lesson.steps.rbegin(), lesson.steps.rend(),
                                    [&](const StepResult& step) { return step.name == name; });
    return found == lesson.steps.rend() ? nullptr : &*found;
}

std::optional<double> seconds_of(const LessonResult& lesson, const std::string& name) {
    const StepResult* const step = step_of(lesson, name);
    return step != nullptr && step->timing ? std::optional(step->timing->median) : std::nullopt;
}

std::optional<double> seconds_of(const Record& record, const std::string& name) {
    const RecordedStep* const step = record.step(name);
    return step == nullptr ? std::nullopt : step->seconds;
}

std::optional<double> rate_of(const LessonResult& lesson, const std::string& name) {
    const StepResult* const step = step_of(lesson, name);
    return step == nullptr ? std::nullopt : step->gb_per_s;
}

std::optional<double> rate_of(const Record& record, const std::string& name) {
    const RecordedStep* const step = record.step(name);
    return step == nullptr ? std::nullopt : step->gb_per_s;
}

std::optional<double> number_in(const Record& record, const TableCell& cell) {
    return record.number(cell.table, cell.row, cell.column);
}

std::optional<double> ratio(const std::optional<double>& over, const std::optional<double>& under) {
    return over && under && *under != 0 ? std::optional(*over / *under) : std::nullopt;
}

/// `Source` is the lesson that runs, or what was recorded of it.
template <class Source>
std::optional<double> value_in(const Source& source, const MeasuredBy& by) {
    struct Visitor {
        const Source& source;
        std::optional<double> operator()(const TimeRatio& times) const {
            return ratio(seconds_of(source, times.slow), seconds_of(source, times.fast));
        }
        std::optional<double> operator()(const Rate& rate) const { return rate_of(source, rate.step); }
        std::optional<double> operator()(const Microseconds& time) const {
            const std::optional<double> seconds = seconds_of(source, time.step);
            return seconds ? std::optional(*seconds * 1e6) : std::nullopt;
        }
        std::optional<double> operator()(const TableCell& cell) const { return number_in(source, cell); }
        std::optional<double> operator()(const CellRatio& cells) const {
            return ratio(number_in(source, cells.over), number_in(source, cells.under));
        }
    };
    return std::visit(Visitor{source}, by);
}

template <class Source>
std::vector<std::optional<double>> times_in(const Source& source, const std::vector<std::string>& steps) {
    std::vector<std::optional<double>> times;
    for (const std::string& step : steps) times.push_back(seconds_of(source, step));
    return times;
}

/// The text with a single space between its words: lessons write it in several lines.
std::string in_one_line(const std::string& text) {
    std::istringstream stream(text);
    return fmt::format(
        "{}", fmt::join(std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>(), " "));
}

/// "recorded on one NVIDIA H200" of "recorded on one NVIDIA H200 (memory_model --device cuda, 2026-11-22)".
std::string machine_in(const std::string& where) { return where.substr(0, where.find(" (")); }

/// "You said 8 sectors; it is 32": a word need not be said twice, a symbol belongs to its number.
bool is_said_once(const std::string& unit) {
    return unit.size() > 3 && unit != "times" &&
           std::all_of(unit.begin(), unit.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == ' '; });
}

std::string tolerance_text(double factor) {
    return factor < 2 ? fmt::format("within {:.0f} %", (factor - 1) * 100)
                      : fmt::format("within a factor of {}", number_text(factor));
}

/// The number behind "k 7"; nothing where the line is neither that nor "k", which gives 0.
std::optional<std::size_t> wanted_kernels(std::string_view typed) {
    std::istringstream words{std::string(typed)};
    std::string letter, more;
    std::size_t number = 0;
    words >> letter;
    if (letter != "k" && letter != "K") return std::nullopt;
    if (words >> number || words.eof()) return words >> more ? std::nullopt : std::optional(number);
    return std::nullopt;
}

/// "How many are there?" of "A warp has lanes. How many are there? Count them.", and what follows a colon only where it
/// begins like a sentence: not of "Which is faster: one, or two?"
std::string question_in(const std::string& text) {
    const std::size_t end = text.rfind('?');
    if (end == std::string::npos) return text;
    std::size_t begin = 0;
    for (const std::string_view before : {". ", "? ", ": "}) {
        const std::size_t found = text.rfind(before, end - 1);
        if (found == std::string::npos) continue;
        const std::size_t next = found + before.size();
        if (before != ": " || (text[next] >= 'A' && text[next] <= 'Z')) begin = std::max(begin, next);
    }
    return text.substr(begin, end + 1 - begin);
}

/// "32 sectors: right." and the like, without the reason.
std::string judgement_of(const PredictionResult& result) {
    const bool is_choice = !result.choices.empty();
    const auto index_of = [&](const std::string& choice) {
        return static_cast<std::size_t>(std::find(result.choices.begin(), result.choices.end(), choice) -
                                        result.choices.begin());
    };
    const auto said = [&](const std::string& text) {
        return is_choice ? choice_text(result.choices, index_of(text)) : with_unit(text, result.unit);
    };
    const std::string where = result.recorded.empty() ? "" : ", " + result.recorded;
    const std::string guess = result.guess();
    if (result.answer.empty()) {
        return guess.empty() ? "Nothing in this run tells the answer."
                             : fmt::format("You said {}; nothing in this run tells the answer.", said(guess));
    }
    if (guess.empty()) return fmt::format("It is {}{}.", said(result.answer), where);
    if (guess == result.answer) return fmt::format("{}: right{}.", said(guess), where);
    if (result.right.value_or(false)) {
        return is_choice ? fmt::format("You said {}; it is {}{}, which is hardly faster, so you are right.",
                                       said(guess), said(result.answer), where)
                         : fmt::format("You said {}; it is {}{}: right, {}.", said(guess), said(result.answer), where,
                                       result.factor > 1 ? tolerance_text(result.factor) : "but for rounding");
    }
    const std::string answer = is_choice || !is_said_once(result.unit) ? said(result.answer) : result.answer;
    return fmt::format("You said {}; it is {}{}.", said(guess), answer, where);
}

}  // namespace

std::string PredictionResult::guess() const {
    if (guessed_choice) return choices.at(*guessed_choice);
    return guessed_number ? number_text(*guessed_number) : "";
}

/// What the lesson, or the record, says.
struct Lesson::FoundAnswer {
    std::optional<double> number;
    std::vector<std::size_t> choices;  ///< all that are right, the best one first
    std::string recorded;              ///< where; empty: in this run
};

const Record& Lesson::whole_record() const {
    if (!whole_record_) whole_record_ = Record::read(options_.recorded_file, name_);
    return *whole_record_;
}

void Lesson::predict(const Prediction& prediction) {
    if (shown_since_) answer_predictions();
    PredictionResult result;
    result.question = in_one_line(prediction.question);
    result.because = in_one_line(prediction.because);
    result.idea = prediction.idea;
    if (const auto* number = std::get_if<Number>(&prediction.answer)) {
        result.unit = number->unit;
        result.factor = number->factor;
    } else if (const auto* measured = std::get_if<Measured>(&prediction.answer)) {
        result.unit = measured->unit;
        result.factor = measured->factor;
    } else if (const auto* choice = std::get_if<Choice>(&prediction.answer)) {
        result.choices = choice->choices;
        if (choice->right >= choice->choices.size()) throw std::logic_error("a prediction whose answer is no choice");
    } else if (const auto* fastest = std::get_if<Fastest>(&prediction.answer)) {
        result.choices = fastest->steps;
    }
    const bool is_choice =
        std::holds_alternative<Choice>(prediction.answer) || std::holds_alternative<Fastest>(prediction.answer);
    if (is_choice && (result.choices.size() < 2 || result.choices.size() > most_choices)) {
        throw std::logic_error(
            fmt::format("a prediction with {} choices, not 2 to {}", result.choices.size(), most_choices));
    }
    if (prediction.because.empty()) throw std::logic_error("a prediction that does not say why its answer is right");
    require_words("reason of a prediction", because_words, prediction.because);

    std::string text = prediction.question;
    if (is_choice) text += "\n";
    for (std::size_t i = 0; i < result.choices.size(); ++i) text += "\n    " + choice_text(result.choices, i);
    require_words("prediction", prediction_words, text);
    output_.lesson().story.push_back({"prediction", text});
    show_question(text);

    Reader& reader = output_.reader();
    const std::vector<KernelFile> kernels =
        reader.is_there() ? kernel_files(options_.lessons + "/" + name_) : std::vector<KernelFile>();
    const std::string asked = is_choice             ? "a to " + choice_letter(result.choices.size() - 1)
                              : result.unit.empty() ? "a number"
                                                    : "a number; " + result.unit;
    bool was_empty = false;  // one Enter too many, from "Enter goes on", does not skip a question
    while (reader.is_there()) {
        const std::optional<std::string> line =
            reader.ask(fmt::format("Your guess ({}){} or q (leave), then Enter. Enter twice skips: ", asked,
                                   kernels.empty() ? "" : ", k (kernels)"));
        if (!line) break;
        if (line->find_first_not_of(" \t\r") == std::string::npos) {
            if (std::exchange(was_empty, true)) break;
            output_.print("Enter once more skips the question.\n");
            continue;
        }
        if (Reader::leaves(*line)) throw ReaderLeft{};
        if (const auto wanted = wanted_kernels(*line); wanted && !kernels.empty()) {
            // They have scrolled the question out of the window.
            if (show_kernels(kernels, *wanted)) show_question(text);
            continue;
        }
        std::string why_not;
        if (is_choice) {
            const GuessedChoice guess = read_choice(*line, result.choices);
            result.guessed_choice = guess.index;
            why_not = guess.why_not;
        } else {
            const GuessedNumber guess = read_number(*line, result.unit);
            result.guessed_number = guess.value;
            why_not = guess.why_not;
        }
        if (result.has_guess()) break;
        output_.print(why_not + "\n");
    }
    if (reader.is_there()) output_.print("\n");
    open_.emplace_back(prediction, output_.lesson().predictions.size());
    output_.lesson().predictions.push_back(std::move(result));
    shown_since_ = false;
}

void Lesson::show_question(const std::string& text) {
    output_.print_heading("Predict");
    output_.print_paragraphs(with_typed_command(text, options_.program, options_.typed));
}

/// All files, where that is not much to read, or the one of this number, counted from 1; else their names, and false.
bool Lesson::show_kernels(const std::vector<KernelFile>& files, std::size_t number) {
    constexpr std::size_t much = 330;
    std::size_t lines = 0;
    for (const KernelFile& file : files) lines += file.lines.size();
    const Terminal& terminal = output_.terminal();
    const auto name_of = [&](const KernelFile& file) {
        return seen_from_here(options_.lessons + "/" + name_ + "/" + file.name);
    };
    std::string text = "\n";
    const bool shows_files = number <= files.size() && (number != 0 || lines <= much);
    if (number == 0 && lines > much) {
        for (std::size_t i = 0; i < files.size(); ++i)
            text += fmt::format("    k {:<3} {}\n", i + 1, name_of(files[i]));
    } else if (number > files.size()) {
        text += files.size() == 1
                    ? "There is one file of kernels: k shows it.\n"
                    : fmt::format("There are {} files of kernels: k 1 to k {}.\n", files.size(), files.size());
    } else {
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (number != 0 && number != i + 1) continue;
            text += terminal.paint(Style::faint, "// " + name_of(files[i])) + "\n";
            for (const std::string& line : files[i].lines) text += line + "\n";
            text += "\n";
        }
    }
    try {
        output_.print(text);
    } catch (const ReaderLeft& left) {
        if (left.interrupted) throw;  // q leaves the kernels alone
    }
    return shows_files;
}

void Lesson::answer_predictions() {
    const std::vector<std::pair<Prediction, std::size_t>> open = std::exchange(open_, {});
    for (const auto& [prediction, index] : open) answer_prediction(prediction, index);
    shown_since_ = false;
}

void Lesson::answer_prediction(const Prediction& prediction, std::size_t index) {
    const FoundAnswer found = std::visit([&](const auto& answer) { return find_answer(answer); }, prediction.answer);
    PredictionResult& result = output_.lesson().predictions.at(index);
    result.recorded = found.recorded;
    if (!found.choices.empty()) {
        result.answer = result.choices.at(found.choices.front());
        if (result.guessed_choice) {
            result.right = std::count(found.choices.begin(), found.choices.end(), *result.guessed_choice) > 0;
        }
    } else if (found.number) {
        result.answer = number_text(*found.number);
        if (result.guessed_number) result.right = is_right(*result.guessed_number, *found.number, result.factor);
    }
    const std::string text = judgement_of(result) + " " + result.because;
    output_.lesson().story.push_back({"answer", text});
    // A guess brings back what it was about; an answer alone, below a table, does not.
    const std::string about = result.has_guess() ? "" : question_in(result.question) + " ";
    output_.print_paragraphs(about + text, result.right.value_or(false) ? Style::good : Style::plain);
    if (const auto* number = std::get_if<Number>(&prediction.answer)) check_shown(*number);
}

void Lesson::finish() {
    answer_predictions();
    const std::vector<PredictionResult>& all = output_.lesson().predictions;
    const auto count = [&](const auto& is_meant) { return std::count_if(all.begin(), all.end(), is_meant); };
    const auto judged = count([](const PredictionResult& result) { return result.right.has_value(); });
    if (judged == 0) return;
    const auto right = count([](const PredictionResult& result) { return result.right.value_or(false); });
    const auto skipped = count([](const PredictionResult& result) { return !result.has_guess(); });
    std::string score = fmt::format("Predictions: {} of {} right", right, judged);
    if (skipped != 0) score += fmt::format(", {} skipped", skipped);
    output_.print(output_.terminal().paint(Style::heading, score + ".") + "\n\n");
}

// ---- where answers come from ----------------------------------------------------------------------------------------

std::optional<double> Lesson::shown(const ShownBy& shown_by) const {
    const LessonResult& lesson = output_.lesson();
    if (const auto* count = std::get_if<StepCount>(&shown_by)) {
        const StepResult* const step = step_of(lesson, count->step);
        if (step == nullptr || !step->launches || step->launches->empty()) return std::nullopt;
        return count->of(*step->launches);
    }
    if (const auto* cell = std::get_if<TableCell>(&shown_by)) return number_in(lesson, *cell);
    if (const auto* figure = std::get_if<StepFigure>(&shown_by)) {
        const StepResult* const step = step_of(lesson, figure->step);
        if (step == nullptr) return std::nullopt;
        const auto found = std::find_if(step->figures.begin(), step->figures.end(),
                                        [&](const Figure& each) { return each.column == figure->column; });
        if (found != step->figures.end()) return found->value;
    }
    return std::nullopt;
}

Lesson::FoundAnswer Lesson::find_answer(const Number& number) const {
    return {shown(number.shown_by).value_or(number.value), {}, ""};
}

/// The answer of this run is what the table shows. At the lesson's own size, that is what its author worked out.
void Lesson::check_shown(const Number& number) {
    if (std::holds_alternative<std::monostate>(number.shown_by)) return;
    if (options_.size || !options_.steps.empty()) return;
    const std::optional<double> value = shown(number.shown_by);
    if (!value) {
        // Where nothing is counted, the columns are not there.
        if (counts_kernels()) expect(false, "no table shows the answer of a prediction");
        return;
    }
    expect(is_right(*value, number.value, 1), fmt::format("the answer of a prediction is {}, as the table shows ({})",
                                                          number_text(number.value), number_text(*value)));
}

Lesson::FoundAnswer Lesson::find_answer(const Choice& choice) const { return {std::nullopt, {choice.right}, ""}; }

Lesson::FoundAnswer Lesson::find_answer(const Measured& measured) const {
    if (measures()) {
        if (const auto value = value_in(output_.lesson(), measured.by)) return {value, {}, ""};
    }
    const std::optional<double> value = value_in(whole_record(), measured.by);
    return {value, {}, value ? machine_in(whole_record().where()) : ""};
}

Lesson::FoundAnswer Lesson::find_answer(const Fastest& fastest) const {
    std::vector<std::optional<double>> times;
    const auto all_known = [&] {
        return !times.empty() &&
               std::all_of(times.begin(), times.end(), [](const auto& time) { return time.has_value(); });
    };
    FoundAnswer found;
    if (measures()) times = times_in(output_.lesson(), fastest.steps);
    if (!all_known()) {
        times = times_in(whole_record(), fastest.steps);
        if (!all_known()) return found;
        found.recorded = machine_in(whole_record().where());
    }
    const auto best = static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
    found.choices.push_back(best);
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (i != best && *times[i] <= as_fast_as * *times[best]) found.choices.push_back(i);
    }
    return found;
}

}  // namespace warpwise
