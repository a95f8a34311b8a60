#include "node_races.h"

#include <algorithm>

#include "access_text.h"
#include "activity_log.h"
#include "allocations.h"
#include "block.h"
#include "cpu_device/diagnostics.h"

namespace cpu_device {
namespace {

constexpr std::size_t kMostSteps = 4096;  // of which accesses are remembered
constexpr std::uintptr_t kBytesOfPage = 4096;

NodeRaces* watching = nullptr;  // launches of graphs that are watched run one at a time

}  // namespace

void StepSet::add(std::size_t step) {
    if (step / 64 >= bits_.size()) bits_.resize(step / 64 + 1);
    bits_[step / 64] |= std::uint64_t{1} << step % 64;
}

void StepSet::add(const StepSet& other) {
    if (other.bits_.size() > bits_.size()) bits_.resize(other.bits_.size());
    for (std::size_t i = 0; i < other.bits_.size(); ++i) bits_[i] |= other.bits_[i];
}

NodeRaces::NodeRaces() {
    watching = this;
    before_ = access_watch.exchange(watch);
}

NodeRaces::~NodeRaces() {
    access_watch = before_;
    watching = nullptr;
}

std::size_t NodeRaces::begin(const std::string& node, Site site, const void* code, const StepSet& before) {
    running_ = steps_.size() < kMostSteps;
    reported_ = false;
    if (!running_) return kMostSteps;
    steps_.push_back({node, site, code, before});
    return steps_.size() - 1;
}

void NodeRaces::end() { running_ = false; }

void NodeRaces::use(const void* memory, std::size_t bytes, bool writes) {
    if (!running_ || bytes == 0 || !find_allocation(memory)) return;
    look_at(reinterpret_cast<std::uintptr_t>(memory), bytes, !writes, writes, false, nullptr);
}

void NodeRaces::watch(const void* memory, std::size_t bytes, AccessKind kind, const void* code) {
    NodeRaces* const races = watching;
    if (races == nullptr || !races->running_) return;
    races->look_at(reinterpret_cast<std::uintptr_t>(memory), bytes, reads(kind), writes(kind), is_atomic(kind), code);
}

bool NodeRaces::races(const Use& earlier, const Use& now) const {
    if (earlier.step == 0 || earlier.step == now.step || (earlier.bytes & now.bytes) == 0) return false;
    if (earlier.atomic && now.atomic) return false;
    return !steps_[now.step - 1u].before.has(earlier.step - 1u);
}

void NodeRaces::look_at(std::uintptr_t memory, std::size_t bytes, bool looks, bool changes, bool atomic,
                        const void* code) {
    const std::uintptr_t end = memory + bytes;
    for (std::uintptr_t word = memory / 4 * 4; word < end; word += 4) {
        std::unique_ptr<Page>& page = pages_[word / kBytesOfPage];
        if (!page) page = std::make_unique<Page>();
        Word& known = (*page)[word % kBytesOfPage / 4];
        const std::uintptr_t first = std::max(word, memory) - word;
        const std::uintptr_t last = std::min(word + 4, end) - word;
        const Use now{static_cast<std::uint16_t>(steps_.size()),
                      static_cast<std::uint8_t>(((1u << last) - 1) & ~((1u << first) - 1)), atomic, code};
        if (!reported_ && races(known.write, now)) report_race(known.write, true, now, changes, word + first);
        if (changes) {
            for (const Use& read : known.reads) {
                if (!reported_ && races(read, now)) report_race(read, false, now, true, word + first);
            }
            const bool same = known.write.step == now.step;
            const auto whole = static_cast<std::uint8_t>(known.write.bytes | now.bytes);
            known.write = now;
            if (same) known.write.bytes = whole;
        }
        if (looks) {
            Use& slot = known.reads[0].step == 0 || known.reads[0].step == now.step || !races(known.reads[0], now)
                            ? known.reads[0]
                            : known.reads[1];
            const bool same = slot.step == now.step;
            const auto whole = static_cast<std::uint8_t>(slot.bytes | now.bytes);
            slot = now;
            if (same) slot.bytes = whole;
        }
    }
}

void NodeRaces::report_race(const Use& earlier, bool earlier_writes, const Use& now, bool changes,
                            std::uintptr_t address) {
    reported_ = true;
    const Step& there = steps_[earlier.step - 1u];
    const Step& here = steps_[now.step - 1u];
    Diagnostic found{};
    found.kind = DiagnosticKind::data_race;
    found.message = here.node + " and " + there.node + " of a graph use the same memory, " +
                    (changes && earlier_writes ? "both write it" : "one of them writes it") +
                    ", and no edge orders them";
    if (auto allocation = find_allocation(reinterpret_cast<const void*>(address))) {
        found.array = allocation->display_name();
        allocation->name = allocation->pointer = "";
        found.memory = "byte " + std::to_string(address - reinterpret_cast<std::uintptr_t>(allocation->address)) +
                       " of " + describe(*allocation);
    }
    if (in_kernel()) {
        const Diagnostic with_thread =
            current_thread.block->diagnostic(DiagnosticKind::data_race, current_thread.block->launch().site.site);
        found.kernel = with_thread.kernel;
        found.block = with_thread.block;
        found.thread = with_thread.thread;
        found.action = changes ? "writes it" : "reads it";
        found.code = now.code;
    } else {
        found.site = here.site;
        found.code = here.site.line > 0 ? nullptr : here.code;
        found.action = here.node + (changes ? " writes it" : " reads it");
    }
    found.other = OtherSide{{}, {}, {}, there.node + (earlier_writes ? " writes it" : " reads it"), {}, true};
    if (earlier.code != nullptr) {
        found.other_code = earlier.code;
    } else if (there.site.line > 0) {
        found.other->site = there.site;
    } else {
        found.other_code = there.code;
    }
    found.hint =
        "let one of the nodes depend on the other: a dependency for cudaGraphAddKernelNode or "
        "cudaGraphAddDependencies, "
        "or, in a capture, cudaEventRecord in the one stream and cudaStreamWaitEvent in the other";
    report(std::move(found));
}

}  // namespace cpu_device
