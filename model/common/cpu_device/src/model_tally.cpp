#include "model_tally.h"

#include <algorithm>

namespace cpu_device {

void DistinctSectors::clear() {
    level_ = 0;
    count_ = 0;
    slots_.clear();
}

bool DistinctSectors::holds(std::uint64_t sector) const {
    if (slots_.empty()) return false;
    for (std::size_t at = slot_of(sector);; at = (at + 1) & (slots_.size() - 1)) {
        if (slots_[at] >> 1 == sector + 1) return true;
        if (slots_[at] == 0) return false;
    }
}

void DistinctSectors::insert(std::uint64_t sector, bool written) {
    if (slots_.empty()) slots_.resize(kFirstSlots);
    const std::uint64_t wanted = (sector + 1) << 1;
    for (std::size_t at = slot_of(sector);; at = (at + 1) & (slots_.size() - 1)) {
        std::uint64_t& slot = slots_[at];
        if ((slot & ~std::uint64_t{1}) == wanted) {
            slot |= std::uint64_t{written};
            return;
        }
        if (slot == 0) {
            slot = wanted | std::uint64_t{written};
            break;
        }
    }
    if (++count_ < slots_.size() / 2) return;
    if (slots_.size() < kMostSlots) return insert_again(slots_.size() * 2);
    if (level_ == kLevels - 1) return;
    ++level_;
    insert_again(kMostSlots);
}

void DistinctSectors::insert_again(std::size_t slots) {
    count_ = 0;
    std::vector<std::uint64_t> before(slots);
    before.swap(slots_);
    for (const std::uint64_t slot : before) {
        if (slot != 0) add((slot >> 1) - 1, (slot & 1) != 0);
    }
}

void DistinctSectors::add(const DistinctSectors& other) {
    // Of the one that was sampled more, what the other left out is missing as well.
    if (other.level_ > level_) {
        DistinctSectors sum = other;
        for_each([&](std::uint64_t sector, bool written, double) { sum.add(sector, written); });
        *this = std::move(sum);
        return;
    }
    other.for_each([&](std::uint64_t sector, bool written, double) { add(sector, written); });
}

void L1Cache::begin(std::size_t bytes) {
    const std::size_t sets = std::max<std::size_t>(bytes / 128 / kWays, 1);
    if (lines_.size() < sets * kWays) lines_.resize(sets * kWays);
    sets_ = sets;
    if (++round_ == 0) {
        std::fill(lines_.begin(), lines_.end(), Line{});
        round_ = 1;
    }
}

unsigned L1Cache::load(std::uint64_t line, unsigned sectors) {
    // Lines at a distance of a power of two have to spread over the sets, as in the chip.
    const std::uint64_t hash = (line ^ line >> 9 ^ line >> 18) * 0x9E3779B97F4A7C15u >> 32;
    Line* const set = &lines_[hash * sets_ >> 32 << 2];
    for (std::size_t way = 0; way < kWays; ++way) {
        if (set[way].line != line || set[way].round != round_) continue;
        const unsigned missing = sectors & ~set[way].sectors;
        set[way].sectors |= sectors;
        return missing;
    }
    std::size_t victim = kWays;
    for (std::size_t way = 0; way < kWays && victim == kWays; ++way) {
        if (set[way].round != round_) victim = way;
    }
    if (victim == kWays) victim = next_way_++ % kWays;
    set[victim] = {line, round_, sectors};
    return sectors;
}

void ModelTally::clear() {
    blocks = l1_sectors = l1_lines = 0;
    arrays.clear();
    distinct.clear();
    atomics.fill(0);
    warps.clear();
}

void ModelTally::add(const ModelTally& other) {
    blocks += other.blocks;
    l1_sectors += other.l1_sectors;
    l1_lines += other.l1_lines;
    for (const auto& [array, sectors] : other.arrays) {
        arrays[array].loads += sectors.loads;
        arrays[array].stores += sectors.stores;
    }
    distinct.add(other.distinct);
    for (std::size_t i = 0; i < atomics.size(); ++i) atomics[i] += other.atomics[i];
    warps.insert(warps.end(), other.warps.begin(), other.warps.end());
}

}  // namespace cpu_device
