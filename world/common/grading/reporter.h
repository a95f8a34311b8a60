// How a grader shows what went wrong: failure.h says in which form. `--full` shows all that the matchers say,
// `--catch2` what Catch2 shows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/failure.h"

namespace grading {

/// Name of the reporter, for Catch2's option -r.
const char* reporter_name();

struct ReporterOptions {
    bool full = false;  ///< every failed assertion, with all lines
    bool colors = false;
    std::size_t width = 100;  ///< characters in a line, where that breaks no word
};
void set_reporter_options(const ReporterOptions& options);

/// The failure as the reporter shows it, each line ended.
std::string shown(const Failure& failure, const ReporterOptions& options);

/// The text in lines of at most `width` characters. Breaks at spaces only, so a long word (a path, a name) may be
/// longer than a line. Further lines begin with as many spaces as the text, or with two.
std::vector<std::string> broken_at_spaces(const std::string& text, std::size_t width);

/// What a failed assertion has to tell, without what only repeats it. `expression` as it stands in the source,
/// `expansion` as Catch2 expands it.
std::string observation(const std::string& expression, const std::string& expansion);

}  // namespace grading
