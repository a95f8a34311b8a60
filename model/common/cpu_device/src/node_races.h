// Whether nodes of a graph that no edge orders use the same memory. They run one after the other here, but a GPU may
// run them at the same time, or in the other order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "activity_log.h"
#include "cpu_device/execution.h"
#include "diagnoser.h"

namespace cpu_device {

/// Steps of a launch of a graph, by number: those that are over before something begins.
class StepSet {
public:
    void add(std::size_t step);
    void add(const StepSet& other);
    bool has(std::size_t step) const { return step / 64 < bits_.size() && (bits_[step / 64] >> step % 64 & 1) != 0; }

private:
    std::vector<std::uint64_t> bits_;
};

/// One launch of a graph with nodes that have no order, while errors are looked for.
class NodeRaces {
public:
    NodeRaces();
    ~NodeRaces();
    NodeRaces(const NodeRaces&) = delete;
    NodeRaces& operator=(const NodeRaces&) = delete;

    /// A node begins that uses memory. Returns the number of this step.
    std::size_t begin(const std::string& node, Site site, const void* code, const StepSet& before);
    /// It copies or fills.
    void use(const void* memory, std::size_t bytes, bool writes);
    /// The node has ended.
    void end();

    /// All that happened so far comes before all that is still to come.
    void forget() { pages_.clear(); }

private:
    struct Step {
        std::string node;
        Site site;
        const void* code;
        StepSet before;
    };
    struct Use {
        std::uint16_t step = 0;  ///< counted from 1; 0: nobody
        std::uint8_t bytes = 0;  ///< a bit for each
        bool atomic = false;
        const void* code = nullptr;
    };
    struct Word {
        Use write;
        std::array<Use, 2> reads;
    };
    using Page = std::array<Word, 1024>;

    static void watch(const void* memory, std::size_t bytes, AccessKind kind, const void* code);
    void look_at(std::uintptr_t memory, std::size_t bytes, bool reads, bool writes, bool atomic, const void* code);
    bool races(const Use& earlier, const Use& now) const;
    void report_race(const Use& earlier, bool earlier_writes, const Use& now, bool writes, std::uintptr_t address);

    std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
    std::vector<Step> steps_;
    AccessWatch before_ = nullptr;
    bool running_ = false;
    bool is_kernel_ = false;
    bool reported_ = false;  ///< in this step: one race between two nodes is enough
};

}  // namespace cpu_device
