// What the CPU device found in a learner's kernels, in words. On a GPU nobody watches, and nothing is ever found.
#pragma once

#include <string>

namespace grading {

/// Takes what was found since the last call: what happened, in which kernel, where, and what to try. Empty if nothing.
std::string take_findings();

/// Keeps findings from being printed when they happen: a grader shows them as failed assertions.
void show_findings_only_when_taken();

}  // namespace grading
