// Where a lesson's text, tables and results go: to the terminal at once, and into the results for the JSON file.
//
//     Lesson::Output output(Terminal::detect(true), query_device());
//     output.begin_lesson("vector_add");
//     ... run the lesson ...
//     LessonResult result = output.end_lesson();
#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/lesson/lesson.h"
#include "common/lesson/reader.h"
#include "common/lesson/results.h"
#include "common/lesson/terminal.h"

namespace warpwise {

class Lesson::Output {
public:
    Output(Terminal terminal, DeviceInfo device, Reader reader = {});
    ~Output() { end_progress(); }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    const Terminal& terminal() const { return terminal_; }
    const DeviceInfo& device() const { return device_; }

    void begin_lesson(const std::string& name);

    /// The lesson that is running.
    LessonResult& lesson() { return lesson_; }

    LessonResult end_lesson();

    /// Whoever reads along.
    Reader& reader() { return reader_; }

    /// Prints on stdout, a screen at a time where somebody reads along. Throws ReaderLeft.
    void print(std::string_view text);

    /// A line above what is printed next, on the same screen.
    void print_heading(std::string_view text);

    /// One paragraph or more, wrapped and followed by an empty line.
    void print_paragraphs(std::string_view text, Style style = Style::plain);

    /// Shows on stderr what is being done, if that is a terminal; the next line takes the place of this one.
    void progress(const std::string& text);

    /// Erases the line of progress().
    void end_progress();

    /// Remembers that steps of these names could have been chosen.
    void offer_steps(const std::vector<std::string>& names);

    /// True the first time that it is asked about a column of counters: then the table explains it.
    bool explain_column(const std::string& header) { return explained_columns_.insert(header).second; }

    /// The names of all steps offered so far, in order.
    const std::vector<std::string>& offered_steps() const { return offered_steps_; }

private:
    Terminal terminal_;
    DeviceInfo device_;
    Reader reader_;
    std::string heading_;  // not printed yet
    LessonResult lesson_;
    std::vector<std::string> offered_steps_;
    std::set<std::string> explained_columns_;
    bool shows_progress_;
    bool progress_shown_ = false;
};

/// Lessons show commands as `    basics_and_pi pi --size 64Ki`; the reader gets them with what they have to type for
/// the program. Only lines that start with four spaces change.
std::string with_typed_command(std::string_view text, const std::string& program, const std::string& typed);

/// True when `pattern` chooses the step called `name`: it is the name, or a part of it and no step has it as its name.
bool chooses_step(const std::string& pattern, const std::string& name, const std::vector<std::string>& all_names);

/// The device is of no use any more: a kernel died.
class DeviceLost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace warpwise
