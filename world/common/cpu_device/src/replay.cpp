#include "replay.h"

#include <algorithm>
#include <set>
#include <vector>

#include "machine_code.h"

namespace cpu_device {
namespace {

using Kind = MicroOperation::Kind;
using warpwise::model::kLatencies;
using warpwise::model::Latency;

/// Cycles of an H200, to tell which of two chains is longer. The time model has those of each GPU.
constexpr std::array<float, kLatencies> nominal = {560, 30, 4.5F, 8, 22, 700, 60, 24, 22, 1};

constexpr int kUnrolled = 4;  // what nvcc does to a short loop whose trips it does not know
constexpr int kUnrolledWithoutMemory = 16;
constexpr int kFullyUnrolled = 64;  // trips of a loop that it unrolls altogether, if it knows them
constexpr int kLongestBody = 150;   // operations of a loop that it unrolls
constexpr int kMostBlocks = 4;      // basic blocks of such a loop

/// When a value is there, or an instruction has its turn, and the waits before that.
struct Moment {
    float cycles = 0;
    std::array<float, kLatencies> chain{};

    void wait(Latency kind, float times) {
        chain[static_cast<std::size_t>(kind)] += times;
        cycles += nominal[static_cast<std::size_t>(kind)] * times;
    }
};

const Moment& later(const Moment& a, const Moment& b) { return a.cycles >= b.cycles ? a : b; }

class Replay {
public:
    Replay(const ReplayOptions& options, const std::map<std::uint32_t, int>& unrolled)
        : options_(options), unrolled_(unrolled), values_(kValues), addends_(kValues) {}

    void step(std::uint32_t code) {
        finish_block();
        if (code <= last_step_) {
            const auto loop = unrolled_.find(code);
            const int times = loop == unrolled_.end() ? 1 : loop->second;
            if (++trips_[code] % times == 0) close_group();
            trip_ = trips_[code] % times;
        } else if (unrolled_.contains(code)) {
            trips_[code] = 0;  // the loop begins
            trip_ = 0;
        }
        local_places_.clear();
        last_step_ = code;
        block_ = &basic_block(code);
        next_ = 0;
    }

    void access(const WarpEvent& event) {
        if (block_ != nullptr) {
            const auto& operations = block_->operations;
            std::size_t at = next_;
            while (at < operations.size() &&
                   !(operations[at].kind == Kind::access && operations[at].code == event.code)) {
                ++at;
            }
            if (at < operations.size()) {
                for (; next_ < at; ++next_) carry_out(operations[next_]);
                carry_out_access(event, operations[at].from[0], operations[at].to);
                next_ = at + 1;
                return;
            }
        }
        carry_out_access(event, MicroOperation::kNone, MicroOperation::kNone);
    }

    void barrier() {
        close_group();
        start_.wait(Latency::barrier, 1);
        end_ = start_;
    }

    std::array<float, kLatencies> finish() {
        finish_block();
        close_group();
        return start_.chain;
    }

private:
    void finish_block() {
        if (block_ == nullptr) return;
        for (; next_ < block_->operations.size(); ++next_) carry_out(block_->operations[next_]);
        block_ = nullptr;
    }

    /// What comes next is not mixed with what came so far: it begins once the last of that has been issued.
    void close_group() {
        start_ = later(end_, turn());
        end_ = start_;
        issued_ = 0;
        stored_global_ = stored_shared_ = false;
    }

    /// When the next instruction of the group can be issued at the earliest.
    Moment turn() const {
        Moment moment = start_;
        moment.wait(Latency::issue, issued_);
        return moment;
    }

    void issue(const Moment& at, float times) {
        issued_ += times;
        if (at.cycles > end_.cycles) end_ = at;
    }

    void set(std::int16_t to, const Moment& moment) {
        if (to < 0) return;
        values_[static_cast<std::size_t>(to)] = moment;
        addends_[static_cast<std::size_t>(to)].is_product = false;
    }

    void carry_out(const MicroOperation& operation) {
        if (operation.overhead) {
            issued_ += operation.issues / kUnrolled;
            Moment ready = start_;  // the counter of an unrolled loop delays nobody
            for (const std::int16_t from : operation.from) {
                if (from >= 0) ready = later(values_[static_cast<std::size_t>(from)], ready);
            }
            set(operation.to, ready);
            return;
        }
        if (operation.kind == Kind::barrier) return;
        if (operation.kind == Kind::access) {
            // To the thread's own stack, which nobody recorded: an array that nvcc keeps in registers, most likely.
            local_places_.insert(operation.place);
            const auto known = locals_.find(local_of(operation.place));
            set(operation.to, known == locals_.end() ? start_ : known->second.moment);
            if (known != locals_.end() && operation.to >= 0) {
                addends_[static_cast<std::size_t>(operation.to)] = known->second.addend;
            }
            return;
        }
        Moment ready = operation.issues > 0 ? turn() : start_;
        const Addend* product = nullptr;
        for (const std::int16_t from : operation.from) {
            if (from < 0) continue;
            const Addend& addend = addends_[static_cast<std::size_t>(from)];
            if (operation.kind == Kind::sum && product == nullptr && addend.is_product) {
                product = &addend;  // an FMA: its factors count, not the product
                ready = later(addend.factors, ready);
                continue;
            }
            ready = later(values_[static_cast<std::size_t>(from)], ready);
        }
        if (operation.kind == Kind::move) {
            const std::int16_t from = operation.from[0];
            const bool copies_product =
                from >= 0 && operation.from[1] < 0 && addends_[static_cast<std::size_t>(from)].is_product;
            const Addend addend = copies_product ? addends_[static_cast<std::size_t>(from)] : Addend{};
            set(operation.to, ready);
            if (copies_product && operation.to >= 0) addends_[static_cast<std::size_t>(operation.to)] = addend;
            if (operation.place != 0 && (operation.local || local_places_.contains(operation.place))) {
                locals_[local_of(operation.place)] = {ready, addend};
            } else if (operation.to < 0) {
                issue(ready, 0);  // a store waits for its value
            }
            return;
        }
        if (operation.kind == Kind::jump || operation.kind == Kind::call) {
            issue(ready, operation.kind == Kind::jump ? operation.issues : 2);
            set(operation.to, ready);
            return;
        }
        issue(ready, product != nullptr ? 0 : operation.issues + operation.special);
        const Moment factors = ready;
        ready.wait(operation.wait, operation.wait_times);
        if (operation.special > 0) ready.wait(Latency::special, operation.special);
        set(operation.to, ready);
        if (operation.kind == Kind::product && operation.to >= 0) {
            addends_[static_cast<std::size_t>(operation.to)] = {true, factors};
        }
    }

    void carry_out_access(const WarpEvent& event, std::int16_t address, std::int16_t to) {
        const bool global = event.operation <= MemoryOperation::global_atomic;
        const bool load = event.operation == MemoryOperation::global_load ||
                          event.operation == MemoryOperation::shared_load ||
                          event.operation == MemoryOperation::constant_load;
        const bool store =
            event.operation == MemoryOperation::global_store || event.operation == MemoryOperation::shared_store;
        // A load cannot pass a store that may write what it reads.
        if (load && (global ? stored_global_ && !options_.no_aliases : stored_shared_)) close_group();
        Moment at = turn();
        if (address >= 0) at = later(values_[static_cast<std::size_t>(address)], at);
        issue(at, 1);
        const float more_passes = static_cast<float>(event.passes > 0 ? event.passes - 1 : 0);
        if (store) {
            (global ? stored_global_ : stored_shared_) = true;
            issued_ += more_passes;
            set(to, at);
            return;
        }
        issued_ += more_passes;
        at.wait(Latency::issue, more_passes);
        switch (event.operation) {
            case MemoryOperation::global_load:
                at.wait(event.in_l1 ? Latency::shared : Latency::global, 1);
                break;
            case MemoryOperation::global_atomic:
                at.wait(Latency::global_atomic, 1);
                break;
            case MemoryOperation::shared_atomic:
                at.wait(Latency::shared_atomic, 1);
                break;
            case MemoryOperation::shared_load:
                at.wait(Latency::shared, 1);
                break;
            default:
                at.wait(Latency::arithmetic, 2);  // constant memory
        }
        set(to, at);
    }

    struct Addend {
        bool is_product = false;
        Moment factors{};  ///< when they were there
    };

    struct Local {
        Moment moment;
        Addend addend;
    };
    /// The element of an array of the thread's own: the array by its text in the code, the index by the trip of the
    /// loop that runs over it.
    std::uint64_t local_of(std::uint16_t place) const {
        return std::uint64_t{place} << 32 | static_cast<std::uint32_t>(trip_);
    }

    const ReplayOptions& options_;
    const std::map<std::uint32_t, int>& unrolled_;
    std::vector<Moment> values_;
    std::vector<Addend> addends_;
    std::map<std::uint32_t, int> trips_;
    int trip_ = 0;                          ///< of the innermost loop, if it is unrolled altogether
    std::set<std::uint16_t> local_places_;  ///< of the current block
    std::map<std::uint64_t, Local> locals_;
    Moment start_;  ///< of the group of instructions that the compiler may mix
    Moment end_;    ///< when the last instruction of the group so far is issued
    float issued_ = 0;
    bool stored_global_ = false;
    bool stored_shared_ = false;
    std::uint32_t last_step_ = 0;
    const BasicBlock* block_ = nullptr;
    std::size_t next_ = 0;
};

struct Loop {
    int entries = 0;
    int trips = 0;  ///< of the current entry
    int least = 1 << 30;
    int most = 0;
    std::set<std::uint32_t> blocks;
    bool has_barrier = false;

    void end_entry() {
        if (trips == 0) return;
        least = std::min(least, trips);
        most = std::max(most, trips);
        trips = 0;
    }
};

}  // namespace

std::map<std::uint32_t, int> unrolled_loops(const std::vector<RecordedWarp>& warps) {
    std::map<std::uint32_t, Loop> loops;
    for (const RecordedWarp& warp : warps) {
        std::vector<std::uint32_t> path;  // since the last time around, of the loops that are open
        std::vector<bool> barriers;
        for (const WarpEvent& event : warp.events) {
            if (event.kind == WarpEvent::Kind::barrier) {
                if (!barriers.empty()) barriers.back() = true;
                continue;
            }
            if (event.kind != WarpEvent::Kind::step) continue;
            const auto back = std::find(path.rbegin(), path.rend(), event.code);
            if (back != path.rend()) {
                const auto first = static_cast<std::size_t>(path.rend() - back) - 1;
                Loop& loop = loops[event.code];
                ++loop.trips;
                for (std::size_t i = first; i < path.size(); ++i) {
                    loop.blocks.insert(path[i]);
                    loop.has_barrier = loop.has_barrier || barriers[i];
                    // An inner loop has come to its end, this time around.
                    if (i > first) {
                        if (const auto inner = loops.find(path[i]); inner != loops.end()) inner->second.end_entry();
                    }
                }
                path.resize(first);
                barriers.resize(first);
            }
            path.push_back(event.code);
            barriers.push_back(false);
            if (path.size() > 64) {
                path.erase(path.begin());
                barriers.erase(barriers.begin());
            }
        }
        if (warp.all_events == warp.events.size()) {
            for (auto& [code, loop] : loops) loop.end_entry();
        } else {
            for (auto& [code, loop] : loops) {
                loop.most = std::max(loop.most, loop.trips);
                loop.trips = 0;
            }
        }
    }
    std::map<std::uint32_t, int> unrolled;
    for (auto& [code, loop] : loops) {
        std::size_t operations = 0;
        bool constant = false;
        bool contains_loop = false;
        bool accesses_memory = false;
        for (const std::uint32_t block : loop.blocks) {
            const BasicBlock& code_of_block = basic_block(block);
            operations += code_of_block.operations.size();
            accesses_memory =
                accesses_memory || std::any_of(code_of_block.operations.begin(), code_of_block.operations.end(),
                                               [](const MicroOperation& operation) {
                                                   return operation.kind == Kind::access && operation.code != 0;
                                               });
            constant = constant || (code_of_block.loops && code_of_block.constant_trips);
            const auto inner = loops.find(block);
            contains_loop =
                contains_loop || (block != code && inner != loops.end() && inner->second.least != inner->second.most);
        }
        // Trips that are always the same, and few: the source most likely has a constant there.
        const int trips = loop.most + 1;
        const bool known = constant || (loop.least == loop.most && trips <= 16);
        if (loop.has_barrier || contains_loop) {
            unrolled[code] = 1;
        } else if (known && trips <= kFullyUnrolled && operations * static_cast<std::size_t>(trips) <= 2000) {
            unrolled[code] = trips;
        } else {
            const bool is_short = operations <= kLongestBody && loop.blocks.size() <= kMostBlocks;
            unrolled[code] = !is_short ? 1 : accesses_memory ? kUnrolled : kUnrolledWithoutMemory;
        }
    }
    return unrolled;
}

std::array<double, kLatencies> replay(const RecordedWarp& warp, const ReplayOptions& options,
                                      const std::map<std::uint32_t, int>& unrolled) {
    Replay all(options, unrolled);
    for (const WarpEvent& event : warp.events) {
        switch (event.kind) {
            case WarpEvent::Kind::step:
                all.step(event.code);
                break;
            case WarpEvent::Kind::access:
                all.access(event);
                break;
            case WarpEvent::Kind::barrier:
                all.barrier();
                break;
        }
    }
    const std::array<float, kLatencies> chain = all.finish();
    // The rest of a long warp goes on as what was kept of it.
    const double scale =
        warp.events.empty() ? 0 : static_cast<double>(warp.all_events) / static_cast<double>(warp.events.size());
    std::array<double, kLatencies> result{};
    for (std::size_t i = 0; i < kLatencies; ++i) result[i] = static_cast<double>(chain[i]) * scale;
    return result;
}

}  // namespace cpu_device
