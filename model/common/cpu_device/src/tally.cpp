#include "tally.h"

#include <algorithm>

#include "allocations.h"
#include "block.h"

// Set by the linker: where this program begins.
extern "C" const char __executable_start;

namespace cpu_device {

const char* code_start() { return &__executable_start; }

ArrayMap::ArrayMap(const Launch& launch) {
    for (const Allocation& allocation : live_allocations()) {
        const auto begin = reinterpret_cast<std::uintptr_t>(allocation.address);
        const bool in_host_memory = allocation.kind == MemoryKind::pinned || allocation.kind == MemoryKind::registered;
        ranges_.push_back({begin, begin + allocation.bytes, allocation.constant, in_host_memory});
        std::string name = allocation.name;
        if (name.empty()) name = launch.parameter_in(begin, begin + allocation.bytes);
        if (name.empty()) name = std::to_string(allocation.bytes) + " bytes";
        names_.push_back(std::move(name));
    }
}

int ArrayMap::find(std::uintptr_t address) const {
    const auto next = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                       [](std::uintptr_t a, const Range& range) { return a < range.begin; });
    if (next == ranges_.begin()) return -1;
    const Range& range = *std::prev(next);
    return address < range.end ? static_cast<int>(&range - ranges_.data()) : -1;
}

void Tally::clear() {
    requests_.clear();
    steps_.clear();
    barriers_.clear();
    recent_requests_.fill({});
    recent_steps_.fill({});
    blocks_ = 0;
    traces_.clear();
    model_.clear();
}

void Tally::add_request(std::uint32_t code, MemoryOperation operation, int array, const RequestCounters& counters) {
    const std::uint64_t key =
        code | static_cast<std::uint64_t>(operation) << 32 | static_cast<std::uint64_t>(array) << 36;
    RecentRequest& recent = recent_requests_[(code ^ static_cast<unsigned>(array)) % kRecent];
    if (recent.key != key) {
        recent = {key, &requests_.try_emplace(key, Request{code, operation, array, {}}).first->second.counters};
    }
    *recent.counters += counters;
}

void Tally::add_step(std::uint32_t code, unsigned lanes) {
    RecentStep& recent = recent_steps_[code % kRecent];
    if (recent.step == nullptr || recent.code != code) recent = {code, &steps_[code]};
    ++recent.step->times;
    recent.step->lanes += lanes;
}

void Tally::add_barrier(Site site, unsigned warps) { barriers_[{site.file, site.line}] += warps; }

void Tally::add(const Tally& other) {
    for (const auto& [key, request] : other.requests_) {
        requests_.try_emplace(key, Request{request.code, request.operation, request.array, {}})
            .first->second.counters += request.counters;
    }
    for (const auto& [code, step] : other.steps_) {
        steps_[code].times += step.times;
        steps_[code].lanes += step.lanes;
    }
    for (const auto& [site, times] : other.barriers_) barriers_[site] += times;
    blocks_ += other.blocks_;
    most_barriers_ = std::max(most_barriers_, other.most_barriers_);
    traces_.insert(traces_.end(), other.traces_.begin(), other.traces_.end());
    model_.add(other.model_);
}

}  // namespace cpu_device
