#include "chapters/3_optimization/strategy_and_amdahl/roofline.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/helpers/text.h"
#include "common/lesson/roofline.h"

namespace optimization {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using warpwise::text_of;

// ---- reading results --------------------------------------------------------------------

/// The number under a key; 0 where there is none.
double number(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? 0 : found->get<double>();
}

/// Which steps of a lesson can be FP32 work.
std::vector<bool> below_fp32_peak(const Json& lesson, double peak) {
    std::vector<warpwise::StepRate> rates;
    for (const Json& step : lesson.at("steps")) {
        warpwise::StepRate& rate = rates.emplace_back();
        if (step.contains("number") && !step["number"].is_null())
            rate.number = step["number"].get<int>();
        const Json seconds = step.value("seconds", Json());
        if (!seconds.is_null() && step.at("comparison").at("passed")) {
            rate.gop_per_s = number(step, "operations") / number(seconds, "median") * 1e-9;
        }
    }
    return warpwise::are_below_fp32_peak(rates, peak);
}

/// The fastest step of the lesson's own that was right and can be FP32 work; absent when
/// none was measured. Of those within 1 % of it, the last: a difference that small is none,
/// and later steps are the ones to take home.
std::optional<RooflinePoint> best_step(const Json& lesson, const std::vector<bool>& below) {
    constexpr double no_difference = 1.01;
    std::vector<RooflinePoint> points;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < below.size(); ++i) {
        const Json& step = lesson.at("steps").at(i);
        if (!below[i]) continue;
        const Json seconds = step.value("seconds", Json());
        if (step.at("kind") != "device" || seconds.is_null() ||
            !step.at("comparison").at("passed"))
            continue;
        const RooflinePoint point = {lesson.at("name"), step.at("name"),
                                     number(step, "bytes"), number(step, "operations"),
                                     number(seconds, "median")};
        if (point.seconds <= 0 || (point.bytes <= 0 && point.operations <= 0)) continue;
        points.push_back(point);
        least = std::min(least, point.seconds);
    }
    const auto best = std::find_if(
        points.rbegin(), points.rend(),
        [&](const RooflinePoint& point) { return point.seconds <= no_difference * least; });
    return best == points.rend() ? std::nullopt : std::optional(*best);
}

/// Results of one chapter.
struct Chapter {
    std::string file, date, machine;
    std::string first_date, last_date;  ///< of its lessons
    double gb_per_s = 0, gop_per_s = 0;
    std::vector<RooflinePoint> points;
    std::vector<std::string> on_tensor_cores;
};

/// Absent for anything but results of a GPU.
std::optional<std::pair<int, Chapter>> read_chapter(const ResultsFile& file) {
    try {
        const Json document = Json::parse(file.json);
        if (!document.is_object() || !document.contains("warpwise") ||
            document.at("warpwise") != 1)
            return std::nullopt;
        const Json& device = document.at("device");
        if (device.at("kind") != "cuda") return std::nullopt;
        const std::string date = document.at("date");
        Chapter chapter{file.name, date, device.at("name"), date, date, 0, 0, {}, {}};
        const std::string capability = device.at("compute_capability");
        int major = 0, minor = 0;
        if (std::sscanf(capability.c_str(), "%d.%d", &major, &minor) == 2) {
            chapter.gop_per_s =
                warpwise::peak_gop_per_s(major, minor, device.at("processors").get<int>(),
                                         number(device, "clock_mhz"));
        }
        for (const Json& lesson : document.at("lessons")) {
            const std::vector<bool> below = below_fp32_peak(lesson, chapter.gop_per_s);
            if (std::find(below.begin(), below.end(), false) != below.end()) {
                chapter.on_tensor_cores.push_back(lesson.at("name"));
            }
            if (const auto best = best_step(lesson, below)) chapter.points.push_back(*best);
            const Json roof = lesson.value("roof", Json());
            if (!roof.is_null())
                chapter.gb_per_s = std::max(chapter.gb_per_s, number(roof, "gb_per_s"));
            const std::string date =
                lesson.value("date", chapter.date);  // of a lesson that was run on its own
            chapter.first_date = std::min(chapter.first_date, date);
            chapter.last_date = std::max(chapter.last_date, date);
        }
        return std::pair(document.at("chapter").at("number").get<int>(), chapter);
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

// ---- finding results --------------------------------------------------------------------

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The folder of `warpwise`, the script: as the script says, else this folder or the
/// nearest one above it that holds the script. Empty when there is none.
fs::path project_root() {
    std::error_code error;
    if (const std::string root = variable("WARPWISE_ROOT"); !root.empty()) return root;
    for (fs::path folder = fs::current_path(error); !folder.empty();
         folder = folder.parent_path()) {
        if (fs::is_regular_file(folder / "warpwise", error) &&
            fs::is_directory(folder / "chapters", error)) {
            return folder;
        }
        if (folder == folder.root_path()) break;
    }
    return {};
}

/// A file or folder that the reader named, from where the reader is.
fs::path named_by_reader(const std::string& name) {
    return fs::path(variable("WARPWISE_CALLER")) / name;
}

std::vector<ResultsFile> results_in(const fs::path& folder) {
    std::vector<ResultsFile> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() != ".json") continue;
        std::ifstream stream(entry->path());
        files.push_back({entry->path().filename().string(),
                         {std::istreambuf_iterator<char>(stream), {}}});
    }
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return files;
}

// ---- scales -----------------------------------------------------------------------------

/// Decades of an axis: from 10^first to 10^last.
struct Axis {
    double first, last;
    double position(double value) const {
        return (std::log10(value) - first) / (last - first);
    }  ///< 0 to 1
    double value_at(double position) const {
        return std::pow(10, first + position * (last - first));
    }
};

Axis intensity_axis(const Roofline& roofline) {
    Axis axis{-1, std::log10(roofline.ridge()) + 0.8};
    for (const RooflinePoint& point : roofline.points) {
        if (point.operations <= 0 || point.bytes <= 0) continue;
        axis.first = std::min(axis.first, std::log10(point.intensity()) - 0.2);
        axis.last = std::max(axis.last, std::log10(point.intensity()) + 0.4);
    }
    return axis;
}

Axis rate_axis(const Roofline& roofline, const Axis& intensity) {
    Axis axis{std::log10(roofline.attainable(intensity.value_at(0))),
              std::log10(roofline.gop_per_s) + 0.3};
    for (const RooflinePoint& point : roofline.points) {
        if (point.operations > 0)
            axis.first = std::min(axis.first, std::log10(point.gop_per_s()) - 0.2);
    }
    return axis;
}

/// "0.01", "10", "10k": a power of ten.
std::string power_text(int power) {
    return power >= 4 ? text_of("%gk", std::pow(10, power - 3))
                      : text_of("%g", std::pow(10, power));
}

}  // namespace

// ---- points and limits ------------------------------------------------------------------

double RooflinePoint::intensity() const {
    return bytes > 0 ? operations / bytes : std::numeric_limits<double>::infinity();
}
double RooflinePoint::gop_per_s() const { return operations / seconds * 1e-9; }
double RooflinePoint::gb_per_s() const { return bytes / seconds * 1e-9; }

double Roofline::attainable(double intensity) const {
    return std::min(gop_per_s, gb_per_s * intensity);
}

double Roofline::share(const RooflinePoint& point) const {
    if (point.operations <= 0) return point.gb_per_s() / gb_per_s;
    return point.gop_per_s() / attainable(point.intensity());
}

std::optional<Roofline> roofline_of(const std::vector<ResultsFile>& files) {
    std::map<int, Chapter> chapters;
    // The machine with the most chapters; of two with as many, the one that was used last.
    // The book draws its roofline by the same rule.
    std::map<std::string, std::pair<std::set<int>, std::string>> machines;
    for (const ResultsFile& file : files) {
        const auto read = read_chapter(file);
        if (!read || read->second.gop_per_s <= 0) continue;
        auto& [numbers, date] = machines[read->second.machine];
        numbers.insert(read->first);
        date = std::max(date, read->second.date);
    }
    std::string machine, latest;
    std::size_t most = 0;
    for (const auto& [name, measured] : machines) {
        const auto& [numbers, date] = measured;
        if (std::pair(numbers.size(), date) > std::pair(most, latest))
            machine = name, most = numbers.size(), latest = date;
    }
    for (const ResultsFile& file : files) {
        const auto read = read_chapter(file);
        if (!read || read->second.machine != machine) continue;
        const auto before = chapters.find(read->first);
        if (before == chapters.end() || before->second.date < read->second.date)
            chapters[read->first] = read->second;
    }
    Roofline roofline;
    roofline.machine = machine;
    std::string first = latest.substr(0, 10), last;
    for (const auto& [chapter_number, chapter] : chapters) {
        roofline.gb_per_s = std::max(roofline.gb_per_s, chapter.gb_per_s);
        roofline.gop_per_s = std::max(roofline.gop_per_s, chapter.gop_per_s);
        roofline.points.insert(roofline.points.end(), chapter.points.begin(),
                               chapter.points.end());
        roofline.on_tensor_cores.insert(roofline.on_tensor_cores.end(),
                                        chapter.on_tensor_cores.begin(),
                                        chapter.on_tensor_cores.end());
        roofline.files.push_back(chapter.file);
        first = std::min(first, chapter.first_date.substr(0, 10));
        last = std::max(last, chapter.last_date.substr(0, 10));
    }
    roofline.date = first == last ? first : first + " to " + last;
    if (roofline.points.empty() || roofline.gb_per_s <= 0 || roofline.gop_per_s <= 0)
        return std::nullopt;
    return roofline;
}

std::optional<Roofline> find_roofline() {
    if (const std::string folder = variable("WARPWISE_RESULTS"); !folder.empty())
        return roofline_of(results_in(named_by_reader(folder)));
    const fs::path root = project_root();
    if (root.empty()) return std::nullopt;
    for (const char* const folder : {"build/results/cuda", "docs/results"}) {
        if (auto roofline = roofline_of(results_in(root / folder))) {
            for (std::string& file : roofline->files)
                file = std::string(folder) + "/" + file;
            return roofline;
        }
    }
    return std::nullopt;
}

// ---- in the terminal --------------------------------------------------------------------

char mark_of(std::size_t index) {
    constexpr std::string_view marks =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    return index < marks.size() ? marks[index] : '*';
}

std::vector<std::string> text_plot(const Roofline& roofline, std::size_t width,
                                   std::size_t height) {
    constexpr std::size_t margin = 7;  // the numbers of the upright axis, and the axis
    constexpr std::string_view no_bytes = " no bytes";
    const Axis x = intensity_axis(roofline), y = rate_axis(roofline, x);
    // Points without bytes have no place on the axis: they stand in a strip beside the
    // plot.
    const bool has_strip = std::any_of(roofline.points.begin(), roofline.points.end(),
                                       [](const RooflinePoint& point) {
                                           return point.operations > 0 && point.bytes <= 0;
                                       });
    const std::size_t strip = has_strip ? no_bytes.size() + 2 : 0;
    const std::size_t cols = width - margin - strip;
    std::vector<std::string> cells(height,
                                   std::string(cols, ' ') + std::string(strip, ' '));
    const auto row_of = [&](double rate) {
        const double row = (1 - y.position(rate)) * static_cast<double>(height - 1);
        return static_cast<std::size_t>(
            std::clamp(std::lround(row), 0L, static_cast<long>(height) - 1));
    };
    for (std::size_t col = 0; col < cols; ++col) {
        const double intensity =
            x.value_at(static_cast<double>(col) / static_cast<double>(cols - 1));
        cells[row_of(roofline.attainable(intensity))][col] = '.';
    }
    if (has_strip) {
        for (std::string& row : cells) row[cols + 1] = '|';
        std::fill(cells[row_of(roofline.gop_per_s)].begin() + static_cast<long>(cols) + 2,
                  cells[row_of(roofline.gop_per_s)].end(), '.');
    }
    for (std::size_t i = 0; i < roofline.points.size(); ++i) {
        const RooflinePoint& point = roofline.points[i];
        if (point.operations <= 0) continue;
        const bool moves = point.bytes > 0;
        const long first = moves ? 0 : static_cast<long>(cols) + 2;
        const long last = static_cast<long>(moves ? cols : cols + strip) - 1;
        const long wanted = moves ? std::clamp(std::lround(x.position(point.intensity()) *
                                                           static_cast<double>(last)),
                                               first, last)
                                  : (first + last) / 2;
        std::string& row = cells[row_of(point.gop_per_s())];
        for (long distance = 0; distance <= last - first;
             ++distance) {  // the nearest free place of the row
            const long right = wanted + distance, left = wanted - distance;
            const auto is_free = [&](long col) {
                return col >= first && col <= last &&
                       (row[static_cast<std::size_t>(col)] == ' ' ||
                        row[static_cast<std::size_t>(col)] == '.');
            };
            if (!is_free(right) && !is_free(left)) continue;
            row[static_cast<std::size_t>(is_free(right) ? right : left)] = mark_of(i);
            break;
        }
    }

    std::vector<std::string> labels(height, std::string(margin - 1, ' '));
    for (int power = static_cast<int>(std::ceil(y.first)); power <= y.last; ++power) {
        const std::string text = power_text(power);
        labels[row_of(std::pow(10, power))] =
            std::string(margin - 2 - std::min(margin - 2, text.size()), ' ') + text + " ";
    }
    std::vector<std::string> lines = {"Gop/s"};
    for (std::size_t row = 0; row < height; ++row)
        lines.push_back(labels[row] + "|" + cells[row]);
    std::string axis(cols, '-'), numbers(margin + cols, ' ');
    const std::size_t plot_width = margin + cols;
    for (int power = static_cast<int>(std::ceil(x.first)); power <= x.last; ++power) {
        const auto col = static_cast<std::size_t>(
            std::lround(x.position(std::pow(10, power)) * static_cast<double>(cols - 1)));
        const std::string text = power_text(power);
        axis[col] = '+';
        const std::size_t begin =
            std::min(margin + col - std::min(margin + col, text.size() / 2),
                     plot_width - text.size());
        numbers.replace(begin, text.size(), text);
    }
    lines.push_back(std::string(margin - 1, ' ') + "+" + axis +
                    (has_strip ? " +" + std::string(strip - 2, '-') : ""));
    lines.push_back(numbers + (has_strip ? " " + std::string(no_bytes) : ""));
    const std::string caption = "operations per byte";
    lines.push_back(std::string(margin + (cols - caption.size()) / 2, ' ') + caption);
    for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
    return lines;
}

}  // namespace optimization
