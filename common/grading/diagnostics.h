// What the CPU device found in a learner's kernels, in words. On a GPU nobody instruments, and nothing is ever found.
#pragma once

#include <string>

namespace grading {

/// Takes what was found since the last call: what happened, in which kernel, where, and what to try. Empty if nothing.
std::string take_diagnostics();

/// The last launch that was refused for its shape, in a sentence, and forgets it. Empty if none was, and on a GPU.
std::string take_refused_launch();

/// Keeps diagnostics from being printed when they happen: a grader shows them as failed assertions.
void show_diagnostics_only_when_taken();

}  // namespace grading
