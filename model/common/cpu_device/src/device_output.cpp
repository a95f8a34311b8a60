#include "device_output.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "block.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"
#include "device_printf.h"
#include "signals_held_back.h"
#include "source_lines.h"

namespace cpu_device {
namespace {

/// A launch that prints more shows what there is so far.
constexpr std::size_t kMostKept = std::size_t{64} << 20;

// ---- one warp ------------------------------------------------------------------------------------------------

/// Puts the prints of a warp's lanes together as the warp runs: step by step, one call site at a time.
class WarpOrder {
public:
    explicit WarpOrder(const std::vector<const Print*>& prints) {
        const bool is_one_site = std::all_of(prints.begin(), prints.end(), [&](const Print* print) {
            return print->code == prints.front()->code && print->format == prints.front()->format;
        });
        if (is_one_site) sites_.emplace_back();
        for (const Print* print : prints) {
            Lane& lane = lanes_[print->thread % kWarpSize];
            const std::size_t site = is_one_site ? 0 : site_of(*print);
            lane.prints.push_back({print, site});
        }
        for (Lane& lane : lanes_) {
            lane.ahead.resize(sites_.size());
            lane.done.resize(sites_.size());
            for (const auto& [print, site] : lane.prints) ++lane.ahead[site];
        }
    }

    void append_to(std::vector<const Print*>& order) {
        for (std::size_t site = 0; next_site(site);) {
            const std::size_t times = least_done(site);
            for (Lane& lane : lanes_) {
                if (!lane.is_at(site) || lane.done[site] != times) continue;
                order.push_back(lane.prints[lane.next++].first);
                ++lane.done[site];
                --lane.ahead[site];
            }
        }
    }

private:
    struct Lane {
        std::vector<std::pair<const Print*, std::size_t>> prints;  ///< and their sites
        std::size_t next = 0;
        std::vector<std::size_t> ahead;  ///< by site: how often the lane will still come there
        std::vector<std::size_t> done;   ///< and how often it has been there

        bool ended() const { return next == prints.size(); }
        bool is_at(std::size_t site) const { return !ended() && prints[next].second == site; }
    };

    /// Calls of one line are one site, however often the compiler has copied it. Where no line is known, the format
    /// tells.
    std::size_t site_of(const Print& print) {
        const SourceLine line = source_lines({print.code}).front();
        Site site{line.file, line.line, print.format, nullptr};
        if (line.line == 0 && print.format == nullptr) site.code = print.code;
        const auto [found, is_new] = numbers_.try_emplace(site, sites_.size());
        if (is_new) sites_.push_back({line, print.code});
        return found->second;
    }

    /// Of the lanes that are at the site, those come first that have been there least often.
    std::size_t least_done(std::size_t site) const {
        std::size_t least = SIZE_MAX;
        for (const Lane& lane : lanes_) {
            if (lane.is_at(site)) least = std::min(least, lane.done[site]);
        }
        return least;
    }

    /// Whether a lane that is elsewhere will still come to the site for the same time: then it is waited for, as behind
    /// an if.
    bool must_wait(std::size_t site) const {
        const std::size_t times = least_done(site);
        return std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
            return !lane.ended() && !lane.is_at(site) && lane.done[site] <= times &&
                   times < lane.done[site] + lane.ahead[site];
        });
    }

    /// Sets `site` to where the warp goes on; false at the end.
    bool next_site(std::size_t& site) {
        constexpr std::size_t none = SIZE_MAX;
        std::size_t chosen = none, first = none, fewest = SIZE_MAX;
        bool is_alone = true;
        for (const Lane& lane : lanes_) {
            if (lane.ended()) continue;
            const std::size_t here = lane.prints[lane.next].second;
            if (first == none) first = here;
            if (here != first) is_alone = false;
            // Of several that need not wait, first the one where its lane has been least often: one side of an if runs
            // to its end before the other one, and in a loop both before the next round.
            if (lane.done[here] >= fewest || must_wait(here)) continue;
            fewest = lane.done[here];
            chosen = here;
        }
        if (first == none) return false;
        site = is_alone ? first : chosen != none ? chosen : first_in_source();
        return true;
    }

    /// Every site waits for another one: a print inside a condition in a loop. Then the source's order decides.
    std::size_t first_in_source() {
        if (ranks_.empty()) {
            std::vector<std::size_t> sorted(sites_.size());
            for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
            std::sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
                const auto& [one, one_code] = sites_[a];
                const auto& [other, other_code] = sites_[b];
                return std::tie(one.file, one.line, one_code, a) < std::tie(other.file, other.line, other_code, b);
            });
            ranks_.resize(sites_.size());
            for (std::size_t rank = 0; rank < sorted.size(); ++rank) ranks_[sorted[rank]] = rank;
        }
        std::size_t best = SIZE_MAX;
        for (const Lane& lane : lanes_) {
            if (lane.ended()) continue;
            const std::size_t here = lane.prints[lane.next].second;
            if (best == SIZE_MAX || ranks_[here] < ranks_[best]) best = here;
        }
        return best;
    }

    std::array<Lane, kWarpSize> lanes_;
    struct Site {
        std::string file;
        int line;
        const void* format;
        const void* code;
        auto operator<=>(const Site&) const = default;
    };

    std::vector<std::pair<SourceLine, const void*>> sites_;  ///< and the code that was met first
    std::map<Site, std::size_t> numbers_;
    std::vector<std::size_t> ranks_;  ///< of sites in the source; empty until they are needed
};

// ---- all output of the process -------------------------------------------------------------------------------

struct Output {
    std::mutex mutex;
    std::vector<Print> prints;  ///< of the running launch
    std::size_t bytes = 0;      ///< of their text
    std::string kernel;         ///< whose they are
    Site site;
    std::string ended;  ///< of launches that have ended, in order

    void put_in_order() {
        for (const Print* print : in_order_of_warps(prints)) ended += print->text;
        prints.clear();
        bytes = 0;
    }
    void show() {
        std::fwrite(ended.data(), 1, ended.size(), stdout);
        note_printed(ended);
        ended.clear();
    }
};

Output& output() {
    static auto* all = new Output;  // still needed when the process exits
    return *all;
}

}  // namespace

std::vector<const Print*> in_order_of_warps(const std::vector<Print>& prints) {
    std::vector<const Print*> sorted;
    for (const Print& print : prints) sorted.push_back(&print);
    const auto place = [](const Print* print) {
        return std::tuple(print->grid_phase, print->block, print->block_phase, print->thread / kWarpSize);
    };
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Print* a, const Print* b) { return place(a) < place(b); });
    std::vector<const Print*> order;
    for (auto first = sorted.begin(); first != sorted.end();) {
        const auto end =
            std::find_if(first, sorted.end(), [&](const Print* print) { return place(print) != place(*first); });
        WarpOrder({first, end}).append_to(order);
        first = end;
    }
    return order;
}

void print_later(const void* code, const void* format, std::string text) {
    const SignalsHeldBack held_back;
    const Block& block = *current_thread.block;
    Output& all = output();
    std::lock_guard lock(all.mutex);
    all.bytes += text.size() + sizeof(Print);
    all.kernel = block.launch().site.kernel;
    all.site = block.launch().site.site;
    all.prints.push_back({block.linear_index(), block.grid_phase(), block.phase(), current_thread.linear_thread, code,
                          format, std::move(text)});
    if (all.bytes <= kMostKept) return;
    all.put_in_order();
    all.show();
}

void end_device_output(bool failed) {
    Output& all = output();
    std::lock_guard lock(all.mutex);
    if (!all.prints.empty()) all.put_in_order();
    if (failed) all.show();
}

void flush_device_output() {
    Output& all = output();
    std::lock_guard lock(all.mutex);
    if (!all.ended.empty()) all.show();
}

void flush_unseen_output() {
    Output& all = output();
    Diagnostic found{};
    {
        std::lock_guard lock(all.mutex);
        if (all.ended.empty()) return;
        all.show();
        found.message =
            "kernel " + all.kernel + " printed, and no later call waited for it: a GPU never shows that text";
        found.site = all.site;
    }
    if (!instrumenting().diagnostics) return;
    found.kind = DiagnosticKind::unseen_output;
    found.hint = "call cudaDeviceSynchronize() before the program ends";
    found.is_note = true;
    report(std::move(found));
}

}  // namespace cpu_device
