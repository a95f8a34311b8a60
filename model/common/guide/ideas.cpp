#include "common/guide/ideas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "common/guide/review.h"

namespace guide {
namespace {

using warpwise::Style;
using warpwise::Terminal;
using Json = nlohmann::ordered_json;

constexpr std::size_t map_columns = 79;  // of a terminal of 80: the last one stays free
constexpr std::size_t gap = 2;           // spaces before a column, at least

std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The last day on which a lesson was run.
std::string last_run(const Progress& progress, const std::string& lesson) {
    const auto found = progress.lessons.find(lesson);
    return found == progress.lessons.end() ? "" : std::max(found->second.run, found->second.again);
}

/// Where an idea occurs, and what was done there.
struct Collected {
    std::vector<Station> stations;
    std::vector<const PredictionProgress*> predictions;
    std::size_t right = 0;
    std::string lesson_of_wrong_prediction;
};

/// The lesson of this name on the path; none if there is no such lesson any more.
Station station_of_lesson(const std::string& name, const std::vector<Station>& way) {
    for (const Station& station : way) {
        if (station.lesson != nullptr && station.lesson->name == name) return station;
    }
    return {};
}

/// A prediction belongs to the idea that it names. If that idea has another name by now than when the prediction was
/// made, it belongs to the idea of its lesson.
std::string idea_of(const PredictionProgress& prediction, const std::vector<Station>& way) {
    const bool is_known = std::any_of(way.begin(), way.end(), [&](const Station& station) {
        return !prediction.idea.empty() && station.idea() == prediction.idea;
    });
    const Station lesson = station_of_lesson(prediction.lesson, way);
    return is_known || !lesson ? prediction.idea : lesson.idea();
}

void note_troubles(const Exercise& exercise, const Progress& progress, const std::string& lesson_run,
                   std::vector<std::string>& troubles) {
    const auto found = progress.exercises.find(exercise.name);
    if (found == progress.exercises.end()) return;
    const ExerciseProgress& marks = found->second;
    const bool is_over = !marks.passed.empty() && lesson_run > marks.passed;
    if (is_over) return;
    if (marks.attempts >= many_attempts) {
        troubles.push_back(fmt::format("{} attempts at {}", marks.attempts, exercise.name));
    }
    if (marks.solution_seen) troubles.push_back(fmt::format("solution of {} seen before it passed", exercise.name));
}

/// The lesson of a wrong prediction, if it is one of the idea's, else the idea's last lesson that was run, else the
/// lesson of the wrong prediction, else the idea's first, else the lesson that the path has before the idea's first
/// stop.
Station lesson_to_look_at(const Collected& collected, const std::vector<Station>& way, const Progress& progress) {
    Station found;
    bool was_run = false;
    for (const Station& station : collected.stations) {
        if (station.lesson == nullptr) continue;
        if (station.lesson->name == collected.lesson_of_wrong_prediction) return station;
        const bool runs = progress.has_run(station.lesson->name);
        was_run = was_run || runs;
        if (!found || runs) found = station;
    }
    if (!was_run && !collected.lesson_of_wrong_prediction.empty()) {
        if (const Station asked = station_of_lesson(collected.lesson_of_wrong_prediction, way)) return asked;
    }
    if (found || collected.stations.empty()) return found;
    for (const Station& station : way) {
        if (station == collected.stations.front()) break;
        if (station.lesson != nullptr) found = station;
    }
    return found;
}

bool predicts_badly(const IdeaMarks& marks) { return 3 * marks.right < 2 * marks.predictions; }

Idea idea_from(const std::string& name, const Collected& collected, const std::vector<Station>& way,
               const Progress& progress) {
    Idea idea;
    idea.name = name;
    IdeaMarks& marks = idea.marks;
    std::string lesson_run;
    for (const Station& station : collected.stations) {
        if (station.lesson != nullptr) lesson_run = std::max(lesson_run, last_run(progress, station.lesson->name));
    }
    for (const Station& station : collected.stations) {
        ++marks.stops;
        if (is_done(station, progress)) ++marks.stops_done;
        if (station.exercise == nullptr) continue;
        ++marks.exercises;
        if (progress.has_passed(station.exercise->name)) ++marks.passed;
        note_troubles(*station.exercise, progress, lesson_run, marks.troubles);
    }
    marks.predictions = collected.predictions.size();
    marks.right = collected.right;
    idea.mastery = mastery_of(marks);
    if (predicts_badly(marks)) {
        idea.reasons.push_back(fmt::format("{} of {} right", marks.right, counted(marks.predictions, "prediction")));
    }
    idea.reasons.insert(idea.reasons.end(), marks.troubles.begin(), marks.troubles.end());
    if (idea.mastery != Mastery::shaky) idea.reasons.clear();
    if (idea.mastery == Mastery::shaky) idea.look_at = lesson_to_look_at(collected, way, progress);
    return idea;
}

char sign_of(StopState state) {
    switch (state) {
        case StopState::done:
            return '#';
        case StopState::here:
            return '>';
        case StopState::skipped:
            return '-';
        case StopState::open:
            break;
    }
    return '.';
}

Style style_of(StopState state) {
    return state == StopState::done ? Style::good : state == StopState::here ? Style::title : Style::faint;
}

Style style_of(Mastery mastery) {
    switch (mastery) {
        case Mastery::mastered:
            return Style::good;
        case Mastery::shaky:
            return Style::bad;
        case Mastery::begun:
        case Mastery::open:
            break;
    }
    return Style::plain;
}

std::string padding(std::size_t used, std::size_t width) { return std::string(width - std::min(width, used), ' '); }

/// The signs of a stretch; colored, and then filled up to the width.
std::string signs(const std::vector<StopState>& states, std::size_t width, const Terminal& terminal) {
    std::string text;
    for (const StopState state : states) text += terminal.paint(style_of(state), std::string(1, sign_of(state)));
    return text + padding(states.size(), width);
}

class MapText {
public:
    MapText(const PathMap& map, const MapOptions& options, const Terminal& terminal)
        : map_(map), options_(options), terminal_(terminal) {
        for (const ChapterMap& part : map.chapters) {
            for (const Stretch& stretch : part.stretches) {
                signs_width_ = std::max(signs_width_, stretch.stations.size());
                idea_width_ = std::max(idea_width_, stretch.idea.size());
                number_width_ = std::max(number_width_, stretch.number.size());
            }
            title_width_ = std::max(title_width_, title_of(part).size());
        }
        constexpr std::size_t widest_idea = 40;
        idea_width_ = std::min(idea_width_, widest_idea);
    }

    std::string text() const {
        std::string text;
        bool was_whole = false;
        for (const ChapterMap& part : map_.chapters) {
            if (!options_.chapter.empty() && part.chapter->folder != options_.chapter) continue;
            const bool is_whole = options_.all || !options_.chapter.empty() || part.is_touched();
            if (!text.empty() && (is_whole || was_whole)) text += "\n";
            text += is_whole ? whole(part) : one_line(part);
            was_whole = is_whole;
        }
        text += terminal_.paint(Style::faint, "\n# done   > here   . open   - left out\n");
        if (options_.chapter.empty()) text += summary();
        return text + shaky();
    }

private:
    const PathMap& map_;
    const MapOptions& options_;
    const Terminal& terminal_;
    std::size_t signs_width_ = 0;
    std::size_t idea_width_ = 0;
    std::size_t number_width_ = 0;
    std::size_t title_width_ = 0;

    static std::string title_of(const ChapterMap& part) {
        return fmt::format("Chapter {}: {}", part.chapter->number, part.chapter->title);
    }

    static std::string done_text(const ChapterMap& part) {
        return fmt::format("{} of {} done", part.done, counted(part.stops, "stop"));
    }

    std::string one_line(const ChapterMap& part) const {
        std::vector<StopState> states;
        for (const Stretch& stretch : part.stretches) {
            states.insert(states.end(), stretch.states.begin(), stretch.states.end());
        }
        const std::string title = title_of(part);
        const std::string count = done_text(part);
        const std::size_t used = title_width_ + 2 + count.size() + 2;
        states.resize(std::min(states.size(), map_columns - std::min(used, map_columns)));
        return fmt::format("{}{}  {}  {}\n", terminal_.paint(Style::title, title), padding(title.size(), title_width_),
                           signs(states, 0, terminal_), count);
    }

    std::string whole(const ChapterMap& part) const {
        std::string text = fmt::format("{}  {}\n", terminal_.paint(Style::title, title_of(part)), done_text(part));
        for (const Stretch& stretch : part.stretches) text += row(stretch);
        return text;
    }

    std::string row(const Stretch& stretch) const {
        const Idea* idea = map_.find_idea(stretch.idea);
        const Mastery mastery = idea == nullptr ? Mastery::open : idea->mastery;
        const std::string state = mastery == Mastery::open ? "" : name_of(mastery);
        const std::string name = stretch.idea.substr(0, idea_width_);
        std::string text = "  " + stretch.number + padding(stretch.number.size(), number_width_) + "  " +
                           signs(stretch.states, signs_width_, terminal_) + "  " + name;
        std::size_t used = 2 + number_width_ + 2 + signs_width_ + 2 + name.size();
        const auto add = [&](std::size_t column, const std::string& word, Style style) {
            if (word.empty()) return;
            if (column + word.size() > map_columns) {  // further to the left; where that is taken, on a line of its own
                column = map_columns - std::min(word.size(), map_columns);
                if (used + gap > column) {
                    text += "\n";
                    used = 0;
                }
            }
            text += padding(used, column) + terminal_.paint(style, word);
            used = column + word.size();
        };
        const std::size_t state_column = 2 + number_width_ + 2 + signs_width_ + 2 + idea_width_ + gap;
        constexpr std::size_t state_width = 8;
        add(state_column, state, style_of(mastery));
        const auto here = std::find(stretch.states.begin(), stretch.states.end(), StopState::here);
        if (here != stretch.states.end()) {
            const auto place = static_cast<std::size_t>(here - stretch.states.begin());
            add(state_column + state_width + gap, stretch.stations[place].name(), Style::title);
        } else if (mastery == Mastery::begun && std::all_of(stretch.states.begin(), stretch.states.end(),
                                                            [](StopState each) { return each == StopState::done; })) {
            add(state_column + state_width + gap, where_it_goes_on(stretch.idea), Style::faint);
        }
        return text + "\n";
    }

    /// "more in chapter 3", with the first chapter that has an open stop of the idea; nothing: no chapter has.
    std::string where_it_goes_on(const std::string& idea) const {
        for (const ChapterMap& part : map_.chapters) {
            for (const Stretch& stretch : part.stretches) {
                const bool is_open = std::any_of(stretch.states.begin(), stretch.states.end(),
                                                 [](StopState each) { return each != StopState::done; });
                if (stretch.idea == idea && is_open) return fmt::format("more in chapter {}", part.chapter->number);
            }
        }
        return {};
    }

    std::string summary() const {
        std::map<Mastery, std::size_t> counts;
        for (const Idea& idea : map_.ideas) ++counts[idea.mastery];
        return fmt::format("Ideas: {} mastered, {} shaky, {} begun, {} open.\n", counts[Mastery::mastered],
                           counts[Mastery::shaky], counts[Mastery::begun], counts[Mastery::open]) +
               terminal_.paint(Style::faint,
                               "Shaky: too many wrong predictions or answers, or the solution was seen first.\n"
                               "Predictions count for the idea that they are about, in all lessons together.\n");
    }

    /// Why ideas are shaky, and what to do about it.
    std::string shaky() const {
        std::string text;
        for (const Idea& idea : map_.ideas) {
            if (idea.mastery != Mastery::shaky || !is_shown(idea)) continue;
            text += fmt::format("\n{} is shaky: {}.\n", terminal_.paint(Style::bad, idea.name),
                                fmt::join(idea.reasons, "; "));
            if (!idea.look_at) continue;
            text += fmt::format("    Look again at {}: {} run {}\n", idea.look_at.text(), options_.typed,
                                idea.look_at.name());
        }
        return text;
    }

    bool is_shown(const Idea& idea) const {
        return std::any_of(map_.chapters.begin(), map_.chapters.end(), [&](const ChapterMap& part) {
            const bool is_wanted = options_.chapter.empty() || part.chapter->folder == options_.chapter;
            return is_wanted && std::any_of(part.stretches.begin(), part.stretches.end(),
                                            [&](const Stretch& stretch) { return stretch.idea == idea.name; });
        });
    }
};

}  // namespace

const char* name_of(Mastery mastery) {
    switch (mastery) {
        case Mastery::open:
            return "open";
        case Mastery::begun:
            return "begun";
        case Mastery::shaky:
            return "shaky";
        case Mastery::mastered:
            return "mastered";
    }
    return "";
}

const char* name_of(StopState state) {
    switch (state) {
        case StopState::done:
            return "done";
        case StopState::here:
            return "here";
        case StopState::open:
            return "open";
        case StopState::skipped:
            return "left out";
    }
    return "";
}

Mastery mastery_of(const IdeaMarks& marks) {
    if (predicts_badly(marks) || !marks.troubles.empty()) return Mastery::shaky;
    const bool is_shown_by_exercises = marks.exercises > 0 && marks.passed == marks.exercises;
    const bool is_shown_by_predictions =
        marks.exercises == 0 && marks.stops_done == marks.stops && marks.predictions > 0;
    if (is_shown_by_exercises || is_shown_by_predictions) return Mastery::mastered;
    return marks.stops_done > 0 || marks.predictions > 0 ? Mastery::begun : Mastery::open;
}

std::vector<Idea> ideas_of(const Catalog& catalog, const Progress& progress) {
    const std::vector<Station> way = catalog.way();
    std::vector<std::string> names;
    std::map<std::string, Collected> collected;
    for (const Station& station : way) {
        const std::string name = station.idea();
        if (name.empty()) continue;
        if (!collected.contains(name)) names.push_back(name);
        collected[name].stations.push_back(station);
    }
    for (const Review& review : reviews(progress)) {
        const auto found = collected.find(idea_of(*review.prediction, way));
        if (found == collected.end()) continue;
        found->second.predictions.push_back(review.prediction);
        if (review.was_right()) {
            ++found->second.right;
        } else {
            found->second.lesson_of_wrong_prediction = review.prediction->lesson;
        }
    }
    std::vector<Idea> ideas;
    for (const std::string& name : names) ideas.push_back(idea_from(name, collected[name], way, progress));
    return ideas;
}

bool ChapterMap::is_touched() const {
    return std::any_of(stretches.begin(), stretches.end(), [](const Stretch& stretch) {
        return std::any_of(stretch.states.begin(), stretch.states.end(),
                           [](StopState state) { return state != StopState::open; });
    });
}

const Idea* PathMap::find_idea(const std::string& name) const {
    const auto found = std::find_if(ideas.begin(), ideas.end(), [&](const Idea& idea) { return idea.name == name; });
    return found == ideas.end() ? nullptr : &*found;
}

PathMap path_map(const Catalog& catalog, const Progress& progress) {
    PathMap map;
    map.ideas = ideas_of(catalog, progress);
    map.here = next_station(catalog, progress);
    for (const Chapter& chapter : catalog.chapters()) {
        ChapterMap part;
        part.chapter = &chapter;
        for (const Station& station : stations_of(chapter)) {
            const std::string idea = station.idea();
            if (part.stretches.empty() || part.stretches.back().idea != idea)
                part.stretches.push_back({idea, "", {}, {}});
            Stretch& stretch = part.stretches.back();
            StopState state = StopState::open;
            if (station == map.here) {
                state = StopState::here;
            } else if (is_done(station, progress)) {
                state = StopState::done;
            } else if (progress.skipped.contains(station.key())) {
                state = StopState::skipped;
            }
            ++part.stops;
            if (state == StopState::done) ++part.done;
            if (stretch.number.empty()) stretch.number = station.number();
            stretch.stations.push_back(station);
            stretch.states.push_back(state);
        }
        map.chapters.push_back(std::move(part));
    }
    return map;
}

std::string map_text(const Catalog& catalog, const Progress& progress, const MapOptions& options,
                     const Terminal& terminal) {
    return MapText(path_map(catalog, progress), options, terminal).text();
}

Json map_json(const Catalog& catalog, const Progress& progress, const MapOptions& options) {
    const PathMap map = path_map(catalog, progress);
    const auto stop_json = [](const Station& station) -> Json {
        if (!station) return nullptr;
        const std::string key = station.key();
        return {{"kind", key.substr(0, key.find('/'))}, {"name", station.name()}};
    };
    Json chapters = Json::array();
    for (const ChapterMap& part : map.chapters) {
        if (!options.chapter.empty() && part.chapter->folder != options.chapter) continue;
        Json stops = Json::array();
        for (const Stretch& stretch : part.stretches) {
            for (std::size_t i = 0; i < stretch.stations.size(); ++i) {
                Json stop = stop_json(stretch.stations[i]);
                stop["idea"] = stretch.idea;
                stop["state"] = name_of(stretch.states[i]);
                stops.push_back(std::move(stop));
            }
        }
        chapters.push_back({{"number", part.chapter->number},
                            {"folder", part.chapter->folder},
                            {"title", part.chapter->title},
                            {"stops", std::move(stops)}});
    }
    Json ideas = Json::array();
    for (const Idea& idea : map.ideas) {
        ideas.push_back({{"idea", idea.name},
                         {"state", name_of(idea.mastery)},
                         {"exercises", idea.marks.exercises},
                         {"passed", idea.marks.passed},
                         {"predictions", idea.marks.predictions},
                         {"right", idea.marks.right},
                         {"reasons", idea.reasons},
                         {"look_at", idea.look_at ? Json(idea.look_at.name()) : Json(nullptr)}});
    }
    return {{"chapters", std::move(chapters)},
            {"ideas", std::move(ideas)},
            {"here", stop_json(map.here)},
            {"reviews_due", count_due(progress, options.today)}};
}

}  // namespace guide
