#include "device_races.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "access_text.h"
#include "activity_log.h"
#include "allocations.h"
#include "block.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"
#include "devices.h"
#include "instrumented_code.h"
#include "stream_order.h"

namespace cpu_device {
namespace {

constexpr std::uintptr_t kBytesOfUsePage = 4096;
constexpr std::size_t kMostUsePages = 4096;  // more memory is not looked at
constexpr std::size_t kMostDeviceSteps = 1 << 20;

struct KnownStep {
    std::string what;
    ApiCall call{""};
    int device = 0;
    WorkStamp stamp;
    std::vector<std::uint64_t> clock;    ///< what it comes after, by the streams' indices
    std::vector<DeviceStep> learned;     ///< from flags
    std::vector<DeviceStep> learned_by;  ///< that have learned from this one
};

struct DeviceUse {
    DeviceStep step = 0;
    std::uint8_t bytes = 0;  ///< a bit for each
    bool atomic = false;
    const void* code = nullptr;
};

struct UsedWord {
    DeviceUse write;
    std::array<DeviceUse, 2> reads;
};

class DeviceRaces {
public:
    std::mutex mutex;

    DeviceStep begin(KnownStep step) {
        if (steps_.size() >= kMostDeviceSteps) return 0;
        if (steps_.empty()) access_watch = watch;
        steps_.push_back(std::move(step));
        return static_cast<DeviceStep>(steps_.size());
    }

    void use(DeviceStep step, std::uintptr_t memory, std::size_t bytes, bool looks, bool changes, bool atomic,
             const void* code) {
        const std::uintptr_t end = memory + bytes;
        for (std::uintptr_t word = memory / 4 * 4; word < end; word += 4) {
            UsedWord* const known = word_at(word);
            if (known == nullptr) {  // nothing of this page counts
                word = word / kBytesOfUsePage * kBytesOfUsePage + kBytesOfUsePage - 4;
                continue;
            }
            const std::uintptr_t first = std::max(word, memory) - word;
            const std::uintptr_t last = std::min(word + 4, end) - word;
            const DeviceUse now{step, static_cast<std::uint8_t>(((1u << last) - 1) & ~((1u << first) - 1)), atomic,
                                code};
            look_at(*known, now, looks, changes, word + first);
        }
    }

    void learn(DeviceStep step, DeviceStep from) {
        if (step == 0 || from == 0 || step == from) return;
        add(step, from);
        for (const DeviceStep earlier : std::vector<DeviceStep>(at(from).learned)) add(step, earlier);
    }

    void forget(std::uintptr_t memory, std::size_t bytes) {
        for (std::uintptr_t page = memory / kBytesOfUsePage; page <= (memory + bytes) / kBytesOfUsePage; ++page) {
            const auto found = pages_.find(page);
            if (found == pages_.end()) continue;
            if (found->second == nullptr) {
                pages_.erase(found);
                continue;
            }
            for (std::size_t i = 0; i < found->second->size(); ++i) {
                const std::uintptr_t word = page * kBytesOfUsePage + 4 * i;
                if (word + 4 > memory && word < memory + bytes) (*found->second)[i] = {};
            }
        }
    }

    DeviceStep kernel_step = 0;

private:
    using Page = std::array<UsedWord, kBytesOfUsePage / 4>;

    static void watch(const void* memory, std::size_t bytes, AccessKind kind, const void* code);

    KnownStep& at(DeviceStep step) { return steps_[step - 1]; }

    void add(DeviceStep step, DeviceStep from) {
        std::vector<DeviceStep>& learned = at(step).learned;
        if (std::find(learned.begin(), learned.end(), from) != learned.end()) return;
        learned.push_back(from);
        at(from).learned_by.push_back(step);
    }

    /// The word's uses; null where none are kept.
    UsedWord* word_at(std::uintptr_t word) {
        const auto [found, is_new] = pages_.try_emplace(word / kBytesOfUsePage);
        if (is_new && pages_.size() <= kMostUsePages) {
            // A page may begin before the allocation.
            const auto allocation = find_allocation(reinterpret_cast<const void*>(word));
            if (allocation && allocation->kind != MemoryKind::symbol) found->second = std::make_unique<Page>();
            if (!allocation) pages_.erase(found);
            if (!allocation) return nullptr;
        }
        Page* const page = found->second.get();
        return page == nullptr ? nullptr : &(*page)[word % kBytesOfUsePage / 4];
    }

    bool covers(const KnownStep& step, const KnownStep& other) const {
        return other.stamp.stream < step.clock.size() && step.clock[other.stamp.stream] >= other.stamp.count;
    }

    bool is_ordered(DeviceStep earlier, DeviceStep now) {
        const KnownStep& there = at(earlier);
        const KnownStep& here = at(now);
        if (covers(here, there) || covers(there, here)) return true;
        return std::any_of(there.learned_by.begin(), there.learned_by.end(),
                           [&](DeviceStep step) { return step == now || covers(here, at(step)); });
    }

    bool races(const DeviceUse& earlier, const DeviceUse& now) {
        if (earlier.step == 0 || earlier.step == now.step || (earlier.bytes & now.bytes) == 0) return false;
        if (at(earlier.step).device == at(now.step).device) return false;
        if (earlier.atomic && now.atomic) return false;
        return !is_ordered(earlier.step, now.step);
    }

    void look_at(UsedWord& known, const DeviceUse& now, bool looks, bool changes, std::uintptr_t address) {
        if (looks && now.atomic && known.write.atomic && known.write.step != now.step)
            learn(now.step, known.write.step);
        if (races(known.write, now)) report_race(known.write, true, now, changes, address);
        if (changes) {
            for (const DeviceUse& read : known.reads) {
                if (races(read, now)) report_race(read, false, now, true, address);
            }
            const bool same = known.write.step == now.step;
            const auto whole = static_cast<std::uint8_t>(known.write.bytes | now.bytes);
            known.write = now;
            if (same) known.write.bytes = whole;
        }
        if (looks) {
            DeviceUse& slot = known.reads[0].step == 0 || known.reads[0].step == now.step ||
                                      at(known.reads[0].step).device == at(now.step).device
                                  ? known.reads[0]
                                  : known.reads[1];
            const bool same = slot.step == now.step;
            const auto whole = static_cast<std::uint8_t>(slot.bytes | now.bytes);
            slot = now;
            if (same) slot.bytes = whole;
        }
    }

    void report_race(const DeviceUse& earlier, bool earlier_writes, const DeviceUse& now, bool changes,
                     std::uintptr_t address) {
        if (!reported_.emplace(std::min(earlier.step, now.step), std::max(earlier.step, now.step)).second) return;
        const KnownStep& there = at(earlier.step);
        const KnownStep& here = at(now.step);
        const auto text = [](const KnownStep& step) { return step.what + " on device " + std::to_string(step.device); };
        Diagnostic found{};
        found.kind = DiagnosticKind::data_race;
        found.message = text(here) + " and " + text(there) + " use the same memory, " +
                        (changes && earlier_writes ? "both write it" : "one of them writes it") +
                        ", and nothing orders the two";
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
            found.site = place_of(here.call);
            found.action = here.what + (changes ? " writes it" : " reads it");
        }
        found.other = OtherSide{{}, {}, {}, there.what + (earlier_writes ? " writes it" : " reads it"), {}, true};
        if (earlier.code != nullptr) {
            found.other_code = earlier.code;
        } else {
            found.other->site = place_of(there.call);
        }
        found.hint =
            "record an event behind the one (cudaEventRecord) and let the stream of the other wait for it "
            "(cudaStreamWaitEvent); or let the host wait for the one device before it gives work to the other";
        report(std::move(found));
    }

    std::vector<KnownStep> steps_;
    std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;  ///< null: not looked at
    std::set<std::pair<DeviceStep, DeviceStep>> reported_;
};

DeviceRaces& device_races() {
    static auto* races = new DeviceRaces;  // still needed when the process exits
    return *races;
}

bool looks_for_device_races() { return device_count() > 1 && instrumenting().diagnostics; }

void DeviceRaces::watch(const void* memory, std::size_t bytes, AccessKind kind, const void* code) {
    DeviceRaces& races = device_races();
    const RuntimeLock lock(races.mutex);
    if (races.kernel_step == 0) return;
    const bool relaxed = is_atomic(kind) || is_volatile(kind);
    races.use(races.kernel_step, reinterpret_cast<std::uintptr_t>(memory), bytes, reads(kind), writes(kind), relaxed,
              code);
}

}  // namespace

DeviceStep note_device_step(const std::string& what, cudaStream_t stream, const ApiCall& call) {
    if (!looks_for_device_races()) return 0;
    KnownStep step;
    step.what = what;
    step.call = call;
    step.device = device_of_stream(stream);
    step.stamp = last_work(stream);
    step.clock = clock_of(stream);
    const RuntimeLock lock(device_races().mutex);
    return device_races().begin(std::move(step));
}

void run_device_step(DeviceStep step) {
    if (!looks_for_device_races()) return;
    const RuntimeLock lock(device_races().mutex);
    device_races().kernel_step = step;
}

void use_in_device_step(const void* memory, std::size_t bytes, bool changes) {
    if (present_device_step == 0 || bytes == 0 || !find_allocation(memory)) return;
    const RuntimeLock lock(device_races().mutex);
    device_races().use(present_device_step, reinterpret_cast<std::uintptr_t>(memory), bytes, !changes, changes, false,
                       nullptr);
}

void learn_in_device_step(DeviceStep step, DeviceStep from) {
    if (!looks_for_device_races()) return;
    const RuntimeLock lock(device_races().mutex);
    device_races().learn(step, from);
}

void forget_device_uses(const void* memory, std::size_t bytes) {
    if (!looks_for_device_races()) return;
    const RuntimeLock lock(device_races().mutex);
    device_races().forget(reinterpret_cast<std::uintptr_t>(memory), bytes);
}

}  // namespace cpu_device
