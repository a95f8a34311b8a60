#include "common/guide/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "common/guide/command.h"
#include "common/helpers/json.h"
#include "common/lesson/refusal.h"
#include "common/lesson/suggest.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int catalog_version = 1;
constexpr double list_limit_seconds = 2;  // a chapter's program takes some milliseconds, or hangs on a broken driver

// ---- reading ------------------------------------------------------------------------------------------------------

/// "1_basics_and_pi" -> 1; 0 where there is no number.
int number_of(const std::string& folder) {
    int number = 0;
    std::from_chars(folder.data(), folder.data() + folder.size(), number);
    return number;
}

/// "1_basics_and_pi" -> "Basics and pi", for lists that do not tell a title.
std::string title_of_chapter(const std::string& folder) {
    std::string title = folder.substr(std::min(folder.find_first_not_of("0123456789_"), folder.size()));
    std::replace(title.begin(), title.end(), '_', ' ');
    if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
    return title;
}

/// From "// Exercise: any number of elements."; empty when the file begins otherwise.
std::string title_in(const fs::path& file) {
    static constexpr std::string_view before = "// Exercise: ";
    static constexpr std::string_view after = " See README.md beside this file.";  // as older copies go on
    std::optional<std::string> text;
    try {
        text = read_file(file);
    } catch (const Refusal&) {
        return "";  // whoever needs the file is told then; a title is not worth it
    }
    if (!text) return "";
    std::string_view line = std::string_view(*text).substr(0, text->find('\n'));
    const auto drop_end = [&](std::string_view end) {
        if (line.ends_with(end)) line.remove_suffix(end.size());
    };
    drop_end("\r");
    if (!line.starts_with(before)) return "";
    line.remove_prefix(before.size());
    drop_end(after);
    drop_end(".");
    return std::string(line);
}

Exercise exercise_from(const Json& json, const std::string& chapter, const fs::path& root) {
    Exercise exercise;
    exercise.name = json.at("name").get<std::string>();
    exercise.chapter = chapter;
    exercise.kind = json.at("kind").get<std::string>();
    exercise.former_names = json.value("formerly", std::vector<std::string>());
    exercise.folder = root / "exercises" / chapter / exercise.name;
    exercise.answers = root / "answers" / chapter / exercise.name;
    exercise.solution = root / "solutions" / chapter / exercise.name / (exercise.name + ".cu");
    exercise.title = title_in(exercise.stub());
    if (exercise.title.empty()) exercise.title = title_in(exercise.handed_out());
    return exercise;
}

/// The first heading of a page; empty when there is none.
std::string heading_of(const fs::path& page) {
    std::optional<std::string> text;
    try {
        text = read_file(page);
    } catch (const Refusal&) {
        return "";
    }
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        if (line.starts_with("# ")) return std::string(line.substr(2));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    return "";
}

/// The place of the item of this name. Throws Refusal.
template <typename Item>
std::size_t place_of(const std::string& name, const std::vector<Item>& items) {
    for (std::size_t place = 0; place < items.size(); ++place) {
        if (items[place].name == name) return place;
    }
    throw Refusal(fmt::format("the catalog cannot be read: a path names '{}', which the chapter does not have", name));
}

/// Reads the path, and the ideas and pages that only it names.
void add_path(const Json& path, Chapter& chapter, const fs::path& root) {
    for (const Json& entry : path) {
        const std::string kind = entry.at("kind").get<std::string>();
        const std::string name = entry.at("name").get<std::string>();
        const std::string idea = entry.value("idea", "");
        if (kind == "lesson") {
            chapter.path.push_back({StopKind::lesson, place_of(name, chapter.lessons)});
            Lesson& lesson = chapter.lessons[chapter.path.back().index];
            lesson.idea = idea;
            lesson.title = entry.value("about", "");
        } else if (kind == "exercise") {
            chapter.path.push_back({StopKind::exercise, place_of(name, chapter.exercises)});
            chapter.exercises[chapter.path.back().index].idea = idea;
        } else if (kind == "page") {
            chapter.pages.push_back({name, idea, heading_of(root / "docs" / (name + ".md"))});
            chapter.path.push_back({StopKind::page, chapter.pages.size() - 1});
        } else {
            throw Refusal(fmt::format(
                "the catalog cannot be read: a path has a '{}', which is no lesson, exercise or page", kind));
        }
    }
}

Chapter chapter_from(const Json& json, const fs::path& root) {
    Chapter chapter;
    chapter.folder = json.at("folder").get<std::string>();
    chapter.number = number_of(chapter.folder);
    chapter.program = json.at("program").get<std::string>();
    chapter.title = json.value("title", title_of_chapter(chapter.folder));
    for (const Json& name : json.at("lessons")) chapter.lessons.push_back({name.get<std::string>(), ""});
    for (const Json& exercise : json.at("exercises")) {
        chapter.exercises.push_back(exercise_from(exercise, chapter.folder, root));
    }
    if (json.contains("path")) add_path(json.at("path"), chapter, root);
    return chapter;
}

/// What the JSON library says, without its own numbering in front.
std::string_view explanation(const std::exception& error) {
    const std::string_view text = error.what();
    const std::size_t end = text.starts_with('[') ? text.find("] ") : std::string_view::npos;
    return end == std::string_view::npos ? text : text.substr(end + 2);
}

/// The JSON object in what a program printed, which may have warnings around it. Discarded when there is none.
Json object_in(std::string_view output) {
    const std::size_t begin = output.find('{');
    const std::size_t end = output.rfind('}');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
        return Json::value_t::discarded;
    return warpwise::json_or_discarded<Json>(output.substr(begin, end - begin + 1));
}

/// Name -> title, from what `PROGRAM --list --json -` printed.
std::unordered_map<std::string, std::string> titles_in(std::string_view output) {
    std::unordered_map<std::string, std::string> titles;
    const Json list = object_in(output);
    if (!list.is_object() || !list.contains("lessons")) return titles;
    for (const Json& lesson : list["lessons"]) {
        if (!lesson.is_object() || !lesson.contains("name") || !lesson.contains("title")) continue;
        if (!lesson["name"].is_string() || !lesson["title"].is_string()) continue;
        titles[lesson["name"].get<std::string>()] = lesson["title"].get<std::string>();
    }
    return titles;
}

// ---- diagnostic ---------------------------------------------------------------------------------------------------

/// So that "Vector-Add " is "vector_add".
std::string simplified(std::string_view word) {
    const std::size_t begin = std::min(word.find_first_not_of(" \t\n"), word.size());
    word = word.substr(begin, word.find_last_not_of(" \t\n") + 1 - begin);
    std::string result(word);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '-' || c == ' ') c = '_';
    }
    return result;
}

/// Without what completing a path in a shell leaves at its end: "grid_stride.cu" and "grid_stride/" -> "grid_stride".
std::string without_ending(std::string word) {
    while (word.size() > 1 && word.ends_with('/')) word.pop_back();
    if (word.size() > 3 && word.ends_with(".cu")) word.resize(word.size() - 3);
    return word;
}

std::string last_part(const std::string& word) { return word.substr(word.rfind('/') + 1); }

bool is_number(const std::string& word, std::size_t number) { return word == std::to_string(number); }

bool starts_with(const std::string& name, const std::string& word) { return simplified(name).starts_with(word); }

bool contains(const std::string& name, const std::string& word) {
    return simplified(name).find(word) != std::string::npos;
}

bool is_named(const Chapter& chapter, const std::string& word) {
    return is_number(word, static_cast<std::size_t>(chapter.number)) || simplified(chapter.folder) == word ||
           simplified(chapter.program) == word;
}

bool was_named(const Exercise& exercise, const std::string& word) {
    return std::any_of(exercise.former_names.begin(), exercise.former_names.end(),
                       [&](const std::string& name) { return simplified(name) == word; });
}

template <typename Item>
std::vector<const Item*> pointers_to(const std::vector<Item>& items) {
    std::vector<const Item*> pointers;
    for (const Item& item : items) pointers.push_back(&item);
    return pointers;
}

std::string name_of(const Exercise& exercise) { return exercise.name; }
std::string name_of(const Lesson& lesson) { return lesson.name; }
std::string name_of(const Chapter& chapter) { return chapter.folder; }

template <typename Item>
std::vector<std::string> names_of(const std::vector<const Item*>& items) {
    std::vector<std::string> names;
    for (const Item* item : items) names.push_back(name_of(*item));
    return names;
}

/// "a", "a or b", "a, b or c".
std::string joined(const std::vector<std::string>& names) {
    if (names.size() < 2) return names.empty() ? "" : names.front();
    return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

template <typename Item>
using Rule = std::function<bool(const Item&)>;

/// The one item that fits the first rule that any item fits; null when none fits any. Throws Refusal when that rule
/// leaves a choice.
template <typename Item>
const Item* pick(const std::vector<const Item*>& items, const std::vector<Rule<Item>>& rules, std::string_view word) {
    for (const Rule<Item>& rule : rules) {
        std::vector<const Item*> fitting;
        std::copy_if(items.begin(), items.end(), std::back_inserter(fitting),
                     [&](const Item* item) { return rule(*item); });
        if (fitting.size() == 1) return fitting.front();
        if (fitting.size() > 1) {
            throw Refusal(fmt::format("'{}' could be {}; type more of the name", word, joined(names_of(fitting))));
        }
    }
    return nullptr;
}

[[noreturn]] void refuse_unknown(std::string_view kind, std::string_view word, const std::vector<std::string>& near,
                                 std::string_view where_all_are) {
    throw Refusal(fmt::format("no {} '{}'; {}{}", kind, word,
                              near.empty() ? "" : fmt::format("did you mean {}? ", joined(near)), where_all_are));
}

/// What a word means as a path, seen from each of the folders: only places that are there, or whose folder is.
std::vector<fs::path> places(const std::string& word, const std::vector<fs::path>& folders) {
    std::vector<fs::path> found;
    for (const fs::path& folder : folders) {
        const fs::path place = folder / word;
        std::error_code error;
        const bool named_by_its_folder = word.find('/') != std::string::npos && fs::exists(place.parent_path(), error);
        if (!named_by_its_folder && !fs::exists(place, error)) continue;
        fs::path real = fs::weakly_canonical(place, error);
        if (!error) found.push_back(std::move(real));
    }
    return found;
}

bool lies_in(const fs::path& folder, const std::vector<fs::path>& places) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(folder, error);
    if (error) return false;
    return std::any_of(places.begin(), places.end(), [&](const fs::path& place) {
        return std::mismatch(real.begin(), real.end(), place.begin(), place.end()).first == real.end();
    });
}

}  // namespace

std::string Station::name() const {
    return lesson != nullptr     ? lesson->name
           : exercise != nullptr ? exercise->name
           : page != nullptr     ? page->name
                                 : std::string();
}

std::string Station::idea() const {
    return lesson != nullptr     ? lesson->idea
           : exercise != nullptr ? exercise->idea
           : page != nullptr     ? page->idea
                                 : std::string();
}

std::string Station::title() const {
    return lesson != nullptr     ? lesson->title
           : exercise != nullptr ? exercise->title
           : page != nullptr     ? page->title
                                 : std::string();
}

std::string Station::key() const {
    const char* kind = lesson != nullptr     ? "lesson/"
                       : exercise != nullptr ? "exercise/"
                       : page != nullptr     ? "page/"
                                             : "";
    return kind + name();
}

std::string Station::number() const {
    if (lesson == nullptr) return {};
    const auto same = [&](const Lesson& other) { return other.name == lesson->name; };
    const auto place = std::find_if(chapter->lessons.begin(), chapter->lessons.end(), same);
    return fmt::format("{}.{}", chapter->number, place - chapter->lessons.begin() + 1);
}

std::string Station::text() const {
    if (lesson != nullptr) return fmt::format("lesson {}, {}", number(), lesson->name);
    if (exercise != nullptr) return "exercise " + exercise->name;
    return page == nullptr ? std::string() : "the page " + (page->title.empty() ? page->name : page->title);
}

std::vector<Station> stations_of(const Chapter& chapter) {
    std::vector<Station> stations;
    if (chapter.path.empty()) {
        for (const Lesson& lesson : chapter.lessons) stations.push_back({&chapter, nullptr, &lesson, nullptr});
        for (const Exercise& exercise : chapter.exercises) stations.push_back({&chapter, &exercise, nullptr, nullptr});
    }
    for (const Stop& stop : chapter.path) {
        switch (stop.kind) {
            case StopKind::lesson:
                stations.push_back({&chapter, nullptr, &chapter.lessons[stop.index], nullptr});
                break;
            case StopKind::exercise:
                stations.push_back({&chapter, &chapter.exercises[stop.index], nullptr, nullptr});
                break;
            case StopKind::page:
                stations.push_back({&chapter, nullptr, nullptr, &chapter.pages[stop.index]});
                break;
        }
    }
    return stations;
}

Station station_before(const std::vector<Station>& way, const Station& station) {
    const auto found = std::find_if(way.begin(), way.end(),
                                    [key = station.key()](const Station& other) { return other.key() == key; });
    return found == way.begin() || found == way.end() ? Station{} : *(found - 1);
}

Catalog Catalog::load(const Project& project) {
    const fs::path file = project.build_folder() / "catalog.json";
    const std::string advice = fmt::format("write it anew: cmake --preset {} -G Ninja", project.device);
    const std::optional<std::string> text = read_file(file);
    if (!text) throw Refusal(fmt::format("{} is missing; {}", project.shown(file), advice));
    try {
        Catalog catalog = from_json(*text, project.root);
        catalog.caller_ = project.caller;
        catalog.typed_ = project.typed;
        return catalog;
    } catch (const Refusal& refusal) {
        throw Refusal(fmt::format("{}: {}; {}", project.shown(file), refusal.what(), advice));
    }
}

Catalog Catalog::from_json(const std::string& text, const fs::path& root) {
    Catalog catalog;
    catalog.root_ = root;
    catalog.caller_ = root;
    try {
        const Json json = warpwise::parse_json<Json>(text);
        if (json.at("warpwise_catalog").get<int>() != catalog_version) {
            throw Refusal("the catalog was written by another version of Warpwise");
        }
        for (const Json& chapter : json.at("chapters")) catalog.chapters_.push_back(chapter_from(chapter, root));
    } catch (const Json::exception& error) {
        throw Refusal(fmt::format("the catalog cannot be read: {}", explanation(error)));
    }
    return catalog;
}

void Catalog::add_lesson_titles(const Project& project) {
    for (Chapter& chapter : chapters_) {
        const bool has_all = std::none_of(chapter.lessons.begin(), chapter.lessons.end(),
                                          [](const Lesson& lesson) { return lesson.title.empty(); });
        const fs::path program = project.programs() / chapter.program;
        std::error_code error;
        if (has_all || !fs::is_regular_file(program, error)) continue;
        const CommandResult listed =
            run_command({program.string(), "--list", "--json", "-"}, {.limit_seconds = list_limit_seconds});
        if (listed.status != 0) continue;
        const auto titles = titles_in(listed.output);
        for (Lesson& lesson : chapter.lessons) {
            if (const auto title = titles.find(lesson.name); title != titles.end()) lesson.title = title->second;
        }
    }
}

std::vector<const Exercise*> Catalog::exercises() const {
    std::vector<const Exercise*> exercises;
    for (const Chapter& chapter : chapters_) {
        for (const Exercise& exercise : chapter.exercises) exercises.push_back(&exercise);
    }
    return exercises;
}

std::vector<Station> Catalog::way() const {
    std::vector<Station> way;
    for (const Chapter& chapter : chapters_) {
        const std::vector<Station> stations = stations_of(chapter);
        way.insert(way.end(), stations.begin(), stations.end());
    }
    return way;
}

const Chapter& Catalog::find_chapter(const std::string& word) const {
    const std::vector<const Chapter*> all = pointers_to(chapters_);
    const std::string wanted = simplified(without_ending(word));
    const std::string where_all_are = fmt::format("'{} list' shows all", typed_);
    if (wanted.empty()) throw Refusal(fmt::format("which chapter? {}", where_all_are));
    const std::vector<fs::path> named_places = places(word, {caller_, root_});
    const std::vector<Rule<Chapter>> rules = {
        [&](const Chapter& chapter) { return is_named(chapter, wanted); },
        [&](const Chapter& chapter) { return lies_in(root_ / "chapters" / chapter.folder, named_places); },
        [&](const Chapter& chapter) {
            return starts_with(chapter.folder, wanted) || starts_with(chapter.program, wanted);
        },
    };
    if (const Chapter* chapter = pick(all, rules, word)) return *chapter;
    std::vector<std::string> names;
    for (const Chapter& chapter : chapters_) names.push_back(chapter.program);
    refuse_unknown("chapter", word, warpwise::suggest(last_part(wanted), names), where_all_are);
}

const Exercise& Catalog::find_exercise(const std::string& word) const {
    const std::vector<const Exercise*> all = exercises();
    const std::string wanted = simplified(without_ending(word));
    const std::string where_all_are = fmt::format("'{} list' shows all", typed_);
    if (wanted.empty()) throw Refusal(fmt::format("which exercise? {}", where_all_are));

    // "1/grid_stride"
    const std::size_t slash = wanted.find('/');
    const std::string name = slash == std::string::npos ? "" : wanted.substr(slash + 1);
    const auto in_named_chapter = [&](const Exercise& exercise) {
        return !name.empty() && std::any_of(chapters_.begin(), chapters_.end(), [&](const Chapter& chapter) {
            return chapter.folder == exercise.chapter && is_named(chapter, wanted.substr(0, slash));
        });
    };
    const std::vector<fs::path> named_places = places(word, {caller_, root_, root_ / "exercises", root_ / "answers"});
    const std::vector<Rule<Exercise>> rules = {
        [&](const Exercise& exercise) { return simplified(exercise.name) == wanted; },
        [&](const Exercise& exercise) { return was_named(exercise, wanted); },
        [&](const Exercise& exercise) { return in_named_chapter(exercise) && simplified(exercise.name) == name; },
        [&](const Exercise& exercise) { return in_named_chapter(exercise) && was_named(exercise, name); },
        [&](const Exercise& exercise) {
            return lies_in(exercise.folder, named_places) || lies_in(exercise.answers, named_places);
        },
        [&](const Exercise& exercise) { return starts_with(exercise.name, wanted); },
        [&](const Exercise& exercise) { return in_named_chapter(exercise) && starts_with(exercise.name, name); },
        [&](const Exercise& exercise) { return contains(exercise.name, wanted); },
        [&](const Exercise& exercise) { return in_named_chapter(exercise) && contains(exercise.name, name); },
    };
    if (const Exercise* exercise = pick(all, rules, word)) return *exercise;
    refuse_unknown("exercise", word, warpwise::suggest(last_part(wanted), names_of(all)), where_all_are);
}

const Lesson& Catalog::find_lesson(const Chapter& chapter, const std::string& word) {
    const std::vector<const Lesson*> all = pointers_to(chapter.lessons);
    const std::string wanted = last_part(simplified(without_ending(word)));
    const std::string where_all_are = fmt::format("chapter {} has {}", chapter.number, fmt::join(names_of(all), ", "));
    if (wanted.empty()) throw Refusal(fmt::format("which lesson? {}", where_all_are));
    const std::string of_chapter = std::to_string(chapter.number) + ".";
    const std::vector<Rule<Lesson>> rules = {
        [&](const Lesson& lesson) { return simplified(lesson.name) == wanted; },
        [&](const Lesson& lesson) {
            const std::size_t number = static_cast<std::size_t>(&lesson - chapter.lessons.data()) + 1;
            return is_number(wanted, number) || wanted == of_chapter + std::to_string(number);
        },
        [&](const Lesson& lesson) { return starts_with(lesson.name, wanted); },
        [&](const Lesson& lesson) { return contains(lesson.name, wanted); },
    };
    if (const Lesson* lesson = pick(all, rules, word)) return *lesson;
    refuse_unknown("lesson", word, warpwise::suggest(wanted, names_of(all)), where_all_are);
}

Station Catalog::find_lesson(const std::string& word) const {
    std::vector<const Lesson*> all;
    std::unordered_map<const Lesson*, const Chapter*> chapter_of;
    std::unordered_map<const Lesson*, std::string> numbers;
    for (const Chapter& chapter : chapters_) {
        for (const Lesson& lesson : chapter.lessons) {
            all.push_back(&lesson);
            chapter_of[&lesson] = &chapter;
            numbers[&lesson] = Station{&chapter, nullptr, &lesson, nullptr}.number();
        }
    }
    const std::string wanted = last_part(simplified(without_ending(word)));
    const std::string where_all_are = fmt::format("'{} list' shows all", typed_);
    if (wanted.empty()) throw Refusal(fmt::format("which lesson? {}", where_all_are));
    const std::vector<Rule<Lesson>> rules = {
        [&](const Lesson& lesson) { return simplified(lesson.name) == wanted; },
        [&](const Lesson& lesson) { return numbers.at(&lesson) == wanted; },
        [&](const Lesson& lesson) { return starts_with(lesson.name, wanted); },
        [&](const Lesson& lesson) { return contains(lesson.name, wanted); },
    };
    if (const Lesson* lesson = pick(all, rules, word)) return {chapter_of.at(lesson), nullptr, lesson, nullptr};
    refuse_unknown("lesson", word, warpwise::suggest(wanted, names_of(all)), where_all_are);
}

Station Catalog::find_chapter_or_lesson(const std::string& word) const {
    const std::string wanted = simplified(without_ending(word));
    const auto is_this_chapter = [&](const Chapter& chapter) { return is_named(chapter, wanted); };
    const bool is_chapter = std::any_of(chapters_.begin(), chapters_.end(), is_this_chapter);
    if (!is_chapter) {
        for (const Chapter& chapter : chapters_) {
            for (const Lesson& lesson : chapter.lessons) {
                if (simplified(lesson.name) == wanted) return {&chapter, nullptr, &lesson, nullptr};
            }
        }
    }
    try {
        return {&find_chapter(word), nullptr, nullptr, nullptr};
    } catch (const Refusal&) {
        const bool could_be_lesson = !wanted.empty() && word.find('/') == std::string::npos;
        if (!could_be_lesson) throw;
    }
    std::vector<std::string> names;
    for (const Chapter& chapter : chapters_) {
        names.push_back(chapter.program);
        for (const Lesson& lesson : chapter.lessons) names.push_back(lesson.name);
    }
    try {
        return find_lesson(word);
    } catch (const Refusal& refusal) {
        if (std::string_view(refusal.what()).starts_with("no lesson")) {
            refuse_unknown("chapter or lesson", word, warpwise::suggest(wanted, names),
                           fmt::format("'{} list' shows all", typed_));
        }
        throw;
    }
}

}  // namespace guide
