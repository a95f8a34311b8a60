#include "cpu_device/diagnostics.h"

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

#include "cpu_device/instrument.h"
#include "device_printf.h"
#include "environment.h"
#include "host_copies.h"
#include "json_text.h"
#include "signals_held_back.h"
#include "source_lines.h"

namespace cpu_device {
namespace {

constexpr int kExitStatus = 86;
constexpr std::size_t kPrintedOfALaunch = 20;
constexpr std::uint64_t kPrintedOfADiagnostic = 3;  // a loop may make it in thousands of launches

// ---- diagnostics of the running launch ----------------------------------------------------------------------

/// Names a group of diagnostics: what `report` counts as the same error before lines are known.
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
Key key_of(DiagnosticKind kind, std::uint64_t one, std::uint64_t two, std::uint64_t flag) {
    const std::uint64_t small_enough = (std::uint64_t{1} << kKindShift) - 1;
    if (one < two) std::swap(one, two);
    return {(one & small_enough) | static_cast<std::uint64_t>(kind) << kKindShift | flag, two};
}

Key key_of(DiagnosticKind kind, const void* code, const void* other_code) {
    return key_of(kind, reinterpret_cast<std::uintptr_t>(code), reinterpret_cast<std::uintptr_t>(other_code), 0);
}

Key key_of(DiagnosticKind kind, const Site& site, const Site& other) {
    const auto place = [](const Site& at) { return at.line > 0 ? hash_of(at.file, at.line) : 0; };
    return key_of(kind, place(site), place(other), kByPlace);
}

Key key_of(const Diagnostic& diagnostic) {
    if (diagnostic.code != nullptr) return key_of(diagnostic.kind, diagnostic.code, diagnostic.other_code);
    const Site other = diagnostic.other ? diagnostic.other->site : Site{};
    if (diagnostic.site.line > 0 || other.line > 0) return key_of(diagnostic.kind, diagnostic.site, other);
    return key_of(diagnostic.kind, hash_of(diagnostic.message), 0, kByPlace);
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
        Diagnostic diagnostic{};
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
    void add(const Key& key, Diagnostic diagnostic) {
        if (used_ == entries_.size()) entries_.emplace_back();
        Entry& entry = entries_[used_++];
        entry.first.store(key.first, std::memory_order_relaxed);
        entry.second.store(key.second, std::memory_order_relaxed);
        entry.repeats.store(0, std::memory_order_relaxed);
        entry.diagnostic = std::move(diagnostic);
        std::atomic<Entry*>& head = bucket(key);
        entry.next.store(head.load(std::memory_order_relaxed), std::memory_order_relaxed);
        head.store(&entry, std::memory_order_release);
    }

    std::vector<Diagnostic> take() {
        std::vector<Diagnostic> taken;
        for (std::atomic<Entry*>& head : buckets_) head.store(nullptr, std::memory_order_release);
        for (std::size_t i = 0; i < used_; ++i) {
            taken.push_back(std::move(entries_[i].diagnostic));
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

// ---- all diagnostics of the process -------------------------------------------------------------------------

struct State {
    std::mutex mutex;
    Pending pending;
    std::vector<Diagnostic> kept;
    std::vector<Diagnostic> all;  ///< also those that were taken; only when `file` asks for them
    std::string file;             ///< where to write all diagnostics at exit; empty: nowhere
    bool printing = true;
    bool were_taken = false;                             ///< by the program, which judges for itself
    std::map<std::string, std::uint64_t> launches_with;  ///< how many made an error, by what names it

    State() {
        const char* wanted = environment("CPU_DEVICE_DIAGNOSTICS", "CPU_DEVICE_FINDINGS");
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

/// The hint for a thread past the end of an array, in a kernel that compares an index already.
void choose_bounds_hint(Diagnostic& diagnostic) {
    if (diagnostic.kind != DiagnosticKind::out_of_bounds || diagnostic.by_line.guarded.empty()) return;
    const auto compared = [](const Site& site) { return site.line > 0 ? comparing_line(site.file, site.line) : 0; };
    int line = compared(diagnostic.site);
    for (const Site& caller : diagnostic.callers) {
        if (line == 0) line = compared(caller);
    }
    if (line > 0) diagnostic.hint = "line " + std::to_string(line) + diagnostic.by_line.guarded;
}

/// The hint for a race of a block's threads where a barrier stands between the two lines, but not every thread reaches
/// it.
void choose_branch_hint(Diagnostic& diagnostic) {
    const Site& here = diagnostic.site;
    const Site& there = diagnostic.other->site;
    const auto same = [](const uint3& a, const uint3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
    const bool asks_for_barrier = diagnostic.hint.find("put __syncthreads() between") != std::string::npos;
    if (diagnostic.kind != DiagnosticKind::data_race || !asks_for_barrier ||
        !same(diagnostic.block, diagnostic.other->block) || std::string_view(here.file) != there.file) {
        return;
    }
    const BarrierInBranch barrier =
        barrier_in_branch(here.file, std::min(here.line, there.line), std::max(here.line, there.line));
    if (barrier.line == 0) return;
    const std::string branch = std::string(barrier.is_loop ? "loop" : "branch") + " of line ";
    diagnostic.hint = "move the barrier in line " + std::to_string(barrier.line) + " out of the " + branch +
                      std::to_string(barrier.branch) + ", to a place that every thread of the block reaches: " +
                      (barrier.is_loop ? "a thread that leaves the loop earlier does not wait there"
                                       : "a thread that does not take the branch does not wait there");
}

/// The hint for a race whose lines are known now.
void choose_hint(Diagnostic& diagnostic) {
    choose_bounds_hint(diagnostic);
    if (!diagnostic.other || diagnostic.site.line == 0 || diagnostic.other->site.line == 0) return;
    const Site& here = diagnostic.site;
    const Site& there = diagnostic.other->site;
    const RaceHints& by_line = diagnostic.by_line;
    if (here.line == there.line && std::string_view(here.file) == there.file) {
        const bool in_loop = !by_line.same_line_in_loop.empty() && loop_around(here.file, here.line) > 0;
        if (!by_line.same_line.empty()) diagnostic.hint = in_loop ? by_line.same_line_in_loop : by_line.same_line;
        return;
    }
    const Site& of_one = by_line.syncwarp_of_one;
    const bool in_same_loop = of_one.line > 0 && std::string_view(of_one.file) == here.file &&
                              loop_around(here.file, here.line) > 0 &&
                              loop_around(of_one.file, of_one.line) == loop_around(here.file, here.line);
    if (in_same_loop || is_between(of_one, here, there)) {
        diagnostic.hint = "one of the two lanes did not take part in the __syncwarp() in line " +
                          std::to_string(of_one.line) +
                          ": move it out of the branch, to a place that all lanes of the warp reach";
        return;
    }
    const bool of_warp = is_between(by_line.syncwarp, here, there);
    if (!of_warp && !is_between(by_line.barrier, here, there)) return choose_branch_hint(diagnostic);
    // Both threads have passed the barrier, and then one of them did what stands before it.
    const std::string name = of_warp ? "__syncwarp()" : "__syncthreads()";
    const auto line = [](int number) { return "line " + std::to_string(number); };
    diagnostic.hint = "the barrier in " + line((of_warp ? by_line.syncwarp : by_line.barrier).line) +
                      " stands between the two lines, so the access in " + line(std::max(here.line, there.line)) +
                      " belongs to an earlier iteration (or call) than the one in " +
                      line(std::min(here.line, there.line)) + ": put another " + name +
                      " at the end of the loop body (or function)";
}

/// Finds out the lines of diagnostics that only know their code.
void resolve(std::vector<Diagnostic>& diagnostics) {
    std::vector<const void*> code;
    for (Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.code != nullptr) code.push_back(diagnostic.code);
        if (diagnostic.other && diagnostic.other_code != nullptr) code.push_back(diagnostic.other_code);
    }
    if (code.empty()) return;
    const std::vector<SourceLine> lines = source_lines(code);
    std::size_t next = 0;
    const auto set = [&](const Diagnostic& diagnostic, Site& site, std::vector<Site>& callers) {
        const SourceLine& line = lines[next++];
        // A line of the CPU device's own says less than the launch, where the diagnostic may have been put already.
        const bool ours = line.file.find("/common/cpu_device/") != std::string::npos;
        if (line.line > 0 && (site.line == 0 || !ours)) site = {kept_text(line.file), line.line};
        if (!ours) callers = callers_of(line, diagnostic.kernel);
    };
    for (Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.code != nullptr) set(diagnostic, diagnostic.site, diagnostic.callers);
        if (diagnostic.other && diagnostic.other_code != nullptr)
            set(diagnostic, diagnostic.other->site, diagnostic.other->callers);
        choose_hint(diagnostic);
    }
}

/// One diagnostic for each kind, array and line (or unordered pair of lines).
std::vector<Diagnostic> merged(std::vector<Diagnostic> diagnostics) {
    using Place = std::tuple<std::string, int, const void*>;
    const auto place_of = [](const Site& site, const void* code) {
        return site.line > 0 ? Place(site.file, site.line, nullptr) : Place("", 0, code);
    };
    std::map<std::tuple<DiagnosticKind, std::string, Place, Place, std::string>, std::size_t> known;
    std::vector<Diagnostic> result;
    for (Diagnostic& diagnostic : diagnostics) {
        const Place nowhere("", 0, nullptr);
        const Place here = place_of(diagnostic.site, diagnostic.code);
        const Place there = diagnostic.other ? place_of(diagnostic.other->site, diagnostic.other_code) : nowhere;
        const bool has_place = here != nowhere || there != nowhere;
        const auto [found, is_new] = known.try_emplace({diagnostic.kind, diagnostic.array, std::min(here, there),
                                                        std::max(here, there), has_place ? "" : diagnostic.message},
                                                       result.size());
        if (is_new) {
            result.push_back(std::move(diagnostic));
        } else {
            result[found->second].count += diagnostic.count;
        }
    }
    return result;
}

// ---- for the eye -----------------------------------------------------------------------------------------

struct Palette {
    const char* diagnostic = "";
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
struct DiagnosticSide {
    Site site;
    const std::vector<Site>& callers;
    const void* code;
    std::string actor;  ///< "thread (1, 0, 0) of block (0, 0, 0) reads 4 bytes"; empty in host code
};

/// `again`: the line was shown above already.
void add_side(std::string& text, const DiagnosticSide& side, bool again, const Palette& paint) {
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
std::string array_line(const Diagnostic& diagnostic) {
    if (diagnostic.array.empty()) return diagnostic.memory.empty() ? "" : "memory: " + diagnostic.memory;
    const std::string name = "'" + diagnostic.array + "'";
    if (!diagnostic.memory.empty()) return name + ": " + diagnostic.memory;
    return diagnostic.message.empty() || diagnostic.message.find(diagnostic.array) != std::string::npos
               ? ""
               : "array: " + name;
}

void print(const std::vector<Diagnostic>& diagnostics) {
    const bool colour = terminal_has_colour();
    const Palette paint = palette(colour);
    std::string text;
    for (std::size_t i = 0; i < diagnostics.size() && i < kPrintedOfALaunch; ++i) {
        const char* color = diagnostics[i].is_note ? "" : paint.diagnostic;
        text += std::string(color) + "CPU device: " + paint.end + text_of(diagnostics[i], colour) + "\n";
    }
    if (diagnostics.size() > kPrintedOfALaunch) {
        text += "CPU device: and " + std::to_string(diagnostics.size() - kPrintedOfALaunch) +
                " more errors in this launch (CPU_DEVICE_DIAGNOSTICS=FILE writes all of them to a file)\n";
    }
    begin_fresh_line();
    std::fputs(text.c_str(), stderr);
}

/// What makes a diagnostic the same in another launch.
std::string identity_of(const Diagnostic& diagnostic) {
    const auto place = [](const Site& site) { return std::string(site.file) + ":" + std::to_string(site.line) + "\n"; };
    std::string name =
        std::string(identifier_of(diagnostic.kind)) + "\n" + diagnostic.kernel + "\n" + diagnostic.array + "\n";
    name += place(diagnostic.site) + (diagnostic.other ? place(diagnostic.other->site) : "");
    return diagnostic.site.line > 0 ? name : name + diagnostic.message;
}

/// Prints what earlier launches have not shown often enough already. Needs the lock.
void print_news(State& all, const std::vector<Diagnostic>& diagnostics) {
    std::vector<Diagnostic> news;
    bool is_last_time = false;
    for (const Diagnostic& diagnostic : diagnostics) {
        const std::uint64_t times = ++all.launches_with[identity_of(diagnostic)];
        if (times <= kPrintedOfADiagnostic) news.push_back(diagnostic);
        is_last_time = is_last_time || times == kPrintedOfADiagnostic;
    }
    print(news);
    if (is_last_time) {
        std::fprintf(stderr, "CPU device: an error that %d launches have made is not printed again\n",
                     static_cast<int>(kPrintedOfADiagnostic));
    }
}

/// Prints, if that is on, and keeps. Needs the lock.
void publish(State& all, std::vector<Diagnostic> diagnostics) {
    if (all.printing) print_news(all, diagnostics);
    if (!all.file.empty()) all.all.insert(all.all.end(), diagnostics.begin(), diagnostics.end());
    std::move(diagnostics.begin(), diagnostics.end(), std::back_inserter(all.kept));
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

std::string json_of(const Diagnostic& diagnostic) {
    const bool in_launch = !diagnostic.kernel.empty();
    std::string json = "{\"kind\": " + json_string(identifier_of(diagnostic.kind));
    json += ", \"name\": " + json_string(name_of(diagnostic.kind));
    json += std::string(", \"severity\": \"") + (diagnostic.is_note ? "note" : "error") + "\"";
    json += ", \"message\": " + json_string(diagnostic.message);
    json += ", \"kernel\": " + json_string(diagnostic.kernel);
    json += ", \"site\": " + json_of(diagnostic.site);
    if (!diagnostic.callers.empty()) json += ", \"callers\": " + json_of(diagnostic.callers);
    json += ", \"block\": " + (in_launch ? json_of(diagnostic.block) : "null");
    json += ", \"thread\": " + (in_launch ? json_of(diagnostic.thread) : "null");
    json += ", \"action\": " + json_string(diagnostic.action);
    json += ", \"array\": " + json_string(diagnostic.array);
    json += ", \"memory\": " + json_string(diagnostic.memory);
    if (diagnostic.other) {
        const OtherSide& other = *diagnostic.other;
        json += ", \"other\": {\"site\": " + json_of(other.site) +
                (other.callers.empty() ? "" : ", \"callers\": " + json_of(other.callers)) +
                ", \"block\": " + (other.is_no_thread ? "null" : json_of(other.block)) +
                ", \"thread\": " + (other.is_no_thread ? "null" : json_of(other.thread)) +
                ", \"action\": " + json_string(other.action) + "}";
    } else {
        json += ", \"other\": null";
    }
    json += ", \"count\": " + std::to_string(diagnostic.count);
    json += ", \"hint\": " + json_string(diagnostic.hint);
    return json + "}";
}

// ---- the end of the process ------------------------------------------------------------------------------

void write_file(const State& all) {
    std::FILE* file = std::fopen(all.file.c_str(), "w");
    const bool written = file != nullptr && std::fputs(json_of(all.all).c_str(), file) >= 0;
    if (file == nullptr || std::fclose(file) != 0 || !written) {
        std::fprintf(stderr, "CPU device: cannot write the diagnostics to %s\n", all.file.c_str());
    }
}

/// A program with errors does not end as if it had none.
void report_at_exit(int status, void*) {
    publish_diagnostics();
    const State& all = state();
    if (!all.file.empty()) write_file(all);
    const auto found = static_cast<std::size_t>(std::count_if(
        all.kept.begin(), all.kept.end(), [](const Diagnostic& diagnostic) { return !diagnostic.is_note; }));
    const bool fails = status == 0 && found > 0;
    std::string text;
    if (fails) {
        text = "CPU device: " + std::to_string(found) + (found == 1 ? " error" : " errors") + " found; exit status " +
               std::to_string(kExitStatus) + "\n";
    }
    const std::string checked =
        instrumenting().diagnostics ? text_of(coverage(), "CPU_DEVICE_INSTRUMENT_BLOCKS=all") : "";
    if (!checked.empty() && all.printing) {
        text +=
            std::string("CPU device: ") + (found == 0 && !all.were_taken ? "no errors found. " : "") + checked + "\n";
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
__attribute__((constructor(101))) void register_report() { on_exit(report_at_exit, nullptr); }

struct Names {
    const char* name;
    const char* identifier;
};

Names names_of(DiagnosticKind kind) {
    switch (kind) {
        case DiagnosticKind::divergent_barrier:
            return {"divergent barrier", "divergent_barrier"};
        case DiagnosticKind::missing_lane:
            return {"missing lane", "missing_lane"};
        case DiagnosticKind::mask_without_caller:
            return {"mask without its caller", "mask_without_caller"};
        case DiagnosticKind::missing_arrival:
            return {"missing arrival", "missing_arrival"};
        case DiagnosticKind::missing_order:
            return {"missing order", "missing_order"};
        case DiagnosticKind::wrong_device:
            return {"wrong device", "wrong_device"};
        case DiagnosticKind::stalled_collective:
            return {"stalled collective", "stalled_collective"};
        case DiagnosticKind::barrier_misuse:
            return {"misused barrier", "barrier_misuse"};
        case DiagnosticKind::endless_kernel:
            return {"endless kernel", "endless_kernel"};
        case DiagnosticKind::illegal_access:
            return {"illegal access", "illegal_access"};
        case DiagnosticKind::kernel_trap:
            return {"kernel trap", "kernel_trap"};
        case DiagnosticKind::unsupported:
            return {"not supported", "unsupported"};
        case DiagnosticKind::invalid_free:
            return {"invalid free", "invalid_free"};
        case DiagnosticKind::out_of_bounds:
            return {"out of bounds", "out_of_bounds"};
        case DiagnosticKind::misaligned_access:
            return {"misaligned access", "misaligned_access"};
        case DiagnosticKind::use_after_free:
            return {"use after free", "use_after_free"};
        case DiagnosticKind::host_memory:
            return {"host and device memory mixed up", "host_memory"};
        case DiagnosticKind::uninitialized_read:
            return {"read of uninitialized memory", "uninitialized_read"};
        case DiagnosticKind::broken_restrict:
            return {"broken promise of __restrict__", "broken_restrict"};
        case DiagnosticKind::undefined_shuffle:
            return {"undefined shuffle value", "undefined_shuffle"};
        case DiagnosticKind::data_race:
            return {"data race", "data_race"};
        case DiagnosticKind::memory_leak:
            return {"memory leak", "memory_leak"};
        case DiagnosticKind::unseen_error:
            return {"unseen error", "unseen_error"};
        case DiagnosticKind::unseen_output:
            return {"unseen output", "unseen_output"};
    }
    return {"error", "error"};
}

}  // namespace

const char* name_of(DiagnosticKind kind) { return names_of(kind).name; }
const char* identifier_of(DiagnosticKind kind) { return names_of(kind).identifier; }

void report(Diagnostic diagnostic) {
    State& all = state();
    if (!in_kernel() && diagnostic.kernel.empty()) {
        std::vector<Diagnostic> diagnostics;
        diagnostics.push_back(std::move(diagnostic));
        resolve(diagnostics);
        std::lock_guard lock(all.mutex);
        publish(all, std::move(diagnostics));
        return;
    }
    const Key key = key_of(diagnostic);
    const SignalsHeldBack held_back;
    std::lock_guard lock(all.mutex);
    if (Pending::Entry* entry = all.pending.find(key)) {
        entry->repeats.fetch_add(diagnostic.count, std::memory_order_relaxed);
    } else {
        all.pending.add(key, std::move(diagnostic));
    }
}

bool report_again(DiagnosticKind kind, const Site& site) { return count_again(key_of(kind, site, Site{})); }

bool report_again(DiagnosticKind kind, const void* code, const void* other_code) {
    return count_again(key_of(kind, code, other_code));
}

void revise_hint(DiagnosticKind kind, const void* code, const void* other_code, const std::string& hint) {
    State& all = state();
    const SignalsHeldBack held_back;
    std::lock_guard lock(all.mutex);
    Pending::Entry* const entry = all.pending.find(key_of(kind, code, other_code));
    if (entry == nullptr) return;
    entry->diagnostic.hint = hint;
    entry->diagnostic.by_line = {};
}

void publish_diagnostics() {
    State& all = state();
    std::vector<Diagnostic> diagnostics;
    {
        std::lock_guard lock(all.mutex);
        if (all.pending.empty()) return;
        diagnostics = all.pending.take();
    }
    resolve(diagnostics);
    diagnostics = merged(std::move(diagnostics));
    std::lock_guard lock(all.mutex);
    publish(all, std::move(diagnostics));
}

std::vector<Diagnostic> take_diagnostics() {
    publish_diagnostics();
    report_host_uses_again();
    std::lock_guard lock(state().mutex);
    state().were_taken = true;
    return std::exchange(state().kept, {});
}

bool print_diagnostics(bool on) {
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

std::string text_of(const Diagnostic& diagnostic, bool colour) {
    const Palette paint = palette(colour);
    std::string text = diagnostic.is_note ? "note: " + std::string(name_of(diagnostic.kind))
                                          : paint.diagnostic + std::string(name_of(diagnostic.kind)) + paint.end;
    if (!diagnostic.message.empty()) {
        text += ": " + diagnostic.message;
    } else if (!diagnostic.array.empty()) {
        text += " on '" + diagnostic.array + "'";
    }

    const bool in_launch = !diagnostic.kernel.empty();
    add_side(text,
             {diagnostic.site, diagnostic.callers, diagnostic.code,
              in_launch ? actor(diagnostic.block, diagnostic.thread, diagnostic.action) : ""},
             false, paint);
    if (diagnostic.other) {
        const OtherSide& other = *diagnostic.other;
        const bool same_line = other.site.line == diagnostic.site.line &&
                               std::string_view(other.site.file) == std::string_view(diagnostic.site.file);
        add_side(text,
                 {other.site, other.callers, diagnostic.other_code,
                  diagnostic.kernel.empty() || other.is_no_thread ? other.action
                                                                  : actor(other.block, other.thread, other.action)},
                 same_line, paint);
    }
    const std::string array = array_line(diagnostic);
    if (!array.empty()) text += "\n  " + array;
    if (in_launch) text += "\n  in kernel " + diagnostic.kernel;
    if (diagnostic.count > 1) {
        text += (in_launch ? "; " : "\n  ") + std::to_string(diagnostic.count) + " times" +
                (in_launch ? " in this launch" : "");
    }
    if (!diagnostic.hint.empty())
        text += std::string("\n  ") + paint.hint + "hint:" + paint.end + " " + diagnostic.hint;
    return text;
}

std::string json_of(const std::vector<Diagnostic>& diagnostics) {
    std::string json = "[";
    for (const Diagnostic& diagnostic : diagnostics) json += (json.size() > 1 ? ",\n  " : "\n  ") + json_of(diagnostic);
    return json + (diagnostics.empty() ? "]\n" : "\n]\n");
}

}  // namespace cpu_device
