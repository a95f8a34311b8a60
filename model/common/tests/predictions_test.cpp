// Lessons that ask for predictions, with somebody at a terminal and without. The chapter runs in a process of its own,
// which is this program again: a device does not outlive a fork.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/helpers/child_process.h"
#include "common/helpers/compare.h"
#include "common/helpers/json.h"
#include "common/lesson/chapter.h"
#include "common/tests/device_or_skip.h"
#include "common/tests/guide/terminal.h"

using namespace warpwise;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

// ---- the chapter ----------------------------------------------------------------------------------------------------

/// Asks a number and a choice of one group, and a measured number of another.
void asks(Lesson& lesson) {
    lesson.question("What is in this table?");
    lesson.predict(
        {.question = "How many sectors does\na request touch?",
         .answer = Number{.value = 32, .unit = "sectors", .shown_by = TableCell{"counted", {"rows"}, "sectors"}},
         .because = "Each lane touches a sector\nof its own."});
    lesson.predict({.question = "Who is faster?",
                    .answer = Choice{{"a thread", "a warp", "a block"}, 1},
                    .because = "A warp is what runs.",
                    .idea = "another idea"});
    lesson.table({"counted", "Counted, once"}, {"what", "sectors"}, {{"rows", "32"}, {"columns", "4"}});
    lesson.conclusion("The first conclusion.");
    lesson.predict({.question = "How many GB/s?",
                    .answer = Number{.value = 4000, .unit = "GB/s", .factor = 1.2},
                    .because = "That is the memory's rate."});
    lesson.table({"rates", "Rates"}, {"what", "GB/s"}, {{"copy", "4000"}});
    lesson.conclusion("The last conclusion.");
}

/// The table is not what the author has worked out.
void disagrees(Lesson& lesson) {
    lesson.predict({.question = "How many?",
                    .answer = Number{.value = 31, .shown_by = TableCell{"counted", {"rows"}, "sectors"}},
                    .because = "Nobody counted."});
    lesson.table({"counted", "Counted"}, {"what", "sectors"}, {{"rows", "32"}});
}

void talks_long(Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (int i = 0; i < 40; ++i) rows.push_back({"row" + std::to_string(i), "1"});
    lesson.question("A long table follows.");
    lesson.table({"long", "Long"}, {"row", "value"}, rows);
    lesson.conclusion("The end of the long table.");
}

/// Nothing is recorded of this chapter, and nothing measured.
void measures_nothing(Lesson& lesson) {
    lesson.predict({.question = "Which is the fastest?", .answer = Fastest{{"one", "two"}}, .because = "It is short."});
    lesson.predict({.question = "How many times?",
                    .answer = Measured{.by = TimeRatio{"one", "two"}, .unit = "times"},
                    .because = "It is long."});
    lesson.table({"nothing", "Nothing"}, {"what"}, {{"-"}});
}

void names_two(Lesson& lesson) {
    lesson.predict({.question = "Two run. Which is faster: `one`, or `two`?",
                    .answer = Choice{{"one", "two"}, 0},
                    .because = "It is first."});
    lesson.table({"two", "Two"}, {"what"}, {{"-"}});
    lesson.predict({.question = "Now the rest: How many are left?", .answer = Number{.value = 3}, .because = "Count."});
    lesson.table({"rest", "Rest"}, {"what"}, {{"-"}});
}

void wordy(Lesson& lesson) {
    std::string words;
    for (int i = 0; i < 59; ++i) words += "word ";
    lesson.predict({.question = words, .answer = Choice{{"yes", "no"}, 0}, .because = "So it is."});
}

void unreasoned(Lesson& lesson) { lesson.predict({.question = "Why?", .answer = Number{.value = 1}, .because = ""}); }

const Chapter chapter = {99,
                         "Predicting",
                         "99_predicting",
                         {{"asks", "three predictions", asks, "an idea"},
                          {"disagrees", "an answer that the table does not show", disagrees},
                          {"talks_long", "a table longer than a screen", talks_long},
                          {"measures_nothing", "answers that nothing tells", measures_nothing},
                          {"names_two", "a question with a colon", names_two},
                          {"wordy", "too many words", wordy},
                          {"unreasoned", "no reason", unreasoned}}};

/// A lesson whose folder has a file of kernels.
const Chapter chapter_with_kernels = {
    99, "Looking", "1_basics_and_pi", {{"vector_add", "a prediction about kernels", asks, "an idea"}}};

constexpr const char* arguments_variable = "WARPWISE_TEST_OF_PREDICTIONS";

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

// ---- who runs it ----------------------------------------------------------------------------------------------------

/// This program, with the chapter's arguments in an environment variable.
[[noreturn]] void become_chapter(const std::string& arguments) {
    setenv(arguments_variable, arguments.c_str(), 1);
    setenv("TERM", "xterm", 1);
    const std::string program = own_program();
    execl(program.c_str(), program.c_str(), "runs the chapter of this file", nullptr);
    _exit(125);
}

/// Somebody at a terminal.
class Typist {
public:
    explicit Typist(const std::string& arguments, unsigned short rows = 200) {
        const winsize size{rows, 200, 0, 0};
        child_ = fork_on_terminal(terminal_, &size);
        if (child_ == 0) become_chapter(arguments + " --no-color");
    }
    ~Typist() {
        if (!ended_) {
            kill(child_, SIGKILL);
            waitpid(child_, nullptr, 0);
        }
        close(terminal_);
    }
    Typist(const Typist&) = delete;
    Typist& operator=(const Typist&) = delete;

    /// Waits until the text stands on the screen, after all that was waited for before.
    void sees(const std::string& text) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (true) {
            const std::size_t at = screen_.find(text, seen_);
            if (at != std::string::npos) {
                seen_ = at + text.size();
                return;
            }
            const bool goes_on = read_some(60'000);
            if (!goes_on || std::chrono::steady_clock::now() > end) {
                FAIL("'" << text << "' does not come. The screen has: " << screen_);
            }
        }
    }

    void types(const std::string& keys) {
        REQUIRE(write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    }

    /// The status as waitpid gives it.
    int end() {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        int status = 0;
        while (waitpid(child_, &status, WNOHANG) != child_) {
            if (std::chrono::steady_clock::now() > limit) FAIL("the program does not end. The screen has: " << screen_);
            if (!read_some(100)) usleep(1000);
        }
        ended_ = true;
        while (read_some(0)) {
        }
        return status;
    }

    const std::string& screen() const { return screen_; }
    bool shows(const std::string& text) const { return screen_.find(text) != std::string::npos; }

private:
    bool read_some(int milliseconds) {
        pollfd input{terminal_, POLLIN, 0};
        if (poll(&input, 1, milliseconds) <= 0) return false;
        char buffer[4096];
        const ssize_t got = read(terminal_, buffer, sizeof buffer);
        if (got <= 0) return false;
        for (ssize_t i = 0; i < got; ++i) {
            if (buffer[i] != '\r') screen_ += buffer[i];
        }
        return true;
    }

    int terminal_ = -1;
    pid_t child_ = -1;
    bool ended_ = false;
    std::string screen_;
    std::size_t seen_ = 0;
};

bool ended_with(int status, int expected) { return WIFEXITED(status) && WEXITSTATUS(status) == expected; }

/// What the chapter prints where nobody is there.
struct Printed {
    int status;
    std::string text;
};
Printed print(const std::string& arguments) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        become_chapter(arguments);
    }
    close(ends[1]);
    Printed printed{};
    char buffer[4096];
    for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
        printed.text.append(buffer, static_cast<std::size_t>(got));
    }
    close(ends[0]);
    waitpid(child, &printed.status, 0);
    return printed;
}

json read_json(const TemporaryFile& file) { return parse_json<json>(file.read()); }

constexpr const char* number_prompt = "Your guess (a number; sectors) or q (leave), then Enter. Enter twice skips: ";
constexpr const char* choice_prompt = "Your guess (a to c) or q (leave), then Enter. Enter twice skips: ";
constexpr const char* rate_prompt = "Your guess (a number; GB/s) or q (leave), then Enter. Enter twice skips: ";

}  // namespace

TEST_CASE("runs the chapter of this file", "[.]") {
    std::vector<std::string> arguments = words_of(std::getenv(arguments_variable));
    const bool has_kernels = arguments.at(0) == chapter_with_kernels.lessons[0].name;
    arguments.insert(arguments.begin(), {"99_predicting", "--device", Lesson::on_gpu() ? "cuda" : "cpu"});
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int status =
        run_chapter(static_cast<int>(arguments.size()), argv.data(), has_kernels ? chapter_with_kernels : chapter);
    std::fflush(nullptr);
    std::_Exit(status);
}

TEST_CASE("a guess stands beside the answer, after the table") {
    device_or_skip();
    need_terminal();
    const TemporaryFile file;
    Typist typist("asks --json " + file.path());
    typist.sees("How many sectors does a request touch?\n");
    typist.sees(number_prompt);
    CHECK_FALSE(typist.shows("Counted"));
    typist.types("8\n");
    typist.sees("    a) a thread\n    b) a warp\n    c) a block\n");
    typist.sees(choice_prompt);
    typist.types("b\n");
    typist.sees("rows");
    typist.sees("You said 8 sectors; it is 32. Each lane touches a sector of its own.");
    typist.sees("b) a warp: right. A warp is what runs.");
    typist.sees("The first conclusion.");
    typist.sees(rate_prompt);
    typist.types("3.5 TB/s\n");
    typist.sees("You said 3500 GB/s; it is 4000 GB/s: right, within 20 %. That is the memory's rate.");
    typist.sees("The last conclusion.");
    typist.sees("Predictions: 2 of 3 right.");
    CHECK(ended_with(typist.end(), 0));

    const json lesson = read_json(file)["lessons"][0];
    CHECK(lesson["idea"] == "an idea");
    CHECK(lesson["predictions"] ==
          parse_json<json>(R"([{"question": "How many sectors does a request touch?", "unit": "sectors", "answer": "32",
                           "because": "Each lane touches a sector of its own.", "guess": "8", "right": false},
                          {"question": "Who is faster?", "choices": ["a thread", "a warp", "a block"],
                           "answer": "a warp", "because": "A warp is what runs.",
                           "idea": "another idea", "guess": "a warp", "right": true},
                          {"question": "How many GB/s?", "unit": "GB/s", "answer": "4000", "factor": 1.2,
                           "because": "That is the memory's rate.", "guess": "3500", "right": true}])"));
    CHECK_FALSE(lesson.contains("left"));
}

TEST_CASE("Enter skips when it is typed twice, and a guess that is not understood is asked again") {
    device_or_skip();
    need_terminal();
    const TemporaryFile file;
    Typist typist("asks --json " + file.path());
    typist.sees(number_prompt);
    typist.types("\n");
    typist.sees("Enter once more skips the question.\n");
    typist.sees(number_prompt);
    typist.types("\n");
    typist.sees(choice_prompt);
    typist.types("d\n");
    typist.sees("There is no choice 'd'. Type a letter from a to c.\n");
    typist.sees(choice_prompt);
    typist.types("a\n");
    typist.sees("It is 32 sectors. Each lane");
    typist.sees("You said a) a thread; it is b) a warp. A warp is what runs.");
    typist.sees(rate_prompt);
    typist.types("fast\n");
    typist.sees("'fast' is no number.");
    typist.sees(rate_prompt);
    typist.types("4000\n");
    typist.sees("4000 GB/s: right. That is");
    typist.sees("Predictions: 1 of 2 right, 1 skipped.");
    CHECK(ended_with(typist.end(), 0));
    const json predictions = read_json(file)["lessons"][0]["predictions"];
    CHECK_FALSE(predictions[0].contains("guess"));
    CHECK_FALSE(predictions[0].contains("right"));
}

TEST_CASE("the question is shown again after the kernels, which have scrolled it away") {
    device_or_skip();
    need_terminal();
    Typist typist("vector_add");
    const std::string prompt =
        "Your guess (a number; sectors), k (kernels) or q (leave), then Enter. Enter twice skips: ";
    typist.sees("How many sectors does a request touch?\n");
    typist.sees(prompt);
    typist.types("k\n");
    typist.sees("vector_add/kernels.cuh\n");
    typist.sees("Predict\nHow many sectors does a request touch?\n");
    typist.sees(prompt);
    typist.types("k 99\n");
    typist.sees("There is one file of kernels: k shows it.\n");
    typist.sees(prompt);
    typist.types("q\n");
    CHECK(ended_with(typist.end(), 0));
}

TEST_CASE("what was typed before the question is no answer to it") {
    device_or_skip();
    need_terminal();
    const TemporaryFile file;
    Typist typist("asks --json " + file.path());
    typist.types("1\n2\n");
    typist.sees(number_prompt);
    typist.types("32\n");
    typist.sees(choice_prompt);
    typist.types("q\n");
    CHECK(ended_with(typist.end(), 0));
    CHECK(read_json(file)["lessons"][0]["predictions"][0]["guess"] == "32");
}

TEST_CASE("q leaves the lesson, and what was guessed is kept") {
    device_or_skip();
    need_terminal();
    const TemporaryFile file;
    Typist typist("asks disagrees --no-pause --json " + file.path());
    typist.sees(number_prompt);
    typist.types("32\n");
    typist.sees(choice_prompt);
    typist.types("q\n");
    typist.sees("Enter goes on with disagrees, q quits ");
    typist.types("q\n");
    CHECK(ended_with(typist.end(), 0));
    CHECK_FALSE(typist.shows("Counted"));
    const json results = read_json(file);
    CHECK(results["left"] == true);
    REQUIRE(results["lessons"].size() == 1);
    CHECK(results["lessons"][0]["left"] == true);
    CHECK(results["lessons"][0]["predictions"][0]["guess"] == "32");
    CHECK(results["lessons"][0]["predictions"][0]["answer"].is_null());  // the table has not shown it
}

TEST_CASE("Ctrl-C at a question ends the program as Ctrl-C does, and keeps what was guessed") {
    device_or_skip();
    need_terminal();
    const TemporaryFile file;
    Typist typist("asks --json " + file.path());
    typist.sees(number_prompt);
    typist.types("32\n");
    typist.sees(choice_prompt);
    typist.types("\x03");
    const int status = typist.end();
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
    CHECK(read_json(file)["lessons"][0]["predictions"][0]["guess"] == "32");
}

TEST_CASE("at the end of the input the lesson goes on without questions") {
    device_or_skip();
    need_terminal();
    Typist typist("asks talks_long", 30);
    typist.sees(number_prompt);
    typist.types("\x04");
    typist.sees("It is b) a warp.");
    typist.sees("It is 4000 GB/s.");
    typist.sees("The end of the long table.");
    CHECK(ended_with(typist.end(), 0));
    CHECK_FALSE(typist.shows(choice_prompt));
    CHECK_FALSE(typist.shows("Enter goes on"));
    CHECK_FALSE(typist.shows("Predictions:"));
}

TEST_CASE("what is longer than the screen stops where the screen is full") {
    device_or_skip();
    need_terminal();
    Typist typist("talks_long", 16);
    typist.sees("A long table follows.");
    typist.sees("Enter goes on, a shows all, q leaves ");
    CHECK_FALSE(typist.shows("row39"));
    typist.types("\n");
    typist.sees("Enter goes on, a shows all, q leaves ");
    CHECK_FALSE(typist.shows("row39"));
    typist.types("x");  // means nothing
    typist.types("a");  // and this counts without Enter
    typist.sees("The end of the long table.");
    CHECK(ended_with(typist.end(), 0));
}

TEST_CASE("a screen that has room for all does not stop") {
    device_or_skip();
    need_terminal();
    Typist typist("talks_long", 100);
    typist.sees("The end of the long table.");
    CHECK(ended_with(typist.end(), 0));
    CHECK_FALSE(typist.shows("Enter goes on"));
}

TEST_CASE("nothing is asked with --all, --no-input, --once, and --json -") {
    device_or_skip();
    need_terminal();
    for (const char* options : {"--all", "--no-input", "--once", "--json -", "--all --pause"}) {
        INFO(options);
        Typist typist(std::string("asks talks_long ") + options, 12);
        typist.sees("It is 32 sectors. Each lane touches a sector of its own.");
        typist.sees("The end of the long table.");
        CHECK(ended_with(typist.end(), 0));
        CHECK_FALSE(typist.shows("Your guess"));
        CHECK_FALSE(typist.shows("Enter goes on"));
    }
}

TEST_CASE("below the table, a question is repeated as far as it is understood alone") {
    const Printed printed = print("names_two");
    CHECK_THAT(printed.text, ContainsSubstring("\n\nWhich is faster: `one`, or `two`? It is a) one. It is first."));
    CHECK_THAT(printed.text, ContainsSubstring("\n\nHow many are left? It is 3. Count."));
}

TEST_CASE("in a pipe the question stands before the table, and the answer after it") {
    device_or_skip();
    const Printed printed = print("asks");
    CHECK(ended_with(printed.status, 0));
    CHECK_THAT(printed.text, ContainsSubstring("Predict\nHow many sectors does a request touch?\n\nPredict\nWho is "
                                               "faster?\n\n    a) a thread\n    b) a warp\n    c) a block\n\nCounted"));
    CHECK_THAT(printed.text,
               ContainsSubstring("columns        4\n\nHow many sectors does a request touch? It is 32 sectors. Each "
                                 "lane touches a\nsector of its own.\n\nWho is faster? It is b) a warp. A warp is what "
                                 "runs.\n\nConclusion\n"));
    CHECK(printed.text.find("Your guess") == std::string::npos);
    CHECK(printed.text.find("Predictions:") == std::string::npos);
}

TEST_CASE("an answer that the table contradicts fails the lesson, and the table is right") {
    device_or_skip();
    const Printed printed = print("disagrees");
    CHECK(ended_with(printed.status, 1));
    CHECK_THAT(printed.text, ContainsSubstring("It is 32. Nobody counted."));
    CHECK_THAT(printed.text,
               ContainsSubstring("WRONG. It should be: the answer of a prediction is 31, as the table shows (32)"));
    CHECK(ended_with(print("disagrees --size 7").status, 0));  // another size has another answer
}

TEST_CASE("an answer that is neither measured nor recorded is not judged") {
    device_or_skip();
    need_terminal();
    const TemporaryFile file;
    Typist typist("measures_nothing --json " + file.path());
    typist.sees("Your guess (a to b) or q (leave), then Enter. Enter twice skips: ");
    typist.types("a\n");
    typist.sees("Your guess (a number; times) or q (leave), then Enter. Enter twice skips: ");
    typist.types("2\n");
    typist.sees("You said a) one; nothing in this run tells the answer. It is short.");
    typist.sees("You said 2 times; nothing in this run tells the answer. It is long.");
    CHECK(ended_with(typist.end(), 0));
    CHECK_FALSE(typist.shows("Predictions:"));
    const json predictions = read_json(file)["lessons"][0]["predictions"];
    CHECK(predictions[0]["answer"].is_null());
    CHECK(predictions[0]["guess"] == "one");
    CHECK_FALSE(predictions[0].contains("right"));
}

TEST_CASE("predictions have a limit of words and a reason") {
    device_or_skip();
    CHECK_THAT(print("wordy").text, ContainsSubstring("a prediction of 63 words, at most 60"));
    CHECK_THAT(print("unreasoned").text, ContainsSubstring("does not say why its answer is right"));
}
