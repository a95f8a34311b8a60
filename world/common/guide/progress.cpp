#include "common/guide/progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "common/helpers/json.h"
#include "common/lesson/refusal.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;  // keeps the order of the file
using std::chrono::steady_clock;

constexpr int file_version = 1;
constexpr int deepest_nesting = 64;  // of a file that makes sense; far more would overflow the stack when it is written
constexpr std::chrono::seconds lock_limit{5};
constexpr std::chrono::milliseconds lock_pause{2};

constexpr const char* version_key = "warpwise_progress";

/// The file as a whole makes no sense.
class Broken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// ---- the lock -----------------------------------------------------------------------------------------------------

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : "."; }

/// Holds the file's folder, not the file, which is a new one after each change.
class Lock {
public:
    explicit Lock(const fs::path& file)
        : descriptor_(::open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (descriptor_ < 0) {
            throw Refusal(fmt::format("cannot write {}: its folder cannot be opened: {}", file.string(),
                                      std::generic_category().message(errno)));
        }
        try {
            wait(file);
        } catch (...) {
            ::close(descriptor_);
            throw;
        }
    }
    ~Lock() { ::close(descriptor_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    /// False on file systems that cannot lock a folder (NFS): then two changes at once may lose one of them, which is
    /// better than none at all. The file is whole even so.
    bool is_held() const { return held_; }

private:
    void wait(const fs::path& file) {
        const steady_clock::time_point end = steady_clock::now() + lock_limit;
        while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            if (errno == EINTR) continue;
            if (errno != EWOULDBLOCK) return;
            if (steady_clock::now() > end) {
                throw Refusal(
                    fmt::format("cannot write {}: another process has locked its folder for {} s; end other "
                                "guides that run in this copy, and try again",
                                file.string(), lock_limit.count()));
            }
            std::this_thread::sleep_for(lock_pause);
        }
        held_ = true;
    }

    int descriptor_;
    bool held_ = false;
};

/// What `replace_file` left when it was killed. Nobody else writes such files while the lock is held.
void remove_remains(const fs::path& file) {
    const std::string start = file.filename().string() + ".new-";
    std::error_code error;
    std::vector<fs::path> remains;
    for (fs::directory_iterator entry(folder_of(file), error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename().string().starts_with(start)) remains.push_back(entry->path());
    }
    for (const fs::path& path : remains) fs::remove(path, error);
}

/// Moves a file that makes no sense out of the way. Returns what the learner should know; throws Refusal when it stays.
std::string move_aside(const fs::path& file, std::string_view why) {
    const std::string name = fmt::format("{}.broken-{}", file.string(), today());
    fs::path aside = name;
    std::error_code error;
    for (int number = 2; fs::exists(fs::symlink_status(aside, error)); ++number) {
        aside = fmt::format("{}.{}", name, number);
    }
    fs::rename(file, aside, error);
    if (error) {
        throw Refusal(fmt::format("{} makes no sense ({}), and could not be moved to {}: {}; repair it or remove it",
                                  file.string(), why, aside.string(), error.message()));
    }
    return fmt::format(
        "{0} made no sense ({1}) and was moved to {2}; a new one is begun. To go on with the old one, repair it and "
        "move "
        "it back",
        file.string(), why, aside.string());
}

// ---- the file's content -------------------------------------------------------------------------------------------

struct Contents {
    Json document = Json::object();
    Progress progress;
    std::vector<std::string> notes;  ///< what was dropped
};

bool is_count(const Json& json) {
    constexpr int most = std::numeric_limits<int>::max();
    if (json.is_number_unsigned()) return json.get<std::uint64_t>() <= most;
    return json.is_number_integer() && json.get<std::int64_t>() >= 0 && json.get<std::int64_t>() <= most;
}

/// The texts of a prediction, by their keys in the file.
constexpr std::array<std::pair<const char*, std::string PredictionProgress::*>, 8> prediction_texts = {
    {{"lesson", &PredictionProgress::lesson},
     {"idea", &PredictionProgress::idea},
     {"question", &PredictionProgress::question},
     {"unit", &PredictionProgress::unit},
     {"answer", &PredictionProgress::answer},
     {"because", &PredictionProgress::because},
     {"guess", &PredictionProgress::guess},
     {"date", &PredictionProgress::date}}};

/// What is wrong with the marks of an exercise; empty when they are in order. Keys may be missing.
std::string fault_of(const Json& entry) {
    if (!entry.is_object()) return "is no object";
    const auto is_fine = [&](const char* key, const auto& fits) { return !entry.contains(key) || fits(entry[key]); };
    const auto is_text = [](const Json& json) { return json.is_string(); };
    const auto is_switch = [](const Json& json) { return json.is_boolean(); };
    if (!is_fine("passed", is_text)) return "has a 'passed' that is no date";
    if (!is_fine("attempts", is_count)) return "has 'attempts' that are no count";
    if (!is_fine("hints", is_count)) return "has 'hints' that are no count";
    if (!is_fine("solution_seen", is_switch)) return "has a 'solution_seen' that is neither true nor false";
    return "";
}

/// The same of a prediction.
std::string prediction_fault_of(const Json& entry) {
    if (!entry.is_object()) return "is no object";
    for (const auto& [key, text] : prediction_texts) {
        if (entry.contains(key) && !entry[key].is_string()) return fmt::format("has a '{}' that is no text", key);
    }
    if (entry.contains("choices")) {
        const Json& choices = entry["choices"];
        const auto is_text = [](const Json& choice) { return choice.is_string(); };
        if (!choices.is_array() || !std::all_of(choices.begin(), choices.end(), is_text)) {
            return "has 'choices' that are no list of texts";
        }
    }
    if (entry.contains("factor") && !(entry["factor"].is_number() && entry["factor"].get<double>() >= 1)) {
        return "has a 'factor' that is no number from 1 up";
    }
    if (entry.contains("right") && !entry["right"].is_boolean()) return "has a 'right' that is neither true nor false";
    return "";
}

/// Of an entry without fault.
PredictionProgress prediction_in(const Json& entry) {
    PredictionProgress prediction;
    for (const auto& [key, text] : prediction_texts) prediction.*text = entry.value(key, "");
    prediction.choices = entry.value("choices", prediction.choices);
    prediction.factor = entry.value("factor", prediction.factor);
    prediction.right = entry.value("right", prediction.right);
    return prediction;
}

/// What has its usual value is left out. Other keys of the entry stay.
void put_prediction(Json& entry, const PredictionProgress& prediction) {
    if (!entry.is_object()) entry = Json::object();
    const auto put = [&](const char* key, const auto& value, bool is_usual) {
        if (is_usual) {
            entry.erase(key);
        } else {
            entry[key] = value;
        }
    };
    for (const auto& [key, text] : prediction_texts) put(key, prediction.*text, (prediction.*text).empty());
    put("choices", prediction.choices, prediction.choices.empty());
    put("factor", prediction.factor, prediction.factor == 1);
    entry["right"] = prediction.right;
}

/// Of an entry without fault.
ExerciseProgress marks_in(const Json& entry) {
    ExerciseProgress marks;
    marks.passed = entry.value("passed", marks.passed);
    marks.attempts = entry.value("attempts", marks.attempts);
    marks.hints = entry.value("hints", marks.hints);
    marks.solution_seen = entry.value("solution_seen", marks.solution_seen);
    return marks;
}

/// Other keys of the entry stay.
void put_marks(Json& entry, const ExerciseProgress& marks) {
    if (!entry.is_object()) entry = Json::object();
    entry["passed"] = marks.passed;
    entry["attempts"] = marks.attempts;
    entry["hints"] = marks.hints;
    entry["solution_seen"] = marks.solution_seen;
}

std::string fault_of_lesson(const Json& entry) {
    if (!entry.is_object()) return "is no object";
    for (const char* key : {"run", "again"}) {
        if (entry.contains(key) && !entry[key].is_string()) return fmt::format("has a '{}' that is no date", key);
    }
    return "";
}

/// Of an entry without fault, as the next two.
LessonProgress lesson_in(const Json& entry) { return {entry.value("run", ""), entry.value("again", "")}; }

void put_lesson(Json& entry, const LessonProgress& lesson) {
    if (!entry.is_object()) entry = Json::object();
    entry["run"] = lesson.run;
    if (!lesson.again.empty()) entry["again"] = lesson.again;
}

std::string fault_of_review(const Json& entry) {
    if (!entry.is_object()) return "is no object";
    for (const char* key : {"date", "guess"}) {
        if (entry.contains(key) && !entry[key].is_string()) return fmt::format("has a '{}' that is no text", key);
    }
    if (entry.contains("right") && !entry["right"].is_boolean()) return "has a 'right' that is neither true nor false";
    if (entry.contains("in_a_row") && !is_count(entry["in_a_row"])) return "has an 'in_a_row' that is no count";
    return "";
}

ReviewProgress review_in(const Json& entry) {
    return {entry.value("date", ""), entry.value("right", false), entry.value("in_a_row", 0), entry.value("guess", "")};
}

void put_review(Json& entry, const ReviewProgress& review) {
    if (!entry.is_object()) entry = Json::object();
    entry["date"] = review.date;
    entry["right"] = review.right;
    entry["in_a_row"] = review.in_a_row;
    entry["guess"] = review.guess;
}

ExerciseProgress merged(const ExerciseProgress& a, const ExerciseProgress& b) {
    ExerciseProgress both;
    both.passed = a.passed.empty() || b.passed.empty() ? std::max(a.passed, b.passed) : std::min(a.passed, b.passed);
    both.attempts = std::max(a.attempts, b.attempts);
    both.hints = std::max(a.hints, b.hints);
    both.solution_seen = a.solution_seen || b.solution_seen;
    return both;
}

/// Moves the marks of exercises that have another name now.
void rename_entries(Json& exercises, const std::map<std::string, std::string>& renamed) {
    for (const auto& [former, name] : renamed) {
        if (!exercises.contains(former) || !fault_of(exercises[former]).empty()) continue;
        Json old = std::move(exercises[former]);
        exercises.erase(former);
        if (!exercises.contains(name)) {
            exercises[name] = std::move(old);
            continue;
        }
        Json& entry = exercises[name];
        const ExerciseProgress present = fault_of(entry).empty() ? marks_in(entry) : ExerciseProgress{};
        put_marks(entry, merged(marks_in(old), present));
        for (const auto& [key, value] : old.items()) {
            if (!entry.contains(key)) entry[key] = value;
        }
    }
}

/// A file from before lessons had marks of their own: of a chapter that was run, all lessons count as run.
void add_lessons(Json& document, const std::map<std::string, std::vector<std::string>>& lessons) {
    if (document.contains("lessons") || !document.contains("chapters") || !document["chapters"].is_object()) return;
    Json marks = Json::object();
    for (const auto& [folder, date] : document["chapters"].items()) {
        const auto found = lessons.find(folder);
        if (!date.is_string() || found == lessons.end()) continue;
        for (const std::string& lesson : found->second) marks[lesson] = Json{{"run", date}};
    }
    if (!marks.empty()) document["lessons"] = std::move(marks);
}

/// The object under a key, an empty one when there is none. Of a newer version's file, whatever it is.
Json section_of(const Json& document, const char* key, bool newer) {
    if (!document.contains(key) || (newer && !document[key].is_object())) return Json::object();
    if (!document[key].is_object()) throw Broken(fmt::format("'{}' is no object", key));
    return document[key];
}

Json parsed(const std::string& text) {
    bool too_deep = false;
    Json document;
    try {
        document = Json::parse(text, [&](int depth, Json::parse_event_t, Json&) {
            too_deep = too_deep || depth > deepest_nesting;
            return !too_deep;
        });
    } catch (const Json::exception& error) {
        const std::string_view what = error.what();
        const std::size_t begin = what.find("] ");  // after the library's number for it
        throw Broken(std::string(begin == std::string_view::npos ? what : what.substr(begin + 2)));
    }
    if (too_deep) throw Broken("it is nested too deeply");
    if (!document.is_object()) throw Broken("it is no JSON object");
    return document;
}

/// Removes marks that make no sense, unless they may make sense to the newer version that wrote them.
Progress understood(Json& document, bool newer, std::vector<std::string>& notes) {
    Progress progress;
    const auto drop = [&](const char* key, const std::string& name, std::string_view fault) {
        if (newer) return;
        document[key].erase(name);
        notes.push_back(fmt::format("the entry of {} {}, and is ignored", name, fault));
    };
    const Json exercises = section_of(document, "exercises", newer);
    for (const auto& [name, entry] : exercises.items()) {
        const std::string fault = fault_of(entry);
        if (fault.empty()) {
            progress.exercises[name] = marks_in(entry);
        } else {
            drop("exercises", name, fault);
        }
    }
    const auto read_dates = [&](const char* key, std::map<std::string, std::string>& dates) {
        const Json section = section_of(document, key, newer);
        for (const auto& [name, date] : section.items()) {
            if (date.is_string()) {
                dates[name] = date.get<std::string>();
            } else {
                drop(key, name, "is no date");
            }
        }
    };
    const auto read_entries = [&](const char* key, auto& entries, const auto& fault_in, const auto& entry_in) {
        const Json section = section_of(document, key, newer);
        for (const auto& [name, entry] : section.items()) {
            const std::string fault = fault_in(entry);
            if (fault.empty()) {
                entries[name] = entry_in(entry);
            } else {
                drop(key, name, fault);
            }
        }
    };
    read_dates("chapters", progress.chapters);
    read_dates("pages", progress.pages);
    read_dates("skipped", progress.skipped);
    read_entries("lessons", progress.lessons, fault_of_lesson, lesson_in);
    read_entries("predictions", progress.predictions, prediction_fault_of, prediction_in);
    read_entries("reviews", progress.reviews, fault_of_review, review_in);
    for (const auto& [key, date] :
         {std::pair("started", &progress.started), std::pair("last_start", &progress.last_start)}) {
        if (!document.contains(key)) continue;
        if (document[key].is_string()) {
            *date = document[key].get<std::string>();
        } else if (!newer) {
            document.erase(key);
            notes.push_back(fmt::format("'{}' is no date, and is ignored", key));
        }
    }
    return progress;
}

/// Throws Broken.
Contents contents_of(const std::string& text, const std::map<std::string, std::string>& renamed,
                     const std::map<std::string, std::vector<std::string>>& lessons) {
    Contents contents;
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) return contents;
    contents.document = parsed(text);
    Json& document = contents.document;
    if (document.contains(version_key) && !document[version_key].is_number_integer()) {
        throw Broken(fmt::format("'{}' is no whole number", version_key));
    }
    const bool newer = document.value(version_key, std::int64_t{file_version}) > file_version;
    Json exercises = section_of(document, "exercises", newer);
    rename_entries(exercises, renamed);
    if (!exercises.empty()) document["exercises"] = std::move(exercises);
    if (!newer) add_lessons(document, lessons);
    contents.progress = understood(document, newer, contents.notes);
    return contents;
}

/// Throws Refusal when a newer version keeps its marks in another way.
Json& section_to_change(Json& document, const char* key, const fs::path& file) {
    if (!document.contains(key)) document[key] = Json::object();
    if (document[key].is_object()) return document[key];
    throw Refusal(
        fmt::format("cannot write {}: a newer version of Warpwise keeps '{}' there in another way; get that "
                    "version: git pull",
                    file.string(), key));
}

/// Calls `put(entry, value)` for what is new or changed, and removes what is gone. All else stays as it is: also an
/// entry that only a newer version understands, unless there is something to put there.
template <typename Value, typename Put>
void put_changes(Json& section, const std::map<std::string, Value>& before, const std::map<std::string, Value>& after,
                 const Put& put) {
    for (const auto& [name, value] : before) {
        if (!after.contains(name)) section.erase(name);
    }
    for (const auto& [name, value] : after) {
        const auto old = before.find(name);
        const bool changed = old == before.end() ? value != Value{} || !section.contains(name) : value != old->second;
        if (changed) put(section[name], value);
    }
}

void put_progress(Json& document, const Progress& before, const Progress& after, const fs::path& file) {
    if (!document.contains(version_key)) document[version_key] = file_version;
    if (after.started != before.started) document["started"] = after.started;
    if (after.last_start != before.last_start) document["last_start"] = after.last_start;
    const auto put_section = [&](const char* key, const auto& old_entries, const auto& new_entries, const auto& put) {
        if (old_entries == new_entries) return;
        put_changes(section_to_change(document, key, file), old_entries, new_entries, put);
    };
    const auto put_date = [](Json& entry, const std::string& date) { entry = date; };
    put_section("chapters", before.chapters, after.chapters, put_date);
    put_section("lessons", before.lessons, after.lessons, put_lesson);
    put_section("pages", before.pages, after.pages, put_date);
    put_section("exercises", before.exercises, after.exercises, put_marks);
    put_section("skipped", before.skipped, after.skipped, put_date);
    put_section("predictions", before.predictions, after.predictions, put_prediction);
    put_section("reviews", before.reviews, after.reviews, put_review);
}

}  // namespace

bool Progress::has_passed(const std::string& exercise) const {
    const auto found = exercises.find(exercise);
    return found != exercises.end() && !found->second.passed.empty();
}

void Progress::keep_prediction(const std::string& key, const PredictionProgress& prediction) {
    const auto found = predictions.find(key);
    if (found == predictions.end() || found->second.question != prediction.question) predictions[key] = prediction;
}

bool Progress::has_run(const std::string& lesson) const { return lessons.contains(lesson); }

void Progress::note_run(const Chapter& chapter, const std::vector<std::string>& names, const std::string& date) {
    for (const std::string& name : names) {
        const auto [mark, is_new] = lessons.try_emplace(name, LessonProgress{date, ""});
        if (!is_new && date > mark->second.run) mark->second.again = std::max(mark->second.again, date);
    }
    const bool are_all = std::all_of(chapter.lessons.begin(), chapter.lessons.end(),
                                     [&](const Lesson& lesson) { return has_run(lesson.name); });
    if (are_all) chapters.try_emplace(chapter.folder, date);
}

ProgressFile::ProgressFile(fs::path file, const Catalog& catalog) : file_(std::move(file)) {
    for (const Chapter& chapter : catalog.chapters()) {
        for (const Lesson& lesson : chapter.lessons) lessons_[chapter.folder].push_back(lesson.name);
    }
    std::set<std::string> present;
    for (const Exercise* exercise : catalog.exercises()) present.insert(exercise->name);
    for (const Exercise* exercise : catalog.exercises()) {
        for (const std::string& former : exercise->former_names) {
            // A name that was given to another exercise since then belongs to that one.
            if (!present.contains(former)) renamed_.emplace(former, exercise->name);
        }
    }
}

ProgressFile::Stamp ProgressFile::stamp() const {
    struct stat found {};
    if (::stat(file_.c_str(), &found) != 0) return {};
    return {static_cast<std::int64_t>(found.st_ino), static_cast<std::int64_t>(found.st_size),
            static_cast<std::int64_t>(found.st_mtim.tv_sec), static_cast<std::int64_t>(found.st_mtim.tv_nsec)};
}

bool ProgressFile::may_have_changed() const { return stamp() != when_read_; }

Progress ProgressFile::read() {
    when_read_ = stamp();
    try {
        const fs::path target = target_of(file_);
        const auto load = [&] {
            const Contents contents = contents_of(read_file(target).value_or(""), renamed_, lessons_);
            for (const std::string& text : contents.notes) note(fmt::format("{}: {}", file_.string(), text));
            return contents.progress;
        };
        try {
            return load();
        } catch (const Broken&) {
            const Lock lock(target);
            try {
                return load();  // somebody else may have put it right meanwhile
            } catch (const Broken& broken) {
                note(move_aside(target, broken.what()));
            }
        }
    } catch (const Refusal& refusal) {
        note(refusal.what());
    }
    return {};
}

Progress ProgressFile::update(const std::function<void(Progress&)>& change) {
    const fs::path target = target_of(file_);
    const Lock lock(target);
    const std::string text = read_file(target).value_or("");
    Contents contents;
    try {
        contents = contents_of(text, renamed_, lessons_);
    } catch (const Broken& broken) {
        note(move_aside(target, broken.what()));
    }
    for (const std::string& dropped : contents.notes) note(fmt::format("{}: {}", file_.string(), dropped));
    Progress after = contents.progress;
    change(after);
    put_progress(contents.document, contents.progress, after, file_);
    // Names that are not UTF-8 must not cost the marks.
    const std::string new_text = warpwise::json_text(contents.document, 2) + "\n";
    if (new_text == text) return after;
    if (lock.is_held()) remove_remains(target);
    replace_file(target, new_text);
    return after;
}

std::string ProgressFile::take_message() { return std::exchange(message_, ""); }

void ProgressFile::note(const std::string& message) {
    if (!noted_.insert(message).second) return;
    if (!message_.empty()) message_ += '\n';
    message_ += message;
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm date{};
    ::localtime_r(&now, &date);
    return fmt::format("{:04}-{:02}-{:02}", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
}

bool is_done(const Station& station, const Progress& progress) {
    if (station.exercise != nullptr) return progress.has_passed(station.exercise->name);
    if (station.lesson != nullptr && progress.has_run(station.lesson->name)) return true;
    if (station.page != nullptr && progress.pages.contains(station.page->name)) return true;
    const std::string idea = station.idea();
    if (idea.empty()) return false;
    const std::vector<Lesson>& lessons = station.chapter->lessons;
    const bool was_lesson_run = std::any_of(lessons.begin(), lessons.end(), [&](const Lesson& lesson) {
        return lesson.idea == idea && progress.has_run(lesson.name);
    });
    if (station.page != nullptr && was_lesson_run) return true;
    return std::any_of(
        station.chapter->exercises.begin(), station.chapter->exercises.end(),
        [&](const Exercise& exercise) { return exercise.idea == idea && progress.has_passed(exercise.name); });
}

Station next_station(const std::vector<Station>& way, const Progress& progress, const Station& after) {
    const auto place = std::find_if(way.begin(), way.end(),
                                    [key = after.key()](const Station& station) { return station.key() == key; });
    const std::size_t begin = !after || place == way.end() ? 0 : static_cast<std::size_t>(place - way.begin()) + 1;
    Station skipped;
    for (std::size_t step = 0; step < way.size(); ++step) {
        const Station& station = way[(begin + step) % way.size()];
        if (is_done(station, progress)) continue;
        if (!progress.skipped.contains(station.key())) return station;
        if (!skipped) skipped = station;
    }
    return skipped;
}

Station next_station(const Catalog& catalog, const Progress& progress) { return next_station(catalog.way(), progress); }

LastDone last_done(const std::vector<Station>& way, const Progress& progress) {
    LastDone last;
    const auto date_in = [](const auto& dates, const std::string& name) {
        const auto found = dates.find(name);
        return found == dates.end() ? std::string() : found->second;
    };
    for (const Station& station : way) {
        std::string date;
        if (station.exercise != nullptr) {
            const auto marks = progress.exercises.find(station.exercise->name);
            if (marks != progress.exercises.end()) date = marks->second.passed;
        } else if (station.lesson != nullptr) {
            const auto mark = progress.lessons.find(station.lesson->name);
            if (mark != progress.lessons.end()) date = std::max(mark->second.run, mark->second.again);
        } else {
            date = date_in(progress.pages, station.name());
        }
        if (!date.empty() && date >= last.date) last = {station, date};
    }
    return last;
}

}  // namespace guide
