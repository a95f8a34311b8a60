#include "common/lesson/reader.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/helpers/utf8.h"

namespace warpwise {
namespace {

volatile sig_atomic_t interrupted = 0;

/// While it lives, Ctrl-C sets `interrupted`, but only while wait_for_input waits.
class Interruptible {
public:
    Interruptible() {
        // Blocked first: a signal that came between the two would be noted, and then waited for in vain.
        sigset_t block;
        sigemptyset(&block);
        sigaddset(&block, SIGINT);
        sigprocmask(SIG_BLOCK, &block, &old_mask_);
        interrupted = 0;
        struct sigaction action {};
        action.sa_handler = [](int) { interrupted = 1; };
        sigemptyset(&action.sa_mask);
        sigaction(SIGINT, &action, &old_action_);
    }
    ~Interruptible() {
        sigaction(SIGINT, &old_action_, nullptr);
        sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
    }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    /// False when Ctrl-C came instead.
    bool wait_for_input() const {
        sigset_t open = old_mask_;
        sigdelset(&open, SIGINT);
        pollfd input{STDIN_FILENO, POLLIN, 0};
        while (ppoll(&input, 1, nullptr, &open) < 0 && errno == EINTR) {
            if (interrupted != 0) return false;
        }
        return interrupted == 0;
    }

private:
    struct sigaction old_action_ {};
    sigset_t old_mask_{};
};

struct Screen {
    std::size_t rows = 0;  ///< 0: not known
    std::size_t columns = 80;
};

Screen screen() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
    return {size.ws_row, size.ws_col == 0 ? std::size_t{80} : size.ws_col};
}

/// Characters that a line takes on the screen, without the sequences that color it.
std::size_t width_of(std::string_view line) {
    std::size_t width = 0;
    while (!line.empty()) {
        if (line.starts_with("\033[")) {
            const std::size_t end = line.find_first_of("mK");
            line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
            continue;
        }
        line.remove_prefix(decode_utf8(line).length);
        ++width;
    }
    return width;
}

std::size_t rows_of_line(std::string_view line, std::size_t columns) {
    return std::max<std::size_t>(1, (width_of(line) + columns - 1) / columns);
}

/// Calls `each` with every line, its end included.
template <class Function>
void for_each_line(std::string_view text, const Function& each) {
    while (!text.empty()) {
        const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
        each(text.substr(0, length));
        text.remove_prefix(length);
    }
}

std::string_view without_end(std::string_view line) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    return line;
}

std::size_t rows_of(std::string_view text, std::size_t columns) {
    std::size_t rows = 0;
    for_each_line(text, [&](std::string_view line) { rows += rows_of_line(without_end(line), columns); });
    return rows;
}

void write_out(std::string_view text) {
    fmt::print(stdout, "{}", text);
    std::fflush(stdout);
}

/// While it lives, keys come at once, and are not shown. Ctrl-C and Ctrl-Z stay signals. Nothing changes where stdin is
/// no terminal: then a key counts once Enter follows it.
class KeysAtOnce {
public:
    KeysAtOnce() : changed_(tcgetattr(STDIN_FILENO, &before_) == 0) {
        if (!changed_) return;
        termios modes = before_;
        modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ECHONL);
        modes.c_cc[VMIN] = 1;
        modes.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    }
    ~KeysAtOnce() {
        if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    KeysAtOnce(const KeysAtOnce&) = delete;
    KeysAtOnce& operator=(const KeysAtOnce&) = delete;

private:
    termios before_{};
    bool changed_;
};

/// What was typed, at most so many bytes; empty at the end of the input. Throws ReaderLeft on Ctrl-C.
std::string read_typed(const Interruptible& interruptible, std::size_t most) {
    std::string typed(most, '\0');
    ssize_t got = 0;
    do {
        if (!interruptible.wait_for_input()) {
            write_out("\n");
            throw ReaderLeft{true};
        }
        got = read(STDIN_FILENO, typed.data(), typed.size());
    } while (got < 0 && errno == EINTR);
    typed.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return typed;
}

}  // namespace

bool Reader::at_terminal() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return false;
    const char* kind = std::getenv("TERM");
    return kind == nullptr || std::string_view(kind) != "dumb";
}

std::optional<std::string> Reader::ask(std::string_view prompt) {
    if (!is_there_) return std::nullopt;
    const Interruptible interruptible;
    tcflush(STDIN_FILENO, TCIFLUSH);
    write_out(prompt);
    has_read();
    std::string line;
    while (true) {
        const std::string typed = read_typed(interruptible, 1);
        if (typed.empty()) {
            is_there_ = false;
            write_out("\n");
            return std::nullopt;
        }
        if (typed == "\n") return line;
        line += typed;
    }
}

std::optional<char> Reader::ask_key(std::string_view prompt, std::string_view letters) {
    if (!is_there_) return std::nullopt;
    const Interruptible interruptible;
    const KeysAtOnce at_once;
    tcflush(STDIN_FILENO, TCIFLUSH);
    write_out(prompt);
    has_read();
    constexpr char end_of_input = 4, escape = 27;  // Ctrl-D; an arrow key begins with the other
    constexpr std::size_t most = 64;
    while (true) {
        const std::string typed = read_typed(interruptible, most);
        if (typed.starts_with(escape)) continue;
        if (typed.empty() || typed.front() == end_of_input) {
            is_there_ = false;
            write_out("\n");
            return std::nullopt;
        }
        for (const char each : typed) {
            if (each == '\n' || each == '\r' || each == ' ') return '\n';
            const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
            if (letters.find(letter) != std::string_view::npos) return letter;
        }
    }
}

bool Reader::leaves(std::string_view typed) {
    const std::size_t begin = typed.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return false;
    typed = typed.substr(begin, typed.find_last_not_of(" \t") + 1 - begin);
    return typed == "q" || typed == "Q" || typed == "quit";
}

void Reader::stop() {
    const std::optional<char> key = ask_key("Enter goes on, a shows all, q leaves ", "aq");
    if (!key) return;
    write_out("\r\033[2K");  // the question is of no use any more
    if (*key == 'q') throw ReaderLeft{};
    if (*key == 'a') stops_ = false;
}

void Reader::make_room_for(std::string_view text) {
    const Screen on = screen();
    constexpr std::size_t least_rows = 5;
    if (!is_there_ || !stops_ || on.rows < least_rows || used_ == 0) return;
    while (text.ends_with("\n\n")) text.remove_suffix(1);
    if (used_ + rows_of(text, on.columns) > on.rows - 1) stop();
}

void Reader::show(std::string_view text) {
    make_room_for(text);
    const Screen on = screen();
    constexpr std::size_t least_rows = 5;
    if (!is_there_ || !stops_ || on.rows < least_rows || rows_of(text, on.columns) <= on.rows - 1) {
        write_out(text);
        used_ += rows_of(text, on.columns);
        return;
    }
    for_each_line(text, [&](std::string_view line) {
        const std::size_t rows = rows_of_line(without_end(line), on.columns);
        if (is_there_ && stops_ && used_ != 0 && used_ + rows > on.rows - 1) stop();
        write_out(line);
        used_ += rows;
    });
}

}  // namespace warpwise
