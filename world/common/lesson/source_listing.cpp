#include "common/lesson/source_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>

namespace warpwise {
namespace {

constexpr std::size_t longest_head = 30;  // lines between a function's first counted line and its head
constexpr std::size_t widest_gap = 30;    // lines without counts inside a region
constexpr std::size_t farthest_end = 12;  // lines between a function's last counted line and its end

std::vector<std::string> lines_of_file(const std::string& file) {
    std::vector<std::string> lines;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        std::string spaced;
        for (const char c : line) {
            if (c == '\t') spaced += "    ";
            if (c != '\t' && c != '\r') spaced += c;
        }
        lines.push_back(spaced);
    }
    return lines;
}

bool begins_with(const std::string& line, std::string_view text) { return line.compare(0, text.size(), text) == 0; }

/// A brace in the first column ends a function.
bool ends_function(const std::string& line) { return begins_with(line, "}"); }

bool is_head(const std::string& line) {
    return line.find("__global__") != std::string::npos || line.find("__device__") != std::string::npos;
}

/// A column is shown where some line has a text for it that is not the usual one.
struct Column {
    const char* header;
    std::string (*text)(const Counts&);  ///< empty where the line has nothing of the kind
    const char* usual;
};

std::string unless_zero(double value, std::string (*text)(double)) { return value > 0 ? text(value) : ""; }

RequestCounts all_requests(const Counts& counts) {
    RequestCounts sum = counts.global();
    sum += counts.shared();
    return sum += counts.constant_load;
}

constexpr Column columns[] = {
    {"requests", [](const Counts& counts) { return unless_zero(all_requests(counts).requests, count_text); }, ""},
    {"sectors", [](const Counts& counts) { return unless_zero(counts.global().sectors_per_request(), ratio_text); },
     ""},
    {"moved", [](const Counts& counts) { return unless_zero(counts.global().bytes_moved(), bytes_moved_text); }, ""},
    {"conflicts",
     [](const Counts& counts) {
         const RequestCounts shared = counts.shared();
         return shared.requests > 0 ? count_text(shared.conflicts()) : std::string();
     },
     "0"},
    {"const rd",
     [](const Counts& counts) { return unless_zero(counts.constant_load.wavefronts_per_request(), ratio_text); }, "1"},
    {"serialized",
     [](const Counts& counts) {
         const bool atomic = counts.global_atomic.requests + counts.shared_atomic.requests > 0;
         return atomic ? count_text(counts.global_atomic.same_address + counts.shared_atomic.same_address)
                       : std::string();
     },
     "0"},
    {"barriers", [](const Counts& counts) { return unless_zero(counts.barriers, count_text); }, ""},
    {"lanes",
     [](const Counts& counts) {
         const double lanes =
             counts.steps > 0 ? counts.active_lanes_per_step() : all_requests(counts).lanes_per_request();
         return unless_zero(lanes, [](double value) { return fmt::format("{:.1f}", value); });
     },
     "32.0"},
};

struct Beside {
    const Column* column;
    std::size_t width;
};

std::vector<Beside> columns_for(const std::vector<LineCounts>& lines) {
    std::vector<Beside> chosen;
    for (const Column& column : columns) {
        std::size_t width = std::string_view(column.header).size();
        bool shown = false;
        for (const LineCounts& line : lines) {
            const std::string text = column.text(line.counts);
            width = std::max(width, text.size());
            shown = shown || (!text.empty() && text != column.usual);
        }
        if (shown) chosen.push_back({&column, width});
    }
    return chosen;
}

/// The line that keeps memory busiest; where no line uses memory, none.
const LineCounts* busiest_of(const std::vector<LineCounts>& lines) {
    const auto most = std::max_element(lines.begin(), lines.end(), [](const LineCounts& a, const LineCounts& b) {
        return a.counts.cost() < b.counts.cost();
    });
    return most != lines.end() && most->counts.cost() > 0 ? &*most : nullptr;
}

class Listing {
public:
    Listing(const std::vector<LineCounts>& lines, const Terminal& terminal)
        : lines_(lines), beside_(columns_for(lines)), busiest_(busiest_of(lines)), terminal_(terminal) {
        for (const Beside& beside : beside_) margin_ += beside.width + 2;
    }

    std::string text() {
        std::string headings;
        for (const Beside& beside : beside_) headings += fmt::format("{:>{}}  ", beside.column->header, beside.width);
        text_ += terminal_.paint(Style::faint, headings + " line  source") + "\n";
        std::size_t begin = 0;
        while (begin < lines_.size()) {
            std::size_t end = begin;
            while (end < lines_.size() && lines_[end].file == lines_[begin].file) ++end;
            add_file(begin, end);
            begin = end;
        }
        return text_;
    }

private:
    /// The file of the counted lines `begin` to `end - 1`.
    void add_file(std::size_t begin, std::size_t end) {
        const std::string& file = lines_[begin].file;
        text_ += terminal_.paint(Style::faint, std::string(margin_, ' ') + seen_from_here(file)) + "\n";
        const std::vector<std::string> source = lines_of_file(file);
        std::map<std::size_t, const LineCounts*> counted;
        std::vector<std::size_t> numbers;
        for (std::size_t i = begin; i < end; ++i) {
            numbers.push_back(static_cast<std::size_t>(lines_[i].line));
            counted[numbers.back()] = &lines_[i];
        }
        if (source.empty()) {
            for (const auto& [number, line] : counted) add_line(number, "(this file cannot be read)", line);
            return;
        }
        bool first = true;
        for (const SourceRegion& region : regions_around(source, numbers)) {
            if (!first) text_ += terminal_.paint(Style::faint, std::string(margin_, ' ') + "  ...") + "\n";
            first = false;
            for (std::size_t number = region.first; number <= region.last; ++number) {
                const auto at = counted.find(number);
                add_line(number, source[number - 1], at == counted.end() ? nullptr : at->second);
            }
        }
    }

    void add_line(std::size_t number, const std::string& source, const LineCounts* line) {
        std::string text;
        for (const Beside& beside : beside_) {
            text += fmt::format("{:>{}}  ", line != nullptr ? beside.column->text(line->counts) : "", beside.width);
        }
        const bool marked = line != nullptr && line == busiest_;
        text += fmt::format("{}{:>4}  {}", marked ? '>' : ' ', number, source);
        text.resize(std::min(text.size(), terminal_.table_width));
        text.erase(text.find_last_not_of(' ') + 1);
        text_ += terminal_.paint(marked ? Style::bad : Style::plain, text) + "\n";
    }

    const std::vector<LineCounts>& lines_;
    std::vector<Beside> beside_;
    const LineCounts* busiest_;
    const Terminal& terminal_;
    std::size_t margin_ = 0;
    std::string text_;
};

}  // namespace

std::vector<SourceRegion> regions_around(const std::vector<std::string>& source,
                                         const std::vector<std::size_t>& counted) {
    const auto line = [&](std::size_t number) -> const std::string& { return source[number - 1]; };
    std::vector<SourceRegion> regions;
    for (const std::size_t number : counted) {
        if (number == 0 || number > source.size()) continue;
        bool same = !regions.empty() && number - regions.back().last <= widest_gap;
        for (std::size_t between = same ? regions.back().last : number; same && between < number; ++between) {
            same = !ends_function(line(between));
        }
        if (same) {
            regions.back().last = number;
        } else {
            regions.push_back({number, number});
        }
    }
    for (std::size_t i = 0; i < regions.size(); ++i) {
        SourceRegion& region = regions[i];
        // Up to the head of the function, with a template's line above it.
        const std::size_t above = i == 0 ? 0 : regions[i - 1].last;
        std::size_t head = region.first;
        while (head > above + 1 && region.first - head < longest_head && !is_head(line(head)) &&
               !ends_function(line(head - 1))) {
            --head;
        }
        if (is_head(line(head))) {
            if (head > above + 1 && begins_with(line(head - 1), "template")) --head;
            region.first = head;
        }
        // Down to its end.
        const std::size_t below = i + 1 < regions.size() ? regions[i + 1].first : source.size() + 1;
        for (std::size_t end = region.last; end < below && end <= region.last + farthest_end; ++end) {
            if (!ends_function(line(end))) continue;
            region.last = end;
            break;
        }
    }
    return regions;
}

bool is_launch(const LineCounts& line, const std::vector<LaunchCounts>& launches) {
    return all_requests(line.counts).requests == 0 &&
           std::any_of(launches.begin(), launches.end(), [&](const LaunchCounts& launch) {
               return launch.line == line.line && launch.file == line.file;
           });
}

std::string seen_from_here(const std::string& file) {
    std::error_code error;
    const std::filesystem::path relative =
        std::filesystem::path(file).lexically_relative(std::filesystem::current_path(error));
    return relative.empty() || begins_with(relative.string(), "..") ? file : relative.string();
}

std::string list_source(const std::vector<LaunchCounts>& launches, const Terminal& terminal) {
    std::vector<std::string> kernels;  // in the order of their first launch
    for (const LaunchCounts& launch : launches) {
        if (std::find(kernels.begin(), kernels.end(), launch.kernel) == kernels.end()) kernels.push_back(launch.kernel);
    }
    std::string text;
    for (const std::string& kernel : kernels) {
        std::vector<LaunchCounts> of_kernel;
        std::copy_if(launches.begin(), launches.end(), std::back_inserter(of_kernel),
                     [&](const LaunchCounts& launch) { return launch.kernel == kernel; });
        std::vector<LineCounts> lines = lines_of(of_kernel);
        std::erase_if(lines, [&](const LineCounts& line) { return is_launch(line, of_kernel); });
        std::string title = "Kernel " + kernel;
        if (of_kernel.size() > 1) title += fmt::format(", {} launches", of_kernel.size());
        text += terminal.paint(Style::heading, title) + "\n";
        text += lines.empty() ? "nothing was counted in it\n" : Listing(lines, terminal).text();
        text += "\n";
    }
    return text;
}

}  // namespace warpwise
