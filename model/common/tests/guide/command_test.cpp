#include "common/guide/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

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
#include <stdexcept>
#include <string>
#include <thread>

#include "common/helpers/child_process.h"
#include "common/tests/guide/terminal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

CommandResult run_shell(const std::string& script, const CommandOptions& options = {}) {
    return run_command({"sh", "-c", script}, options);
}

bool is_running(pid_t process) {
    if (kill(process, 0) != 0) return false;
    // A zombie that nobody waits for has ended, too.
    std::ifstream status("/proc/" + std::to_string(process) + "/stat");
    std::string text((std::istreambuf_iterator<char>(status)), {});
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text.at(name_end + 2) != 'Z';
}

bool becomes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 500; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

bool ends(pid_t process) {
    return becomes_true([&] { return !is_running(process); });
}

/// The process whose number a script has written into this file.
pid_t process_in(const warpwise::TemporaryFile& file) {
    becomes_true([&] { return file.read().find('\n') != std::string::npos; });
    return static_cast<pid_t>(std::atoi(file.read().c_str()));
}

/// Whether a command ended within so many seconds, or does so when it is run again: a busy computer takes longer now
/// and then, but not 20 times.
bool can_end_within(double seconds, CommandResult result, const std::function<CommandResult()>& run) {
    for (int i = 0; i < 20 && result.seconds >= seconds; ++i) result = run();
    return result.seconds < seconds;
}

/// Signals act as in a program of its own: Catch2 has handlers.
void use_standard_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGTSTP}) std::signal(signal, SIG_DFL);
}

}  // namespace

TEST_CASE("a command's output and exit status come back") {
    const auto begin = std::chrono::steady_clock::now();
    const CommandResult result = run_shell("echo one; echo two >&2; echo three; exit 3");
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    CHECK(result.status == 3);
    CHECK(result.output == "one\ntwo\nthree\n");
    CHECK_FALSE(result.timed_out);
    CHECK_FALSE(result.cancelled);
    CHECK(result.seconds > 0);
    CHECK(result.seconds <= passed.count());
}

TEST_CASE("a command that does nothing is over at once") {
    const CommandResult result = run_command({"true"});
    CHECK(result.status == 0);
    CHECK(result.output.empty());
    CHECK(can_end_within(0.9, result, [] { return run_command({"true"}); }));
}

TEST_CASE("a command gets its arguments as they are") {
    const CommandResult result = run_command({"printf", "<%s>", "two words", "", "$HOME *", "ü"});
    CHECK(result.output == "<two words><><$HOME *><ü>");
}

TEST_CASE("a command that a signal ended has 128 and the signal as its status") {
    CHECK(run_shell("kill -SEGV $$").status == 128 + SIGSEGV);
    CHECK(run_shell("kill -KILL $$").status == 128 + SIGKILL);
}

TEST_CASE("a command that cannot be started says why") {
    const CommandResult missing = run_command({"no_program_is_called_like_this"});
    CHECK(missing.status == 127);
    CHECK(missing.output == "cannot start no_program_is_called_like_this: No such file or directory\n");

    const warpwise::TemporaryFile no_program;
    const CommandResult refused = run_command({no_program.path()});
    CHECK(refused.status == 127);
    CHECK_THAT(refused.output, ContainsSubstring("Permission denied"));

    const CommandResult nowhere = run_command({"true"}, {.folder = "/no/such/folder"});
    CHECK(nowhere.status == 127);
    CHECK(nowhere.output == "cannot start true: /no/such/folder: No such file or directory\n");

    const CommandResult on_terminal = run_command({"no_program_is_called_like_this"}, {.owns_terminal = true});
    CHECK(on_terminal.status == 127);
    CHECK_THAT(on_terminal.output, ContainsSubstring("No such file"));

    CHECK_THROWS_AS(run_command({}), std::invalid_argument);
}

TEST_CASE("a program that is just being written is started once that is done") {
    const warpwise::TemporaryFile beside;
    const std::string program = beside.path() + "_program";
    std::filesystem::copy_file("/bin/true", program);
    // In another process: a child of this one would have the file open, too.
    const std::string began = beside.path() + "_began";
    int written = -1;
    std::thread writer(
        [&] { written = std::system(("(touch '" + began + "'; sleep 0.2) 3>>'" + program + "'").c_str()); });
    const bool has_begun = becomes_true([&] { return std::filesystem::exists(began); });
    const CommandResult result = run_command({program});
    writer.join();
    REQUIRE(has_begun);
    REQUIRE(written == 0);
    CHECK(result.status == 0);
    CHECK(result.output.empty());
    std::filesystem::remove(program);
    std::filesystem::remove(began);
}

TEST_CASE("a command runs in the folder that is asked for") {
    CHECK(run_command({"pwd"}, {.folder = "/"}).output == "/\n");
    CHECK(run_command({"./sh", "-c", "pwd"}, {.folder = std::filesystem::canonical("/bin")}).status == 0);
}

TEST_CASE("a command sees added variables and those of the guide") {
    setenv("WARPWISE_TEST_KEPT", "kept", 1);
    setenv("WARPWISE_TEST_CHANGED", "old", 1);
    const CommandResult result = run_shell(
        "echo $WARPWISE_TEST_KEPT $WARPWISE_TEST_CHANGED $WARPWISE_TEST_NEW; env | grep -c WARPWISE_TEST_CHANGED",
        {.variables = {{"WARPWISE_TEST_CHANGED", "changed"}, {"WARPWISE_TEST_NEW", "a=b"}}});
    CHECK(result.output == "kept changed a=b\n1\n");
    CHECK(std::string(std::getenv("WARPWISE_TEST_CHANGED")) == "old");
}

TEST_CASE("a command reads nothing") { CHECK(run_command({"cat"}, {.limit_seconds = 10}).status == 0); }

TEST_CASE("a command gets none of the guide's open files") {
    const CommandResult result = run_shell("ls /proc/self/fd | wc -l");
    const int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK(run_shell("ls /proc/self/fd | wc -l").output == result.output);
    close(before);
    for (int i = 0; i < 300; ++i) run_command({"true"});
    const int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK(after == before);  // nothing has leaked
    close(after);
}

TEST_CASE("output comes in pieces while the command runs") {
    const warpwise::TemporaryFile answer;
    std::string seen;
    const CommandResult result =
        run_shell("echo early; until [ -s " + answer.path() + " ]; do sleep 0.01; done; echo late",
                  {.limit_seconds = 60, .on_output = [&](std::string_view piece) {
                       seen += piece;
                       if (seen == "early\n") std::ofstream(answer.path()) << "go on\n";
                   }});
    CHECK_FALSE(result.timed_out);
    CHECK(seen == "early\nlate\n");
    CHECK(seen == result.output);
}

TEST_CASE("output may hold zeros and any other byte") {
    const CommandResult result = run_shell("printf 'a\\000b\\377\\n'");
    CHECK(result.output == std::string("a\0b\377\n", 5));
}

TEST_CASE("of a huge output the beginning and the end are kept, and all of it is shown") {
    std::size_t seen = 0;
    const CommandResult result = run_shell("echo first; yes 'a line of text' | head -n 2000000; echo last",
                                           {.on_output = [&](std::string_view piece) { seen += piece.size(); }});
    const std::size_t all = 6 + 2000000 * 15 + 5;
    CHECK(seen == all);
    CHECK(result.output.size() < (2 << 20) + 200);
    CHECK(result.output.size() > (2 << 20) - 200);
    CHECK_THAT(result.output, StartsWith("first\na line of text\n"));
    CHECK_THAT(result.output, EndsWith("a line of text\nlast\n"));

    const std::size_t begin = result.output.find("\n[... ");
    REQUIRE(begin != std::string::npos);
    const std::size_t left_out = std::stoul(result.output.substr(begin + 6));
    const std::string line = "[... " + std::to_string(left_out) + " bytes left out ...]\n";
    CHECK(result.output.substr(begin + 1, line.size()) == line);
    CHECK(result.output.size() - line.size() + left_out == all);
    // Lines are left out as a whole.
    CHECK(result.output.substr(begin - 14, 14) == "a line of text");
    CHECK(result.output.substr(begin + 1 + line.size(), 15) == "a line of text\n");
}

TEST_CASE("an output of just two kept parts is complete") {
    const CommandResult result = run_command({"head", "-c", std::to_string(2 << 20), "/dev/zero"});
    CHECK(result.output == std::string(2 << 20, '\0'));
}

TEST_CASE("one endless line is cut as well") {
    const CommandResult result = run_command({"head", "-c", std::to_string(9 << 20), "/dev/zero"});
    CHECK_THAT(result.output, ContainsSubstring("\n[... " + std::to_string(7 << 20) + " bytes left out ...]\n"));
}

TEST_CASE("a command that takes too long is stopped") {
    const CommandResult result = run_shell("echo begun; sleep 100", {.limit_seconds = 0.3});
    CHECK(result.timed_out);
    CHECK_FALSE(result.cancelled);
    CHECK(result.status == 128 + SIGTERM);
    CHECK(result.output == "begun\n");
    CHECK(result.seconds >= 0.3);
    CHECK(can_end_within(1.2, result, [] { return run_shell("echo begun; sleep 100", {.limit_seconds = 0.3}); }));
}

TEST_CASE("a command that ignores SIGTERM is killed a second later") {
    const auto run = [] {
        return run_shell("trap '' TERM; echo begun; while :; do sleep 0.05; done", {.limit_seconds = 0.3});
    };
    const CommandResult result = run();
    CHECK(result.timed_out);
    CHECK(result.status == 128 + SIGKILL);
    CHECK(result.seconds > 1.2);
    CHECK(can_end_within(4, result, run));
}

TEST_CASE("a command that ends well at SIGTERM may say so") {
    const CommandResult result =
        run_shell("trap 'echo cleaned; exit 7' TERM; echo begun; while :; do sleep 0.05; done", {.limit_seconds = 0.3});
    CHECK(result.timed_out);
    CHECK(result.status == 7);
    CHECK_THAT(result.output, StartsWith("begun\n"));
    CHECK_THAT(result.output, EndsWith("cleaned\n"));  // the shell may say that its `sleep` was terminated
}

TEST_CASE("a command that prints for ever is stopped") {
    const CommandResult result = run_command({"yes"}, {.limit_seconds = 0.3});
    CHECK(result.timed_out);
    CHECK(can_end_within(3, result, [] { return run_command({"yes"}, {.limit_seconds = 0.3}); }));
    CHECK_THAT(result.output, ContainsSubstring("bytes left out ...]"));
}

TEST_CASE("a stopped command is ended, too") {
    const CommandResult result = run_shell("kill -STOP $$", {.limit_seconds = 0.2});
    CHECK(result.timed_out);
    CHECK(result.status == 128 + SIGTERM);
}

TEST_CASE("a command is cancelled soon after somebody wants it") {
    int questions = 0;
    const auto run = [&] {
        questions = 0;
        return run_shell("sleep 100", {.cancelled = [&] { return ++questions == 6; }});
    };
    const CommandResult result = run();
    CHECK(result.cancelled);
    CHECK_FALSE(result.timed_out);
    CHECK(questions == 6);
    CHECK(result.seconds > 0.2);
    CHECK(can_end_within(1.5, result, run));
}

TEST_CASE("a command that prints for ever can be cancelled") {
    int questions = 0;
    const CommandResult result =
        run_command({"yes"}, {.limit_seconds = 20, .cancelled = [&] { return ++questions == 4; }});
    CHECK(result.cancelled);
    CHECK_FALSE(result.timed_out);
}

TEST_CASE("with a command ends all that it has started") {
    const warpwise::TemporaryFile file;
    const std::string script = "sleep 100 & echo $! > " + file.path() + "; sleep 100";
    const CommandResult result = run_shell(script, {.limit_seconds = 0.5});
    CHECK(result.timed_out);
    const pid_t left = process_in(file);
    REQUIRE(left > 0);
    CHECK(ends(left));
}

TEST_CASE("what a command leaves behind does not hold up its end") {
    const warpwise::TemporaryFile file;
    const std::string redirection = GENERATE("", ">/dev/null 2>&1");  // it holds the pipe, or not
    CAPTURE(redirection);
    const auto run = [&] {
        return run_shell("sleep 100 " + redirection + " & echo $! > " + file.path() + "; echo done");
    };
    const CommandResult result = run();
    CHECK(result.status == 0);
    CHECK(result.output == "done\n");
    CHECK_FALSE(result.timed_out);
    CHECK(can_end_within(1, result, run));
    CHECK(ends(process_in(file)));
}

TEST_CASE("what left the process group and holds the pipe does not hang the guide") {
    const warpwise::TemporaryFile file;
    const CommandResult result =
        run_shell("setsid sh -c 'echo $$ > " + file.path() + "; exec sleep 100' & until [ -s " + file.path() +
                  " ]; do sleep 0.01; done; echo done");
    CHECK(result.status == 0);
    CHECK(result.output == "done\n");
    CHECK(result.seconds < 50);
    kill(process_in(file), SIGKILL);
}

TEST_CASE("a command that closes its output goes on") {
    const CommandResult result = run_shell("exec >/dev/null 2>&1; sleep 0.3; exit 4");
    CHECK(result.status == 4);
    CHECK(result.output.empty());
    CHECK(result.seconds >= 0.3);
}

TEST_CASE("a command is ended when who listens to it throws") {
    const warpwise::TemporaryFile file;
    CHECK_THROWS_AS(run_shell("echo $$ > " + file.path() + "; echo out; sleep 100",
                              {.on_output = [](std::string_view) { throw std::runtime_error("enough"); }}),
                    std::runtime_error);
    CHECK(ends(process_in(file)));
}

TEST_CASE("a command's status is known when the guide was started with SIGCHLD ignored") {
    const auto before = std::signal(SIGCHLD, SIG_IGN);
    CHECK(run_shell("exit 5").status == 5);
    std::signal(SIGCHLD, before);
}

TEST_CASE("a signal that ends the guide ends the commands") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGKILL);
    const bool ignores_term = signal == SIGINT && GENERATE(false, true);
    CAPTURE(signal, ignores_term);
    const warpwise::TemporaryFile file;
    const pid_t guide = fork();
    if (guide == 0) {
        use_standard_signals();
        const std::string trap = ignores_term ? "trap '' TERM; " : "";
        run_shell(trap + "echo $$ > " + file.path() + "; while :; do sleep 0.1; done");
        _exit(0);
    }
    const pid_t command = process_in(file);
    REQUIRE(command > 0);
    CHECK(is_running(command));
    kill(guide, signal);
    int status = 0;
    waitpid(guide, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(ends(command));
}

TEST_CASE("signals that are ignored stay so while a command runs") {
    const pid_t guide = fork();
    if (guide == 0) {
        use_standard_signals();
        std::signal(SIGHUP, SIG_IGN);
        run_shell("kill -HUP $PPID");
        _exit(9);
    }
    int status = 0;
    waitpid(guide, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 9);
}

namespace {

/// A guide on a terminal of its own, in the foreground; it types what the test types.
class GuideOnTerminal {
public:
    explicit GuideOnTerminal(const std::function<int()>& guide) {
        std::fflush(nullptr);  // the child is not to write it again
        process_ = fork_on_terminal(terminal_);
        if (process_ == 0) {
            use_standard_signals();
            _exit(guide());
        }
    }
    ~GuideOnTerminal() {
        if (process_ > 0) kill(process_, SIGKILL);
        if (process_ > 0) waitpid(process_, nullptr, 0);
        close(terminal_);
    }
    GuideOnTerminal(const GuideOnTerminal&) = delete;
    GuideOnTerminal& operator=(const GuideOnTerminal&) = delete;

    void type(const std::string& text) const {
        [[maybe_unused]] const ssize_t written = write(terminal_, text.data(), text.size());
    }
    bool shows(const std::string& text) {
        fcntl(terminal_, F_SETFL, O_NONBLOCK);
        return becomes_true([&] {
            char buffer[1024];
            const ssize_t count = read(terminal_, buffer, sizeof buffer);
            if (count > 0) shown_.append(buffer, static_cast<std::size_t>(count));
            const std::size_t at = shown_.find(text);
            if (at == std::string::npos) return false;
            shown_.erase(0, at + text.size());
            return true;
        });
    }
    int wait() {
        int status = 0;
        waitpid(process_, &status, 0);
        process_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    /// The process group that reads from the terminal.
    pid_t foreground() const { return tcgetpgrp(terminal_); }
    termios modes() const {
        termios result{};
        tcgetattr(terminal_, &result);
        return result;
    }
    pid_t process() const { return process_; }
    const std::string& shown() const { return shown_; }

private:
    int terminal_ = -1;
    pid_t process_ = -1;
    std::string shown_;
};

void say(const std::string& text) {
    [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
}

}  // namespace

TEST_CASE("a command that owns the terminal reads and writes it") {
    GuideOnTerminal guide([] {
        const CommandResult result =
            run_command({"sh", "-c", "echo ready; read line; echo \"<$line>\"; exit 6"}, {.owns_terminal = true});
        return result.output.empty() && is_in_foreground() ? result.status : 99;
    });
    CHECK(guide.shows("ready"));
    guide.type("hello\n");
    CHECK(guide.shows("<hello>"));
    CHECK(guide.wait() == 6);
}

TEST_CASE("Ctrl-C hits the command that owns the terminal, not the guide") {
    GuideOnTerminal guide([] {
        // With exec: between vfork and exec of a child, dash may lose a SIGINT.
        const CommandResult result = run_command({"sh", "-c", "echo ready; exec sleep 100"}, {.owns_terminal = true});
        say("guide goes on");
        return result.status == 128 + SIGINT ? 5 : 99;
    });
    CHECK(guide.shows("ready"));
    guide.type("\003");
    CHECK(guide.shows("guide goes on"));
    CHECK(guide.wait() == 5);
}

TEST_CASE("Ctrl-C while a command without the terminal runs ends both") {
    const warpwise::TemporaryFile file;
    GuideOnTerminal guide([&] {
        run_command({"sh", "-c", "echo $$ > " + file.path() + "; sleep 100"});
        return 0;
    });
    const pid_t command = process_in(file);
    REQUIRE(command > 0);
    guide.type("\003");
    CHECK(guide.wait() == 128 + SIGINT);
    CHECK(ends(command));
}

TEST_CASE("a command that leaves the terminal in a mess does not leave it so") {
    GuideOnTerminal guide([] {
        const CommandResult result =
            run_command({"sh", "-c", "stty raw -echo; kill -KILL $$"}, {.owns_terminal = true});
        return result.status == 128 + SIGKILL ? 0 : 99;
    });
    CHECK(guide.wait() == 0);
    CHECK((guide.modes().c_lflag & (ICANON | ECHO)) == (ICANON | ECHO));
}

TEST_CASE("a command with the terminal can be limited and cancelled") {
    GuideOnTerminal guide([] {
        const CommandResult limited = run_command({"sleep", "100"}, {.limit_seconds = 0.2, .owns_terminal = true});
        const CommandResult cancelled =
            run_command({"sleep", "100"}, {.cancelled = [] { return true; }, .owns_terminal = true});
        return limited.timed_out && cancelled.cancelled && is_in_foreground() ? 0 : 99;
    });
    CHECK(guide.wait() == 0);
}

TEST_CASE("Ctrl-Z stops the command and the guide, and both go on together") {
    // The first process is what a shell is: it has the guide as a job.
    GuideOnTerminal shell([] {
        std::signal(SIGTTOU, SIG_IGN);
        const pid_t job = fork();
        if (job == 0) {
            setpgid(0, 0);
            tcsetpgrp(STDIN_FILENO, getpid());
            std::signal(SIGTTOU, SIG_DFL);
            const CommandResult result =
                run_command({"sh", "-c", "echo ready; read line; echo \"<$line>\"; exit 6"}, {.owns_terminal = true});
            _exit(result.status);
        }
        int status = 0;
        waitpid(job, &status, WUNTRACED);
        if (!WIFSTOPPED(status)) return 98;
        tcsetpgrp(STDIN_FILENO, getpgrp());
        say("stopped ");
        tcsetpgrp(STDIN_FILENO, job);
        kill(-job, SIGCONT);
        say("goes on ");
        waitpid(job, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
    });
    REQUIRE(shell.shows("ready"));
    const pid_t command = shell.foreground();
    shell.type("\032");
    REQUIRE(shell.shows("stopped "));
    REQUIRE(shell.shows("goes on "));
    REQUIRE(becomes_true([&] { return shell.foreground() == command; }));
    shell.type("again\n");
    CHECK(shell.shows("<again>"));
    CHECK(shell.wait() == 6);
}

TEST_CASE("without a terminal a command has the guide's own files") {
    int ends_of_pipe[2];
    REQUIRE(pipe(ends_of_pipe) == 0);
    const pid_t guide = fork();
    if (guide == 0) {
        use_standard_signals();
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        dup2(ends_of_pipe[1], STDOUT_FILENO);
        const CommandResult result = run_command({"sh", "-c", "echo text; exit 3"}, {.owns_terminal = true});
        _exit(result.status);
    }
    close(ends_of_pipe[1]);
    char buffer[16];
    const ssize_t count = read(ends_of_pipe[0], buffer, sizeof buffer);
    CHECK(std::string(buffer, static_cast<std::size_t>(count)) == "text\n");
    int status = 0;
    waitpid(guide, &status, 0);
    CHECK(WEXITSTATUS(status) == 3);
    close(ends_of_pipe[0]);
}

TEST_CASE("programs are found in PATH only when they can be executed") {
    CHECK(has_program("sh"));
    CHECK(has_program("/bin/sh"));
    CHECK_FALSE(has_program("no_program_is_called_like_this"));
    CHECK_FALSE(has_program(""));
    CHECK_FALSE(has_program("/bin"));
    const warpwise::TemporaryFile no_program;
    CHECK_FALSE(has_program(no_program.path()));

    const std::string path = std::getenv("PATH");
    const std::filesystem::path file = no_program.path();
    setenv("PATH", file.parent_path().c_str(), 1);
    CHECK_FALSE(has_program(file.filename()));
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    CHECK(has_program(file.filename()));
    CHECK_FALSE(has_program("sh"));
    setenv("PATH", path.c_str(), 1);
}
