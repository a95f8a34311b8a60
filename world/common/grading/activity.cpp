#include "common/grading/activity.h"

#include <algorithm>
#include <set>

#include "common/grading/instrumented.h"

namespace grading {
namespace {

using warpwise::KernelThread;
using warpwise::WordActivity;
using warpwise::Writer;

/// What was done, for how many of the elements, and which: "elements 3 to 5 (3 of 10)".
std::string some_of(const GuardedMemory& buffer, const std::vector<std::size_t>& indices) {
    if (indices.size() == buffer.size()) return buffer.size() == 1 ? "the element" : "all elements";
    return name_elements(indices, buffer.row_length()) + " (" + std::to_string(indices.size()) + " of " +
           std::to_string(buffer.size()) + ")";
}

const char* was_or_were(const GuardedMemory& buffer, const std::vector<std::size_t>& indices) {
    (void)buffer;
    return indices.size() == 1 ? " was" : " were";
}

/// Whether the demanded number of threads and of blocks took part.
Judgement judge_numbers(const GuardedMemory& buffer, const std::vector<KernelThread>& workers, const std::string& did,
                        std::size_t threads, std::size_t blocks) {
    const std::set<KernelThread> all(workers.begin(), workers.end());
    std::set<KernelThread> of_blocks;
    for (const KernelThread& worker : all) of_blocks.insert({worker.launch, worker.block, 0});
    const std::string did_it = counted(all.size(), "thread") + " of " + counted(of_blocks.size(), "block") + " " + did +
                               " the " + counted(buffer.size(), "element");
    const std::size_t least_threads = std::min(threads, buffer.size());
    const std::size_t least_blocks = std::min(blocks, buffer.size());
    if (all.size() < least_threads) {
        return {false, did_it + "; the task asks for at least " + counted(least_threads, "thread"), nullptr,
                "Which elements should thread 1 of block 0 take, so that each thread has its share?"};
    }
    if (of_blocks.size() < least_blocks) {
        return {false, did_it + "; the task asks for at least " + counted(least_blocks, "block"), nullptr,
                "Which elements should block 1 take, so that each block has its share?"};
    }
    return {true, did_it};
}

bool nothing_known(const GuardedMemory& buffer) {
    if (!warpwise::can_log()) note_left_out();
    return buffer.size() == 0 || !warpwise::can_log();
}

}  // namespace

std::vector<ElementActivity> activity_of(const GuardedMemory& buffer) {
    if (!warpwise::can_log()) return {};
    const std::size_t bytes = buffer.element_bytes();
    const std::vector<WordActivity> words = warpwise::activity_of(buffer.memory(), buffer.size() * bytes);
    std::vector<ElementActivity> elements(buffer.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
        ElementActivity& element = elements[i];
        const std::size_t begin = i * bytes;
        const std::size_t end = begin + bytes;
        element.writer = Writer::kernel;
        element.all_read = true;
        element.written_by = words[begin / 4].written_by;
        element.read_by = words[begin / 4].read_by;
        for (std::size_t at = begin; at < end; ++at) {
            const WordActivity& word = words[at / 4];
            const unsigned bit = 1u << at % 4;
            if ((word.bytes_of_kernels & bit) == 0 && element.writer == Writer::kernel) {
                element.writer = word.writer == Writer::kernel ? Writer::nobody : word.writer;
            }
            element.all_read = element.all_read && (word.bytes_read & bit) != 0;
            element.writes = std::max<std::size_t>(element.writes, word.writes);
            element.reads = std::max<std::size_t>(element.reads, word.reads);
        }
    }
    return elements;
}

Judgement judge_writers(const GuardedMemory& buffer, std::size_t threads, std::size_t blocks) {
    if (nothing_known(buffer)) return {true, "nobody saw who wrote"};
    const std::vector<ElementActivity> elements = activity_of(buffer);
    std::vector<KernelThread> writers;
    std::vector<std::size_t> unwritten, copied, filled;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        switch (elements[i].writer) {
            case Writer::kernel:
                writers.push_back(elements[i].written_by);
                break;
            case Writer::host_copy:
                copied.push_back(i);
                break;
            case Writer::fill:
                filled.push_back(i);
                break;
            case Writer::nobody:
                unwritten.push_back(i);
                break;
        }
    }
    if (!copied.empty()) {
        return {false,
                some_of(buffer, copied) + was_or_were(buffer, copied) +
                    " copied from host memory; kernels have to write the result",
                nullptr, "Which line of yours copies to the result, and which thread could write it instead?"};
    }
    if (!unwritten.empty()) {
        return {false, some_of(buffer, unwritten) + was_or_were(buffer, unwritten) + " not written by any kernel",
                nullptr, "Which thread should write " + name_elements({unwritten.front()}, buffer.row_length()) + "?"};
    }
    if (!filled.empty()) {
        return {false,
                some_of(buffer, filled) + was_or_were(buffer, filled) +
                    " last set by cudaMemset; kernels have to write the result",
                nullptr, "Which thread should write " + name_elements({filled.front()}, buffer.row_length()) + "?"};
    }
    return judge_numbers(buffer, writers, "wrote", threads, blocks);
}

Judgement judge_writes_of_each(const GuardedMemory& buffer) {
    const Judgement by_kernels = judge_writers(buffer, 0, 0);
    if (!by_kernels.passed || nothing_known(buffer)) return by_kernels;
    const std::vector<ElementActivity> elements = activity_of(buffer);
    std::vector<std::size_t> several;
    std::size_t most = 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements[i].writes > 1) several.push_back(i);
        most = std::max(most, elements[i].writes);
    }
    if (several.empty()) return {true, "each element written once"};
    return {false,
            some_of(buffer, several) + was_or_were(buffer, several) + " written more than once, up to " +
                std::to_string(most) + " times",
            nullptr, "Which threads write " + name_elements({several.front()}, buffer.row_length()) + "?"};
}

Judgement judge_readers(const GuardedMemory& buffer, std::size_t threads, std::size_t blocks) {
    if (nothing_known(buffer)) return {true, "nobody saw who read"};
    const std::vector<ElementActivity> elements = activity_of(buffer);
    std::vector<KernelThread> readers;
    std::vector<std::size_t> unread;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements[i].all_read) {
            readers.push_back(elements[i].read_by);
        } else {
            unread.push_back(i);
        }
    }
    if (!unread.empty()) {
        return {false, some_of(buffer, unread) + was_or_were(buffer, unread) + " not read by any kernel", nullptr,
                "Which thread should read " + name_elements({unread.front()}, buffer.row_length()) + "?"};
    }
    return judge_numbers(buffer, readers, "read", threads, blocks);
}

}  // namespace grading
