#include "cpu_device/findings.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "cpu_device/watch.h"
#include "device_printf.h"
#include "json_text.h"
#include "signals_held_back.h"
#include "source_lines.h"

namespace cpu_device {
namespace {

constexpr int kExitStatus = 86;
constexpr std::size_t kPrintedOfALaunch = 20;
constexpr std::uint64_t kPrintedOfAMistake = 3;  // a loop may make it in thousands of launches

// ---- findings of the running launch ----------------------------------------------------------------------

/// Names a group of findings: what `report` counts as the same mistake before lines are known.
struct Key {
    std::uint64_t first;
    std::uint64_t second;
};

constexpr int kKindShift = 56;  // code addresses of programs are smaller
constexpr std::uint64_t kByPlace = std::uint64_t{1} << 63;

std::uint64_t hash_of(std::string_view text, int number = 0) {  // FNV-1a, the number as four more characters
    std::uint64_t hash = 0xCBF29CE484222325u;
    const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001B3u; };
    for (const char c : text) add(static_cast<unsigned char>(c));
    for (int i = 0; i < 4; ++i) add(static_cast<unsigned char>(static_cast<unsigned>(number) >> (8 * i)));
    return hash;
}

/// Which of the two threads of a race was there first does not matter: a group is an unordered pair.
Key key_of(FindingKind kind, std::uint64_t one, std::uint64_t two, std::uint64_t flag) {
    const std::uint64_t small_enough = (std::uint64_t{1} << kKindShift) - 1;
    if (one < two) std::swap(one, two);
    return {(one & small_enough) | static_cast<std::uint64_t>(kind) << kKindShift | flag, two};
}

Key key_of(FindingKind kind, const void* code, const void* other_code) {
    return key_of(kind, reinterpret_cast<std::uintptr_t>(code), reinterpret_cast<std::uintptr_t>(other_code), 0);
}

Key key_of(FindingKind kind, const Site& site, const Site& other) {
    const auto place = [](const Site& at) { return at.line > 0 ? hash_of(at.file, at.line) : 0; };
    return key_of(kind, place(site), place(other), kByPlace);
}

Key key_of(const Finding& finding) {
    if (finding.code != nullptr) return key_of(finding.kind, finding.code, finding.other_code);
    const Site other = finding.other ? finding.other->site : Site{};
    if (finding.site.line > 0 || other.line > 0) return key_of(finding.kind, finding.site, other);
    return key_of(finding.kind, hash_of(finding.message), 0, kByPlace);
}

/// What was reported since the launch began, by group, in order of first appearance.
///
/// `find` takes no lock: it is asked for each wrong access of a kernel that makes millions, and the watchdog may end a
/// device thread in the middle of it. Entries are therefore reused, but never given back.
class Pending {
public:
    struct Entry {
        std::atomic<std::uint64_t> first{0};
        std::atomic<std::uint64_t> second{0};
        std::atomic<Entry*> next{nullptr};
        std::atomic<std::uint64_t> repeats{0};
        Finding finding{};
    };

    Entry* find(const Key& key) {
        for (Entry* entry = bucket(key).load(std::memory_order_acquire); entry != nullptr;
             entry = entry->next.load(std::memory_order_relaxed)) {
            if (entry->first.load(std::memory_order_relaxed) == key.first &&
                entry->second.load(std::memory_order_relaxed) == key.second) {
                return entry;
            }
        }
        return nullptr;
    }

    /// Needs the lock, as `take` does.
    void add(const Key& key, Finding finding) {
        if (used_ == entries_.size()) entries_.emplace_back();
        Entry& entry = entries_[used_++];
        entry.first.store(key.first, std::memory_order_relaxed);
        entry.second.store(key.second, std::memory_order_relaxed);
        entry.repeats.store(0, std::memory_order_relaxed);
        entry.finding = std::move(finding);
        std::atomic<Entry*>& head = bucket(key);
        entry.next.store(head.load(std::memory_order_relaxed), std::memory_order_relaxed);
        head.store(&entry, std::memory_order_release);
    }

    std::vector<Finding> take() {
        std::vector<Finding> taken;
        for (std::atomic<Entry*>& head : buckets_) head.store(nullptr, std::memory_order_release);
        for (std::size_t i = 0; i < used_; ++i) {
            taken.push_back(std::move(entries_[i].finding));
            taken.back().count += entries_[i].repeats.load(std::memory_order_relaxed);
        }
        used_ = 0;
        return taken;
    }

    bool empty() const { return used_ == 0; }

private:
    static constexpr int kBucketBits = 10;

    std::atomic<Entry*>& bucket(const Key& key) {
        return buckets_[((key.first ^ key.second << 1) * 0x9E3779B97F4A7C15u) >> (64 - kBucketBits)];
    }

    std::array<std::atomic<Entry*>, 1 << kBucketBits> buckets_{};
    std::deque<Entry> entries_;
    std::size_t used_ = 0;
};

// ---- all findings of the process -------------------------------------------------------------------------

struct State {
    std::mutex mutex;
    Pending pending;
    std::vector<Finding> kept;
    std::vector<Finding> all;  ///< also those that were taken; only when `file` asks for them
    std::string file;          ///< where to write all findings at exit; empty: nowhere
    bool printing = true;
    bool were_taken = false;                             ///< by the program, which judges for itself
    std::map<std::string, std::uint64_t> launches_with;  ///< how many made a mistake, by what names it

    State() {
        const char* wanted = std::getenv("CPU_DEVICE_FINDINGS");
        if (wanted != nullptr) file = wanted;
    }
};

State& state() {
    static State* all = new State;  // still needed when the process exits
    return *all;
}

bool count_again(const Key& key) {
    Pending::Entry* entry = state().pending.find(key);
    if (entry != nullptr) entry->repeats.fetch_add(1, std::memory_order_relaxed);
    return entry != nullptr;
}

/// The text for as long as the process lives.
const char* kept_text(const std::string& text) {
    static std::mutex mutex;
    static std::set<std::string>* texts = new std::set<std::string>;
    std::lock_guard lock(mutex);
    return texts->insert(text).first->c_str();
}

/// Whether `function`, as addr2line names it, is the kernel with this name: "scale<float>" of a launch is "void
/// scale<float>(float*, int)".
bool is_kernel(const std::string& function, const std::string& kernel) {
    std::string name = kernel.substr(0, kernel.find('<'));
    while (!name.empty() && name.back() == ' ') name.pop_back();
    if (const std::size_t colons = name.rfind("::"); colons != std::string::npos) name.erase(0, colons + 2);
    if (name.empty()) return false;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = function.find(name); at != std::string::npos; at = function.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || !is_word(function[at - 1])) && (end == function.size() || !is_word(function[end]))) return true;
        if (function[at] == '(') break;
    }
    return false;
}

/// The calls between a function that was compiled into the kernel and the kernel.
std::vector<Site> callers_of(const SourceLine& line, const std::string& kernel) {
    std::vector<Site> callers;
    for (const SourceLine& caller : line.callers) {
        callers.push_back({kept_text(caller.file), caller.line});
        if (is_kernel(caller.function, kernel)) return callers;
    }
    // The line stands in the kernel itself (what follows is what the rewriter makes of the launch), or in a function
    // that was not compiled into the kernel. Of the innermost function addr2line may tell the wrong name.
    return {};
}

bool is_between(const Site& site, const Site& one, const Site& two) {
    const std::string_view file = site.file;
    return site.line > std::min(one.line, two.line) && site.line < std::max(one.line, two.line) && file == one.file &&
           file == two.file;
}

/// The hint for a race whose lines are known now.
void choose_hint(Finding& finding) {
    if (!finding.other || finding.site.line == 0 || finding.other->site.line == 0) return;
    const Site& here = finding.site;
    const Site& there = finding.other->site;
    const RaceHints& by_line = finding.by_line;
    if (here.line == there.line && std::string_view(here.file) == there.file) {
        if (!by_line.same_line.empty()) finding.hint = by_line.same_line;
        return;
    }
    const bool of_warp = is_between(by_line.syncwarp, here, there);
    if (!of_warp && !is_between(by_line.barrier, here, there)) return;
    // Both threads have passed the barrier, and then one of them did what stands before it.
    const std::string name = of_warp ? "__syncwarp()" : "__syncthreads()";
    const auto line = [](int number) { return "line " + std::to_string(number); };
    finding.hint = "the barrier in " + line((of_warp ? by_line.syncwarp : by_line.barrier).line) +
                   " stands between the two lines, so the access in " + line(std::max(here.line, there.line)) +
                   " belongs to an earlier iteration (or call) than the one in " +
                   line(std::min(here.line, there.line)) + ": put another " + name +
                   " at the end of the loop body (or function)";
}

/// Finds out the lines of findings that only know their code.
void resolve(std::vector<Finding>& findings) {
    std::vector<const void*> code;
    for (Finding& finding : findings) {
        if (finding.code != nullptr) code.push_back(finding.code);
        if (finding.other && finding.other_code != nullptr) code.push_back(finding.other_code);
    }
    if (code.empty()) return;
    const std::vector<SourceLine> lines = source_lines(code);
    std::size_t next = 0;
    const auto set = [&](const Finding& finding, Site& site, std::vector<Site>& callers) {
        const SourceLine& line = lines[next++];
        // A line of the CPU device's own says less than the launch, where the finding may have been put already.
        const bool ours = line.file.find("/common/cpu_device/") != std::string::npos;
        if (line.line > 0 && (site.line == 0 || !ours)) site = {kept_text(line.file), line.line};
        if (!ours) callers = callers_of(line, finding.kernel);
    };
    for (Finding& finding : findings) {
        if (finding.code != nullptr) set(finding, finding.site, finding.callers);
        if (finding.other && finding.other_code != nullptr) set(finding, finding.other->site, finding.other->callers);
        choose_hint(finding);
    }
}

/// One finding for each kind, array and line (or unordered pair of lines).
std::vector<Finding> merged(std::vector<Finding> findings) {
    using Place = std::tuple<std::string, int, const void*>;
    const auto place_of = [](const Site& site, const void* code) {
        return site.line > 0 ? Place(site.file, site.line, nullptr) : Place("", 0, code);
    };
    std::map<std::tuple<FindingKind, std::string, Place, Place, std::string>, std::size_t> known;
    std::vector<Finding> result;
    for (Finding& finding : findings) {
        const Place nowhere("", 0, nullptr);
        const Place here = place_of(finding.site, finding.code);
        const Place there = finding.other ? place_of(finding.other->site, finding.other_code) : nowhere;
        const bool has_place = here != nowhere || there != nowhere;
        const auto [found, is_new] = known.try_emplace({finding.kind, finding.array, std::min(here, there),
                                                        std::max(here, there), has_place ? "" : finding.message},
                                                       result.size());
        if (is_new) {
            result.push_back(std::move(finding));
        } else {
            result[found->second].count += finding.count;
        }
    }
    return result;
}

// ---- for the eye -----------------------------------------------------------------------------------------

struct Palette {
    const char* mistake = "";
    const char* place = "";
    const char* hint = "";
    const char* end = "";
};

Palette palette(bool colour) { return colour ? Palette{"\033[1;31m", "\033[1m", "\033[36m", "\033[0m"} : Palette{}; }

bool terminal_has_colour() {
    const char* no_color = std::getenv("NO_COLOR");
    return isatty(STDERR_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

/// The path as somebody in the current folder would write it, when that is shorter.
std::string seen_from_here(const std::string& path) {
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    if (error || !std::filesystem::path(path).is_absolute()) return path;
    const std::string relative = std::filesystem::path(path).lexically_relative(here).string();
    return !relative.empty() && relative.size() < path.size() ? relative : path;
}

std::string position(const uint3& at) {
    char text[48];
    std::snprintf(text, sizeof text, "(%u, %u, %u)", at.x, at.y, at.z);
    return text;
}

/// A line of source, and below it who did what there.
struct Side {
    Site site;
    const std::vector<Site>& callers;
    const void* code;
    std::string actor;  ///< "thread (1, 0, 0) of block (0, 0, 0) reads 4 bytes"; empty in host code
};

/// `again`: the line was shown above already.
void add_side(std::string& text, const Side& side, bool again, const Palette& paint) {
    if (again) {
        // Only who did what.
    } else if (side.site.line > 0) {
        text += std::string("\n  ") + paint.place + seen_from_here(side.site.file) + ":" +
                std::to_string(side.site.line) + paint.end;
        const std::string source = source_text(side.site.file, side.site.line);
        if (!source.empty()) text += ":  " + source;
        for (const Site& caller : side.callers) {
            text += "\n    called from " + seen_from_here(caller.file) + ":" + std::to_string(caller.line);
            const std::string call = source_text(caller.file, caller.line);
            if (!call.empty()) text += ":  " + call;
        }
    } else if (side.code != nullptr) {
        text += "\n  at a line that is not known: compile with -g1, and install addr2line (it comes with binutils)";
    }
    if (!side.actor.empty()) text += "\n      " + side.actor;
}

std::string actor(const uint3& block, const uint3& thread, const std::string& action) {
    return "thread " + position(thread) + " of block " + position(block) + (action.empty() ? "" : " " + action);
}

/// "'tile': shared memory, 512 bytes, 4 bytes past its end"
std::string array_line(const Finding& finding) {
    if (finding.array.empty()) return finding.memory.empty() ? "" : "memory: " + finding.memory;
    const std::string name = "'" + finding.array + "'";
    if (!finding.memory.empty()) return name + ": " + finding.memory;
    return finding.message.empty() || finding.message.find(finding.array) != std::string::npos ? "" : "array: " + name;
}

void print(const std::vector<Finding>& findings) {
    const bool colour = terminal_has_colour();
    const Palette paint = palette(colour);
    std::string text;
    for (std::size_t i = 0; i < findings.size() && i < kPrintedOfALaunch; ++i) {
        const char* color = findings[i].is_note ? "" : paint.mistake;
        text += std::string(color) + "CPU device: " + paint.end + text_of(findings[i], colour) + "\n";
    }
    if (findings.size() > kPrintedOfALaunch) {
        text += "CPU device: and " + std::to_string(findings.size() - kPrintedOfALaunch) +
                " more mistakes in this launch (CPU_DEVICE_FINDINGS=FILE writes all of them to a file)\n";
    }
    begin_fresh_line();
    std::fputs(text.c_str(), stderr);
}

/// What makes a mistake the same in another launch.
std::string name_of_mistake(const Finding& finding) {
    const auto place = [](const Site& site) { return std::string(site.file) + ":" + std::to_string(site.line) + "\n"; };
    std::string name = std::string(identifier_of(finding.kind)) + "\n" + finding.kernel + "\n" + finding.array + "\n";
    name += place(finding.site) + (finding.other ? place(finding.other->site) : "");
    return finding.site.line > 0 ? name : name + finding.message;
}

/// Prints what earlier launches have not shown often enough already. Needs the lock.
void print_news(State& all, const std::vector<Finding>& findings) {
    std::vector<Finding> news;
    bool is_last_time = false;
    for (const Finding& finding : findings) {
        const std::uint64_t times = ++all.launches_with[name_of_mistake(finding)];
        if (times <= kPrintedOfAMistake) news.push_back(finding);
        is_last_time = is_last_time || times == kPrintedOfAMistake;
    }
    print(news);
    if (is_last_time) {
        std::fprintf(stderr, "CPU device: a mistake that %d launches have made is not printed again\n",
                     static_cast<int>(kPrintedOfAMistake));
    }
}

/// Prints, if that is on, and keeps. Needs the lock.
void publish(State& all, std::vector<Finding> findings) {
    if (all.printing) print_news(all, findings);
    if (!all.file.empty()) all.all.insert(all.all.end(), findings.begin(), findings.end());
    std::move(findings.begin(), findings.end(), std::back_inserter(all.kept));
}

// ---- for programs ----------------------------------------------------------------------------------------

std::string json_of(const Site& site) {
    if (site.line <= 0) return "null";
    return "{\"file\": " + json_string(site.file) + ", \"line\": " + std::to_string(site.line) +
           ", \"source\": " + json_string(source_text(site.file, site.line)) + "}";
}

std::string json_of(const std::vector<Site>& sites) {
    std::string json;
    for (const Site& site : sites) json += (json.empty() ? "" : ", ") + json_of(site);
    return "[" + json + "]";
}

std::string json_of(const uint3& index) {
    return "[" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + "]";
}

std::string json_of(const Finding& finding) {
    const bool in_launch = !finding.kernel.empty();
    std::string json = "{\"kind\": " + json_string(identifier_of(finding.kind));
    json += ", \"name\": " + json_string(name_of(finding.kind));
    json += std::string(", \"severity\": \"") + (finding.is_note ? "note" : "error") + "\"";
    json += ", \"message\": " + json_string(finding.message);
    json += ", \"kernel\": " + json_string(finding.kernel);
    json += ", \"site\": " + json_of(finding.site);
    if (!finding.callers.empty()) json += ", \"callers\": " + json_of(finding.callers);
    json += ", \"block\": " + (in_launch ? json_of(finding.block) : "null");
    json += ", \"thread\": " + (in_launch ? json_of(finding.thread) : "null");
    json += ", \"action\": " + json_string(finding.action);
    json += ", \"array\": " + json_string(finding.array);
    json += ", \"memory\": " + json_string(finding.memory);
    if (finding.other) {
        const OtherSide& other = *finding.other;
        json += ", \"other\": {\"site\": " + json_of(other.site) +
                (other.callers.empty() ? "" : ", \"callers\": " + json_of(other.callers)) +
                ", \"block\": " + json_of(other.block) + ", \"thread\": " + json_of(other.thread) +
                ", \"action\": " + json_string(other.action) + "}";
    } else {
        json += ", \"other\": null";
    }
    json += ", \"count\": " + std::to_string(finding.count);
    json += ", \"hint\": " + json_string(finding.hint);
    return json + "}";
}

// ---- the end of the process ------------------------------------------------------------------------------

void write_file(const State& all) {
    std::FILE* file = std::fopen(all.file.c_str(), "w");
    const bool written = file != nullptr && std::fputs(json_of(all.all).c_str(), file) >= 0;
    if (file == nullptr || std::fclose(file) != 0 || !written) {
        std::fprintf(stderr, "CPU device: cannot write the findings to %s\n", all.file.c_str());
    }
}

/// A program that made mistakes does not end as if it had made none.
void at_exit(int status, void*) {
    publish_findings();
    const State& all = state();
    if (!all.file.empty()) write_file(all);
    const auto found = static_cast<std::size_t>(
        std::count_if(all.kept.begin(), all.kept.end(), [](const Finding& finding) { return !finding.is_note; }));
    const bool fails = status == 0 && found > 0;
    std::string text;
    if (fails) {
        text = "CPU device: " + std::to_string(found) + (found == 1 ? " mistake" : " mistakes") +
               " found; exit status " + std::to_string(kExitStatus) + "\n";
    }
    const std::string checked = watching().mistakes ? text_of(coverage(), "CPU_DEVICE_WATCH_BLOCKS=all") : "";
    if (!checked.empty() && all.printing) {
        text +=
            std::string("CPU device: ") + (found == 0 && !all.were_taken ? "no mistakes found. " : "") + checked + "\n";
    }
    if (!text.empty()) {
        begin_fresh_line();
        std::fputs(text.c_str(), stderr);
    }
    if (!fails) return;
    std::fflush(nullptr);
    _exit(kExitStatus);
}

// Registered before everything else, so that it runs after everything else that waits for the end of the process.
__attribute__((constructor(101))) void register_at_exit() { on_exit(at_exit, nullptr); }

struct Names {
    const char* name;
    const char* identifier;
};

Names names_of(FindingKind kind) {
    switch (kind) {
        case FindingKind::divergent_barrier:
            return {"divergent barrier", "divergent_barrier"};
        case FindingKind::missing_lane:
            return {"missing lane", "missing_lane"};
        case FindingKind::mask_without_caller:
            return {"mask without its caller", "mask_without_caller"};
        case FindingKind::endless_kernel:
            return {"endless kernel", "endless_kernel"};
        case FindingKind::illegal_access:
            return {"illegal access", "illegal_access"};
        case FindingKind::kernel_trap:
            return {"kernel trap", "kernel_trap"};
        case FindingKind::unsupported:
            return {"not supported", "unsupported"};
        case FindingKind::invalid_free:
            return {"invalid free", "invalid_free"};
        case FindingKind::out_of_bounds:
            return {"out of bounds", "out_of_bounds"};
        case FindingKind::misaligned_access:
            return {"misaligned access", "misaligned_access"};
        case FindingKind::use_after_free:
            return {"use after free", "use_after_free"};
        case FindingKind::host_memory:
            return {"host and device memory mixed up", "host_memory"};
        case FindingKind::uninitialized_read:
            return {"read of uninitialized memory", "uninitialized_read"};
        case FindingKind::undefined_shuffle:
            return {"undefined shuffle value", "undefined_shuffle"};
        case FindingKind::data_race:
            return {"data race", "data_race"};
        case FindingKind::memory_leak:
            return {"memory leak", "memory_leak"};
        case FindingKind::unseen_error:
            return {"unseen error", "unseen_error"};
        case FindingKind::unseen_output:
            return {"unseen output", "unseen_output"};
    }
    return {"mistake", "mistake"};
}

}  // namespace

const char* name_of(FindingKind kind) { return names_of(kind).name; }
const char* identifier_of(FindingKind kind) { return names_of(kind).identifier; }

void report(Finding finding) {
    State& all = state();
    if (!in_kernel() && finding.kernel.empty()) {
        std::vector<Finding> findings;
        findings.push_back(std::move(finding));
        resolve(findings);
        std::lock_guard lock(all.mutex);
        publish(all, std::move(findings));
        return;
    }
    const Key key = key_of(finding);
    const SignalsHeldBack held_back;
    std::lock_guard lock(all.mutex);
    if (Pending::Entry* entry = all.pending.find(key)) {
        entry->repeats.fetch_add(finding.count, std::memory_order_relaxed);
    } else {
        all.pending.add(key, std::move(finding));
    }
}

bool report_again(FindingKind kind, const Site& site) { return count_again(key_of(kind, site, Site{})); }

bool report_again(FindingKind kind, const void* code, const void* other_code) {
    return count_again(key_of(kind, code, other_code));
}

void revise_hint(FindingKind kind, const void* code, const void* other_code, const std::string& hint) {
    State& all = state();
    const SignalsHeldBack held_back;
    std::lock_guard lock(all.mutex);
    Pending::Entry* const entry = all.pending.find(key_of(kind, code, other_code));
    if (entry == nullptr) return;
    entry->finding.hint = hint;
    entry->finding.by_line = {};
}

void publish_findings() {
    State& all = state();
    std::vector<Finding> findings;
    {
        std::lock_guard lock(all.mutex);
        if (all.pending.empty()) return;
        findings = all.pending.take();
    }
    resolve(findings);
    findings = merged(std::move(findings));
    std::lock_guard lock(all.mutex);
    publish(all, std::move(findings));
}

std::vector<Finding> take_findings() {
    publish_findings();
    std::lock_guard lock(state().mutex);
    state().were_taken = true;
    return std::exchange(state().kept, {});
}

bool print_findings(bool on) {
    std::lock_guard lock(state().mutex);
    return std::exchange(state().printing, on);
}

void begin_fresh_line() {
    bool is_open = printf_left_line_open();
#ifdef __GLIBC__
    // What the program has printed and not flushed tells for certain.
    flockfile(stdout);
    if (stdout->_IO_write_ptr > stdout->_IO_write_base) is_open = stdout->_IO_write_ptr[-1] != '\n';
    funlockfile(stdout);
#endif
    std::fflush(stdout);
    if (is_open) std::fputc('\n', stderr);
    forget_open_line();
}

std::string text_of(const Finding& finding, bool colour) {
    const Palette paint = palette(colour);
    std::string text = finding.is_note ? "note: " + std::string(name_of(finding.kind))
                                       : paint.mistake + std::string(name_of(finding.kind)) + paint.end;
    if (!finding.message.empty()) {
        text += ": " + finding.message;
    } else if (!finding.array.empty()) {
        text += " on '" + finding.array + "'";
    }

    const bool in_launch = !finding.kernel.empty();
    add_side(text,
             {finding.site, finding.callers, finding.code,
              in_launch ? actor(finding.block, finding.thread, finding.action) : ""},
             false, paint);
    if (finding.other) {
        const OtherSide& other = *finding.other;
        const bool same_line = other.site.line == finding.site.line &&
                               std::string_view(other.site.file) == std::string_view(finding.site.file);
        add_side(text,
                 {other.site, other.callers, finding.other_code,
                  finding.kernel.empty() ? other.action : actor(other.block, other.thread, other.action)},
                 same_line, paint);
    }
    const std::string array = array_line(finding);
    if (!array.empty()) text += "\n  " + array;
    if (in_launch) text += "\n  in kernel " + finding.kernel;
    if (finding.count > 1) {
        text += (in_launch ? "; " : "\n  ") + std::to_string(finding.count) + " times" +
                (in_launch ? " in this launch" : "");
    }
    if (!finding.hint.empty()) text += std::string("\n  ") + paint.hint + "hint:" + paint.end + " " + finding.hint;
    return text;
}

std::string json_of(const std::vector<Finding>& findings) {
    std::string json = "[";
    for (const Finding& finding : findings) json += (json.size() > 1 ? ",\n  " : "\n  ") + json_of(finding);
    return json + (findings.empty() ? "]\n" : "\n]\n");
}

}  // namespace cpu_device
