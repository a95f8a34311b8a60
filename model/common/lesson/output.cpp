#include "common/lesson/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace warpwise {

Lesson::Output::Output(Terminal terminal, DeviceInfo device, Reader reader)
    : terminal_(terminal), device_(std::move(device)), reader_(reader), shows_progress_(isatty(STDERR_FILENO) != 0) {}

void Lesson::Output::begin_lesson(const std::string& name) {
    lesson_ = {};
    lesson_.name = name;
}

LessonResult Lesson::Output::end_lesson() {
    fmt::print("{}", std::exchange(heading_, ""));
    end_progress();
    return std::exchange(lesson_, {});
}

void Lesson::Output::print(std::string_view text) {
    end_progress();
    const std::string whole = std::exchange(heading_, "") + std::string(text);
    reader_.show(whole);
}

void Lesson::Output::print_heading(std::string_view text) {
    std::string lines = wrap(text, std::max(terminal_.width, terminal_.table_width));
    lines.pop_back();
    heading_ += terminal_.paint(Style::heading, lines) + "\n";
}

void Lesson::Output::print_paragraphs(std::string_view text, Style style) {
    std::string wrapped = wrap(text, terminal_.width);
    while (!wrapped.empty() && wrapped.back() == '\n') wrapped.pop_back();
    wrapped.erase(0, wrapped.find_first_not_of('\n'));
    print(terminal_.paint(style, wrapped) + "\n\n");
}

std::string with_typed_command(std::string_view text, const std::string& program, const std::string& typed) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        std::string line(text.substr(0, end));
        text.remove_prefix(end);
        const std::size_t at = line.find(" " + program + " ");
        if (!program.empty() && !typed.empty() && line.starts_with("    ") && at != std::string::npos) {
            line.replace(at + 1, program.size(), typed);
        }
        result += line;
    }
    return result;
}

void Lesson::Output::progress(const std::string& text) {
    if (!shows_progress_) return;
    fmt::print(stderr, "\r\033[2K{}", text);
    std::fflush(stderr);
    progress_shown_ = true;
}

void Lesson::Output::end_progress() {
    if (!progress_shown_) return;
    fmt::print(stderr, "\r\033[2K");
    std::fflush(stderr);
    progress_shown_ = false;
}

void Lesson::Output::offer_steps(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (std::find(offered_steps_.begin(), offered_steps_.end(), name) == offered_steps_.end()) {
            offered_steps_.push_back(name);
        }
    }
}

bool chooses_step(const std::string& pattern, const std::string& name, const std::vector<std::string>& all_names) {
    if (name == pattern) return true;
    const bool is_a_name = std::find(all_names.begin(), all_names.end(), pattern) != all_names.end();
    return !is_a_name && name.find(pattern) != std::string::npos;
}

}  // namespace warpwise
