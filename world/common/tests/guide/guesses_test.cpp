#include "common/guide/guesses.h"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/guide/project.h"
#include "common/helpers/child_process.h"

using namespace guide;
namespace fs = std::filesystem;
using warpwise::TemporaryFile;

namespace {

const std::string three_predictions = R"({"warpwise": 1, "lessons": [
    {"name": "coalescing", "idea": "coalesced loads", "predictions": [
        {"question": "How many sectors?", "unit": "sectors", "answer": "32", "factor": 1.2,
         "because": "Each lane has its own.", "guess": "8", "right": false},
        {"question": "Skipped?", "answer": "1", "because": "So it is."},
        {"question": "Which?", "choices": ["a", "b"], "answer": "b", "because": "It is.",
         "idea": "warps", "guess": "b", "right": true},
        {"question": "Not judged?", "answer": null, "because": "Nothing tells.", "guess": "2"}]},
    {"name": "pi", "left": true, "predictions": []}], "left": true})";

std::string results_of(const std::string& name) {
    return R"({"warpwise": 1, "lessons": [{"name": ")" + name + R"(", "predictions": []}]})";
}

}  // namespace

TEST_CASE("guesses are read with their questions, answers, and ideas", "[guide]") {
    const TemporaryFile file;
    std::ofstream(file.path()) << three_predictions;
    const Guesses guesses = guesses_in(file.path(), "2026-11-24");
    REQUIRE(guesses.predictions.size() == 2);
    const PredictionProgress& number = guesses.predictions.at("coalescing/1");
    CHECK(number.lesson == "coalescing");
    CHECK(number.idea == "coalesced loads");
    CHECK(number.question == "How many sectors?");
    CHECK(number.unit == "sectors");
    CHECK(number.answer == "32");
    CHECK(number.factor == 1.2);
    CHECK(number.because == "Each lane has its own.");
    CHECK(number.guess == "8");
    CHECK_FALSE(number.right);
    CHECK(number.date == "2026-11-24");
    const PredictionProgress& choice = guesses.predictions.at("coalescing/3");
    CHECK(choice.choices == std::vector<std::string>{"a", "b"});
    CHECK(choice.right);
    CHECK(choice.idea == "warps");
    CHECK(guesses.left);
    CHECK(guesses.lessons == std::vector<std::string>{"coalescing"});
}

TEST_CASE("results that make no sense hold no guesses", "[guide]") {
    const TemporaryFile file;
    for (const char* text : {"", "{", "[]", "{}", R"({"lessons": 7})", R"({"lessons": [{"name": 1}]})",
                             R"({"lessons": [{"name": "a", "predictions": [{"guess": 1, "right": true}]}]})"}) {
        INFO(text);
        std::ofstream(file.path()) << text;
        const Guesses guesses = guesses_in(file.path(), "2026-11-24");
        CHECK(guesses.predictions.empty());
        CHECK_FALSE(guesses.left);
    }
    CHECK(guesses_in("/nowhere/at/all.json", "2026-11-24").predictions.empty());
}

TEST_CASE("results of a whole run replace those before, those of a run that was left do not", "[guide]") {
    const TemporaryFile kept;
    std::ofstream(kept.path()) << "old";
    const auto run = [&](const std::string& text) {
        const RunResults results({.may_guess = true, .kept = kept.path()});
        REQUIRE(results.options().size() == 2);
        CHECK(results.options()[0] == "--json");
        CHECK(results.options()[1] != kept.path());
        std::ofstream(results.options()[1]) << text;
        return results.take();
    };
    CHECK(run(three_predictions).predictions.size() == 2);
    CHECK(kept.read() == "old");
    CHECK(run("").predictions.empty());  // stopped
    CHECK(kept.read() == "old");
    CHECK_FALSE(run(results_of("pi")).left);
    CHECK(kept.read() == results_of("pi"));
}

TEST_CASE("where nobody can guess, results go where they stay, and an empty file goes", "[guide]") {
    const TemporaryFile kept;
    const RunResults results({.kept = kept.path()});
    CHECK(results.options() == std::vector<std::string>{"--json", kept.path()});
    std::ofstream(kept.path()) << three_predictions;
    CHECK(results.take().predictions.empty());
    CHECK(kept.read() == three_predictions);
    std::ofstream(kept.path(), std::ios::trunc).close();
    results.take();
    CHECK_FALSE(fs::exists(kept.path()));
    CHECK(RunResults({}).options().empty());
}

TEST_CASE("guesses are found in the reader's own file of results", "[guide]") {
    const TemporaryFile theirs;
    const RunResults results({.may_guess = true, .theirs = theirs.path()});
    CHECK(results.options().empty());
    std::ofstream(theirs.path()) << three_predictions;
    CHECK(results.take().predictions.size() == 2);
}
