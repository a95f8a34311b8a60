#include "common/guide/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "common/guide/command.h"
#include "common/guide/project.h"
#include "common/lesson/refusal.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using Text = std::optional<std::string>;  // none: there is no such file

constexpr double git_limit_seconds = 10;

std::string with_unix_line_ends(std::string text) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') text[kept++] = text[i];
    }
    text.resize(kept);
    return text;
}

/// git may write another system's line ends into the copy (core.autocrlf).
bool same(const Text& one, const Text& other) {
    if (!one || !other) return !one && !other;
    return *one == *other || with_unix_line_ends(*one) == with_unix_line_ends(*other);
}

/// The file as it is in the last commit; nothing where git does not know it, or there is no git.
Text text_in_git(const fs::path& file) {
    if (!has_program("git")) return std::nullopt;
    const CommandResult shown =
        run_command({"git", "-C", file.parent_path().string(), "show", "HEAD:./" + file.filename().string()},
                    {.limit_seconds = git_limit_seconds});
    if (shown.status != 0) return std::nullopt;
    return shown.output;
}

/// The texts that the rule is about.
struct Texts {
    explicit Texts(const Exercise& exercise)
        : own(read_file(exercise.own_answer())),
          stub(read_file(exercise.stub())),
          noted(read_file(exercise.handed_out())) {}

    Text own;
    Text stub;
    Text noted;  ///< what was handed out when `own` was made
};

/// What was handed out. Throws Refusal when nobody knows.
std::string handed_out_text(const Exercise& exercise, const Texts& texts) {
    if (texts.stub && texts.stub == texts.noted) return *texts.stub;  // the usual case needs no git
    if (Text in_git = text_in_git(exercise.stub())) return same(in_git, texts.stub) ? *texts.stub : *std::move(in_git);
    if (texts.noted) return *texts.noted;
    if (texts.stub) return *texts.stub;
    throw Refusal(fmt::format("there is no {}; get it back: git checkout -- {}", exercise.stub().string(),
                              exercise.stub().string()));
}

bool was_saved_later(const fs::path& file, const fs::path& other) {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(file, error);
    if (error) return false;
    const fs::file_time_type other_time = fs::last_write_time(other, error);
    return !error && time > other_time;
}

bool stub_counts(const Exercise& exercise, const Texts& texts) {
    if (!texts.own) return texts.stub.has_value();
    if (!texts.stub || texts.stub == texts.noted) return false;
    const std::string handed_out = handed_out_text(exercise, texts);
    if (same(texts.stub, handed_out)) return false;
    return same(texts.own, handed_out) || was_saved_later(exercise.stub(), exercise.own_answer());
}

/// The first name of NAME.cu.before_reset.1, .2 ... that is free.
fs::path free_number(const fs::path& file) {
    std::error_code error;
    for (int number = 1;; ++number) {
        fs::path numbered = fmt::format("{}.{}", file.string(), number);
        if (!fs::exists(fs::symlink_status(numbered, error))) return numbered;
    }
}

/// Returns where the file's former text is kept; empty when it had none, or that of `text`.
fs::path put_back(const fs::path& file, const Text& former, const std::string& text) {
    if (same(former, text)) return {};
    fs::path backup;
    if (former) {
        backup = file.string() + ".before_reset";
        std::error_code error;
        if (fs::exists(fs::symlink_status(backup, error))) {
            const fs::path numbered = free_number(backup);
            fs::rename(backup, numbered, error);
            if (error) {
                throw Refusal(fmt::format("cannot move {} to {}: {}; the answer was not reset", backup.string(),
                                          numbered.string(), error.message()));
            }
        }
        replace_file(backup, *former);
    }
    replace_file(file, text);
    return backup;
}

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Refusal(fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
}

}  // namespace

void prepare_answer(const Exercise& exercise) {
    const Texts texts(exercise);
    if (texts.own && texts.noted && (texts.stub == texts.noted || !texts.stub)) return;
    const std::string handed_out = handed_out_text(exercise, texts);
    make_folder(exercise.own_answer().parent_path());
    if (!texts.own) {
        replace_file(exercise.handed_out(), handed_out);
        replace_file(exercise.own_answer(), texts.stub.value_or(handed_out));
    } else if (!texts.noted) {
        replace_file(exercise.handed_out(), handed_out);
    } else if (same(texts.stub, handed_out)) {  // it was handed out anew
        if (texts.own == texts.noted) replace_file(exercise.own_answer(), handed_out);
        replace_file(exercise.handed_out(), handed_out);
    }
}

void prepare_answers(const Catalog& catalog) {
    for (const Exercise* exercise : catalog.exercises()) prepare_answer(*exercise);
}

Answer answer_to(const Exercise& exercise) {
    if (stub_counts(exercise, Texts(exercise))) return {exercise.stub(), true, exercise.name + "_original"};
    return {exercise.own_answer(), false, exercise.name};
}

bool is_edited(const Exercise& exercise) {
    const Texts texts(exercise);
    const Text& answer = stub_counts(exercise, texts) ? texts.stub : texts.own;
    return answer && !same(answer, handed_out_text(exercise, texts));
}

std::string handed_out_to(const Exercise& exercise) { return handed_out_text(exercise, Texts(exercise)); }

std::vector<fs::path> reset(const Exercise& exercise) {
    const Texts texts(exercise);
    const bool in_place = stub_counts(exercise, texts);
    const std::string handed_out = handed_out_text(exercise, texts);
    make_folder(exercise.own_answer().parent_path());
    replace_file(exercise.handed_out(), handed_out);
    std::vector<fs::path> kept = {put_back(exercise.own_answer(), texts.own, handed_out),
                                  put_back(exercise.stub(), texts.stub, handed_out)};
    if (in_place) std::swap(kept[0], kept[1]);
    std::erase_if(kept, [](const fs::path& file) { return file.empty(); });
    return kept;
}

}  // namespace guide
