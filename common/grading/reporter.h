// How a grader shows what went wrong: the test's title, what was observed, the question that goes with it, and the
// place.
// `--details` shows what Catch2 would show.
#pragma once

#include <string>

namespace grading {

/// Name of the reporter, for Catch2's option -r.
const char* reporter_name();

/// What a failed assertion has to tell, without what only repeats it. `expression` as it stands in the source,
/// `expansion` as Catch2 expands it.
std::string observation(const std::string& expression, const std::string& expansion);

}  // namespace grading
