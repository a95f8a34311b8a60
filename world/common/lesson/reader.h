// Who reads along at a terminal: answers questions, and goes on when a screen is read.
//
//     Reader reader(Reader::at_terminal());
//     const std::optional<std::string> line = reader.ask("Your guess: ");     // nothing: nobody answers any more
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace warpwise {

/// The reader wants no more of this lesson (q), or of the program (Ctrl-C). Thrown through lessons, which catch
/// std::exception for reasons of their own: this is none.
struct ReaderLeft {
    bool interrupted = false;  ///< by Ctrl-C
};

class Reader {
public:
    /// Nobody: nothing is asked, and nothing waits.
    Reader() = default;
    explicit Reader(bool is_there) : is_there_(is_there) {}

    /// Whether stdin and stdout are terminals, and the terminal can move its cursor.
    static bool at_terminal();

    bool is_there() const { return is_there_; }

    /// Shows the prompt and returns the line that is typed. What was typed before the prompt came is forgotten: it
    /// cannot be an answer. Nothing at the end of the input: then nobody is there any more. Throws ReaderLeft on
    /// Ctrl-C.
    std::optional<std::string> ask(std::string_view prompt);

    /// The same for one key, which counts as soon as it is pressed: one of these letters, in lower case, or '\n' for
    /// Enter and for the space bar. Other keys are passed over.
    std::optional<char> ask_key(std::string_view prompt, std::string_view letters);

    /// Call before so much text is printed, in lines without their ends: stops where the screen would lose a line that
    /// was not read. Throws ReaderLeft when the reader has enough.
    void make_room_for(std::string_view text);

    /// Prints it, a screen at a time where it is longer.
    void show(std::string_view text);

    /// All above was read: the screen is free.
    void has_read() { used_ = 0; }

    /// True for "q" and "quit".
    static bool leaves(std::string_view typed);

private:
    void stop();

    bool is_there_ = false;
    bool stops_ = true;     ///< false once the reader wanted to see all
    std::size_t used_ = 0;  ///< lines of the screen that were not read yet
};

}  // namespace warpwise
