// How often each basic block of nvcc's code runs, from how often the CPU device saw the source lines.
//
// Loops from the outside in. A loop's iterations follow from what the CPU device counted in a line of its body and what
// the body does there in one iteration: if a line loaded 4 bytes a thousand times, a loop that loads 16 bytes there ran
// 250 times. nvcc copies a loop's body, so several loops share a line: the one that does most at a time takes as many
// whole iterations as there are, and the next one takes what is left.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "common/code/kernel_code.h"

namespace warpwise::code {
namespace {

/// A kind of work in a line.
using Work = std::pair<unsigned, Counted>;
using Amounts = std::map<Work, double>;

constexpr unsigned kNoLoop = ~0u;

std::optional<std::pair<Counted, double>> work_of(const Count& count) {
    const OperationRow& row = operation_of(count.code);
    const auto times = [&](Counted kind, double each) { return std::pair(kind, each * count.times); };
    switch (row.operation) {
        case Operation::load_global:
            return times(Counted::load_global, count.bytes);
        case Operation::store_global:
            return times(Counted::store_global, count.bytes);
        case Operation::load_shared:
            return times(Counted::load_shared, count.bytes);
        case Operation::store_shared:
            return times(Counted::store_shared, count.bytes);
        case Operation::load_local:
            return times(Counted::load_local, count.bytes);
        case Operation::store_local:
            return times(Counted::store_local, count.bytes);
        case Operation::load_constant:
            if (!count.indexed) return std::nullopt;
            return times(Counted::load_constant, 1);
        case Operation::atomic_global:
            return times(Counted::atomic_global, 1);
        case Operation::atomic_shared:
            return times(Counted::atomic_shared, 1);
        case Operation::special:
            return times(Counted::special, 1);
        case Operation::shuffle:
            if (count.code != kShuffle) return std::nullopt;  // votes may be merged
            return times(Counted::shuffle, 1);
        case Operation::fp32:
        case Operation::fp64:
            if (row.flops == 0) return std::nullopt;
            return times(Counted::flops, row.flops);
        default:
            return std::nullopt;
    }
}

/// Moves, branches, and parameters: there is no telling how many of them a copy of a line has.
bool tells_copies(unsigned code) {
    const OperationRow& row = operation_of(code);
    return row.operation != Operation::branch && row.operation != Operation::load_constant &&
           row.operation != Operation::other && std::string_view(row.name) != "ULDC";
}

/// Blocks, and the loops that they form.
class Flow {
public:
    explicit Flow(const KernelCode& kernel) : blocks_(kernel.blocks), from_(kernel.blocks.size()) {
        for (unsigned block = 0; block < blocks_.size(); ++block) {
            for (const unsigned next : blocks_[block].next) from_[next].push_back(block);
        }
        find_dominators();
        find_loops();
    }

    struct Loop {
        unsigned head = 0;
        unsigned around = kNoLoop;
        std::set<unsigned> blocks;
    };
    const std::vector<Loop>& loops() const { return loops_; }
    /// The innermost loop of a block.
    unsigned loop_of(unsigned block) const { return loop_of_[block]; }
    /// The block that every way to this one passes last.
    unsigned dominator(unsigned block) const { return dominator_[block]; }
    bool dominates(unsigned above, unsigned block) const {
        while (block != 0) {
            block = dominator_[block];
            if (block == above) return true;
        }
        return false;
    }
    bool is_within(unsigned inner, unsigned outer) const {
        while (inner != kNoLoop && inner != outer) inner = loops_[inner].around;
        return inner == outer;
    }

    /// Whether each iteration of its loop, or each warp, comes through the block.
    bool runs_always(unsigned block) const {
        const unsigned loop = loop_of_[block];
        const unsigned head = loop == kNoLoop ? 0 : loops_[loop].head;
        if (block == head) return true;
        std::vector<unsigned> open = {head};
        std::set<unsigned> seen = {head};
        while (!open.empty()) {
            const unsigned at = open.back();
            open.pop_back();
            if (loop == kNoLoop && blocks_[at].may_end) return false;
            for (const unsigned next : blocks_[at].next) {
                if (next == block || blocks_[next].is_rare) continue;
                if (loop != kNoLoop && next == head) return false;
                if (loop != kNoLoop && !loops_[loop].blocks.contains(next)) continue;
                if (seen.insert(next).second) open.push_back(next);
            }
        }
        return true;
    }

private:
    void find_dominators() {
        std::vector<unsigned> order;
        std::vector<bool> seen(blocks_.size(), false);
        const std::function<void(unsigned)> visit = [&](unsigned block) {
            seen[block] = true;
            for (const unsigned next : blocks_[block].next) {
                if (!seen[next]) visit(next);
            }
            order.push_back(block);
        };
        visit(0);
        std::reverse(order.begin(), order.end());
        std::vector<std::size_t> place(blocks_.size(), 0);
        for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
        constexpr unsigned unknown = ~0u;
        dominator_.assign(blocks_.size(), unknown);
        dominator_[0] = 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (const unsigned block : order) {
                if (block == 0) continue;
                unsigned common = unknown;
                for (unsigned other : from_[block]) {
                    if (dominator_[other] == unknown) continue;
                    if (common == unknown) {
                        common = other;
                        continue;
                    }
                    while (other != common) {
                        while (place[other] > place[common]) other = dominator_[other];
                        while (place[common] > place[other]) common = dominator_[common];
                    }
                }
                if (dominator_[block] != common) changed = true;
                dominator_[block] = common;
            }
        }
        // Blocks that nothing leads to: of a damaged file.
        std::replace(dominator_.begin(), dominator_.end(), unknown, 0u);
    }

    void find_loops() {
        std::map<unsigned, std::set<unsigned>> by_head;
        for (unsigned block = 0; block < blocks_.size(); ++block) {
            for (const unsigned head : blocks_[block].next) {
                if (head != block && !dominates(head, block)) continue;
                std::set<unsigned>& body = by_head[head];
                body.insert(head);
                for (std::vector<unsigned> open = {block}; !open.empty();) {
                    const unsigned at = open.back();
                    open.pop_back();
                    if (!body.insert(at).second) continue;
                    open.insert(open.end(), from_[at].begin(), from_[at].end());
                }
            }
        }
        for (const auto& [head, body] : by_head) {
            if (body.size() == 1 && tries_again(head)) continue;
            loops_.push_back({head, kNoLoop, body});
        }
        std::stable_sort(loops_.begin(), loops_.end(),
                         [](const Loop& a, const Loop& b) { return a.blocks.size() < b.blocks.size(); });
        loop_of_.assign(blocks_.size(), kNoLoop);
        for (unsigned loop = static_cast<unsigned>(loops_.size()); loop-- > 0;) {
            for (const unsigned block : loops_[loop].blocks) loop_of_[block] = loop;
            for (unsigned outer = loop + 1; outer < loops_.size(); ++outer) {
                if (!loops_[outer].blocks.contains(loops_[loop].head)) continue;
                loops_[loop].around = outer;
                break;
            }
        }
    }

    /// A compare-and-swap that is tried until it succeeds: nvcc's code for some atomics. Taken for one attempt.
    bool tries_again(unsigned block) const {
        constexpr unsigned compare_and_swap[] = {0x18d, 0x1a9};
        return std::any_of(blocks_[block].counts.begin(), blocks_[block].counts.end(), [&](const Count& count) {
            return count.code == compare_and_swap[0] || count.code == compare_and_swap[1];
        });
    }

    const std::vector<Block>& blocks_;
    std::vector<std::vector<unsigned>> from_;
    std::vector<unsigned> dominator_;
    std::vector<Loop> loops_;  ///< inner ones before outer ones
    std::vector<unsigned> loop_of_;
};

/// A loop, or a block that does not run in each iteration of the loop around it.
struct Item {
    bool is_loop = false;
    unsigned id = 0;      ///< of the loop or block
    unsigned around = 0;  ///< the loop around it
    unsigned head = 0;    ///< its first block
    unsigned size = 0;    ///< instructions
    Amounts amounts{};    ///< of one iteration, or of the block
    std::set<unsigned> lines{};
    bool leads = false;     ///< a block that every way to others with the same work comes through
    bool is_known = false;  ///< `share` was worked out
    bool has_work = false;  ///< from amounts
    double share = 0;       ///< iterations, or runs, for each iteration of what is around it
};

class Estimator {
public:
    Estimator(const KernelCode& kernel, const SeenLines& seen, double warps)
        : kernel_(kernel), flow_(kernel), warps_(warps) {
        find_lines(seen);
        const auto count = static_cast<unsigned>(kernel.blocks.size());
        amounts_.resize(count);
        lines_.resize(count);
        times_.assign(count, 0);
        is_set_.assign(count, false);
        iterations_.assign(flow_.loops().size(), 0);
        for (unsigned block = 0; block < count; ++block) read_block(block);
    }

    std::vector<double> times() {
        std::vector<unsigned> level = {kNoLoop};
        while (!level.empty()) {
            work_out(level);
            std::vector<unsigned> inner;
            for (unsigned loop = 0; loop < flow_.loops().size(); ++loop) {
                if (std::find(level.begin(), level.end(), flow_.loops()[loop].around) != level.end() &&
                    std::find(level.begin(), level.end(), loop) == level.end()) {
                    inner.push_back(loop);
                }
            }
            level = inner;
        }
        return times_;
    }

private:
    /// For each line of the kernel what was seen there; of lines that the host's compiler knows under another number,
    /// how often the line before them ran.
    void find_lines(const SeenLines& seen) {
        for (const SourceLine& line : kernel_.lines) {
            const SeenLine* exact = nullptr;
            double before = 0;
            int distance = std::numeric_limits<int>::max();
            for (const auto& [place, at] : seen) {
                if (place.first != line.file && !place.first.ends_with("/" + line.file)) continue;
                if (place.second == line.line) exact = &at;
                if (place.second <= line.line && line.line - place.second < distance) {
                    distance = line.line - place.second;
                    before = at.times;
                }
            }
            seen_.push_back(exact);
            line_times_.push_back(exact != nullptr ? exact->times : before);
        }
    }

    void read_block(unsigned block) {
        if (kernel_.blocks[block].is_rare) return;
        for (const Count& count : kernel_.blocks[block].counts) {
            if (count.line >= seen_.size()) continue;
            const SeenLine* seen = seen_[count.line];
            const auto work = work_of(count);
            if (work && seen != nullptr && (*seen)[work->first] > 0 &&
                (work->first != Counted::flops || seen->flops_are_known)) {
                amounts_[block][{count.line, work->first}] += work->second;
            }
            if (tells_copies(count.code) && line_times_[count.line] > 0) {
                lines_[block].insert(count.line);
                if (flow_.loop_of(block) != kNoLoop) {
                    in_loops_[{count.line, count.code}][flow_.loop_of(block)] += count.times;
                }
            }
        }
    }

    /// How many copies of a line a loop has, compared with the loop beside it that has fewest: what most of the line's
    /// instructions say.
    double copies(unsigned line, unsigned loop) const {
        std::map<double, double> votes;
        double all = 0;
        for (auto at = in_loops_.lower_bound({line, 0}); at != in_loops_.end() && at->first.first == line; ++at) {
            const auto here = at->second.find(loop);
            if (here == at->second.end()) continue;
            double fewest = here->second;
            for (const auto& [other, times] : at->second) {
                if (!flow_.is_within(other, loop) && !flow_.is_within(loop, other)) fewest = std::min(fewest, times);
            }
            votes[here->second / fewest] += here->second;
            all += here->second;
        }
        double so_far = 0;
        for (const auto& [ratio, times] : votes) {
            so_far += times;
            if (2 * so_far >= all) return ratio;
        }
        return 1;
    }

    double total(const Work& work) const { return (*seen_[work.first])[work.second]; }
    double runs_of(unsigned loop) const { return loop == kNoLoop ? warps_ : iterations_[loop]; }
    void set(unsigned block, double times) {
        times_[block] = times;
        is_set_[block] = true;
    }

    /// Conditional blocks of these loops, and the loops in them.
    std::vector<Item> items_of(const std::vector<unsigned>& level) {
        std::vector<Item> items;
        for (const unsigned around : level) {
            for (unsigned block = 0; block < kernel_.blocks.size(); ++block) {
                if (flow_.loop_of(block) != around || kernel_.blocks[block].is_rare) continue;
                if (flow_.runs_always(block)) {
                    set(block, runs_of(around));
                } else {
                    items.push_back(
                        {false, block, around, block, kernel_.blocks[block].size(), amounts_[block], lines_[block]});
                }
            }
            for (unsigned loop = 0; loop < flow_.loops().size(); ++loop) {
                if (flow_.loops()[loop].around == around) items.push_back(item_of(loop));
            }
        }
        const auto all = [](const Item& item) {
            double sum = 0;
            for (const auto& [work, amount] : item.amounts) sum += amount;
            return sum;
        };
        std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
            return std::pair(all(a), a.size) > std::pair(all(b), b.size);
        });
        // The first iteration may stand before the loops: without it, there is no other one.
        for (Item& item : items) {
            item.leads = !item.is_loop && std::all_of(items.begin(), items.end(), [&](const Item& other) {
                return &other == &item || !share_work(item, other) || flow_.dominates(item.id, other.head);
            });
        }
        std::stable_partition(items.begin(), items.end(), [](const Item& item) { return item.leads; });
        return items;
    }

    static bool share_work(const Item& a, const Item& b) {
        return std::any_of(a.amounts.begin(), a.amounts.end(),
                           [&](const auto& amount) { return b.amounts.contains(amount.first); });
    }

    Item item_of(unsigned loop) const {
        Item item{true, loop, flow_.loops()[loop].around, flow_.loops()[loop].head};
        Amounts sometimes;
        for (const unsigned block : flow_.loops()[loop].blocks) {
            item.size += kernel_.blocks[block].size();
            if (flow_.loop_of(block) != loop || kernel_.blocks[block].is_rare) continue;
            const bool always = flow_.runs_always(block);
            for (const auto& [work, amount] : amounts_[block]) (always ? item.amounts : sometimes)[work] += amount;
            if (always) item.lines.insert(lines_[block].begin(), lines_[block].end());
        }
        if (item.amounts.empty() && item.lines.empty()) item.amounts = sometimes;
        return item;
    }

    void work_out(const std::vector<unsigned>& level) {
        std::vector<Item> items = items_of(level);
        // What is left for the items when the blocks that are known have had their part.
        Amounts left;
        for (const Item& item : items) {
            for (const auto& [work, amount] : item.amounts) left.emplace(work, total(work));
        }
        for (unsigned block = 0; block < kernel_.blocks.size(); ++block) {
            if (!is_set_[block]) continue;
            for (const auto& [work, amount] : amounts_[block]) {
                if (const auto found = left.find(work); found != left.end()) found->second -= amount * times_[block];
            }
        }
        std::vector<double> times_left = line_times_;
        for (Item& item : items) {
            const double around = runs_of(item.around);
            const std::optional<double> by_work = share_by_work(item, items, left);
            item.has_work = by_work.has_value();
            if (!by_work && is_for_rare_operands(item)) {
                item.share = 0;
            } else if (by_work) {
                item.share = *by_work;
            } else if (around > 0) {
                std::optional<double> least;
                for (const unsigned line : item.lines) {
                    const double times = (item.is_loop ? times_left[line] / copies(line, item.id) : line_times_[line]);
                    least = std::min(least.value_or(times), times);
                }
                item.share = least ? *least / around : item.is_loop ? 0 : 1;
            }
            if (!item.is_loop) item.share = std::min(item.share, 1.0);
            item.is_known = true;
            if (item.is_loop) {
                iterations_[item.id] = item.share * around;
                if (!item.has_work) {
                    for (const unsigned line : item.lines) {
                        times_left[line] -= iterations_[item.id] * copies(line, item.id);
                    }
                }
            } else {
                set(item.id, item.share * around);
            }
            take(item, items, left);
        }
        bound(items);
    }

    /// nvcc expands functions of the mathematical library in place: what comes after their usual way, in their line, is
    /// for operands like infinity or a million turns; so is an array that nobody declared.
    bool is_for_rare_operands(const Item& item) const {
        if (item.lines.empty()) return false;
        const bool expanded = std::all_of(item.lines.begin(), item.lines.end(), [&](unsigned line) {
            return seen_[line] != nullptr && !seen_[line]->flops_are_known;
        });
        if (!expanded) return false;
        if (item.is_loop) {
            const std::set<unsigned>& body = flow_.loops()[item.id].blocks;
            return std::any_of(body.begin(), body.end(), [&](unsigned block) { return uses_local_memory(block); });
        }
        constexpr unsigned most_of_a_way = 4;
        for (unsigned above = flow_.dominator(item.id);; above = flow_.dominator(above)) {
            if (flow_.loop_of(above) == item.around && instructions_in(item.lines, above) >= most_of_a_way) return true;
            if (above == 0) return false;
        }
    }

    unsigned instructions_in(const std::set<unsigned>& lines, unsigned block) const {
        unsigned sum = 0;
        for (const Count& count : kernel_.blocks[block].counts) {
            if (lines.contains(count.line) && tells_copies(count.code)) sum += count.times;
        }
        return sum;
    }

    bool uses_local_memory(unsigned block) const {
        const std::vector<Count>& counts = kernel_.blocks[block].counts;
        return std::any_of(counts.begin(), counts.end(), [](const Count& count) {
            const Operation operation = operation_of(count.code).operation;
            return operation == Operation::load_local || operation == Operation::store_local;
        });
    }

    static bool alike(const Item& a, const Item& b, const Work& work) {
        const auto x = a.amounts.find(work);
        const auto y = b.amounts.find(work);
        return a.is_loop == b.is_loop && x != a.amounts.end() && y != b.amounts.end() && x->second == y->second;
    }

    /// Iterations or runs from the work that is left; nothing where no work of the item is known.
    std::optional<double> share_by_work(const Item& item, const std::vector<Item>& items, const Amounts& left) const {
        // Bytes tell more than sums and products, of which compilers may remove some.
        std::vector<std::pair<double, bool>> by_bytes;
        std::vector<std::pair<double, bool>> by_results;
        for (const auto& [work, amount] : item.amounts) {
            double around = 0;
            bool is_last = true;
            for (const Item& other : items) {
                if (alike(item, other, work)) around += runs_of(other.around);
                const auto found = other.amounts.find(work);
                if (found != other.amounts.end() && other.around == item.around && found->second < amount) {
                    is_last = false;
                }
            }
            const double share = around > 0 ? std::max(left.at(work), 0.0) / amount / around : 0;
            const bool results = work.second == Counted::flops || work.second == Counted::special;
            (results ? by_results : by_bytes).emplace_back(share, is_last);
        }
        std::vector<std::pair<double, bool>>& shares = by_bytes.empty() ? by_results : by_bytes;
        if (shares.empty()) return std::nullopt;
        std::sort(shares.begin(), shares.end());
        const auto [share, is_last] = shares[shares.size() / 2];
        constexpr double rounding = 1e-6;
        return is_last || item.leads ? share : std::floor(share + rounding);
    }

    /// The item's work is done, as soon as all that are like it have had their part.
    void take(const Item& item, const std::vector<Item>& items, Amounts& left) const {
        for (const auto& [work, amount] : item.amounts) {
            const bool all_known = std::all_of(items.begin(), items.end(), [&, &kind = work](const Item& other) {
                return other.is_known || !alike(item, other, kind);
            });
            if (!all_known) continue;
            for (const Item& other : items) {
                if (alike(item, other, work)) left[work] -= amount * other.share * runs_of(other.around);
            }
        }
    }

    /// A block whose work is not known runs when anything does that it alone leads to. And none runs more often than
    /// the block that leads to it.
    void bound(std::vector<Item>& items) {
        for (const Item& item : items) {
            if (item.is_loop || item.has_work) continue;
            std::optional<double> below;
            for (const Item& other : items) {
                if (!other.is_loop && !other.has_work) continue;
                if (other.around != item.around || !flow_.dominates(item.id, other.head)) continue;
                below = std::max(below.value_or(0), other.share);
            }
            if (below) set(item.id, std::min(times_[item.id], std::min(*below, 1.0) * runs_of(item.around)));
        }
        std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.head < b.head; });
        for (const Item& item : items) {
            if (item.is_loop) continue;
            const unsigned above = flow_.dominator(item.id);
            unsigned loop = flow_.loop_of(above);
            if (loop == item.around) {
                set(item.id, std::min(times_[item.id], times_[above]));
                continue;
            }
            while (loop != kNoLoop && flow_.loops()[loop].around != item.around) loop = flow_.loops()[loop].around;
            if (loop != kNoLoop && iterations_[loop] == 0) set(item.id, 0);
        }
    }

    const KernelCode& kernel_;
    Flow flow_;
    double warps_;
    std::vector<const SeenLine*> seen_;  ///< by line of the kernel; null where nothing was seen
    std::vector<double> line_times_;
    std::vector<Amounts> amounts_;                                                  ///< by block
    std::vector<std::set<unsigned>> lines_;                                         ///< by block
    std::map<std::pair<unsigned, unsigned>, std::map<unsigned, double>> in_loops_;  ///< line and code: times by loop
    std::vector<double> times_;
    std::vector<bool> is_set_;
    std::vector<double> iterations_;  ///< by loop, over all warps
};

}  // namespace

std::vector<double> times_of_blocks(const KernelCode& kernel, const SeenLines& seen, double warps) {
    if (kernel.blocks.empty()) return {};
    return Estimator(kernel, seen, warps).times();
}

}  // namespace warpwise::code
