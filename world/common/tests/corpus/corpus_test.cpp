// The CPU device against the corpus: every mistake is found, with its kind and at its line, and nothing else; nothing
// is found in the correct cases. Each case runs in a process of its own.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/helpers/child_process.h"
#include "common/helpers/json.h"

namespace {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using warpwise::ChildProcess;
using warpwise::TemporaryFile;

/// One line of `corpus --list`.
struct Listed {
    std::string name, list, hangs, file, what;
};

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

/// The program stands beside this one.
std::string corpus_program() { return std::filesystem::path(warpwise::own_program()).replace_filename("corpus"); }

std::vector<Listed> read_list() {
    const TemporaryFile output;
    ChildProcess list({corpus_program(), "--list"}, {}, output.path());
    if (list.wait() != 0) throw std::runtime_error(corpus_program() + " --list failed: " + output.read());
    std::vector<Listed> all;
    for (const std::string& line : split(output.read(), '\n')) {
        const std::vector<std::string> parts = split(line, '\t');
        if (parts.size() != 5) throw std::runtime_error("cannot read this line of the list: " + line);
        all.push_back({parts[0], parts[1], parts[2], parts[3], parts[4]});
    }
    return all;
}

/// The cases of one list, "error" or "correct".
std::vector<Listed> cases_of(const std::string& list) {
    std::vector<Listed> cases;
    for (const Listed& one : read_list()) {
        if (one.list == list) cases.push_back(one);
    }
    return cases;
}

/// What the comments in the source say about one case.
struct Marks {
    std::set<std::string> kinds;  ///< of diagnostics that name the mistake
    std::set<int> diagnostics;    ///< lines
    std::set<int> others;         ///< the other lines of a race
    std::set<int> launches;
    std::set<std::string> hints, wrong_hints;
    std::set<int> callers;
};

/// The part of a line behind `// WORD`, or nothing.
std::string behind(const std::string& line, const std::string& word) {
    const std::size_t start = line.find("// " + word);
    return start == std::string::npos ? "" : line.substr(start + 3 + word.size());
}

/// A case's lines: from the end of the case before it to the end of the function with its name.
Marks marks_of(const Listed& one, const std::set<std::string>& names) {
    std::ifstream file(one.file);
    if (!file) throw std::runtime_error("cannot read " + one.file);
    Marks marks;
    std::string name;  // of the case whose function is being read
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (const std::string mark = behind(line, "MISTAKE("); !mark.empty()) {
            for (const std::string& kind : split(mark.substr(0, mark.find(')')), '|')) marks.kinds.insert(kind);
            marks.diagnostics.insert(number);
        }
        if (!behind(line, "OTHER:").empty()) marks.others.insert(number);
        if (!behind(line, "CALLED FROM:").empty()) marks.callers.insert(number);
        if (const std::string hint = behind(line, "HINT: "); !hint.empty()) marks.hints.insert(hint);
        if (const std::string hint = behind(line, "NO HINT: "); !hint.empty()) marks.wrong_hints.insert(hint);
        if (line.find("<<<") != std::string::npos) marks.launches.insert(number);
        const bool one_line = line.size() > 2 && line[0] != ' ' && line.back() == '}';
        if (line.rfind("void ", 0) == 0 && line.find("()") != std::string::npos) {
            const std::string called = line.substr(5, line.find('(') - 5);
            if (names.count(called) == 1) name = called;
        }
        if (!name.empty() && (line == "}" || one_line)) {
            if (name == one.name) return marks;
            name.clear();
            marks = {};
        }
    }
    throw std::runtime_error("no function " + one.name + " in " + one.file);
}

struct Place {
    std::string file;  ///< without its folder
    int line = 0;
    auto operator<=>(const Place&) const = default;
};

/// Reads {"file": ..., "line": ...}; line 0 for null.
Place place_of(const json& site) {
    if (!site.is_object()) return {};
    return {std::filesystem::path(site.value("file", "")).filename(), site.value("line", 0)};
}

struct Outcome {
    int status = 0;
    json diagnostics;
    std::string output;
};

Outcome run(const Listed& one, const std::string& seed, const std::string& instrument = "diagnostics") {
    const TemporaryFile output, diagnostics;
    std::vector<std::pair<std::string, std::string>> variables = {{"CPU_DEVICE_INSTRUMENT", instrument + ",leaks"},
                                                                  {"CPU_DEVICE_DIAGNOSTICS", diagnostics.path()},
                                                                  {"CPU_DEVICE_SEED", seed}};
    if (one.file.ends_with("/several_devices.cu")) variables.emplace_back("CPU_DEVICE_COUNT", "2");
    if (one.hangs == "hangs") variables.emplace_back("CPU_DEVICE_TIMEOUT", "1");
    ChildProcess program({corpus_program(), one.name}, variables, output.path());
    Outcome outcome;
    outcome.status = program.wait();
    outcome.output = output.read();
    outcome.diagnostics = warpwise::json_or_discarded<json>(diagnostics.read());
    return outcome;
}

/// Whether the diagnostic is the planted mistake: kind and line, for a race both lines.
bool is_planted(const json& diagnostic, const std::string& file, const Marks& marks) {
    const std::string kind = diagnostic.at("kind");
    if (marks.kinds.count(kind) == 0) return false;
    const Place site = place_of(diagnostic.at("site"));
    const auto is_at = [&](const Place& place, const std::set<int>& lines) {
        return place.file == file && lines.count(place.line) == 1;
    };
    const auto is_marked = [&](const Place& place) {
        return is_at(place, marks.diagnostics) || is_at(place, marks.others);
    };
    if (kind == "data_race") {
        const json& other = diagnostic.at("other");
        return other.is_object() && is_marked(site) && is_marked(place_of(other.at("site")));
    }
    // Who stops an endless kernel knows its launch.
    if (kind == "endless_kernel") return is_at(site, marks.diagnostics) || is_at(site, marks.launches);
    return is_at(site, marks.diagnostics);
}

/// Whether one side of the diagnostic is the line of the mistake itself, or its launch.
bool touches_mistake(const json& diagnostic, const Marks& marks) {
    const int line = place_of(diagnostic.at("site")).line;
    if (diagnostic.at("kind") != "data_race") return true;  // is_planted has compared it
    return marks.diagnostics.count(line) == 1 ||
           marks.diagnostics.count(place_of(diagnostic.at("other").at("site")).line) == 1;
}

std::string lines_of(const std::set<int>& lines) {
    std::string text;
    for (const int line : lines) text += " " + std::to_string(line);
    return text;
}

}  // namespace

TEST_CASE("the corpus is large and its names are unique") {
    std::set<std::string> names;
    int diagnostics = 0, correct = 0;
    for (const Listed& one : read_list()) {
        CHECK(names.insert(one.name).second);
        CHECK(!one.what.empty());
        ++(one.list == "error" ? diagnostics : correct);
    }
    CHECK(diagnostics >= 215);
    CHECK(correct >= 210);
}

TEST_CASE("every mistake of the corpus is found at its line, and nothing else") {
    const std::vector<Listed> cases = cases_of("error");
    std::set<std::string> names;
    for (const Listed& one : cases) names.insert(one.name);
    const Listed one = GENERATE_REF(from_range(cases));
    DYNAMIC_SECTION(one.name) {
        const Marks marks = marks_of(one, names);
        REQUIRE(!marks.diagnostics.empty());
        const std::string file = std::filesystem::path(one.file).filename();
        const Outcome outcome = run(one, "0");
        INFO(one.name << " (" << one.what << "), " << file << ": mistake in" << lines_of(marks.diagnostics)
                      << ", other side in" << lines_of(marks.others) << "\n"
                      << outcome.output);
        CHECK((outcome.status == 86 || outcome.status == 1));  // found, or CUDA reported an error as well
        REQUIRE(outcome.diagnostics.is_array());
        bool found = false;
        std::string hints;
        std::set<int> callers;
        for (const json& diagnostic : outcome.diagnostics) {
            hints += diagnostic.value("hint", "") + "\n";
            for (const json& caller : diagnostic.value("callers", json::array())) callers.insert(place_of(caller).line);
            INFO(warpwise::json_text(diagnostic, 2));
            const bool planted = is_planted(diagnostic, file, marks);
            CHECK(planted);
            found = found || (planted && touches_mistake(diagnostic, marks));
        }
        CHECK(found);
        for (const std::string& hint : marks.hints) CHECK_THAT(hints, ContainsSubstring(hint));
        for (const std::string& hint : marks.wrong_hints) CHECK_THAT(hints, !ContainsSubstring(hint));
        for (const int line : marks.callers) CHECK(callers.count(line) == 1);
    }
}

TEST_CASE("nothing is found in the correct cases of the corpus, in any order of threads") {
    const std::vector<Listed> cases = cases_of("correct");
    const Listed one = GENERATE_REF(from_range(cases));
    DYNAMIC_SECTION(one.name) {
        // Where accesses are counted as well, a thread may have to wait in the middle of its work.
        const std::pair<const char*, const char*> ways[] = {
            {"0", "errors"}, {"1", "errors"}, {"0", "counters,diagnostics"}, {"1", "counters,diagnostics"}};
        for (const auto& [seed, instrument] : ways) {
            const Outcome outcome = run(one, seed, instrument);
            INFO(one.name << " (" << one.what << "), seed " << seed << ", instrumenting " << instrument << "\n"
                          << outcome.output);
            CHECK(outcome.status == 0);
            CHECK(outcome.diagnostics == json::array());
        }
    }
}
