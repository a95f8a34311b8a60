// How a grader shows what went wrong: failure.h says in which form. `--full` shows all that the matchers say,
// `--catch2` what Catch2 shows.
#pragma once

#include <string>

#include "common/grading/failure.h"

namespace grading {

/// Name of the reporter, for Catch2's option -r.
const char* reporter_name();

struct ReporterOptions {
    bool full = false;  ///< every failed assertion, with all lines
    bool colors = false;
};
void set_reporter_options(const ReporterOptions& options);

/// The failure as the reporter shows it, each line ended.
std::string shown(const Failure& failure, bool colors);

/// What a failed assertion has to tell, without what only repeats it. `expression` as it stands in the source,
/// `expansion` as Catch2 expands it.
std::string observation(const std::string& expression, const std::string& expansion);

}  // namespace grading
