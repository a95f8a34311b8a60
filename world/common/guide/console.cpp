#include "common/guide/console.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/guide/command.h"
#include "common/helpers/utf8.h"

namespace guide {
namespace {

using Clock = std::chrono::steady_clock;

// A sequence such as `ESC [ A` may come in pieces, over a slow line. An Escape that nothing follows is the key.
constexpr std::chrono::milliseconds sequence_pause(100);
constexpr Key not_a_character = 0xFFFD;

// ---- the terminal's state, which signal handlers use --------------------------------------------------------------

constexpr std::array console_signals{SIGTSTP, SIGCONT, SIGWINCH};

struct TerminalState {
    termios before{};  ///< as it was, and as other programs want it
    termios raw{};
    std::atomic<pid_t> process = 0;  ///< the one that the console is in; 0: there is no console
    std::atomic<bool> is_raw = false;
    std::atomic<bool> hides_cursor = false;
    std::atomic<bool> has_title = false;
    std::atomic<bool> size_changed = false;
    std::atomic<int> wake_descriptor = -1;
    std::array<struct sigaction, console_signals.size()> former_actions;
};

TerminalState terminal;

/// For a signal handler, with a literal.
void write_now(std::string_view text) {
    [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
}

class TerminalStopBlocked {
public:
    TerminalStopBlocked() {
        sigset_t stop;
        sigemptyset(&stop);
        sigaddset(&stop, SIGTTOU);
        pthread_sigmask(SIG_BLOCK, &stop, &former_);
    }
    ~TerminalStopBlocked() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
    TerminalStopBlocked(const TerminalStopBlocked&) = delete;
    TerminalStopBlocked& operator=(const TerminalStopBlocked&) = delete;

private:
    sigset_t former_{};
};

/// Async-signal-safe. In the background it changes nothing: the terminal is somebody else's then.
void set_raw(bool raw) {
    if (!is_in_foreground()) return;
    const TerminalStopBlocked blocked;
    tcsetattr(STDIN_FILENO, TCSANOW, raw ? &terminal.raw : &terminal.before);
    if (terminal.hides_cursor) write_now(raw ? "\033[?25l" : "\033[?25h");
}

/// Async-signal-safe.
void restore_terminal() {
    if (terminal.process != getpid()) return;
    if (terminal.is_raw.exchange(false)) set_raw(false);
    if (terminal.has_title.exchange(false) && is_in_foreground()) write_now("\033[23;2t");
}

void wake_reader() {
    const std::uint64_t once = 1;
    [[maybe_unused]] const ssize_t written = ::write(terminal.wake_descriptor, &once, sizeof once);
}

/// Ctrl-Z, or `kill -TSTP`: stops as if there were no handler, with the terminal as the shell wants it.
void stop_process() {
    struct sigaction own {};
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    if (terminal.is_raw) set_raw(false);
    sigaction(SIGTSTP, &standard, &own);
    raise(SIGTSTP);
    sigset_t this_one;
    sigemptyset(&this_one);
    sigaddset(&this_one, SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &this_one, nullptr);  // here it stops, and goes on at SIGCONT
    pthread_sigmask(SIG_BLOCK, &this_one, nullptr);
    sigaction(SIGTSTP, &own, nullptr);
}

void on_console_signal(int signal) {
    if (terminal.process != getpid()) return;  // in a child that has not become another program yet
    const int error = errno;
    if (signal == SIGTSTP) stop_process();
    if (signal != SIGWINCH && terminal.is_raw) set_raw(true);
    terminal.size_changed = true;  // after a stop the window has to be drawn again as well
    wake_reader();
    errno = error;
}

void catch_console_signals() {
    struct sigaction action {};
    action.sa_handler = on_console_signal;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    for (std::size_t i = 0; i < console_signals.size(); ++i) {
        sigaction(console_signals[i], nullptr, &terminal.former_actions[i]);
        const bool is_ignored = terminal.former_actions[i].sa_handler == SIG_IGN;
        if (!is_ignored)
            sigaction(console_signals[i], &action, nullptr);  // a shell without job control ignores SIGTSTP
    }
}

void release_console_signals() {
    for (std::size_t i = 0; i < console_signals.size(); ++i) {
        sigaction(console_signals[i], &terminal.former_actions[i], nullptr);
    }
}

/// Keys come one at a time and are not shown. Ctrl-Z and Ctrl-\ stay signals, Ctrl-C becomes a key.
termios raw_modes(termios modes) {
    modes.c_iflag &= ~static_cast<tcflag_t>(IXON | ISTRIP | INLCR | IGNCR);
    modes.c_iflag |= ICRNL;
    modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ECHONL | IEXTEN);
    modes.c_lflag |= ISIG;
    modes.c_cc[VINTR] = _POSIX_VDISABLE;
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    return modes;
}

std::string_view terminal_kind() {
    const char* kind = std::getenv("TERM");
    return kind == nullptr ? "" : kind;
}

// ---- keys from bytes ----------------------------------------------------------------------------------------------

/// What stands at the beginning of the input.
struct Parsed {
    std::size_t length = 0;  ///< 0: the rest has to come first
    Key key = key::none;     ///< none: something that is no key here, such as F1
};

Key key_of_number(std::string_view number) {
    if (number == "1" || number == "7") return key::home;
    if (number == "4" || number == "8") return key::end;
    if (number == "5") return key::page_up;
    if (number == "6") return key::page_down;
    return key::none;
}

Key key_of_letter(char letter) {
    switch (letter) {
        case 'A':
            return key::up;
        case 'B':
            return key::down;
        case 'H':
            return key::home;
        case 'F':
            return key::end;
        case 'M':
            return key::enter;  // of the number pad
        default:
            return key::none;
    }
}

/// `ESC [ 5 ~`, `ESC [ 1 ; 5 A`, `ESC O A`, or Escape alone. `complete`: no more is to come.
Parsed parse_escape(std::string_view bytes, bool complete) {
    const Parsed alone{1, key::escape};
    const Parsed unfinished{};
    if (bytes.size() == 1) return complete ? alone : unfinished;
    if (bytes[1] == 'O') {
        if (bytes.size() == 2) return complete ? alone : unfinished;
        return {3, key_of_letter(bytes[2])};
    }
    if (bytes[1] != '[') return alone;
    if (bytes.size() == 2) return complete ? alone : unfinished;
    std::size_t last = 2;
    if (bytes[2] == '[') {  // function keys of the Linux console: one more letter
        last = 3;
    } else {
        while (last < bytes.size() && bytes[last] >= ' ' && bytes[last] <= '?') ++last;
    }
    constexpr std::size_t longest = 32;
    if (last >= bytes.size() && last < longest) return complete ? Parsed{bytes.size(), key::none} : unfinished;
    if (last >= bytes.size() || bytes[last] < '@' || bytes[last] > '~') return {last, key::none};  // broken off
    const std::string_view numbers = bytes.substr(2, last - 2);
    if (bytes[2] == '[') return {last + 1, key::none};
    if (bytes[last] == '~') return {last + 1, key_of_number(numbers.substr(0, numbers.find(';')))};
    return {last + 1, key_of_letter(bytes[last])};
}

/// A character in UTF-8; a byte that belongs to none is one that stands for it.
Parsed parse_character(std::string_view bytes, bool complete) {
    const warpwise::Utf8Character first = warpwise::decode_utf8(bytes);
    if (first.unfinished && !complete) return {};
    return {first.length, first.valid ? first.value : not_a_character};
}

/// What was typed and is not yet asked for.
class Input {
public:
    bool is_closed() const { return is_closed_; }

    /// When an unfinished sequence has waited long enough; nothing waits: none.
    std::optional<Clock::time_point> end_of_wait() const {
        if (bytes_.empty()) return std::nullopt;
        return arrival_ + sequence_pause;
    }

    std::optional<Key> take_key() {
        const bool complete = is_closed_ || Clock::now() >= arrival_ + sequence_pause;
        while (!bytes_.empty()) {
            const Parsed parsed =
                bytes_[0] == '\033' ? parse_escape(bytes_, complete) : parse_character(bytes_, complete);
            if (parsed.length == 0) return std::nullopt;
            bytes_.erase(0, parsed.length);
            if (parsed.key == '\r') return key::enter;
            if (parsed.key == '\b') return key::backspace;
            if (parsed.key != key::none) return parsed.key;
        }
        return std::nullopt;
    }

    /// When standard input has something.
    void read_more() {
        std::array<char, 256> buffer;
        const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
        if (count > 0) {
            bytes_.append(buffer.data(), static_cast<std::size_t>(count));
            arrival_ = Clock::now();
        } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
            is_closed_ = true;
        }
    }

private:
    std::string bytes_;
    Clock::time_point arrival_;
    bool is_closed_ = false;
};

Input input;

Clock::time_point time_after(double seconds) {
    constexpr double longest = 1e8;  // three years
    const std::chrono::duration<double> duration(seconds > 0 ? std::min(seconds, longest) : 0);
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(duration);
}

/// For poll: rounded up, so that it does not ask again and again in the last millisecond.
int milliseconds_until(Clock::time_point time) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now()).count();
    constexpr std::int64_t longest = 1000 * 3600;
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, longest));
}

std::optional<ConsoleSize> size_of(int descriptor) {
    winsize size{};
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return std::nullopt;
    return ConsoleSize{size.ws_col, size.ws_row};
}

std::atomic<int> released = 0;  // Released objects that live
ConsoleSize size_at_release;

std::optional<SignalCleanup> signal_cleanup;

}  // namespace

bool is_interactive() {
    const std::string_view kind = terminal_kind();
    return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && !kind.empty() && kind != "dumb";
}

Console::Console() {
    if (terminal.process != 0) throw std::logic_error("there is a Console already");
    static const bool restores_at_exit = std::atexit(restore_terminal) == 0;
    static_cast<void>(restores_at_exit);
    input = {};
    released = 0;
    terminal.hides_cursor = false;
    terminal.has_title = false;
    terminal.size_changed = false;
    terminal.wake_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const bool is_controlled = tcgetattr(STDIN_FILENO, &terminal.before) == 0;
    terminal.raw = raw_modes(terminal.before);
    terminal.process = getpid();
    restore_terminal_with(restore_terminal);
    signal_cleanup.emplace();
    catch_console_signals();
    terminal.is_raw = is_controlled;  // before it is: a signal in between restores what has not changed
    if (is_controlled) set_raw(true);
}

Console::~Console() {
    std::fflush(stdout);
    restore_terminal();
    release_console_signals();
    signal_cleanup.reset();
    restore_terminal_with(nullptr);
    terminal.process = 0;
    if (const int descriptor = terminal.wake_descriptor.exchange(-1); descriptor != -1) close(descriptor);
}

Key Console::read_key(double seconds) { return read_key_or(-1, seconds); }

Key Console::read_key_or(int descriptor, double seconds) {
    const Clock::time_point deadline = time_after(seconds);
    while (true) {
        if (terminal.size_changed.exchange(false)) return key::resized;
        if (const std::optional<Key> pressed = input.take_key()) return *pressed;
        if (input.is_closed()) return key::closed;

        const Clock::time_point until = std::min(deadline, input.end_of_wait().value_or(deadline));
        std::array<pollfd, 3> events{
            {{STDIN_FILENO, POLLIN, 0}, {terminal.wake_descriptor, POLLIN, 0}, {descriptor, POLLIN, 0}}};
        const int ready = poll(events.data(), events.size(), milliseconds_until(until));
        if (ready == -1 && errno != EINTR) return key::closed;
        if (ready == 0 && Clock::now() >= deadline) return key::none;
        if (ready <= 0) continue;
        if (events[1].revents != 0) {
            std::uint64_t times = 0;
            [[maybe_unused]] const ssize_t count = read(terminal.wake_descriptor, &times, sizeof times);
        }
        if (events[0].revents != 0) {
            input.read_more();
        } else if (events[2].revents != 0 && !terminal.size_changed) {
            return key::none;
        }
    }
}

ConsoleSize Console::size() const {
    if (const std::optional<ConsoleSize> size = size_of(STDOUT_FILENO)) return *size;
    return size_of(STDIN_FILENO).value_or(ConsoleSize{});
}

void Console::write(std::string_view text) {
    std::fflush(stdout);  // what was printed before comes before
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            pollfd event{STDOUT_FILENO, POLLOUT, 0};
            poll(&event, 1, -1);
        } else if (errno != EINTR) {
            return;  // the terminal is gone: read_key will say so
        }
    }
}

void Console::clear() { write("\033[H\033[2J\033[3J"); }

void Console::set_title(std::string_view title) {
    if (terminal_kind().starts_with("linux") || terminal_kind() == "dumb" || terminal_kind().empty()) return;
    std::string sequence = terminal.has_title.exchange(true) ? "" : "\033[22;2t";  // remembers the old one
    sequence += "\033]2;";
    for (const char character : title) {
        const bool is_control = static_cast<unsigned char>(character) < ' ' || character == '\177';
        if (!is_control) sequence += character;
    }
    write(sequence + "\007");
}

void Console::show_cursor(bool shown) {
    terminal.hides_cursor = !shown;
    write(shown ? "\033[?25h" : "\033[?25l");
}

Console::Released::Released(Console& console) : console_(console) {
    if (released++ != 0) return;
    std::fflush(stdout);
    size_at_release = console.size();
    if (terminal.is_raw.exchange(false)) set_raw(false);
}

Console::Released::~Released() {
    if (--released != 0) return;
    std::fflush(stdout);
    // A resize is told to whoever is in the foreground, and that may have been another program.
    const ConsoleSize size = console_.size();
    if (size.columns != size_at_release.columns || size.lines != size_at_release.lines) terminal.size_changed = true;
    if (isatty(STDIN_FILENO) == 0) return;
    terminal.is_raw = true;
    set_raw(true);
}

}  // namespace guide
