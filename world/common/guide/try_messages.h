// What the rewriter, the compiler and the linker said about a program that `warpwise try` could not build, in the
// reader's terms: one line where one line says it all.
//
//     const BuildMessage message = explain_compiler(output, {.source = "/home/me/add.cu", .shown = "add.cu"});
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace guide {

/// How places in messages are to be written.
struct MessagePlaces {
    std::string source;  ///< absolute path of the tried file, as compilers name it
    std::string shown;   ///< the same as the reader typed it
    std::string caller;  ///< absolute path of the reader's folder: files below it are named relative to it
    /// Absolute paths of the folders with the CPU device's headers: no place for a reader to look at.
    std::vector<std::string> headers;
};

struct BuildMessage {
    std::string text;        ///< lines to show, each ended by a newline
    bool needs_gpu = false;  ///< the program is right, but uses what the CPU device does not have
    bool shortened = false;  ///< the tool said more than `text` does
};

/// The first errors of an ordinary mistake as the compiler put them, with a hint where there is one to give. What the
/// CPU device lacks, what CUDA has dropped, and a header that is not there become one line each, without all that
/// follows from them. `output` may hold escape sequences for colors.
BuildMessage explain_compiler(std::string_view output, const MessagePlaces& places);

/// The rewriter's one line.
BuildMessage explain_rewriter(std::string_view output, const MessagePlaces& places);

/// Names what is missing: main, or functions of other files.
BuildMessage explain_linker(std::string_view output, const MessagePlaces& places);

/// `text` with absolute paths written as the reader would write them.
std::string with_shown_paths(std::string_view text, const MessagePlaces& places);

/// `text` without escape sequences for colors.
std::string without_colors(std::string_view text);

}  // namespace guide
