#include "source_lines.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "common/helpers/child_process.h"
#include "cpu_device/diagnostics.h"

namespace cpu_device {
namespace {

constexpr std::size_t kAddressesAtOnce = 4000;  // as arguments of one call; far below what a command line may hold

/// A loaded part of the program or of one of its libraries.
struct Segment {
    std::uintptr_t begin;
    std::uintptr_t end;
    std::uintptr_t base;  ///< what the loader added to the addresses in the file
    std::string path;
};

std::vector<Segment> loaded_segments() {
    std::vector<Segment> segments;
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* found) {
            // The program itself has no name. This one also works after the file was rebuilt and so replaced.
            const bool is_program = module->dlpi_name == nullptr || *module->dlpi_name == '\0';
            const std::string path = is_program ? "/proc/" + std::to_string(getpid()) + "/exe" : module->dlpi_name;
            for (int i = 0; i < module->dlpi_phnum; ++i) {
                const ElfW(Phdr)& header = module->dlpi_phdr[i];
                if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
                const std::uintptr_t begin = module->dlpi_addr + header.p_vaddr;
                static_cast<std::vector<Segment>*>(found)->push_back(
                    {begin, begin + header.p_memsz, module->dlpi_addr, path});
            }
            return 0;
        },
        &segments);
    return segments;
}

/// Code that no reader of a diagnostic wrote: the headers of the CPU device, of libcu++ and Thrust, and of the system.
bool is_foreign(const std::string& file) {
    return file.find("/common/cpu_device/include/") != std::string::npos ||
           file.find("/include/cccl/") != std::string::npos || file.rfind("/usr/include/", 0) == 0 ||
           file.rfind("/usr/lib/", 0) == 0;
}

/// "path/name.cu:12 (discriminator 3)". Line 0 when unknown: "??:0", "name.cu:?".
SourceLine parse_frame(const std::string& text) {
    const std::size_t note = text.find(" (discriminator");
    const std::string place = text.substr(0, note);
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos || place.rfind("??", 0) == 0) return {};
    const int line = std::atoi(place.c_str() + colon + 1);
    if (line <= 0) return {};
    return {std::filesystem::path(place.substr(0, colon)).lexically_normal().string(), line, {}, {}};
}

class Lines {
public:
    std::vector<SourceLine> find(const std::vector<const void*>& code) {
        std::lock_guard lock(mutex_);
        learn(code);
        std::vector<SourceLine> lines;
        lines.reserve(code.size());
        for (const void* address : code) lines.push_back(known_[address]);
        return lines;
    }

private:
    void learn(const std::vector<const void*>& code) {
        std::vector<const void*> fresh;
        for (const void* address : code) {
            if (known_.emplace(address, SourceLine{}).second && address != nullptr) fresh.push_back(address);
        }
        if (fresh.empty() || !has_tool_) return;
        std::map<std::pair<std::string, std::uintptr_t>, std::vector<const void*>> modules;
        const std::vector<Segment> segments = loaded_segments();
        for (const void* address : fresh) {
            const auto at = reinterpret_cast<std::uintptr_t>(address) - 1;
            for (const Segment& segment : segments) {
                if (at < segment.begin || at >= segment.end) continue;
                modules[{segment.path, segment.base}].push_back(address);
                break;
            }
        }
        for (const auto& [module, addresses] : modules) {
            for (std::size_t first = 0; first < addresses.size() && has_tool_; first += kAddressesAtOnce) {
                const auto begin = addresses.begin() + static_cast<std::ptrdiff_t>(first);
                const std::size_t count = std::min(kAddressesAtOnce, addresses.size() - first);
                ask(module.first, module.second, {begin, begin + static_cast<std::ptrdiff_t>(count)});
            }
        }
    }

    /// Each address is answered by itself and then by its frames, innermost first: a function and its place.
    void ask(const std::string& path, std::uintptr_t base, const std::vector<const void*>& addresses) {
        std::vector<std::string> command = {"addr2line", "-a", "-i", "-f", "-C", "-e", path};
        for (const void* address : addresses) {
            char text[32];
            std::snprintf(text, sizeof text, "0x%zx", reinterpret_cast<std::uintptr_t>(address) - 1 - base);
            command.push_back(text);
        }
        const std::optional<std::string> said = warpwise::output_of(command);
        has_tool_ = said.has_value();
        const std::string answer = said.value_or("");
        std::size_t answered = 0;
        SourceLine* line = nullptr;
        std::string function;  // addr2line gives it in a line of its own before the place
        bool is_function = true;
        for (std::size_t at = 0; at < answer.size();) {
            const std::size_t end = std::min(answer.find('\n', at), answer.size());
            const std::string text = answer.substr(at, end - at);
            at = end + 1;
            if (text.rfind("0x", 0) == 0) {
                if (answered == addresses.size()) return;
                line = &known_[addresses[answered++]];
                is_function = true;
            } else if (is_function) {
                function = text;
                is_function = false;
            } else if (line != nullptr) {
                is_function = true;
                SourceLine frame = parse_frame(text);
                if (frame.line == 0) continue;
                frame.function = function;
                if (line->line == 0 || (is_foreign(line->file) && !is_foreign(frame.file))) {
                    *line = std::move(frame);
                } else if (!is_foreign(frame.file)) {
                    line->callers.push_back(std::move(frame));
                }
            }
        }
    }

    std::mutex mutex_;
    std::unordered_map<const void*, SourceLine> known_;
    bool has_tool_ = true;
};

class Texts {
public:
    std::string line(const std::string& file, int number) {
        std::lock_guard lock(mutex_);
        const auto [found, is_new] = files_.try_emplace(file);
        if (is_new) {
            std::ifstream in(file);
            for (std::string text; std::getline(in, text);) found->second.push_back(text);
        }
        if (number < 1 || static_cast<std::size_t>(number) > found->second.size()) return {};
        const std::string& text = found->second[static_cast<std::size_t>(number) - 1];
        const std::size_t begin = text.find_first_not_of(" \t\r");
        if (begin == std::string::npos) return {};
        indent_ = begin;
        return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
    }

    /// Of the line that was asked for last and is not empty.
    std::size_t indent() const { return indent_; }

private:
    std::mutex mutex_;
    std::map<std::string, std::vector<std::string>> files_;
    std::size_t indent_ = 0;
};

Texts& texts() {
    static Texts* all = new Texts;  // still needed when the process exits
    return *all;
}

std::string without_comment(const std::string& text) { return text.substr(0, text.find("//")); }

bool has(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

/// Where a kernel or another function of the device begins, or the function above has ended.
bool begins_function(const std::string& text, std::size_t indent) {
    return has(text, "__global__") || has(text, "__device__") || (indent == 0 && text.front() == '}');
}

bool begins_loop(const std::string& text) {
    return text.starts_with("for (") || text.starts_with("while (") || text.starts_with("do {");
}

bool begins_branch(const std::string& text) {
    return begins_loop(text) || text.starts_with("if (") || text.starts_with("else") || text.starts_with("} else") ||
           text.starts_with("switch (");
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool has_word(const std::string& text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_of_word(text[at - 1])) && (end == text.size() || !is_of_word(text[end]))) return true;
    }
    return false;
}

/// The name that a line gives a value: "i" in "const int i = blockIdx.x * blockDim.x + threadIdx.x;".
std::string named_in(const std::string& text) {
    const std::size_t end = text.find(" = ");
    if (end == std::string::npos) return {};
    std::size_t begin = end;
    while (begin > 0 && is_of_word(text[begin - 1])) --begin;
    return text.substr(begin, end - begin);
}

bool waits_for_block(const std::string& text) {
    return has(text, "__syncthreads") || has(text, "block.sync()") || has(text, "this_thread_block().sync()");
}

/// "/chapters/2_memory_model/", or empty. Set before anything runs, if at all.
std::string& folder_of_names() {
    static auto* const folder = new std::string;  // diagnostics are printed at exit as well
    return *folder;
}

}  // namespace

std::vector<SourceLine> source_lines(const std::vector<const void*>& code) {
    static Lines* lines = new Lines;  // still needed when the process exits
    return lines->find(code);
}

void name_sources_from(const std::string& folder) { folder_of_names() = folder.empty() ? "" : "/" + folder + "/"; }

std::string short_name(std::string_view file) {
    const std::string& folder = folder_of_names();
    const std::size_t at = folder.empty() ? file.npos : file.rfind(folder);
    const std::size_t begin = at == file.npos ? file.rfind('/') + 1 : at + folder.size();  // npos + 1 is 0
    return std::string(file.substr(begin));
}

std::string source_text(const std::string& file, int line) { return texts().line(file, line); }

/// Whether an index is the sum of this name and of another one, as in "in[i + k]".
static bool is_added(const std::string& text, const std::string& name) {
    const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = text.find(" + "); at != std::string::npos; at = text.find(" + ", at + 1)) {
        std::size_t begin = at, end = at + 3;
        while (begin > 0 && is_of_word(text[begin - 1])) --begin;
        const std::size_t right = end;
        while (end < text.size() && is_of_word(text[end])) ++end;
        const std::string one = text.substr(begin, at - begin), other = text.substr(right, end - right);
        const bool both_are_names = !one.empty() && !other.empty() && is_letter(one[0]) && is_letter(other[0]);
        if (both_are_names && (one == name || other == name)) return true;
    }
    return false;
}

/// Whether the line is the head of a loop that counts by one, over neighbors say, and adds its variable to the index
/// that `access` uses: then it compares only a part of the index.
static bool counts_neighbors(const std::string& head, const std::string& access) {
    if (!head.starts_with("for (")) return false;
    const std::string name = named_in(head.substr(0, head.find(';')));
    const bool by_one = !name.empty() && (has(head, "++" + name) || has(head, name + "++"));
    return by_one && is_added(access, name);
}

int comparing_line(const std::string& file, int line) {
    const std::string access = texts().line(file, line);
    for (int at = line; at > 0; --at) {
        const std::string text = without_comment(texts().line(file, at));
        if (text.empty()) continue;
        if (begins_function(text, texts().indent())) return 0;
        const bool is_launch = has(text, "<<<") || has(text, "<<") || has(text, ">>");
        const bool compares = has(text, " < ") || has(text, " <= ") || has(text, " > ") || has(text, " >= ");
        if (counts_neighbors(text, access)) continue;
        const bool decides = has(text, "if (") || has(text, "for (") || has(text, "while (") || has(text, " ? ");
        if ((compares && decides && !is_launch) || has(text, "min(")) return at;
    }
    return 0;
}

/// The innermost line above, or the line itself, that begins what holds line `line`, by indentation, and of which
/// `is_meant` is true; 0 when there is none.
static int head_around(const std::string& file, int line, bool (*is_meant)(const std::string& text)) {
    if (texts().line(file, line).empty()) return 0;
    std::size_t inner = texts().indent();
    for (int at = line; at > 0; --at) {
        const std::string text = without_comment(texts().line(file, at));
        if (text.empty() || text.front() == '#') continue;
        const std::size_t indent = texts().indent();
        if (begins_function(text, indent)) return 0;
        if (is_meant(text) && (indent < inner || at == line)) return at;
        inner = std::min(inner, indent);
    }
    return 0;
}

int loop_around(const std::string& file, int line) { return head_around(file, line, begins_loop); }

/// Whether the code that belongs to line `head` goes on to line `line`.
static bool holds(const std::string& file, int head, int line) {
    if (texts().line(file, head).empty()) return false;
    const std::size_t outer = texts().indent();
    for (int at = head + 1; at <= line; ++at) {
        const std::string text = without_comment(texts().line(file, at));
        if (text.empty() || text.front() == '#') continue;
        if (texts().indent() <= outer) return false;
    }
    return true;
}

int branch_on_threads_around(const std::string& file, int line) {
    std::vector<int> branches;
    std::vector<std::string> thread_words = {"threadIdx", "thread_rank"};
    if (texts().line(file, line).empty()) return 0;
    std::size_t inner = texts().indent();
    int begin = line;
    for (; begin > 0; --begin) {
        const std::string text = without_comment(texts().line(file, begin));
        if (text.empty() || text.front() == '#') continue;
        const std::size_t indent = texts().indent();
        if (begins_function(text, indent)) break;
        if (text.starts_with("if (") && (indent < inner || begin == line)) branches.push_back(begin);
        inner = std::min(inner, indent);
    }
    // What is computed from the number of the thread is as good as that number.
    for (int at = begin; at < line; ++at) {
        const std::string text = without_comment(texts().line(file, at));
        const bool is_of_thread = std::any_of(thread_words.begin(), thread_words.end(),
                                              [&](const std::string& word) { return has_word(text, word); });
        if (const std::string name = named_in(text); is_of_thread && !name.empty()) thread_words.push_back(name);
    }
    for (const int branch : branches) {
        const std::string text = without_comment(texts().line(file, branch));
        const std::string condition = text.substr(0, text.find(branch == line ? " __syncthreads" : "{"));
        for (const std::string& word : thread_words) {
            if (has_word(condition, word)) return branch;
        }
    }
    return 0;
}

BarrierInBranch barrier_in_branch(const std::string& file, int first, int last) {
    for (int at = first; at < last; ++at) {
        if (!waits_for_block(without_comment(texts().line(file, at)))) continue;
        const int branch = head_around(file, at, begins_branch);
        if (branch > 0 && !holds(file, branch, last)) {
            return {at, branch, begins_loop(texts().line(file, branch))};
        }
    }
    return {};
}

}  // namespace cpu_device
