#include "common/guide/builder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/guide/grader.h"

using namespace guide;
namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

using Steps = std::vector<std::pair<int, int>>;

void write_file(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

void write_script(const fs::path& file, const std::string& commands) {
    write_file(file, "#!/bin/sh\n" + commands);
    fs::permissions(file, fs::perms::owner_all);
}

/// A copy of the tutorial with nothing in it, and programs that take the place of others.
class Copy {
public:
    Copy() : path_(std::getenv("PATH")) {
        if (const char* jobs = std::getenv("CMAKE_BUILD_PARALLEL_LEVEL")) jobs_ = jobs;
        unsetenv("CMAKE_BUILD_PARALLEL_LEVEL");
        std::string name = (fs::temp_directory_path() / "warpwise_build_XXXXXX").string();
        project.root = fs::canonical(mkdtemp(name.data()));
        project.caller = project.root;
        fs::create_directory(project.root / "fake");
        setenv("PATH", ((project.root / "fake").string() + ":" + path_).c_str(), 1);
        exercise.name = "grid_stride";
        exercise.chapter = "1_basics";
        exercise.folder = project.root / "exercises" / "1_basics" / "grid_stride";
        exercise.answers = project.root / "answers" / "1_basics" / "grid_stride";
    }
    ~Copy() {
        setenv("PATH", path_.c_str(), 1);
        unsetenv("CMAKE_BUILD_PARALLEL_LEVEL");
        if (jobs_) setenv("CMAKE_BUILD_PARALLEL_LEVEL", jobs_->c_str(), 1);
        std::error_code error;
        fs::remove_all(project.root, error);
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    /// A configured build whose ninja prints this and ends like that.
    void have_ninja(const std::string& output, int status) const {
        write_file(project.build_folder() / "build.ninja", "");
        write_file(project.root / "output", output);
        write_script(project.root / "fake" / "ninja",
                     "echo \"$NINJA_STATUS|$@\" >> called\ncat output\nexit " + std::to_string(status) + "\n");
    }
    void have_grader(const std::string& commands) const {
        write_script(project.programs() / "exercises" / "grid_stride", commands);
    }
    std::string text_of(const std::string& file) const {
        std::ifstream stream(project.root / file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    Project project;
    Exercise exercise;

private:
    std::string path_;
    std::optional<std::string> jobs_;
};

constexpr const char* compiler_error =
    "exercises/grid_stride.cu:31:5: error: 'offset' was not declared in this scope\n"
    "   31 |     offset += 1;\n"
    "      |     ^~~~~~\n";

}  // namespace

TEST_CASE("a build that succeeds has nothing to say, and its progress is told") {
    const Copy copy;
    copy.have_ninja(
        "ninja: Entering directory `build/cpu'\n[1/3] Rewriting grid_stride.cu\n[2/3] Building CXX object\n"
        "[3/3] Linking CXX executable\n",
        0);
    Steps steps;
    const BuildResult result =
        Builder(copy.project).build({"a_cpu", "b_cpu"}, [&](int done, int of) { steps.emplace_back(done, of); });
    CHECK(result.succeeded);
    CHECK_FALSE(result.cancelled);
    CHECK(result.output.empty());
    CHECK(result.seconds > 0);
    CHECK(steps == Steps{{1, 3}, {2, 3}, {3, 3}});
    CHECK(copy.text_of("called") == "[%f/%t] |-C " + copy.project.build_folder().string() + " a_cpu b_cpu\n");
}

TEST_CASE("as many compilers run at once as CMAKE_BUILD_PARALLEL_LEVEL says") {
    const Copy copy;
    setenv("CMAKE_BUILD_PARALLEL_LEVEL", "1", 1);
    copy.have_ninja("", 0);
    CHECK(Builder(copy.project).build({"a_cpu"}).succeeded);
    CHECK(copy.text_of("called") == "[%f/%t] |-C " + copy.project.build_folder().string() + " -j 1 a_cpu\n");
}

TEST_CASE("a build with nothing to do has nothing to say") {
    const Copy copy;
    copy.have_ninja("ninja: Entering directory `build/cpu'\nninja: no work to do.\n", 0);
    const BuildResult result = Builder(copy.project).build({"a_cpu"});
    CHECK(result.succeeded);
    CHECK(result.output.empty());
}

TEST_CASE("of a build that fails only what the compiler says is left") {
    const Copy copy;
    const std::string failed =
        GENERATE("FAILED: a.cpp.o \n", "FAILED: [code=1] a.cpp.o \n", "\033[31mFAILED: \033[0ma.cpp.o \n");
    CAPTURE(failed);
    copy.have_ninja("[1/3] Rewriting grid_stride.cu\n[2/3] Building CXX object a.cpp.o\n" + failed +
                        "/usr/bin/c++ -O2 -c a.cpp -o a.cpp.o\n" + compiler_error +
                        "ninja: build stopped: subcommand failed.\n",
                    1);
    const BuildResult result = Builder(copy.project).build({"a_cpu"});
    CHECK_FALSE(result.succeeded);
    CHECK_FALSE(result.cancelled);
    CHECK(result.output == compiler_error);
}

TEST_CASE("the compiler's lines are untouched, whatever they look like") {
    const Copy copy;
    const std::string lines =
        "\033[01m\033[Ka.cu:1:\033[m\033[K note: [1/2] is not a status here\n\n  -- neither is this\n[a/b] \n[1/x] \n"
        "[12] \n[1/2]\nIn file FAILED: b\ntail without an end of line";
    copy.have_ninja("[1/1] Building\nFAILED: a\ncommand\n" + lines, 1);
    CHECK(Builder(copy.project).build({"a_cpu"}).output == lines);
}

TEST_CASE("errors of two compilers at once are both shown") {
    const Copy copy;
    copy.have_ninja(
        "[1/4] Building a\nFAILED: a\ncommand a\nerror a\n[2/4] Building b\nFAILED: b\ncommand b\nerror b\n"
        "[3/4] Building c\nwarning c\nninja: build stopped: subcommand failed.\n",
        1);
    CHECK(Builder(copy.project).build({"a_cpu"}).output == "error a\nerror b\nwarning c\n");
}

TEST_CASE("warnings of a build that succeeds are kept") {
    const Copy copy;
    copy.have_ninja("[1/2] Building a\na.cu:3:1: warning: unused\n[2/2] Linking\n", 0);
    const BuildResult result = Builder(copy.project).build({"a_cpu"});
    CHECK(result.succeeded);
    CHECK(result.output == "a.cu:3:1: warning: unused\n");
}

TEST_CASE("ninja's own errors are shown, and a failure is never silent") {
    const Copy copy;
    copy.have_ninja("ninja: Entering directory `b'\nninja: error: unknown target 'a_cpu'\n", 1);
    CHECK(Builder(copy.project).build({"a_cpu"}).output == "ninja: error: unknown target 'a_cpu'\n");

    copy.have_ninja("[1/1] Building a\nFAILED: a\nthe command\n", 1);
    CHECK_THAT(Builder(copy.project).build({"a_cpu"}).output, ContainsSubstring("the command"));
}

TEST_CASE("what CMake says when ninja runs it again is left out unless it is wrong") {
    const Copy copy;
    const std::string begin = "[0/1] Re-running CMake...\n-- Building for: cpu\n";
    copy.have_ninja(begin + "-- Configuring done\n-- Generating done\n-- Build files have been written to: b\n", 0);
    CHECK(Builder(copy.project).build({"a_cpu"}).output.empty());
    copy.have_ninja(begin +
                        "CMake Error at CMakeLists.txt:3 (oops):\n  Unknown\n\n-- Configuring incomplete, errors "
                        "occurred!\nninja: error: rebuilding 'build.ninja': subcommand failed\n",
                    1);
    CHECK_THAT(Builder(copy.project).build({"a_cpu"}).output, StartsWith("CMake Error at CMakeLists.txt:3"));
}

TEST_CASE("progress is read from output that comes in single bytes") {
    const Copy copy;
    copy.have_ninja("", 0);
    write_script(copy.project.root / "fake" / "ninja",
                 "for byte in '[' 1 / 2 ']' ' ' a; do printf %s \"$byte\"; sleep 0.02; done\n"
                 "printf '\\n'; head -c 100000 /dev/zero; printf '\\n[2/2] b\\n'\n");
    Steps steps;
    Builder(copy.project).build({"a_cpu"}, [&](int done, int of) { steps.emplace_back(done, of); });
    CHECK(steps == Steps{{1, 2}, {2, 2}});
}

TEST_CASE("a build can be cancelled") {
    const Copy copy;
    copy.have_ninja("", 0);
    write_script(copy.project.root / "fake" / "ninja", "echo '[1/2] a'; sleep 100\n");
    bool stop = false;
    const BuildResult result = Builder(copy.project)
                                   .build(
                                       {"a_cpu"}, [&](int, int) { stop = true; }, [&] { return stop; });
    CHECK(result.cancelled);
    CHECK_FALSE(result.succeeded);
    CHECK(result.seconds < 50);
}

TEST_CASE("a build waits until another one in the same folder is done") {
    const Copy copy;
    copy.have_ninja("", 0);
    const std::string lock = copy.project.build_folder().string() + ".lock";
    const int file = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    REQUIRE(file != -1);
    REQUIRE(flock(file, LOCK_EX | LOCK_NB) == 0);
    int asked = 0;
    const BuildResult cancelled = Builder(copy.project).build({"a_cpu"}, {}, [&] { return ++asked == 3; });
    CHECK(cancelled.cancelled);
    CHECK_FALSE(cancelled.succeeded);
    CHECK(copy.text_of("called").empty());  // it did not begin
    int asked_again = 0;
    const BuildResult result = Builder(copy.project).build({"a_cpu"}, {}, [&] {
        if (++asked_again == 3) flock(file, LOCK_UN);
        return false;
    });
    CHECK(result.succeeded);
    CHECK(asked_again >= 3);
    CHECK_FALSE(copy.text_of("called").empty());
    close(file);
}

TEST_CASE("a build's folder is configured first, once") {
    const Copy copy;
    copy.have_ninja("[1/1] Building\n", 0);
    fs::remove(copy.project.build_folder() / "build.ninja");
    write_script(copy.project.root / "fake" / "cmake",
                 "echo \"cmake $@\" >> called; echo '-- The CXX compiler'; touch build/cpu/build.ninja\n");
    CHECK(Builder(copy.project).build({"a_cpu"}).succeeded);
    CHECK(Builder(copy.project).build({"a_cpu"}).succeeded);
    const std::string build = "[%f/%t] |-C " + copy.project.build_folder().string() + " a_cpu\n";
    CHECK(copy.text_of("called") == "cmake --preset cpu -G Ninja\n" + build + build);
}

TEST_CASE("a folder that cannot be configured says why and what to do") {
    Copy copy;
    copy.project.device = "cuda";
    copy.have_ninja("", 0);
    fs::remove(copy.project.build_folder() / "build.ninja");
    write_script(copy.project.root / "fake" / "cmake", "echo '-- Start'; echo 'CMake Error: no nvcc' >&2; exit 1\n");
    const BuildResult result = Builder(copy.project).build({"a_cuda"});
    CHECK_FALSE(result.succeeded);
    CHECK_THAT(result.output, StartsWith("CMake Error: no nvcc\n"));
    CHECK_THAT(result.output, ContainsSubstring("build/cuda could not be configured"));
    CHECK_THAT(result.output, EndsWith("    ./warpwise setup\n"));
    CHECK(copy.text_of("called").empty());
}

TEST_CASE("without ninja in PATH CMake starts it") {
    const Copy copy;
    copy.have_ninja("", 0);
    fs::remove(copy.project.root / "fake" / "ninja");
    write_script(copy.project.root / "fake" / "cmake", "echo \"$@\" > called; echo '[1/1] Building'\n");
    fs::create_symlink("/bin/sh", copy.project.root / "fake" / "sh");
    const std::string before = std::getenv("PATH");
    setenv("PATH", (copy.project.root / "fake").c_str(), 1);
    CHECK(Builder(copy.project).build({"a_cpu"}).succeeded);
    setenv("PATH", before.c_str(), 1);
    CHECK(copy.text_of("called") == "--build " + copy.project.build_folder().string() + " --target a_cpu\n");
}

TEST_CASE("a real project is configured, built, found in order, and found wrong") {
    if (!has_program("cmake") || !has_program("ninja")) SKIP("there is no cmake or no ninja here");
    const Copy copy;
    const fs::path root = copy.project.root;
    write_file(root / "CMakePresets.json",
               R"({"version": 3, "configurePresets": [{"name": "cpu", "binaryDir": "${sourceDir}/build/cpu"}]})");
    write_file(root / "CMakeLists.txt",
               "cmake_minimum_required(VERSION 3.22)\nproject(toy LANGUAGES CXX)\nadd_executable(toy_cpu toy.cpp)\n");
    write_file(root / "toy.cpp", "int main() { return 0; }\n");
    Steps steps;
    Builder builder(copy.project);
    const BuildResult first = builder.build({"toy_cpu"}, [&](int done, int of) { steps.emplace_back(done, of); });
    CAPTURE(first.output);
    REQUIRE(first.succeeded);
    CHECK(first.output.empty());
    CHECK(steps == Steps{{1, 2}, {2, 2}});
    CHECK(fs::exists(root / "build" / "cpu" / "toy_cpu"));

    steps.clear();
    const BuildResult again = builder.build({"toy_cpu"}, [&](int done, int of) { steps.emplace_back(done, of); });
    CHECK(again.succeeded);
    CHECK(again.output.empty());
    CHECK(steps.empty());

    write_file(root / "toy.cpp", "int main() { return wrong; }\n");
    const BuildResult wrong = builder.build({"toy_cpu"});
    CHECK_FALSE(wrong.succeeded);
    CHECK_THAT(wrong.output, StartsWith(root.string() + "/toy.cpp:") || StartsWith(root.string() + "/toy.cpp: In"));
    CHECK_THAT(wrong.output, ContainsSubstring("wrong"));
    CHECK_THAT(wrong.output,
               !ContainsSubstring("FAILED") && !ContainsSubstring("ninja:") && !ContainsSubstring(" -c "));

    const BuildResult unknown = builder.build({"no_such_target"});
    CHECK_FALSE(unknown.succeeded);
    CHECK_THAT(unknown.output, ContainsSubstring("unknown target 'no_such_target'"));
}

TEST_CASE("a grader's exit status is the outcome, and its output the text") {
    const Copy copy;
    copy.have_ninja("[1/1] Building\n", 0);
    const auto [status, outcome] = GENERATE(table<int, Outcome>({{0, Outcome::passed}, {1, Outcome::failed}}));
    copy.have_grader("echo \"$0 $@\"; pwd; exit " + std::to_string(status) + "\n");
    const GradeResult result = grade(copy.project, copy.exercise);
    CHECK(result.outcome == outcome);
    CHECK(result.text ==
          "build/bin/cpu/exercises/grid_stride --colour-mode none\n" + copy.project.root.string() + "\n");
    CHECK(result.build_seconds > 0);
    CHECK(result.grade_seconds > 0);
    CHECK_THAT(copy.text_of("called"), EndsWith(" grid_stride_cpu\n"));
}

TEST_CASE("a stub that was edited in place is what is built and graded") {
    const Copy copy;
    copy.have_ninja("", 0);
    copy.have_grader("echo \"$0: $WARPWISE_ANSWER\"\n");
    CHECK(grade(copy.project, copy.exercise).text ==
          "build/bin/cpu/exercises/grid_stride: answers/1_basics/grid_stride/grid_stride.cu\n");
    const fs::path programs = copy.project.programs() / "exercises";
    fs::copy_file(programs / "grid_stride", programs / "grid_stride_original");
    fs::create_directories(copy.exercise.folder);
    std::ofstream(copy.exercise.stub()) << "int i;\n";
    prepare_answer(copy.exercise);
    std::ofstream(copy.exercise.stub()) << "int edited;\n";
    CHECK(grade(copy.project, copy.exercise).text ==
          "build/bin/cpu/exercises/grid_stride_original: exercises/1_basics/grid_stride/grid_stride.cu\n");
    CHECK_THAT(copy.text_of("called"), EndsWith(" grid_stride_original_cpu\n"));
}

TEST_CASE("a grader is asked for colors when they are wanted") {
    const Copy copy;
    copy.have_ninja("", 0);
    copy.have_grader("echo \"$@\"\n");
    CHECK(grade(copy.project, copy.exercise, {.colors = true}).text == "--colour-mode ansi\n");
}

TEST_CASE("an answer that does not compile is not graded") {
    const Copy copy;
    copy.have_ninja(std::string("[1/1] Building\nFAILED: a\ncommand\n") + compiler_error, 1);
    copy.have_grader("touch graded\n");
    const GradeResult result = grade(copy.project, copy.exercise);
    CHECK(result.outcome == Outcome::build_failed);
    CHECK(result.text == compiler_error);
    CHECK_FALSE(fs::exists(copy.project.root / "graded"));
}

TEST_CASE("an answer that never ends is stopped, with advice after what it printed") {
    const Copy copy;
    copy.have_ninja("", 0);
    copy.have_grader("printf 'so far'; sleep 100\n");
    const GradeResult result = grade(copy.project, copy.exercise, {.limit_seconds = 0.4});
    CHECK(result.outcome == Outcome::never_ended);
    CHECK_THAT(result.text, StartsWith("so far\n\nStopped: it was still running after 0.4 seconds.\n"));
    CHECK_THAT(result.text, ContainsSubstring("loop"));
    CHECK_THAT(result.text, ContainsSubstring("answers/1_basics/grid_stride/grid_stride.cu"));
    CHECK(result.grade_seconds < 50);
}

TEST_CASE("a grader that crashes, refuses or is not there is broken, and the text says how") {
    const Copy copy;
    copy.have_ninja("", 0);

    copy.have_grader("echo begun; kill -SEGV $$\n");
    GradeResult result = grade(copy.project, copy.exercise);
    CHECK(result.outcome == Outcome::broken);
    CHECK_THAT(result.text, StartsWith("begun\n\nThe grader crashed: signal 11, Segmentation fault."));

    copy.have_grader("exit 2\n");
    result = grade(copy.project, copy.exercise);
    CHECK(result.outcome == Outcome::broken);
    CHECK_THAT(result.text, ContainsSubstring("    build/bin/cpu/exercises/grid_stride\n"));

    copy.have_grader("exit 42\n");
    result = grade(copy.project, copy.exercise);
    CHECK(result.outcome == Outcome::broken);
    CHECK_THAT(result.text, ContainsSubstring("status 42"));

    fs::remove(copy.project.programs() / "exercises" / "grid_stride");
    result = grade(copy.project, copy.exercise);
    CHECK(result.outcome == Outcome::broken);
    CHECK_THAT(result.text, StartsWith("cannot start build/bin/cpu/exercises/grid_stride: No such file"));
    CHECK_THAT(result.text, EndsWith("    ./warpwise grade grid_stride\n"));
}

TEST_CASE("a check can be cancelled while it builds and while it grades") {
    const Copy copy;
    copy.have_ninja("", 0);
    copy.have_grader("touch graded; sleep 100\n");
    CHECK(grade(copy.project, copy.exercise, {.cancelled = [] { return true; }}).outcome == Outcome::cancelled);
    CHECK_FALSE(fs::exists(copy.project.root / "graded"));
    const GradeResult result =
        grade(copy.project, copy.exercise, {.cancelled = [&] { return fs::exists(copy.project.root / "graded"); }});
    CHECK(result.outcome == Outcome::cancelled);
    CHECK(result.grade_seconds > 0);
}

TEST_CASE("each outcome has its exit status") {
    CHECK(exit_status(Outcome::passed) == 0);
    CHECK(exit_status(Outcome::failed) == 1);
    CHECK(exit_status(Outcome::build_failed) == 1);
    CHECK(exit_status(Outcome::never_ended) == 1);
    CHECK(exit_status(Outcome::broken) == 2);
    CHECK(exit_status(Outcome::cancelled) == 130);
}
