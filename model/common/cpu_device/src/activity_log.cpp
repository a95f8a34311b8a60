#include "activity_log.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "access_text.h"
#include "allocations.h"
#include "block.h"
#include "cpu_device/activity_log.h"
#include "diagnoser.h"

namespace cpu_device {

std::atomic<bool> activity_is_logged{false};
std::atomic<AccessWatch> access_watch{nullptr};

namespace {

/// A thread in one number. From the top: 16 bits for the launch, 38 for the block, 10 for the thread.
using PackedThread = std::uint64_t;
constexpr std::uint32_t kLastLaunch = 0xFFFF;

struct Word {
    PackedThread written = 0;
    PackedThread read = 0;
    std::uint32_t writes = 0;
    std::uint32_t reads = 0;
    std::uint32_t copied_by = 0;
    LastWriter writer = LastWriter::nobody;
    unsigned char bytes_of_kernels = 0;
    unsigned char bytes_read = 0;
};

constexpr std::size_t kPageBytes = 4096;
using Page = std::array<Word, kPageBytes / 4>;

struct Log {
    std::mutex mutex;
    std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages;  ///< by address / kPageBytes
    struct Recent {
        std::uintptr_t number = 0;
        Page* page = nullptr;
    };
    std::array<Recent, 64> recent{};
    std::uint32_t launches = 0;
    std::vector<LoggedCall> calls;

    Page& page(std::uintptr_t number) {
        Recent& entry = recent[number % recent.size()];
        if (entry.page == nullptr || entry.number != number) {
            std::unique_ptr<Page>& page = pages[number];
            if (!page) page = std::make_unique<Page>();
            entry = {number, page.get()};
        }
        return *entry.page;
    }
    Word& word(std::uintptr_t address) { return page(address / kPageBytes)[address % kPageBytes / 4]; }
    const Word* known_word(std::uintptr_t address) const {
        const auto found = pages.find(address / kPageBytes);
        return found == pages.end() ? nullptr : &(*found->second)[address % kPageBytes / 4];
    }
};

Log& the_log() {
    static Log* log = new Log;  // still needed when the process exits
    return *log;
}

std::uintptr_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

LoggedThread unpacked(PackedThread thread) {
    return {static_cast<std::uint32_t>(thread >> 48), thread >> 10 & ((std::uint64_t{1} << 38) - 1),
            static_cast<std::uint32_t>(thread & 1023)};
}

/// Calls `visit(word, bytes)` for each word, with a bit for each of its bytes that lies in the memory.
template <class Visit>
void for_each_word(Log& log, std::uintptr_t begin, std::size_t bytes, Visit visit) {
    const std::uintptr_t end = begin + bytes;
    for (std::uintptr_t word = begin / 4 * 4; word < end; word += 4) {
        const std::uintptr_t first = std::max(word, begin) - word;
        const std::uintptr_t last = std::min(word + 4, end) - word;
        visit(log.word(word), static_cast<unsigned char>(((1u << last) - 1) & ~((1u << first) - 1)), word);
    }
}

void mark_written(const void* memory, std::size_t bytes, LastWriter writer) {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    const auto call = static_cast<std::uint32_t>(log.calls.size());
    for_each_word(log, address_of(memory), bytes, [&](Word& word, unsigned char mask, std::uintptr_t) {
        word.writer = writer;
        word.copied_by = writer == LastWriter::host_copy ? call : 0;
        word.bytes_of_kernels &= static_cast<unsigned char>(~mask);
    });
}

}  // namespace

void log_access(const Block& block, unsigned thread, const void* memory, std::size_t bytes, AccessKind kind) {
    Log& log = the_log();  // launches that are checked run on one thread, and nothing else happens meanwhile
    const PackedThread me =
        std::uint64_t{log.launches} << 48 | (block.linear_index() & ((std::uint64_t{1} << 38) - 1)) << 10 | thread;
    const bool looks = reads(kind);
    const bool changes = writes(kind);
    for_each_word(log, address_of(memory), bytes, [&](Word& word, unsigned char mask, std::uintptr_t) {
        if (looks) {
            word.read = me;
            ++word.reads;
            word.bytes_read |= mask;
        }
        if (changes) {
            word.written = me;
            ++word.writes;
            word.writer = LastWriter::kernel;
            word.copied_by = 0;
            word.bytes_of_kernels |= mask;
        }
    });
}

void log_copy(const void* to, const void* from, std::size_t bytes) {
    const auto target = find_allocation(to);
    if (!target || bytes == 0) return;
    const auto source = find_allocation(from);
    const bool between_words = (address_of(to) | address_of(from)) % 4 == 0;
    if (!source || source->kind != MemoryKind::device || !between_words) {
        return mark_written(to, bytes, LastWriter::host_copy);
    }
    // What kernels wrote stays their work when it is copied on the device.
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    const std::uintptr_t distance = address_of(from) - address_of(to);
    for_each_word(log, address_of(to), bytes, [&](Word& word, unsigned char mask, std::uintptr_t address) {
        const Word source_word = log.word(address + distance);
        word.writer = source_word.writer == LastWriter::nobody ? LastWriter::host_copy : source_word.writer;
        word.written = source_word.written;
        word.copied_by = static_cast<std::uint32_t>(log.calls.size());
        word.bytes_of_kernels =
            static_cast<unsigned char>((word.bytes_of_kernels & ~mask) | (source_word.bytes_of_kernels & mask));
        word.writes = std::max<std::uint32_t>(word.writes, source_word.writes);
    });
}

void log_fill(const void* memory, std::size_t bytes) {
    if (bytes != 0) mark_written(memory, bytes, LastWriter::fill);
}

void log_launch(cudaStream_t stream, bool in_graph) {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    log.launches = std::min(log.launches + 1, kLastLaunch);
    log.calls.push_back(
        {.function = "<<<>>>", .launch = static_cast<int>(log.launches), .stream = stream, .in_graph = in_graph});
}

void log_call(const char* name, bool waits) {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    log.calls.push_back({.function = name, .waits = waits});
}

void log_stream(cudaStream_t stream) {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    if (!log.calls.empty()) log.calls.back().stream = stream;
}

void log_kind(cudaMemcpyKind kind, std::size_t bytes) {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    if (log.calls.empty()) return;
    log.calls.back().kind = kind;
    log.calls.back().bytes = bytes;
}

void start_log() {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    log.pages.clear();
    log.recent.fill({});
    log.launches = 0;
    log.calls.clear();
    activity_is_logged = true;
}

void stop_log() { activity_is_logged = false; }

std::vector<WordLog> words_of(const void* memory, std::size_t bytes) {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    std::vector<WordLog> words;
    const std::uintptr_t begin = address_of(memory);
    for (std::uintptr_t address = begin / 4 * 4; address < begin + bytes; address += 4) {
        WordLog& result = words.emplace_back();
        const Word* word = log.known_word(address);
        if (word == nullptr) continue;
        result.writer = word->writer;
        if (word->writer == LastWriter::kernel) result.written_by = unpacked(word->written);
        if (word->reads != 0) result.read_by = unpacked(word->read);
        result.writes = word->writes;
        result.reads = word->reads;
        result.bytes_of_kernels = word->bytes_of_kernels;
        result.bytes_read = word->bytes_read;
        result.copied_by = word->copied_by;
    }
    return words;
}

std::vector<LoggedCall> logged_calls() {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    return log.calls;
}

void forget_contents(const void* memory, std::size_t bytes) { note_allocation(memory, bytes); }

}  // namespace cpu_device
