// The terminal under the guide's full control: keys one at a time, the size, and its old state back in every case.
//
//     Console console;                      // raw mode from here on
//     const Key key = console.read_key(0.1);
//     if (key == 'q') ...
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace guide {

/// A key: a character, or one of these.
using Key = char32_t;
namespace key {
constexpr Key none = 0;  ///< nothing was pressed in time
constexpr Key enter = '\n';
constexpr Key escape = 27;
constexpr Key backspace = 127;
constexpr Key interrupt = 3;  ///< Ctrl-C
constexpr Key up = 0x110000;
constexpr Key down = 0x110001;
constexpr Key page_up = 0x110002;
constexpr Key page_down = 0x110003;
constexpr Key home = 0x110004;
constexpr Key end = 0x110005;
constexpr Key resized = 0x110006;  ///< not a key: the window has another size now
constexpr Key closed = 0x110007;   ///< standard input has ended
}  // namespace key

struct ConsoleSize {
    int columns = 80;
    int lines = 24;
};

/// True when standard input and output are both a terminal that can be controlled (TERM is not dumb).
bool is_interactive();

/// One at a time. Restores the terminal in its destructor, at exit, and when a signal ends or stops the process
/// (SIGINT, SIGTERM, SIGHUP, SIGQUIT; SIGTSTP and SIGCONT: raw mode again).
class Console {
public:
    Console();
    ~Console();
    Console(const Console&) = delete;
    Console& operator=(const Console&) = delete;

    /// Waits at most `seconds` (0: not at all). Ctrl-C is `key::interrupt`, not a signal.
    Key read_key(double seconds);
    /// Waits for a key, or until `descriptor` has something to read (-1: none), whichever is first.
    Key read_key_or(int descriptor, double seconds);
    ConsoleSize size() const;

    void write(std::string_view text);
    void clear();  ///< the window and what has scrolled out of it, so that a new result stands alone
    void set_title(std::string_view title);
    void show_cursor(bool shown);

    /// The terminal as other programs want it, for as long as it lives: for an editor, a pager, a chapter.
    class Released {
    public:
        explicit Released(Console& console);
        ~Released();
        Released(const Released&) = delete;
        Released& operator=(const Released&) = delete;

    private:
        Console& console_;
    };
};

}  // namespace guide
