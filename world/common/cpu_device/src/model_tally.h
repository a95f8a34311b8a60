// What the time model needs of a launch and the counters do not have: how often the accesses of a block find their
// sectors in an L1 cache, how many different sectors the sampled blocks touch, which address gets the most atomics, and
// what a few warps did, one thing after the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "cpu_device/instrument.h"
#include "request_model.h"

namespace cpu_device {

/// How many different numbers there were, and how many of them were written: counts all up to a limit, and then a
/// sample of them that halves whenever it is full (Gibbons, "Distinct sampling", VLDB 2001). What it tells does not
/// depend on their order.
class DistinctSectors {
public:
    void add(std::uint64_t sector, bool written) {
        // All sectors of a line are sampled together, so that neighbors can be found.
        const std::uint64_t hash = (sector >> 2) * 0x9E3779B97F4A7C15u;
        if ((hash & ((std::uint64_t{1} << level_) - 1) << (64 - kLevels)) != 0) return;
        insert(sector, written);
    }
    void add(const DistinctSectors& other);
    void clear();
    bool holds(std::uint64_t sector) const;

    /// Calls `visit(sector, written, weight)`: it stands for so many sectors.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const std::uint64_t slot : slots_) {
            if (slot != 0) visit((slot >> 1) - 1, (slot & 1) != 0, static_cast<double>(std::uint64_t{1} << level_));
        }
    }

private:
    static constexpr unsigned kLevels = 24;
    static constexpr std::size_t kFirstSlots = 1u << 8;
    static constexpr std::size_t kMostSlots = 1u << 13;

    /// Neighboring sectors are far apart.
    std::size_t slot_of(std::uint64_t sector) const { return sector * 0x9E3779B97F4A7C15u >> 45 & (slots_.size() - 1); }
    void insert(std::uint64_t sector, bool written);
    void insert_again(std::size_t slots);

    unsigned level_ = 0;
    std::size_t count_ = 0;
    std::vector<std::uint64_t> slots_;  ///< sector + 1, and in the lowest bit whether it was written; 0: free
};

/// The lines that a block's share of the L1 cache holds: four ways, sectors of 32 bytes in lines of 128.
class L1Cache {
public:
    /// Forgets everything.
    void begin(std::size_t bytes);

    /// Sectors of the line (bits 0 to 3 of `sectors`) that it did not hold; it holds them now.
    unsigned load(std::uint64_t line, unsigned sectors);

private:
    static constexpr std::size_t kWays = 4;
    struct Line {
        std::uint64_t line = ~std::uint64_t{0};
        std::uint32_t round = 0;
        std::uint32_t sectors = 0;
    };
    std::vector<Line> lines_;
    std::size_t sets_ = 1;
    std::uint32_t round_ = 0;
    std::uint32_t next_way_ = 0;
};

/// Something that a warp did, for the replay.
struct WarpEvent {
    enum class Kind : unsigned char { step, access, barrier };
    std::uint32_t code = 0;
    Kind kind = Kind::step;
    MemoryOperation operation = {};
    bool in_l1 = false;        ///< a load of which nothing went to the L2 cache
    std::uint16_t passes = 1;  ///< over the banks, or lines of global memory
};

struct RecordedWarp {
    std::uint64_t block = 0;
    unsigned warp = 0;
    std::uint64_t all_events = 0;  ///< more than `events` when it did too much
    std::vector<WarpEvent> events;
};

/// Not for several host threads at once; they are added up.
struct ModelTally {
    struct Sectors {
        double loads = 0;
        double stores = 0;
    };
    static constexpr std::size_t kMostEvents = 3000;  ///< of each recorded warp
    static constexpr unsigned kHotBits = 10;

    double blocks = 0;  ///< whose accesses were followed; what follows are sums over these
    double l1_sectors = 0;
    double l1_lines = 0;
    std::map<int, Sectors> arrays;  ///< what goes to the L2 cache
    DistinctSectors distinct;
    std::array<double, std::size_t{1} << kHotBits> atomics{};  ///< by a hash of their address
    std::vector<RecordedWarp> warps;

    void clear();
    void add(const ModelTally& other);
};

}  // namespace cpu_device
