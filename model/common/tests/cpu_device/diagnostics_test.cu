// How diagnostics are grouped, counted, shown and handed to programs, whoever found them.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "common/cpu_device/src/source_lines.h"
#include "common/helpers/json.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using cpu_device::Diagnostic;
using cpu_device::DiagnosticKind;
using cpu_device::OtherSide;
using cpu_device::Site;

namespace {

constexpr DiagnosticKind kAllKinds[] = {
    DiagnosticKind::divergent_barrier,  DiagnosticKind::missing_lane,      DiagnosticKind::mask_without_caller,
    DiagnosticKind::endless_kernel,     DiagnosticKind::illegal_access,    DiagnosticKind::kernel_trap,
    DiagnosticKind::unsupported,        DiagnosticKind::invalid_free,      DiagnosticKind::out_of_bounds,
    DiagnosticKind::misaligned_access,  DiagnosticKind::use_after_free,    DiagnosticKind::host_memory,
    DiagnosticKind::uninitialized_read, DiagnosticKind::data_race,         DiagnosticKind::memory_leak,
    DiagnosticKind::unseen_error,       DiagnosticKind::undefined_shuffle, DiagnosticKind::unseen_output,
    DiagnosticKind::broken_restrict,    DiagnosticKind::missing_arrival,   DiagnosticKind::barrier_misuse,
    DiagnosticKind::missing_order};

struct Quiet {
    bool printing = cpu_device::print_diagnostics(false);
    Quiet() { cpu_device::take_diagnostics(); }
    ~Quiet() {
        cpu_device::take_diagnostics();
        cpu_device::print_diagnostics(printing);
    }
};

Diagnostic in_kernel_at(DiagnosticKind kind, Site site) {
    Diagnostic diagnostic{};
    diagnostic.kind = kind;
    diagnostic.message = "something happened";
    diagnostic.kernel = "sum_blocks<float>";
    diagnostic.site = site;
    diagnostic.block = {3, 0, 0};
    diagnostic.thread = {32, 1, 2};
    diagnostic.hint = "try something else";
    return diagnostic;
}

Diagnostic race_between(Site site, Site other_site) {
    Diagnostic diagnostic = in_kernel_at(DiagnosticKind::data_race, site);
    diagnostic.array = "tile";
    diagnostic.memory = "shared memory, 1024 bytes; byte 128 of it";
    diagnostic.action = "reads 4 bytes (2.5)";
    diagnostic.other = OtherSide{other_site, {3, 0, 0}, {0, 5, 0}, "wrote 4 bytes (1 -> 2.5)"};
    return diagnostic;
}

Diagnostic at_code(DiagnosticKind kind, const void* code, const void* other_code = nullptr) {
    Diagnostic diagnostic = in_kernel_at(kind, {});
    diagnostic.code = code;
    if (other_code != nullptr) diagnostic.other = OtherSide{{}, {}, {}, "wrote 4 bytes"};
    diagnostic.other_code = other_code;
    return diagnostic;
}

std::vector<Diagnostic> published() {
    cpu_device::publish_diagnostics();
    return cpu_device::take_diagnostics();
}

/// Where the caller goes on.
__attribute__((noinline)) const void* return_address() {
    asm volatile("");  // the compiler must not think that all calls return the same
    return __builtin_return_address(0);
}

struct KnownCode {
    const void* code;
    int line;
};

KnownCode known_code() {
    const void* const code = return_address();
    return {code, __LINE__ - 1};
}

struct TwoAddresses {
    const void* first;
    const void* second;
    int line;
};

/// Two calls on one line.
TwoAddresses two_addresses_of_one_line() {
    // clang-format off
    const void* first = return_address(); const void* second = return_address();
    // clang-format on
    return {first, second, __LINE__ - 2};
}

/// False where the program was compiled without line numbers, or addr2line is not installed.
bool lines_are_known() { return cpu_device::source_lines({known_code().code})[0].line > 0; }

std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

/// What `action` writes to standard error.
template <class Action>
std::string error_output_of(Action action) {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    std::fflush(stderr);
    const int terminal = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    action();
    std::fflush(stderr);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
    std::string text(static_cast<std::size_t>(lseek(fileno(file), 0, SEEK_END)), '\0');
    std::rewind(file);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}

__global__ void report_from_each_thread(int line) {
    Diagnostic diagnostic{};
    diagnostic.kind = DiagnosticKind::kernel_trap;
    diagnostic.kernel = "report_from_each_thread";
    diagnostic.site = {"kernel.cu", line};
    diagnostic.block = blockIdx;
    diagnostic.thread = threadIdx;
    cpu_device::report(std::move(diagnostic));
}

}  // namespace

TEST_CASE("each kind of diagnostic has a name for people and one for programs") {
    std::vector<std::string> identifiers;
    for (const DiagnosticKind kind : kAllKinds) {
        const std::string name = cpu_device::name_of(kind);
        const std::string identifier = cpu_device::identifier_of(kind);
        CHECK(!name.empty());
        CHECK(identifier.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos);
        CHECK(identifier != "error");
        CHECK(std::find(identifiers.begin(), identifiers.end(), identifier) == identifiers.end());
        identifiers.push_back(identifier);
    }
    CHECK(std::string(cpu_device::name_of(DiagnosticKind::data_race)) == "data race");
    CHECK(std::string(cpu_device::identifier_of(DiagnosticKind::data_race)) == "data_race");
}

TEST_CASE("the same mistake at the same line of a launch is one diagnostic with a count") {
    const Quiet quiet;
    for (int i = 0; i < 5; ++i) cpu_device::report(in_kernel_at(DiagnosticKind::out_of_bounds, {"a.cu", 7}));
    const std::string same_text = "a.cu";  // another pointer
    CHECK(cpu_device::report_again(DiagnosticKind::out_of_bounds, Site{same_text.c_str(), 7}));
    const std::vector<Diagnostic> found = published();
    REQUIRE(found.size() == 1);
    CHECK(found[0].count == 6);
    CHECK(found[0].thread.x == 32);
}

TEST_CASE("another kind, line, file or launch makes another diagnostic") {
    const Quiet quiet;
    cpu_device::report(in_kernel_at(DiagnosticKind::out_of_bounds, {"a.cu", 7}));
    cpu_device::report(in_kernel_at(DiagnosticKind::uninitialized_read, {"a.cu", 7}));
    cpu_device::report(in_kernel_at(DiagnosticKind::out_of_bounds, {"a.cu", 8}));
    cpu_device::report(in_kernel_at(DiagnosticKind::out_of_bounds, {"b.cu", 7}));
    cpu_device::publish_diagnostics();
    CHECK(!cpu_device::report_again(DiagnosticKind::out_of_bounds, Site{"a.cu", 7}));
    cpu_device::report(in_kernel_at(DiagnosticKind::out_of_bounds, {"a.cu", 7}));
    const std::vector<Diagnostic> found = published();
    REQUIRE(found.size() == 5);
    CHECK(found[1].kind == DiagnosticKind::uninitialized_read);
    CHECK(found[2].site.line == 8);
    CHECK(std::string(found[3].site.file) == "b.cu");
    for (const Diagnostic& diagnostic : found) CHECK(diagnostic.count == 1);
}

TEST_CASE("one line's mistakes with two arrays stay two diagnostics") {
    const Quiet quiet;
    int code[2];
    Diagnostic first = at_code(DiagnosticKind::out_of_bounds, &code[0]);
    Diagnostic second = at_code(DiagnosticKind::out_of_bounds, &code[1]);
    first.array = "left";
    second.array = "right";
    first.site = second.site = {"a.cu", 7};
    cpu_device::report(first);
    cpu_device::report(second);
    CHECK(published().size() == 2);
}

TEST_CASE("a race is the same race seen from its other side") {
    const Quiet quiet;
    cpu_device::report(race_between({"a.cu", 7}, {"a.cu", 9}));
    cpu_device::report(race_between({"a.cu", 9}, {"a.cu", 7}));
    cpu_device::report(race_between({"a.cu", 7}, {"a.cu", 7}));
    const std::vector<Diagnostic> found = published();
    REQUIRE(found.size() == 2);
    CHECK(found[0].count == 2);
    CHECK(found[0].site.line == 7);
    CHECK(found[0].other->site.line == 9);
}

TEST_CASE("counts repeats by code addresses, whichever side comes first") {
    const Quiet quiet;
    int code[2];
    CHECK(!cpu_device::report_again(DiagnosticKind::data_race, &code[0], &code[1]));
    cpu_device::report(at_code(DiagnosticKind::data_race, &code[0], &code[1]));
    CHECK(cpu_device::report_again(DiagnosticKind::data_race, &code[0], &code[1]));
    CHECK(cpu_device::report_again(DiagnosticKind::data_race, &code[1], &code[0]));
    CHECK(!cpu_device::report_again(DiagnosticKind::data_race, &code[0], &code[0]));
    CHECK(!cpu_device::report_again(DiagnosticKind::data_race, &code[0]));
    CHECK(!cpu_device::report_again(DiagnosticKind::out_of_bounds, &code[0], &code[1]));
    const std::vector<Diagnostic> found = published();
    REQUIRE(found.size() == 1);
    CHECK(found[0].count == 3);
}

TEST_CASE("counting a repeat takes as long with many diagnostics as with few") {
    const Quiet quiet;
    std::vector<int> code(300);
    for (const int& address : code) cpu_device::report(at_code(DiagnosticKind::out_of_bounds, &address));
    const auto seconds_with = [&](int diagnostics) {
        double least = std::numeric_limits<double>::infinity();
        for (int round = 0; round < 3; ++round) {
            const auto begin = std::chrono::steady_clock::now();
            bool known = true;
            for (int i = 0; i < 300'000; ++i)
                known &= cpu_device::report_again(DiagnosticKind::out_of_bounds, &code[i % diagnostics]);
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
            CHECK(known);
            least = std::min(least, seconds.count());
        }
        return least;
    };
    // A search through all of them would take 30 times as long.
    CHECK(seconds_with(300) < 10 * seconds_with(10));
}

TEST_CASE("diagnostics without any place are told apart by what they say") {
    const Quiet quiet;
    Diagnostic one = in_kernel_at(DiagnosticKind::unsupported, {});
    Diagnostic other = one;
    other.message = "something else happened";
    cpu_device::report(one);
    cpu_device::report(other);
    cpu_device::report(one);
    const std::vector<Diagnostic> found = published();
    REQUIRE(found.size() == 2);
    CHECK(found[0].count == 2);
}

TEST_CASE("threads of all blocks report the same mistake once, with the number of threads") {
    const Quiet quiet;
    report_from_each_thread<<<100, 64>>>(12);
    const std::vector<Diagnostic> found = published();
    REQUIRE(found.size() == 1);
    CHECK(found[0].count == 6400);
    CHECK(found[0].site.line == 12);
}

TEST_CASE("diagnostics of host code are kept at once, also when they repeat") {
    const Quiet quiet;
    Diagnostic diagnostic{};
    diagnostic.kind = DiagnosticKind::memory_leak;
    diagnostic.message = "400 bytes were never freed";
    cpu_device::report(diagnostic);
    cpu_device::report(diagnostic);
    CHECK(cpu_device::take_diagnostics().size() == 2);
    CHECK(cpu_device::take_diagnostics().empty());
}

TEST_CASE("prints what a launch did when it has ended, as often as it happened") {
    const Quiet quiet;
    cpu_device::print_diagnostics(true);
    CHECK(error_output_of([] {
              cpu_device::report(in_kernel_at(DiagnosticKind::out_of_bounds, {"a.cu", 7}));
              cpu_device::report(in_kernel_at(DiagnosticKind::out_of_bounds, {"a.cu", 7}));
          }).empty());
    const std::string text = error_output_of(cpu_device::publish_diagnostics);
    CHECK(text == "CPU device: " + cpu_device::text_of(cpu_device::take_diagnostics().at(0)) + "\n");
    CHECK_THAT(text, ContainsSubstring("2 times"));
    CHECK(error_output_of(cpu_device::publish_diagnostics).empty());
}

TEST_CASE("prints 20 of hundreds of diagnostics of one launch, and keeps all") {
    const Quiet quiet;
    for (int line = 1; line <= 300; ++line)
        cpu_device::report(in_kernel_at(DiagnosticKind::out_of_bounds, {"a.cu", line}));
    cpu_device::print_diagnostics(true);
    const std::string text = error_output_of(cpu_device::publish_diagnostics);
    CHECK_THAT(text, ContainsSubstring("a.cu:20\n") && !ContainsSubstring("a.cu:21\n"));
    CHECK_THAT(text, ContainsSubstring("280 more"));
    const std::vector<Diagnostic> found = cpu_device::take_diagnostics();
    REQUIRE(found.size() == 300);
    CHECK(found[299].site.line == 300);
}

TEST_CASE("a race is shown with both lines, both threads, the array and the count") {
    Diagnostic race = race_between({__FILE__, 1}, {__FILE__, 2});
    race.count = 31;
    const std::string text = cpu_device::text_of(race);
    CHECK_THAT(text, ContainsSubstring("data race: something happened\n"));
    CHECK_THAT(text, ContainsSubstring("diagnostics_test.cu:1:  // How diagnostics are grouped"));
    CHECK_THAT(text, ContainsSubstring("\n      thread (32, 1, 2) of block (3, 0, 0) reads 4 bytes (2.5)\n"));
    CHECK_THAT(text, ContainsSubstring("diagnostics_test.cu:2:  #include <fcntl.h>\n"));
    CHECK_THAT(text, ContainsSubstring("\n      thread (0, 5, 0) of block (3, 0, 0) wrote 4 bytes (1 -> 2.5)\n"));
    CHECK_THAT(text, ContainsSubstring("\n  'tile': shared memory, 1024 bytes; byte 128 of it\n"));
    CHECK_THAT(text, ContainsSubstring("\n  in kernel sum_blocks<float>; 31 times in this launch\n"));
    CHECK_THAT(text, EndsWith("\n  hint: try something else"));
    CHECK(text.find('\033') == std::string::npos);
    CHECK(cpu_device::text_of(race, true).find("\033[") != std::string::npos);
}

TEST_CASE("a line that both sides of a race share is shown once") {
    const std::string text = cpu_device::text_of(race_between({"gone.cu", 7}, {"gone.cu", 7}));
    CHECK(text.find("gone.cu:7\n") != std::string::npos);  // no text: the file cannot be read
    CHECK(text.find("gone.cu:7") == text.rfind("gone.cu:7"));
    CHECK_THAT(text, ContainsSubstring("reads 4 bytes") && ContainsSubstring("wrote 4 bytes"));
}

TEST_CASE("a diagnostic that knows little is shown without empty lines or made-up threads") {
    Diagnostic leak{};
    leak.kind = DiagnosticKind::memory_leak;
    leak.message = "400 bytes were never freed";
    CHECK(cpu_device::text_of(leak) == "memory leak: 400 bytes were never freed");
    leak.message.clear();
    leak.array = "d_in";
    CHECK(cpu_device::text_of(leak) == "memory leak on 'd_in'");
}

TEST_CASE("says why a line is not known") {
    CHECK_THAT(cpu_device::text_of(at_code(DiagnosticKind::out_of_bounds, "data, not code")),
               ContainsSubstring("-g1") && ContainsSubstring("addr2line"));
}

TEST_CASE("paths are shown as seen from the current folder") {
    const std::string here = std::filesystem::current_path().string() + "/sub/a.cu";
    CHECK_THAT(cpu_device::text_of(in_kernel_at(DiagnosticKind::out_of_bounds, {here.c_str(), 7})),
               ContainsSubstring("\n  sub/a.cu:7\n"));
}

TEST_CASE("diagnostics become JSON with every field") {
    Diagnostic race = race_between({__FILE__, 1}, {"gone.cu", 2});
    race.count = 31;
    Diagnostic leak{};
    leak.kind = DiagnosticKind::memory_leak;
    const nlohmann::json json = warpwise::parse_json<nlohmann::json>(cpu_device::json_of({race, leak}));
    REQUIRE(json.size() == 2);
    const nlohmann::json expected = {
        {"kind", "data_race"},
        {"name", "data race"},
        {"severity", "error"},
        {"message", "something happened"},
        {"kernel", "sum_blocks<float>"},
        {"site", {{"file", __FILE__}, {"line", 1}, {"source", cpu_device::source_text(__FILE__, 1)}}},
        {"block", {3, 0, 0}},
        {"thread", {32, 1, 2}},
        {"action", "reads 4 bytes (2.5)"},
        {"array", "tile"},
        {"memory", "shared memory, 1024 bytes; byte 128 of it"},
        {"other",
         {{"site", {{"file", "gone.cu"}, {"line", 2}, {"source", ""}}},
          {"block", {3, 0, 0}},
          {"thread", {0, 5, 0}},
          {"action", "wrote 4 bytes (1 -> 2.5)"}}},
        {"count", 31},
        {"hint", "try something else"}};
    CHECK(json[0] == expected);
    CHECK(json[1]["site"].is_null());
    CHECK(json[1]["thread"].is_null());
    CHECK(json[1]["other"].is_null());
    CHECK(warpwise::parse_json<nlohmann::json>(cpu_device::json_of(std::vector<Diagnostic>{})) ==
          nlohmann::json::array());
}

TEST_CASE("JSON stays valid whatever the texts hold") {
    const auto round_trip = [](const std::string& text) {
        Diagnostic diagnostic{};
        diagnostic.message = text;
        return warpwise::parse_json<nlohmann::json>(cpu_device::json_of({diagnostic}))[0]["message"].get<std::string>();
    };
    const std::string unknown = "\xEF\xBF\xBD";
    std::string every_ascii;
    for (int c = 0; c < 128; ++c) every_ascii += static_cast<char>(c);
    CHECK(round_trip(every_ascii) == every_ascii);
    const std::string fine = "\xC3\xA4 \xE2\x82\xAC \xED\x9F\xBF \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF";
    CHECK(round_trip(fine) == fine);
    CHECK(round_trip("a\xFFz") == "a" + unknown + "z");
    CHECK(round_trip("a\xC3") == "a" + unknown);                                     // cut off
    CHECK(round_trip("\xC0\xAF") == unknown + unknown);                              // longer than needed
    CHECK(round_trip("\xE0\x80\xAF") == unknown + unknown + unknown);                // longer than needed
    CHECK(round_trip("\xED\xA0\x80") == unknown + unknown + unknown);                // half of a pair
    CHECK(round_trip("\xF4\x90\x80\x80") == unknown + unknown + unknown + unknown);  // beyond the last character
}

TEST_CASE("finds the source line of a code address") {
    if (!lines_are_known()) SKIP("compiled without -g1, or addr2line is not installed");
    const KnownCode known = known_code();
    const cpu_device::SourceLine line = cpu_device::source_lines({known.code})[0];
    CHECK_THAT(line.file, EndsWith("diagnostics_test.cu"));
    CHECK(line.line == known.line);
    CHECK(cpu_device::source_text(line.file, line.line) == "const void* const code = return_address();");
}

TEST_CASE("takes the caller's line for functions inlined from system headers") {
    if (!lines_are_known()) SKIP("compiled without -g1, or addr2line is not installed");
    const void* const code = std::invoke(return_address);
    const int line = __LINE__ - 1;
    const cpu_device::SourceLine found = cpu_device::source_lines({code})[0];
#ifdef __OPTIMIZE__
    CHECK_THAT(found.file, EndsWith("diagnostics_test.cu"));
    CHECK(found.line == line);
#else
    CHECK(found.line != line);  // a function of its own: nothing else is left than the header's line
#endif
}

TEST_CASE("addresses that are no code are unknown, and do not disturb the others") {
    const int data = 0;
    const KnownCode known = known_code();
    const auto lines = cpu_device::source_lines({nullptr, &data, known.code, known.code, &data});
    REQUIRE(lines.size() == 5);
    CHECK(lines[0].file.empty());
    CHECK(lines[1].line == 0);
    CHECK(lines[4].line == 0);
    CHECK(lines[2].line == lines[3].line);
    if (lines_are_known()) CHECK(lines[2].line == known.line);
}

TEST_CASE("code addresses of one line become one diagnostic") {
    if (!lines_are_known()) SKIP("compiled without -g1, or addr2line is not installed");
    const Quiet quiet;
    const TwoAddresses code = two_addresses_of_one_line();
    REQUIRE(code.first != code.second);
    cpu_device::report(at_code(DiagnosticKind::out_of_bounds, code.first));
    cpu_device::report(at_code(DiagnosticKind::out_of_bounds, code.second));
    cpu_device::report_again(DiagnosticKind::out_of_bounds, code.second);
    cpu_device::report(at_code(DiagnosticKind::data_race, code.first, code.second));
    cpu_device::report(at_code(DiagnosticKind::data_race, code.second, known_code().code));
    cpu_device::report(at_code(DiagnosticKind::data_race, known_code().code, code.first));
    const std::vector<Diagnostic> found = published();
    REQUIRE(found.size() == 3);
    CHECK(found[0].count == 3);
    CHECK(found[0].site.line == code.line);
    CHECK_THAT(found[0].site.file, EndsWith("diagnostics_test.cu"));
    CHECK(found[1].count == 1);
    CHECK(found[1].other->site.line == code.line);
    CHECK(found[2].count == 2);
    CHECK(found[2].other->site.line == known_code().line);
}

TEST_CASE("looking up lines leaves no process, no open file and no changed signal behind") {
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    const std::size_t files = open_files();
    cpu_device::source_lines({return_address()});
    CHECK(open_files() == files);
    CHECK((waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (int signal = 1; signal < SIGRTMAX; ++signal)
        CHECK(sigismember(&before, signal) == sigismember(&after, signal));
}

TEST_CASE("looks up lines when standard input and output are closed") {
    if (!lines_are_known()) SKIP("compiled without -g1, or addr2line is not installed");
    const int closed = GENERATE(1, 2, 3, 4, 5, 6, 7);  // a bit for each of input, output, errors
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (int file = 0; file < 3; ++file) {
            if ((closed >> file & 1) != 0) close(file);
        }
        const void* const code = return_address();
        const int line = __LINE__ - 1;
        _exit(cpu_device::source_lines({code})[0].line == line ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("all diagnostics of a process are written to CPU_DEVICE_DIAGNOSTICS when it ends") {
    const std::string path = (std::filesystem::temp_directory_path() / "warpwise_diagnostics_").string() +
                             std::to_string(getpid()) + ".json";
    // This test's program again, so that the variable is there from the start.
    const auto run = [&](const std::string& test) {
        const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
        const std::string command =
            "CPU_DEVICE_DIAGNOSTICS='" + path + "' '" + program + "' '" + test + "' > /dev/null 2>&1";
        REQUIRE(std::system(command.c_str()) == 0);
        std::ifstream in(path);
        const nlohmann::json json = warpwise::parse_json<nlohmann::json>(in);
        std::filesystem::remove(path);
        return json;
    };
    const nlohmann::json found = run("diagnostics of host code are kept at once*");
    CHECK(found.size() == 2);  // although they were taken
    CHECK(run("says why a line is not known") == nlohmann::json::array());
}

TEST_CASE("messages name a file by its own name, or from the folder on that a program names") {
    const std::string lesson = "/copy/chapters/2_memory_model/coalescing/kernels.cuh";
    CHECK(cpu_device::short_name(lesson) == "kernels.cuh");
    CHECK(cpu_device::short_name("add.cu") == "add.cu");
    cpu_device::name_sources_from("chapters/2_memory_model");
    CHECK(cpu_device::short_name(lesson) == "coalescing/kernels.cuh");
    CHECK(cpu_device::short_name("/copy/chapters/2_memory_model/coalescing.cu") == "coalescing.cu");
    CHECK(cpu_device::short_name("/copy/more_chapters/2_memory_model/kernels.cuh") == "kernels.cuh");
    CHECK(cpu_device::short_name("/copy/common/helpers/check.h") == "check.h");
    cpu_device::name_sources_from("");
    CHECK(cpu_device::short_name(lesson) == "kernels.cuh");
}

TEST_CASE("reads lines of source without the blanks around them") {
    CHECK(cpu_device::source_text(__FILE__, 2) == "#include <fcntl.h>");
    CHECK(cpu_device::source_text(__FILE__, 5).empty());
    CHECK(cpu_device::source_text(__FILE__, 0).empty());
    CHECK(cpu_device::source_text(__FILE__, 1000000).empty());
    CHECK(cpu_device::source_text("no/such/file.cu", 1).empty());
}

TEST_CASE("says how much of a program was looked at") {
    cpu_device::Coverage coverage;
    CHECK(text_of(coverage, "--all-blocks").empty());
    coverage = {.launches = 1, .blocks = 1, .instrumented_blocks = 1, .accesses = 1};
    CHECK(text_of(coverage, "--all-blocks") == "Examined 1 launch of 1 block, with 1 access.");
    coverage = {.launches = 3, .blocks = 4096, .instrumented_blocks = 4096, .accesses = 1'234'567};
    CHECK(text_of(coverage, "--all-blocks") == "Examined all 4,096 blocks of 3 launches, 1.23 M accesses.");
    coverage = {.launches = 2, .blocks = 65'536, .instrumented_blocks = 512, .accesses = 999'999};
    CHECK(text_of(coverage, "--all-blocks") ==
          "Examined 512 of 65,536 blocks of 2 launches for every error and the other blocks for all but data races, "
          "999,999 accesses; --all-blocks examines every block for everything.");
    coverage = {.launches = 1, .blocks = 2, .instrumented_blocks = 2, .accesses = 5, .aborted_launches = 1};
    coverage.failed_kernel = "scale";
    CHECK_THAT(text_of(coverage, ""), EndsWith("5 accesses. Kernel scale was ended early."));
    coverage.skipped_launches = 2;
    CHECK_THAT(text_of(coverage, ""),
               EndsWith("Kernel scale was ended early, and 2 later launches did not run because of "
                        "that."));
}

TEST_CASE("ends a line of output that the program has left open, and no other") {
    const auto printed = [](const char* text, bool flushes) {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        std::fflush(nullptr);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            dup2(ends[1], STDOUT_FILENO);
            dup2(ends[1], STDERR_FILENO);
            printf(text, 1);
            if (flushes) std::fflush(stdout);
            cpu_device::begin_fresh_line();
            cpu_device::begin_fresh_line();
            std::fputs("closing", stderr);
            _exit(0);
        }
        close(ends[1]);
        std::string all;
        char piece[64];
        for (ssize_t count = 0; (count = read(ends[0], piece, sizeof piece)) > 0;) {
            all.append(piece, static_cast<std::size_t>(count));
        }
        close(ends[0]);
        waitpid(child, nullptr, 0);
        return all;
    };
    for (const bool flushes : {false, true}) {
        CHECK(printed("open %d", flushes) == "open 1\nclosing");
        CHECK(printed("ended %d\n", flushes) == "ended 1\nclosing");
    }
}

TEST_CASE("knows by indentation which branch a barrier stands in") {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("branches_" + std::to_string(getpid()) + ".cu")).string();
    std::ofstream(file) << "__global__ void sum(float* part, int n) {\n"   // 1
                           "    const int t = threadIdx.x;\n"              // 2
                           "    const int half = t / 2;\n"                 // 3
                           "    if (n > 32) {\n"                           // 4
                           "        __syncthreads();\n"                    // 5
                           "    }\n"                                       // 6
                           "    if (half < n) {  // who adds\n"            // 7
                           "        for (int i = 0; i < n; ++i) {\n"       // 8
                           "#pragma unroll\n"                              // 9
                           "            __syncthreads();\n"                // 10
                           "        }\n"                                   // 11
                           "    } else {\n"                                // 12
                           "        part[t] = 0;\n"                        // 13
                           "    }\n"                                       // 14
                           "    if (threadIdx.x < 32) __syncthreads();\n"  // 15
                           "    for (int i = t; i < n; i += 32) {\n"       // 16
                           "        __syncthreads();  // each round\n"     // 17
                           "        part[i] += part[i + 1];\n"             // 18
                           "    }\n"                                       // 19
                           "    part[0] = part[1];\n"                      // 20
                           "}\n"
                           "__global__ void other(float* part) { __syncthreads(); }\n";
    CHECK(cpu_device::branch_on_threads_around(file, 5) == 0);  // all threads have one n
    CHECK(cpu_device::branch_on_threads_around(file, 10) == 7);
    CHECK(cpu_device::branch_on_threads_around(file, 15) == 15);
    CHECK(cpu_device::branch_on_threads_around(file, 17) == 0);  // a loop
    CHECK(cpu_device::branch_on_threads_around(file, 22) == 0);
    const auto barrier = [&](int first, int last) {
        const cpu_device::BarrierInBranch found = cpu_device::barrier_in_branch(file, first, last);
        return std::vector<int>{found.line, found.branch, found.is_loop ? 1 : 0};
    };
    CHECK(barrier(3, 7) == std::vector<int>{5, 4, 0});
    CHECK(barrier(8, 13) == std::vector<int>{10, 8, 1});
    CHECK(barrier(13, 16) == std::vector<int>{15, 15, 0});
    CHECK(barrier(16, 18) == std::vector<int>{0, 0, 0});  // the loop holds both
    CHECK(barrier(16, 20) == std::vector<int>{17, 16, 1});
    std::filesystem::remove(file);
}
