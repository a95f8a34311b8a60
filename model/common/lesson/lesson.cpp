#include "common/lesson/lesson.h"

#include <fmt/format.h>

#include <iterator>
#include <sstream>
#include <stdexcept>

#include "common/helpers/instrument.h"
#include "common/lesson/kernel_files.h"
#include "common/lesson/options.h"
#include "common/lesson/output.h"
#include "common/lesson/results.h"
#include "common/lesson/step_table.h"

namespace warpwise {

Lesson::Lesson(std::string name, const Options& options, Output& output)
    : name_(std::move(name)), options_(options), output_(output) {}

namespace {

std::size_t words_of(std::string_view text) {
    std::istringstream stream{std::string(text)};
    return static_cast<std::size_t>(
        std::distance(std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()));
}

}  // namespace

void Lesson::require_words(const char* part, std::size_t most_words, std::string_view paragraphs) {
    if (const std::size_t words = words_of(paragraphs); words > most_words) {
        throw std::logic_error(
            fmt::format("a {} of {} words, at most {}: the lesson's page tells the rest", part, words, most_words));
    }
}

void Lesson::tell(const char* part, std::size_t most_words, const std::string& heading, std::string_view paragraphs) {
    require_words(part, most_words, paragraphs);
    output_.lesson().story.push_back({part, std::string(paragraphs)});
    if (!heading.empty()) output_.print_heading(heading);
    output_.print_paragraphs(with_typed_command(paragraphs, options_.program, options_.typed));
}

void Lesson::question(std::string_view paragraphs) {
    answer_predictions();
    tell("question", question_words, "", paragraphs);
}

void Lesson::conclusion(std::string_view paragraphs) {
    answer_predictions();
    tell("conclusion", conclusion_words, "Conclusion", paragraphs);
}

void Lesson::text(std::string_view paragraphs) {
    shown_since_ = true;
    output_.lesson().texts.emplace_back(paragraphs);
    output_.print_paragraphs(with_typed_command(paragraphs, options_.program, options_.typed));
}

void Lesson::drawing(const std::string& name, std::string_view paragraphs) {
    shown_since_ = true;
    output_.lesson().drawings.push_back({name, std::string(paragraphs)});
    output_.print_paragraphs(paragraphs);
}

bool Lesson::on_gpu() {
#ifdef __CPU_DEVICE__
    return false;
#else
    return true;
#endif
}

bool Lesson::measures() const { return on_gpu() && !options_.once; }

const Record& Lesson::recorded() const {
    if (!recorded_) recorded_ = measures() ? Record() : Record::read(options_.recorded_file, name_);
    return *recorded_;
}

const std::string& Lesson::note_on_edits() const {
    if (note_on_edits_) return *note_on_edits_;
    note_on_edits_.emplace();
    const std::vector<std::string> files = edited_files(options_.lessons + "/" + name_);
    if (!files.empty()) {
        *note_on_edits_ =
            fmt::format("Edited since the last commit: {}. The recorded figures were measured without these changes.",
                        fmt::join(files, ", "));
    }
    return *note_on_edits_;
}

void Lesson::table(const TableTitle& title, const std::vector<std::string>& header,
                   const std::vector<std::vector<std::string>>& rows) {
    if (title.name.empty()) throw std::invalid_argument("Lesson::table: a table without a name");
    for (const std::vector<std::string>& row : rows) {
        if (row.size() != header.size())
            throw std::invalid_argument("Lesson::table: a row is not as long as the header");
    }
    const TableResult shown = without_empty_columns({title, header, rows});
    std::vector<std::vector<Cell>> cells;
    for (const std::vector<std::string>& row : shown.rows) {
        cells.emplace_back();
        for (const std::string& text : row) cells.back().push_back({text});
    }
    output_.lesson().tables.push_back(shown);
    shown_since_ = true;
    if (!title.text.empty()) output_.print_heading(title.heading());
    output_.print(format_table(shown.header, cells, output_.terminal()) + "\n");
    const bool is_recorded = title.note.find("recorded on one ") != std::string::npos;
    if (is_recorded && !note_on_edits().empty()) output_.print_paragraphs(note_on_edits());
}

void Lesson::expect(bool passed, const std::string& what) {
    output_.lesson().expectations.push_back({what, passed});
    if (!passed) output_.print_paragraphs("WRONG. It should be: " + what, Style::bad);
}

bool Lesson::counts_kernels() const { return options_.counters && can_instrument(); }

void Lesson::show_recorded(const std::string& name) {
    if (const RecordedTable* const recorded_table = recorded().table(name)) {
        table({name, recorded_table->title, recorded().where()}, recorded_table->header, recorded_table->rows);
    }
}

std::optional<Counts> Lesson::count(const std::function<void()>& launches) const {
    if (!counts_kernels()) {
        launches();
        return std::nullopt;
    }
    CountOptions options = options_.count_options();
    options.lines = false;
    const std::vector<LaunchCounts> counted = count_launches(launches, options);
    if (options_.trace) {
        std::vector<LaunchCounts>& traced = output_.lesson().traced;
        traced.insert(traced.end(), counted.begin(), counted.end());
    }
    return sum_of(counted);
}

Size Lesson::size(const Size& gpu, const Size& cpu) const {
    const Size& usual = on_gpu() ? gpu : cpu;
    if (!options_.size) return usual;
    if (options_.size->dimensions() != usual.dimensions()) {
        throw Refusal(fmt::format("{} takes sizes like {}, not {}", name_, usual.text(), options_.size->text()));
    }
    return *options_.size;
}

}  // namespace warpwise
