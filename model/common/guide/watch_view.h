// What watch mode shows, as text for a window of any size.
//
//     const Frame frame = render(session.state(), project, {console.size(), colors});
//     console.write(drawing(before, frame));
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/guide/console.h"
#include "common/guide/project.h"
#include "common/guide/watch_session.h"

namespace guide {

/// A window's content: a body, of which what is too long scrolls out of the window, and a block of lines below it,
/// which always fits and can be drawn anew without the body.
struct Frame {
    std::string body;                ///< whole lines; empty, or as others wrote it
    std::vector<std::string> block;  ///< lines without their ends, none wider than the window; at least one
    bool keeps_above = false;        ///< goes below what another program has printed
    int columns = 80;
    int lines = 24;
    bool operator==(const Frame&) const = default;
};

struct ViewOptions {
    ConsoleSize size;
    bool colors = false;
};

Frame render(const WatchState& state, const Project& project, const ViewOptions& options);

/// What has to be written so that `after` is on the screen, where `before` is (nothing: anything may be there). Empty
/// when they are the same.
std::string drawing(const std::optional<Frame>& before, const Frame& after);

/// Exercises that the list shows at once in a window of this size.
std::size_t list_rows(ConsoleSize size);

/// "[#####>-------] 3/33", as wide as asked for, or "3/33" where that is too narrow.
std::string progress_bar(std::size_t done, std::size_t of, std::size_t width, bool colors);

/// Columns that UTF-8 text takes on a terminal: escape sequences none, East Asian characters and emoji two. A byte that
/// is not UTF-8 counts as one.
std::size_t display_width(std::string_view text);

/// The beginning of the text that fits, with "..." where something is left out; colors end with it.
std::string cut(std::string_view text, std::size_t width);

}  // namespace guide
