// What the learner reads beside the grader's words: the invitation before anything was edited, and what was learned
// after success.
//
//     if (is_untouched(exercise)) text = invitation(project, exercise, answer);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/guide/answers.h"
#include "common/guide/catalog.h"
#include "common/guide/project.h"

namespace guide {

/// C++ without its comments, and with one space where there was white space.
std::string bare_code(std::string_view code);

/// The answer has no other code than what was handed out. False when nobody knows what was handed out.
bool is_untouched(const Exercise& exercise);

/// The first line with a TODO: its number, and what it asks for, with the comment lines that go on with it.
struct Todo {
    int line = 0;  ///< 0: there is none
    std::string text;
};
Todo first_todo(std::string_view code);

/// What the task asks, the file to edit, and which TODO is first.
std::string invitation(const Project& project, const Exercise& exercise, const Answer& answer, std::size_t width);

/// The section of the task under this heading, as one paragraph; empty when it has none.
inline constexpr std::string_view learned_heading = "## What you have learned";
std::string learned_from(std::string_view task);
std::string without_learned(std::string_view task);

/// The first error in a compiler's or rewriter's messages with its line of source, and how many there are besides.
std::string first_error(std::string_view messages);

}  // namespace guide
