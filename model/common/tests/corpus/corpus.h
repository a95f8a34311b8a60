// Small kernels for testing what finds mistakes: some with exactly one mistake, some correct although they look
// suspicious.
//
//     namespace {
//     __global__ void reads_past_the_end(const float* in, float* out, int n) { ... }  // MISTAKE(out_of_bounds): why
//     void read_past_the_end() {
//         DeviceBuffer<float> d_in(std::vector<float>(100, 1.0f)), d_out(100);
//         reads_past_the_end<<<1, 128>>>(d_in.data(), d_out.data(), 100);
//         check_finished();
//     }
//     }  // namespace
//     CaseList bounds() { return {__FILE__, {{"read_past_the_end", "the guard is missing", read_past_the_end}}}; }
//
// The line of the mistake ends with `// MISTAKE(kind): why`, kind as in cpu_device::identifier_of(DiagnosticKind). A
// race has two sides: the other line ends with `// OTHER: why`, unless both sides are the same line. The mistake of a
// leak is where the memory was allocated, that of an error nobody looked at is the launch or call. Correct cases carry
// no markers. Names of cases are unique in the whole corpus.
//
// A case may also say what its report has to advise: `// HINT: words` in a line of its own, and `// NO HINT: words` for
// what it must not. `// CALLED FROM: why` marks the line of a call that the report has to name.
#pragma once

#include <vector>

#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
// The hardware's own reductions came with compute capability 8.0; before it the same with shuffles.
__device__ inline int __reduce_add_sync(unsigned mask, int value) {
    int sum = 0;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) sum += __shfl_sync(mask, value, __ffs(rest) - 1);
    return sum;
}
__device__ inline int __reduce_max_sync(unsigned mask, int value) {
    int most = value;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) most = max(most, __shfl_sync(mask, value, __ffs(rest) - 1));
    return most;
}
#endif

namespace corpus {

using warpwise::check;
using warpwise::check_finished;
using warpwise::check_launch;
using warpwise::DeviceBuffer;

struct Case {
    const char* name;
    const char* what;    ///< what is wrong, or why it is right, in a few words
    void (*run)();       ///< host code and launches of this case; may throw warpwise::CudaError
    bool hangs = false;  ///< would never end on a GPU
};

/// The cases of one source file, in their order there.
struct CaseList {
    const char* file;  ///< __FILE__, so that the markers can be read
    std::vector<Case> cases;
};

/// Programs with one mistake each: mistakes/mistakes.cpp lists the files.
std::vector<CaseList> diagnostics();

/// Programs without any: correct/correct.cpp lists the files.
std::vector<CaseList> correct();

}  // namespace corpus
