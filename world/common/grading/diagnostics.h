// What the CPU device found in a learner's kernels, in words. On a GPU nobody instruments, and nothing is ever found.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace grading {

/// Takes what was found since the last call: what happened, in which kernel, where, and what to try. Empty if nothing.
std::string take_diagnostics();

/// The last launch that was refused for its shape, in a sentence, and forgets it. Empty if none was, and on a GPU.
std::string take_refused_launch();

/// The first call of the runtime API that returned this error since the last question, and forgets all such calls.
/// "cudaMemcpy in my.cu:12 returned this error:  cudaMemcpy(d_in, in, bytes, cudaMemcpyHostToHost);". Empty if none
/// did, if the grader has made the call, and on a GPU.
std::string take_failed_call(cudaError_t error);

/// The nearest line with an `if` around this line whose condition depends on the number of the thread; 0 when there is
/// none, and on a GPU.
int branch_on_threads_around(const std::string& file, int line);

/// Keeps diagnostics from being printed when they happen: a grader shows them as failed assertions.
void show_diagnostics_only_when_taken();

}  // namespace grading
