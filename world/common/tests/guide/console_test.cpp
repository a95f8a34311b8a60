#include "common/guide/console.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/guide/command.h"
#include "common/tests/guide/terminal.h"

using namespace guide;
using std::chrono::milliseconds;

namespace {

void say(const std::string& text) {
    [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
}

std::string name_of(Key pressed) {
    switch (pressed) {
        case key::none:
            return "none";
        case key::enter:
            return "enter";
        case key::escape:
            return "escape";
        case key::backspace:
            return "backspace";
        case key::interrupt:
            return "interrupt";
        case key::up:
            return "up";
        case key::down:
            return "down";
        case key::page_up:
            return "page_up";
        case key::page_down:
            return "page_down";
        case key::home:
            return "home";
        case key::end:
            return "end";
        case key::resized:
            return "resized";
        case key::closed:
            return "closed";
        default:
            break;
    }
    char text[16];
    std::snprintf(text, sizeof text, "U+%04X", static_cast<unsigned>(pressed));
    return text;
}

/// Signals act as in a program of its own: Catch2 has handlers.
void use_standard_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGTSTP, SIGPIPE}) {
        std::signal(signal, SIG_DFL);
    }
}

/// A program on a terminal of its own.
class OnTerminal {
public:
    explicit OnTerminal(const std::function<int()>& program) {
        const winsize size{.ws_row = 30, .ws_col = 90, .ws_xpixel = 0, .ws_ypixel = 0};
        std::fflush(nullptr);  // the child is not to write it again
        process_ = fork_on_terminal(terminal_, &size);
        if (process_ == 0) {
            use_standard_signals();
            setenv("TERM", "xterm", 1);
            _exit(program());
        }
        fcntl(terminal_, F_SETFL, O_NONBLOCK);
    }
    ~OnTerminal() {
        if (process_ > 0) {
            kill(process_, SIGKILL);
            waitpid(process_, nullptr, 0);
        }
        if (terminal_ != -1) close(terminal_);
    }
    OnTerminal(const OnTerminal&) = delete;
    OnTerminal& operator=(const OnTerminal&) = delete;

    void type(const std::string& text) const {
        [[maybe_unused]] const ssize_t written = write(terminal_, text.data(), text.size());
    }

    /// Waits until the program has written this; what comes before is in before().
    bool shows(const std::string& text) {
        for (int i = 0; i < 500; ++i) {
            char buffer[1024];
            const ssize_t count = read(terminal_, buffer, sizeof buffer);
            if (count > 0) shown_.append(buffer, static_cast<std::size_t>(count));
            const std::size_t at = shown_.find(text);
            if (at != std::string::npos) {
                before_ = shown_.substr(0, at);
                shown_.erase(0, at + text.size());
                return true;
            }
            if (count <= 0) std::this_thread::sleep_for(milliseconds(10));
        }
        UNSCOPED_INFO("shown instead: " << shown_);
        return false;
    }
    const std::string& before() const { return before_; }

    int wait() {
        int status = 0;
        waitpid(process_, &status, 0);
        process_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    void resize(unsigned short columns, unsigned short lines) const {
        const winsize size{.ws_row = lines, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        ioctl(terminal_, TIOCSWINSZ, &size);
    }
    bool is_raw() const {
        termios modes{};
        tcgetattr(terminal_, &modes);
        return (modes.c_lflag & (ICANON | ECHO)) == 0;
    }
    bool is_as_it_was() const {
        termios modes{};
        tcgetattr(terminal_, &modes);
        const tcflag_t usual = ICANON | ECHO | ISIG | IEXTEN;
        return (modes.c_lflag & usual) == usual && (modes.c_iflag & IXON) != 0 && modes.c_cc[VINTR] == 3;
    }
    bool becomes_raw(bool wanted) const {
        for (int i = 0; i < 500 && is_raw() != wanted; ++i) std::this_thread::sleep_for(milliseconds(10));
        return is_raw() == wanted;
    }
    void hang_up() {
        close(terminal_);
        terminal_ = -1;
    }
    pid_t process() const { return process_; }

private:
    int terminal_ = -1;
    pid_t process_ = -1;
    std::string shown_;
    std::string before_;
};

/// Says "<ready>", then the name of each key, until 'q'.
int name_keys() {
    Console console;
    say("<ready>");
    while (true) {
        const Key pressed = console.read_key(20);
        say("<" + name_of(pressed) + ">");
        if (pressed == 'q' || pressed == key::none || pressed == key::closed) return 0;
    }
}

/// The names of the keys that these bytes are, written one after the other with a pause between them.
std::string keys_of(const std::vector<std::string>& pieces, milliseconds pause = milliseconds(20),
                    const std::function<int()>& name_them = name_keys) {
    for (int attempt = 0; attempt < 20; ++attempt) {
        OnTerminal program(name_them);
        if (!program.shows("<ready>")) return "the program did not start";
        auto longest = std::chrono::steady_clock::duration::zero();
        for (const std::string& piece : pieces) {
            const auto begin = std::chrono::steady_clock::now();
            program.type(piece);
            std::this_thread::sleep_for(pause);
            longest = std::max(longest, std::chrono::steady_clock::now() - begin);
        }
        program.type("q");
        if (!program.shows("<U+0071>")) return "no q";
        if (longest < pause + milliseconds(50)) return program.before();
    }
    return "this computer is too busy";
}

}  // namespace

TEST_CASE("characters and control keys come one at a time") {
    need_terminal();
    CHECK(keys_of({"aB ?"}) == "<U+0061><U+0042><U+0020><U+003F>");
    CHECK(keys_of({"\r\n"}) == "<enter><enter>");
    CHECK(keys_of({"\x7f\b"}) == "<backspace><backspace>");
    CHECK(keys_of({"\x03\x04\x11\x13\x16"}) == "<interrupt><U+0004><U+0011><U+0013><U+0016>");
}

TEST_CASE("arrows and their neighbors are keys, in every terminal's way") {
    need_terminal();
    CHECK(keys_of({"\033[A\033[B"}) == "<up><down>");
    CHECK(keys_of({"\033OA\033OB"}) == "<up><down>");
    CHECK(keys_of({"\033[1;5A\033[1;2B"}) == "<up><down>");
    CHECK(keys_of({"\033[5~\033[6~\033[6;5~"}) == "<page_up><page_down><page_down>");
    CHECK(keys_of({"\033[H\033[F\033OH\033OF"}) == "<home><end><home><end>");
    CHECK(keys_of({"\033[1~\033[4~\033[7~\033[8~"}) == "<home><end><home><end>");
}

TEST_CASE("keys that the guide has no use for are passed over") {
    need_terminal();
    CHECK(keys_of({"a\033[C\033[D\033OP\033[15~\033[[A\033[24;2~\033[3~b"}) == "<U+0061><U+0062>");
    CHECK(keys_of({std::string("a\0b", 3)}) == "<U+0061><U+0062>");
}

TEST_CASE("a sequence that comes in pieces is one key") {
    need_terminal();
    CHECK(keys_of({"\033", "[A"}) == "<up>");
    CHECK(keys_of({"\033[", "A"}) == "<up>");
    CHECK(keys_of({"\033", "[", "5", "~"}) == "<page_up>");
    CHECK(keys_of({"\033[1;", "5B"}) == "<down>");
    CHECK(keys_of({"\033", "O", "B"}) == "<down>");
    CHECK(keys_of({"\xC3", "\xBC"}) == "<U+00FC>");
    CHECK(keys_of({"\xF0\x9F", "\x98", "\x80"}) == "<U+1F600>");
}

TEST_CASE("Escape that nothing follows is a key") {
    need_terminal();
    CHECK(keys_of({"\033"}, milliseconds(400)) == "<escape>");
    CHECK(keys_of({"\033\033"}, milliseconds(400)) == "<escape><escape>");
    CHECK(keys_of({"\033x"}) == "<escape><U+0078>");
    CHECK(keys_of({"\033\033[A"}) == "<escape><up>");
    CHECK(keys_of({"\033["}, milliseconds(400)) == "<escape><U+005B>");
    CHECK(keys_of({"\033[1;"}, milliseconds(400)) == "");
}

TEST_CASE("characters beyond ASCII are read as UTF-8") {
    need_terminal();
    CHECK(keys_of({"äß€😀"}) == "<U+00E4><U+00DF><U+20AC><U+1F600>");
}

TEST_CASE("bytes that are no UTF-8 hurt nobody") {
    need_terminal();
    CHECK(keys_of({"\x80z"}) == "<U+FFFD><U+007A>");
    CHECK(keys_of({"\xC3z"}) == "<U+FFFD><U+007A>");
    CHECK(keys_of({"\xFFz"}) == "<U+FFFD><U+007A>");
    CHECK(keys_of({"\xC0\xAF"}) == "<U+FFFD><U+FFFD>");
    CHECK(keys_of({"\xE0\x80\xAF"}) == "<U+FFFD>");      // longer than it has to be
    CHECK(keys_of({"\xED\xA0\x80"}) == "<U+FFFD>");      // half of a pair of UTF-16
    CHECK(keys_of({"\xF4\x90\x80\x80"}) == "<U+FFFD>");  // behind the last character
    CHECK(keys_of({"\xE2\x82"}, milliseconds(400)) == "<U+FFFD><U+FFFD>");
}

TEST_CASE("reading a key does not wait longer than asked") {
    OnTerminal program([] {
        Console console;
        bool none = true, at_once = false, soon = false;
        for (int i = 0; i < 20 && !(at_once && soon); ++i) {  // a busy computer takes longer now and then
            const auto begin = std::chrono::steady_clock::now();
            none = none && console.read_key(0) == key::none && console.read_key(-1) == key::none;
            const auto middle = std::chrono::steady_clock::now();
            none = none && console.read_key(0.2) == key::none;
            const auto end = std::chrono::steady_clock::now();
            if (end - middle < milliseconds(199)) return 1;
            at_once = at_once || middle - begin <= milliseconds(100);
            soon = soon || end - middle <= milliseconds(1500);
        }
        if (!at_once || !soon) return 2;
        return none ? 0 : 3;
    });
    CHECK(program.wait() == 0);
}

TEST_CASE("a sequence is not torn when nobody waits for its end") {
    need_terminal();
    const auto never_wait = [] {
        Console console;
        say("<ready>");
        while (true) {
            const Key pressed = console.read_key(0);
            if (pressed != key::none) say("<" + name_of(pressed) + ">");
            if (pressed == 'q') return 0;
            std::this_thread::sleep_for(milliseconds(1));
        }
    };
    CHECK(keys_of({"\033", "[A"}, milliseconds(30), never_wait) == "<up>");
}

TEST_CASE("a descriptor ends the wait for a key, and a key comes first") {
    OnTerminal program([] {
        int ends[2];
        if (pipe(ends) != 0) return 1;
        Console console;
        if (console.read_key_or(ends[0], 0.05) != key::none) return 2;
        say("<ready>");
        if (console.read_key_or(ends[0], 20) != 'k') return 3;
        [[maybe_unused]] const ssize_t written = write(ends[1], "x", 1);
        const auto begin = std::chrono::steady_clock::now();
        if (console.read_key_or(ends[0], 100) != key::none) return 4;
        if (std::chrono::steady_clock::now() - begin > milliseconds(50000)) return 5;
        say("<now>");
        pollfd typed{STDIN_FILENO, POLLIN, 0};
        poll(&typed, 1, 10000);
        return console.read_key_or(ends[0], 20) == 'm' ? 0 : 6;
    });
    REQUIRE(program.shows("<ready>"));
    program.type("k");
    REQUIRE(program.shows("<now>"));
    program.type("m");
    CHECK(program.wait() == 0);
}

TEST_CASE("what was typed before the console was there is not lost") {
    OnTerminal program([] {
        say("<typed?>");
        pollfd typed{STDIN_FILENO, POLLIN, 0};
        poll(&typed, 1, 10000);
        Console console;
        return console.read_key(5) == 'x' ? 0 : 1;
    });
    REQUIRE(program.shows("<typed?>"));
    program.type("x\n");
    CHECK(program.wait() == 0);
}

TEST_CASE("a new size of the window is told, and known") {
    OnTerminal program([] {
        Console console;
        const ConsoleSize first = console.size();
        if (first.columns != 90 || first.lines != 30) return 1;
        say("<ready>");
        if (console.read_key(20) != key::resized) return 2;
        const ConsoleSize second = console.size();
        if (second.columns != 132 || second.lines != 50) return 3;
        return console.read_key(0.1) == key::none ? 0 : 4;
    });
    REQUIRE(program.shows("<ready>"));
    program.resize(132, 50);
    CHECK(program.wait() == 0);
}

TEST_CASE("a window whose size is unknown has 80 columns and 24 lines") {
    OnTerminal program([] {
        const winsize unknown{};
        ioctl(STDOUT_FILENO, TIOCSWINSZ, &unknown);
        const Console console;
        return console.size().columns == 80 && console.size().lines == 24 ? 0 : 1;
    });
    CHECK(program.wait() == 0);
}

TEST_CASE("the end of the input is told, again and again") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t program = fork();
    if (program == 0) {
        use_standard_signals();
        dup2(ends[0], STDIN_FILENO);
        close(ends[1]);
        close(ends[0]);
        Console console;  // not a terminal at all
        const bool read = console.read_key(20) == 'a' && console.read_key(20) == key::escape;
        const bool closed = console.read_key(20) == key::closed && console.read_key(0) == key::closed;
        _exit(read && closed ? 0 : 1);
    }
    REQUIRE(write(ends[1], "a\033", 2) == 2);
    close(ends[1]);
    close(ends[0]);
    int status = 0;
    waitpid(program, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a terminal that goes away ends the program") {
    OnTerminal program(name_keys);
    REQUIRE(program.shows("<ready>"));
    program.hang_up();
    CHECK(program.wait() == 128 + SIGHUP);
}

TEST_CASE("the terminal is raw while there is a console, and as before afterwards") {
    OnTerminal program([] {
        {
            Console console;
            console.show_cursor(false);
            console.set_title("a\033b\007c");
            say("<raw>");
            console.read_key(20);
        }
        say("<after>");
        char byte = 0;
        return read(STDIN_FILENO, &byte, 1) == 1 ? 0 : 1;
    });
    REQUIRE(program.shows("<raw>"));
    CHECK(program.is_raw());
    CHECK(program.before() == "\033[?25l\033[22;2t\033]2;abc\007");
    program.type("x");
    REQUIRE(program.shows("<after>"));
    CHECK(program.is_as_it_was());
    CHECK(program.before() == "\033[?25h\033[23;2t");
    program.type("x\n");
    CHECK(program.wait() == 0);
}

TEST_CASE("exit() restores the terminal") {
    OnTerminal program([]() -> int {
        Console console;
        console.show_cursor(false);
        say("<raw>");
        console.read_key(20);
        std::exit(3);
    });
    REQUIRE(program.shows("<raw>"));
    CHECK(program.is_raw());
    program.type("x");
    CHECK(program.shows("\033[?25h"));
    CHECK(program.wait() == 3);
    CHECK(program.is_as_it_was());
}

TEST_CASE("an exception that nobody catches leaves the terminal restored") {
    OnTerminal program([]() -> int {
        std::set_terminate([] { std::abort(); });
        std::thread([] {
            Console console;
            say("<raw>");
            console.read_key(20);
            std::abort();
        }).join();
        return 0;
    });
    REQUIRE(program.shows("<raw>"));
    program.type("x");
    CHECK(program.wait() == 128 + SIGABRT);
    CHECK(program.is_as_it_was());
}

TEST_CASE("a signal that ends the program restores the terminal first") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP, SIGQUIT);
    CAPTURE(signal);
    OnTerminal program([] {
        Console console;
        console.show_cursor(false);
        console.set_title("title");
        say("<raw>");
        while (true) console.read_key(20);
        return 0;
    });
    REQUIRE(program.shows("<raw>"));
    CHECK(program.is_raw());
    kill(program.process(), signal);
    CHECK(program.shows("\033[?25h"));
    CHECK(program.shows("\033[23;2t"));
    CHECK(program.wait() == 128 + signal);
    CHECK(program.is_as_it_was());
}

TEST_CASE("a signal ends the command that a console's program runs, and restores the terminal") {
    OnTerminal program([] {
        Console console;
        run_command({"sh", "-c", "echo $$; while :; do sleep 0.1; done"}, {.on_output = [](std::string_view text) {
                        say("<" + std::string(text.substr(0, text.size() - 1)) + ">");
                    }});
        return 0;
    });
    REQUIRE(program.shows("<"));
    REQUIRE(program.shows(">"));
    const pid_t command = std::stoi(program.before());
    kill(program.process(), SIGTERM);
    CHECK(program.wait() == 128 + SIGTERM);
    CHECK(program.is_as_it_was());
    for (int i = 0; i < 300 && kill(command, 0) == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
    CHECK(kill(command, 0) == -1);
}

namespace {

/// What a shell does with a program that is stopped: takes the terminal, waits for a line, and brings the program back.
int run_as_job(const std::function<int()>& program) {
    std::signal(SIGTTOU, SIG_IGN);
    const pid_t job = fork();
    if (job == 0) {
        setpgid(0, 0);
        tcsetpgrp(STDIN_FILENO, getpid());
        std::signal(SIGTTOU, SIG_DFL);
        _exit(program());
    }
    while (true) {
        int status = 0;
        waitpid(job, &status, WUNTRACED);
        if (!WIFSTOPPED(status)) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        tcsetpgrp(STDIN_FILENO, getpgrp());
        say("<stopped>");
        char byte = 0;
        while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {
        }
        tcsetpgrp(STDIN_FILENO, job);
        kill(-job, SIGCONT);
    }
}

}  // namespace

TEST_CASE("Ctrl-Z gives the shell its terminal, and coming back makes it raw again") {
    OnTerminal shell([] {
        return run_as_job([] {
            Console console;
            console.show_cursor(false);
            say("<ready>");
            while (true) {
                const Key pressed = console.read_key(20);
                say("<" + name_of(pressed) + ">");
                if (pressed == 'q') return 4;
            }
        });
    });
    REQUIRE(shell.shows("<ready>"));
    for (int times = 0; times < 2; ++times) {
        CHECK(shell.is_raw());
        shell.type("\032");
        REQUIRE(shell.shows("<stopped>"));
        CHECK(shell.before() == "\033[?25h");
        CHECK(shell.is_as_it_was());
        shell.type("fg\n");
        REQUIRE(shell.shows("<resized>"));
    }
    CHECK(shell.is_raw());
    shell.type("aq");
    CHECK(shell.shows("<U+0061><U+0071>"));
    CHECK(shell.wait() == 4);
    CHECK(shell.is_as_it_was());
}

TEST_CASE("after SIGSTOP, which nobody sees coming, the terminal is made raw again") {
    OnTerminal shell([] {
        return run_as_job([] {
            Console console;
            say("<ready>");
            const Key first = console.read_key(20);
            say("<" + name_of(first) + ">");
            kill(getpid(), SIGSTOP);
            const Key second = console.read_key(20);
            say("<" + name_of(second) + ">");
            console.read_key(20);
            return 4;
        });
    });
    REQUIRE(shell.shows("<ready>"));
    shell.type("a");
    REQUIRE(shell.shows("<stopped>"));
    // The test's shell does not mend the terminal, as real ones do.
    shell.type("fg\n");
    REQUIRE(shell.shows("<resized>"));
    CHECK(shell.becomes_raw(true));
    shell.type("x");
    CHECK(shell.wait() == 4);
}

TEST_CASE("other programs get the terminal as they want it, and then it is raw again") {
    OnTerminal program([] {
        Console console;
        console.show_cursor(false);
        say("<raw>");
        console.read_key(20);
        {
            const Console::Released released(console);
            const Console::Released inner(console);
            run_command({"sh", "-c", "printf '<editor>'; read line; printf \"<$line>\""}, {.owns_terminal = true});
        }
        say("<again>");
        return console.read_key(20) == 'y' && console.read_key(0.1) == key::none ? 0 : 1;
    });
    REQUIRE(program.shows("<raw>"));
    program.type("x");
    REQUIRE(program.shows("<editor>"));
    CHECK(program.before() == "\033[?25h");
    CHECK(program.is_as_it_was());
    program.type("line\n");
    REQUIRE(program.shows("<line>"));
    REQUIRE(program.shows("<again>"));
    CHECK(program.before() == "\033[?25l");
    CHECK(program.is_raw());
    program.type("y");
    CHECK(program.wait() == 0);
}

TEST_CASE("a size that changed while another program had the terminal is told") {
    OnTerminal program([] {
        Console console;
        {
            const Console::Released released(console);
            run_command({"sh", "-c", "printf '<editor>'; read line"}, {.owns_terminal = true});
        }
        return console.read_key(5) == key::resized && console.size().columns == 60 ? 0 : 1;
    });
    REQUIRE(program.shows("<editor>"));
    program.resize(60, 20);
    program.type("\n");
    CHECK(program.wait() == 0);
}

TEST_CASE("text is written as a whole, after what was printed before") {
    OnTerminal program([] {
        Console console;
        std::printf("<first>");
        console.clear();
        std::string text;
        for (int i = 0; i < 20000; ++i) text += "0123456789";
        console.write(text + "<last>");
        console.read_key(20);
        return 0;
    });
    REQUIRE(program.shows("<first>"));
    REQUIRE(program.shows("<last>"));
    CHECK(program.before().size() == 200000 + std::string("\033[H\033[2J\033[3J").size());
    CHECK(program.before().substr(0, 11) == "\033[H\033[2J\033[3J");
    program.type("x");
    CHECK(program.wait() == 0);
}

TEST_CASE("there is one console at a time, and another one afterwards") {
    OnTerminal program([] {
        for (int i = 0; i < 3; ++i) {
            Console console;
            try {
                Console second;
                return 1;
            } catch (const std::logic_error&) {
            }
            if (console.read_key(0) != key::none) return 2;
        }
        return 0;
    });
    CHECK(program.wait() == 0);
    CHECK(program.is_as_it_was());
}

TEST_CASE("only a terminal that can be controlled is interactive") {
    const auto [kind, wanted] = GENERATE(table<std::string, int>({{"xterm", 0}, {"dumb", 1}, {"", 1}}));
    CAPTURE(kind);
    OnTerminal program([kind = kind] {
        setenv("TERM", kind.c_str(), 1);
        return is_interactive() ? 0 : 1;
    });
    CHECK(program.wait() == wanted);

    OnTerminal into_a_file([] {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        return is_interactive() ? 0 : 1;
    });
    CHECK(into_a_file.wait() == 1);
}
