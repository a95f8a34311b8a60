// The counts of one launch, by instruction and array, before they are put into words.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "cpu_device/instrument.h"
#include "model_tally.h"

namespace cpu_device {

struct Launch;

/// What the addresses of a launch belong to, as far as counters go. Device memory cannot change while a kernel runs.
class ArrayMap {
public:
    explicit ArrayMap(const Launch& launch);

    struct Range {
        std::uintptr_t begin;
        std::uintptr_t end;
        bool is_constant;
        bool in_host_memory;
    };
    /// Index of the array in which the address lies, -1 for memory that no kernel should see.
    int find(std::uintptr_t address) const;
    const Range& range(int array) const { return ranges_[static_cast<std::size_t>(array)]; }
    const std::string& name(int array) const { return names_[static_cast<std::size_t>(array)]; }

private:
    std::vector<Range> ranges_;
    std::vector<std::string> names_;
};

/// Arrays from this index on are those of shared memory: dynamic shared memory first, then variables as they were met.
constexpr int kFirstSharedArray = 1 << 20;

/// Counts of one host thread, added up over all of them at the end. Instructions are known by the offset of their
/// return address in the program.
class Tally {
public:
    void clear();
    void add_request(std::uint32_t code, MemoryOperation operation, int array, const RequestCounters& counters);
    /// A basic block carried out by `lanes` lanes of a warp.
    void add_step(std::uint32_t code, unsigned lanes);
    void add_barrier(Site site, unsigned warps);
    /// A block at its end, whose threads passed so many barriers: those that stayed longest.
    void add_block(unsigned barriers) {
        ++blocks_;
        most_barriers_ = std::max(most_barriers_, barriers);
    }
    /// Room for the traces of so many warps; returns the index of the first.
    std::size_t add_traces(std::size_t warps) {
        traces_.resize(traces_.size() + warps);
        return traces_.size() - warps;
    }
    /// Its events' arrays are numbered as those of `add_request`; offsets are addresses, those of shared memory in that
    /// of the block.
    TracedWarp& trace(std::size_t index) { return traces_[index]; }
    void add(const Tally& other);
    ModelTally& model() { return model_; }
    const ModelTally& model() const { return model_; }

    struct Request {
        std::uint32_t code;
        MemoryOperation operation;
        int array;
        RequestCounters counters;
    };
    struct Step {
        std::uint64_t times = 0;
        std::uint64_t lanes = 0;
    };
    const std::unordered_map<std::uint64_t, Request>& requests() const { return requests_; }
    const std::unordered_map<std::uint32_t, Step>& steps() const { return steps_; }
    const std::map<std::pair<const char*, int>, std::uint64_t>& barriers() const { return barriers_; }
    std::uint64_t blocks() const { return blocks_; }
    /// The most that a warp of any block passed.
    unsigned most_barriers() const { return most_barriers_; }
    const std::vector<TracedWarp>& traces() const { return traces_; }

private:
    std::unordered_map<std::uint64_t, Request> requests_;  // elements stay where they are
    std::unordered_map<std::uint32_t, Step> steps_;
    std::map<std::pair<const char*, int>, std::uint64_t> barriers_;
    // The entries used last, by a few bits of their keys.
    struct RecentRequest {
        std::uint64_t key = ~std::uint64_t{0};
        RequestCounters* counters = nullptr;
    };
    struct RecentStep {
        std::uint32_t code = 0;
        Step* step = nullptr;
    };
    static constexpr std::size_t kRecent = 256;
    std::array<RecentRequest, kRecent> recent_requests_{};
    std::array<RecentStep, kRecent> recent_steps_{};
    std::uint64_t blocks_ = 0;
    unsigned most_barriers_ = 0;
    std::vector<TracedWarp> traces_;
    ModelTally model_;
};

/// Keeps what was counted in a launch for `take_counters`.
void keep_counters(const Launch& launch, const Tally& tally);

/// Adds a launch in which errors were looked for to `coverage()`, and one that did not run.
void note_coverage(const Launch& launch);
void note_skipped_launch();

/// Start of the program's code: what offsets of instructions count from.
const char* code_start();

}  // namespace cpu_device
