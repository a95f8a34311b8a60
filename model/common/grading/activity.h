// Who wrote an output, and who read an input, in the last `grading::instrument`. So an answer passes only if its
// kernels did the work, with the parallelism that the task asks for: not if the host computed everything and launched
// an empty kernel, and not if one thread did all.
//
//     grading::instrument([&] { add(d_a.data(), d_b.data(), d_sum.data(), n); });
//     CHECK_THAT(d_sum, grading::WrittenByThreads(n));       // of kernels, each element's last writer
//     CHECK_THAT(d_a, grading::ReadByKernels());             // for functions that return a number to the host
//
// Accesses are known in words of four bytes: of several threads that write (or read) parts of a word, the last one
// counts. Fetches through textures are not seen. Only the CPU device knows all this; elsewhere these matchers accept
// everything, and the grader says at its end what it left out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/grading.h"
#include "common/helpers/activity.h"

namespace grading {

/// One element in the last `instrument`.
struct ElementActivity {
    warpwise::Writer writer = warpwise::Writer::nobody;  ///< `kernel` only when kernels wrote all of its bytes last
    warpwise::KernelThread written_by;                   ///< of its first word
    warpwise::KernelThread read_by;                      ///< of its first word
    std::size_t writes = 0;                              ///< by threads of kernels, the most of its words
    std::size_t reads = 0;                               ///< by threads of kernels, the most of its words
    bool all_read = false;                               ///< kernels read all of its bytes
};

/// All elements of the buffer; empty where nothing is known.
std::vector<ElementActivity> activity_of(const GuardedMemory& buffer);

Judgement judge_writers(const GuardedMemory& buffer, std::size_t threads, std::size_t blocks);
Judgement judge_readers(const GuardedMemory& buffer, std::size_t threads, std::size_t blocks);
Judgement judge_writes_of_each(const GuardedMemory& buffer);

/// Every element was last written by a kernel, or copied on the device from memory that a kernel wrote.
inline auto WrittenByKernels(std::string hint = "") {
    return BufferMatcher([](const GuardedMemory& buffer) { return judge_writers(buffer, 0, 0); }, std::move(hint));
}

/// The same, and the last writers of all elements are at least so many different threads, or as many as there are
/// elements. Threads of two launches are different.
inline auto WrittenByThreads(std::size_t at_least, std::string hint = "") {
    return BufferMatcher([at_least](const GuardedMemory& buffer) { return judge_writers(buffer, at_least, 0); },
                         std::move(hint));
}

/// The same for blocks.
inline auto WrittenByBlocks(std::size_t at_least, std::string hint = "") {
    return BufferMatcher([at_least](const GuardedMemory& buffer) { return judge_writers(buffer, 0, at_least); },
                         std::move(hint));
}

/// Kernels write each element once: no two threads do the same work, and no thread does it twice.
inline auto WrittenOnce(std::string hint = "") {
    return BufferMatcher([](const GuardedMemory& buffer) { return judge_writes_of_each(buffer); }, std::move(hint));
}

/// Kernels read every element. What a kernel does with it shows in the result.
inline auto ReadByKernels(std::string hint = "") {
    return BufferMatcher([](const GuardedMemory& buffer) { return judge_readers(buffer, 0, 0); }, std::move(hint));
}

/// The same, and the last readers of all elements are at least so many different threads (or as many as elements).
inline auto ReadByThreads(std::size_t at_least, std::string hint = "") {
    return BufferMatcher([at_least](const GuardedMemory& buffer) { return judge_readers(buffer, at_least, 0); },
                         std::move(hint));
}

inline auto ReadByBlocks(std::size_t at_least, std::string hint = "") {
    return BufferMatcher([at_least](const GuardedMemory& buffer) { return judge_readers(buffer, 0, at_least); },
                         std::move(hint));
}

}  // namespace grading
