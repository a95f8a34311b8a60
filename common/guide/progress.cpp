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
    const Json chapters = section_of(document, "chapters", newer);
    for (const auto& [folder, date] : chapters.items()) {
        if (date.is_string()) {
            progress.chapters[folder] = date.get<std::string>();
        } else {
            drop("chapters", folder, "is no date");
        }
    }
    const Json predictions = section_of(document, "predictions", newer);
    for (const auto& [name, entry] : predictions.items()) {
        const std::string fault = prediction_fault_of(entry);
        if (fault.empty()) {
            progress.predictions[name] = prediction_in(entry);
        } else {
            drop("predictions", name, fault);
        }
    }
    if (document.contains("started")) {
        if (document["started"].is_string()) {
            progress.started = document["started"].get<std::string>();
        } else if (!newer) {
            document.erase("started");
            notes.push_back("'started' is no date, and is ignored");
        }
    }
    return progress;
}

/// Throws Broken.
Contents contents_of(const std::string& text, const std::map<std::string, std::string>& renamed) {
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
    if (after.chapters != before.chapters) {
        put_changes(section_to_change(document, "chapters", file), before.chapters, after.chapters,
                    [](Json& entry, const std::string& date) { entry = date; });
    }
    if (after.exercises != before.exercises) {
        put_changes(section_to_change(document, "exercises", file), before.exercises, after.exercises, put_marks);
    }
    if (after.predictions != before.predictions) {
        put_changes(section_to_change(document, "predictions", file), before.predictions, after.predictions,
                    put_prediction);
    }
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

ProgressFile::ProgressFile(fs::path file, const Catalog& catalog) : file_(std::move(file)) {
    std::set<std::string> present;
    for (const Exercise* exercise : catalog.exercises()) present.insert(exercise->name);
    for (const Exercise* exercise : catalog.exercises()) {
        for (const std::string& former : exercise->former_names) {
            // A name that was given to another exercise since then belongs to that one.
            if (!present.contains(former)) renamed_.emplace(former, exercise->name);
        }
    }
}

Progress ProgressFile::read() {
    try {
        const fs::path target = target_of(file_);
        const auto load = [&] {
            const Contents contents = contents_of(read_file(target).value_or(""), renamed_);
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
        contents = contents_of(text, renamed_);
    } catch (const Broken& broken) {
        note(move_aside(target, broken.what()));
    }
    for (const std::string& dropped : contents.notes) note(fmt::format("{}: {}", file_.string(), dropped));
    Progress after = contents.progress;
    change(after);
    put_progress(contents.document, contents.progress, after, file_);
    // Names that are not UTF-8 must not cost the marks.
    const std::string new_text = contents.document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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

Station next_station(const Catalog& catalog, const Progress& progress) {
    const auto was_tried = [&](const Exercise& exercise) {
        const auto found = progress.exercises.find(exercise.name);
        return found != progress.exercises.end() && (!found->second.passed.empty() || found->second.attempts > 0);
    };
    const auto is_done = [&](const Station& station) {
        if (station.exercise != nullptr) return progress.has_passed(station.exercise->name);
        return progress.chapters.contains(station.chapter->folder) ||
               std::any_of(station.chapter->exercises.begin(), station.chapter->exercises.end(), was_tried);
    };
    for (const Station& station : catalog.way()) {
        if (!is_done(station)) return station;
    }
    return {};
}

}  // namespace guide
