#include "chapters/3_optimization/roofline.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/helpers/text.h"

namespace optimization {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using warpwise::text_of;

// ---- reading results ----------------------------------------------------------------------------------------------

/// The number under a key; 0 where there is none.
double number(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? 0 : found->get<double>();
}

/// The fastest step of the lesson's own that was right; absent when none was measured. Of those within 1 % of it, the
/// last: a difference that small is none, and later steps are the ones to take home.
std::optional<RooflinePoint> best_step(const Json& lesson) {
    constexpr double no_difference = 1.01;
    std::vector<RooflinePoint> points;
    double least = std::numeric_limits<double>::infinity();
    for (const Json& step : lesson.at("steps")) {
        const Json seconds = step.value("seconds", Json());
        if (step.at("kind") != "device" || seconds.is_null() || !step.at("check").at("passed")) continue;
        const RooflinePoint point = {lesson.at("name"), step.at("name"), number(step, "bytes"),
                                     number(step, "operations"), number(seconds, "median")};
        if (point.seconds <= 0 || (point.bytes <= 0 && point.operations <= 0)) continue;
        points.push_back(point);
        least = std::min(least, point.seconds);
    }
    const auto best = std::find_if(points.rbegin(), points.rend(),
                                   [&](const RooflinePoint& point) { return point.seconds <= no_difference * least; });
    return best == points.rend() ? std::nullopt : std::optional(*best);
}

/// Results of one chapter.
struct Chapter {
    std::string file, date, machine;
    std::string first_date, last_date;  ///< of its lessons
    double gb_per_s = 0, gop_per_s = 0;
    std::vector<RooflinePoint> points;
};

/// Absent for anything but results of a GPU.
std::optional<std::pair<int, Chapter>> read_chapter(const ResultsFile& file) {
    try {
        const Json document = Json::parse(file.json);
        if (!document.is_object() || !document.contains("warpwise") || document.at("warpwise") != 1)
            return std::nullopt;
        const Json& device = document.at("device");
        if (device.at("kind") != "cuda") return std::nullopt;
        const std::string date = document.at("date");
        Chapter chapter{file.name, date, device.at("name"), date, date, 0, 0, {}};
        const std::string capability = device.at("compute_capability");
        int major = 0, minor = 0;
        if (std::sscanf(capability.c_str(), "%d.%d", &major, &minor) == 2) {
            chapter.gop_per_s =
                peak_gop_per_s(major, minor, device.at("processors").get<int>(), number(device, "clock_mhz"));
        }
        for (const Json& lesson : document.at("lessons")) {
            if (const auto best = best_step(lesson)) chapter.points.push_back(*best);
            const Json roof = lesson.value("roof", Json());
            if (!roof.is_null()) chapter.gb_per_s = std::max(chapter.gb_per_s, number(roof, "gb_per_s"));
            const std::string date = lesson.value("date", chapter.date);  // of a lesson that was run on its own
            chapter.first_date = std::min(chapter.first_date, date);
            chapter.last_date = std::max(chapter.last_date, date);
        }
        return std::pair(document.at("chapter").at("number").get<int>(), chapter);
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

// ---- finding results ----------------------------------------------------------------------------------------------

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The folder of `warpwise`, the script: as the script says, else this folder or the nearest one above it that holds
/// the script. Empty when there is none.
fs::path project_root() {
    std::error_code error;
    if (const std::string root = variable("WARPWISE_ROOT"); !root.empty()) return root;
    for (fs::path folder = fs::current_path(error); !folder.empty(); folder = folder.parent_path()) {
        if (fs::is_regular_file(folder / "warpwise", error) && fs::is_directory(folder / "chapters", error)) {
            return folder;
        }
        if (folder == folder.root_path()) break;
    }
    return {};
}

/// A file or folder that the reader named, from where the reader is.
fs::path named_by_reader(const std::string& name) { return fs::path(variable("WARPWISE_CALLER")) / name; }

std::vector<ResultsFile> results_in(const fs::path& folder) {
    std::vector<ResultsFile> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() != ".json") continue;
        std::ifstream stream(entry->path());
        files.push_back({entry->path().filename().string(), {std::istreambuf_iterator<char>(stream), {}}});
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return files;
}

// ---- scales -------------------------------------------------------------------------------------------------------

/// Decades of an axis: from 10^first to 10^last.
struct Axis {
    double first, last;
    double position(double value) const { return (std::log10(value) - first) / (last - first); }  ///< 0 to 1
    double value_at(double position) const { return std::pow(10, first + position * (last - first)); }
};

/// Points without bytes stand at the right edge.
double shown_intensity(const Axis& axis, const RooflinePoint& point) {
    return std::min(point.intensity(), axis.value_at(1));
}

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
    Axis axis{std::log10(roofline.attainable(intensity.value_at(0))), std::log10(roofline.gop_per_s) + 0.3};
    for (const RooflinePoint& point : roofline.points) {
        if (point.operations > 0) axis.first = std::min(axis.first, std::log10(point.gop_per_s()) - 0.2);
    }
    return axis;
}

/// "0.01", "10", "10k": a power of ten.
std::string power_text(int power) {
    return power >= 4 ? text_of("%gk", std::pow(10, power - 3)) : text_of("%g", std::pow(10, power));
}

}  // namespace

// ---- points and roofs ---------------------------------------------------------------------------------------------

double RooflinePoint::intensity() const {
    return bytes > 0 ? operations / bytes : std::numeric_limits<double>::infinity();
}
double RooflinePoint::gop_per_s() const { return operations / seconds * 1e-9; }
double RooflinePoint::gb_per_s() const { return bytes / seconds * 1e-9; }

double Roofline::attainable(double intensity) const { return std::min(gop_per_s, gb_per_s * intensity); }

double Roofline::share(const RooflinePoint& point) const {
    if (point.operations <= 0) return point.gb_per_s() / gb_per_s;
    return point.gop_per_s() / attainable(point.intensity());
}

double peak_gop_per_s(int major, int minor, int processors, double clock_mhz) {
    // FP32 lanes of an SM: CUDA C++ Programming Guide, throughput of native arithmetic instructions.
    int lanes = 0;
    if (major == 7 || (major == 8 && minor == 0)) lanes = 64;
    if ((major == 8 && minor > 0) || major == 9 || major == 10 || major == 12) lanes = 128;
    constexpr double operations_of_an_fma = 2;
    return processors * lanes * operations_of_an_fma * clock_mhz * 1e-3;
}

std::optional<Roofline> roofline_of(const std::vector<ResultsFile>& files) {
    std::map<int, Chapter> chapters;
    std::string machine, latest;
    for (const ResultsFile& file : files) {
        const auto read = read_chapter(file);
        if (!read || read->second.gop_per_s <= 0) continue;
        if (read->second.date > latest) latest = read->second.date, machine = read->second.machine;
    }
    for (const ResultsFile& file : files) {
        const auto read = read_chapter(file);
        if (!read || read->second.machine != machine) continue;
        const auto before = chapters.find(read->first);
        if (before == chapters.end() || before->second.date < read->second.date) chapters[read->first] = read->second;
    }
    Roofline roofline;
    roofline.machine = machine;
    std::string first = latest.substr(0, 10), last;
    for (const auto& [chapter_number, chapter] : chapters) {
        roofline.gb_per_s = std::max(roofline.gb_per_s, chapter.gb_per_s);
        roofline.gop_per_s = std::max(roofline.gop_per_s, chapter.gop_per_s);
        roofline.points.insert(roofline.points.end(), chapter.points.begin(), chapter.points.end());
        roofline.files.push_back(chapter.file);
        first = std::min(first, chapter.first_date.substr(0, 10));
        last = std::max(last, chapter.last_date.substr(0, 10));
    }
    roofline.date = first == last ? first : first + " to " + last;
    if (roofline.points.empty() || roofline.gb_per_s <= 0 || roofline.gop_per_s <= 0) return std::nullopt;
    return roofline;
}

std::optional<Roofline> find_roofline() {
    if (const std::string folder = variable("WARPWISE_RESULTS"); !folder.empty())
        return roofline_of(results_in(named_by_reader(folder)));
    const fs::path root = project_root();
    if (root.empty()) return std::nullopt;
    for (const char* const folder : {"build/results/cuda", "docs/results"}) {
        if (auto roofline = roofline_of(results_in(root / folder))) {
            for (std::string& file : roofline->files) file = std::string(folder) + "/" + file;
            return roofline;
        }
    }
    return std::nullopt;
}

// ---- in the terminal ----------------------------------------------------------------------------------------------

char mark_of(std::size_t index) {
    constexpr std::string_view marks = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    return index < marks.size() ? marks[index] : '*';
}

std::vector<std::string> text_plot(const Roofline& roofline, std::size_t width, std::size_t height) {
    constexpr std::size_t margin = 7;  // the numbers of the upright axis, and the axis
    const Axis x = intensity_axis(roofline), y = rate_axis(roofline, x);
    const std::size_t cols = width - margin;
    std::vector<std::string> cells(height, std::string(cols, ' '));
    const auto row_of = [&](double rate) {
        const double row = (1 - y.position(rate)) * static_cast<double>(height - 1);
        return static_cast<std::size_t>(std::clamp(std::lround(row), 0L, static_cast<long>(height) - 1));
    };
    for (std::size_t col = 0; col < cols; ++col) {
        const double intensity = x.value_at(static_cast<double>(col) / static_cast<double>(cols - 1));
        cells[row_of(roofline.attainable(intensity))][col] = '.';
    }
    for (std::size_t i = 0; i < roofline.points.size(); ++i) {
        const RooflinePoint& point = roofline.points[i];
        if (point.operations <= 0) continue;
        const double at = x.position(shown_intensity(x, point)) * static_cast<double>(cols - 1);
        const long wanted = std::clamp(std::lround(at), 0L, static_cast<long>(cols) - 1);
        std::string& row = cells[row_of(point.gop_per_s())];
        for (long distance = 0; distance < static_cast<long>(cols); ++distance) {  // the nearest free place of the row
            const long right = wanted + distance, left = wanted - distance;
            const auto is_free = [&](long col) {
                return col >= 0 && col < static_cast<long>(cols) &&
                       (row[static_cast<std::size_t>(col)] == ' ' || row[static_cast<std::size_t>(col)] == '.');
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
    for (std::size_t row = 0; row < height; ++row) lines.push_back(labels[row] + "|" + cells[row]);
    std::string axis(cols, '-'), numbers(margin + cols, ' ');
    for (int power = static_cast<int>(std::ceil(x.first)); power <= x.last; ++power) {
        const auto col =
            static_cast<std::size_t>(std::lround(x.position(std::pow(10, power)) * static_cast<double>(cols - 1)));
        const std::string text = power_text(power);
        axis[col] = '+';
        const std::size_t begin = std::min(margin + col - std::min(margin + col, text.size() / 2), width - text.size());
        numbers.replace(begin, text.size(), text);
    }
    lines.push_back(std::string(margin - 1, ' ') + "+" + axis);
    lines.push_back(numbers);
    const std::string caption = "operations for each byte";
    lines.push_back(std::string(margin + (cols - caption.size()) / 2, ' ') + caption);
    for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
    return lines;
}

// ---- as a picture -------------------------------------------------------------------------------------------------

namespace {

// In units of the picture.
constexpr double picture_width = 860, picture_height = 575;
constexpr double plot_left = 70, plot_right = 840, plot_top = 60, plot_bottom = 490;
constexpr double letter_width = 7, label_height = 14, point_radius = 4;

struct Place {
    double x, y;
};

Place place_of(const Axis& x, const Axis& y, double intensity, double rate) {
    return {plot_left + x.position(intensity) * (plot_right - plot_left),
            plot_bottom - y.position(rate) * (plot_bottom - plot_top)};
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += letter;
        }
    }
    return result;
}

std::string line_between(Place from, Place to, const char* style) {
    return "<line class=\"" + std::string(style) + "\" x1=\"" + text_of("%.1f", from.x) + "\" y1=\"" +
           text_of("%.1f", from.y) + "\" x2=\"" + text_of("%.1f", to.x) + "\" y2=\"" + text_of("%.1f", to.y) + "\"/>\n";
}

std::string text_at(Place place, const char* style, const std::string& text) {
    return "<text class=\"" + std::string(style) + "\" x=\"" + text_of("%.1f", place.x) + "\" y=\"" +
           text_of("%.1f", place.y) + "\">" + escaped(text) + "</text>\n";
}

}  // namespace

bool Label::overlaps(const Label& other) const {
    return left < other.left + other.width && other.left < left + width && top < other.top + other.height &&
           other.top < top + height;
}

std::vector<Label> place_labels(const Roofline& roofline) {
    const Axis x = intensity_axis(roofline), y = rate_axis(roofline, x);
    std::vector<Label> taken;  // by points, then by labels
    std::vector<Label> labels;
    for (const RooflinePoint& point : roofline.points) {
        if (point.operations <= 0) continue;
        const Place at = place_of(x, y, shown_intensity(x, point), point.gop_per_s());
        const double side = 2 * point_radius;
        taken.push_back({"", at.x - point_radius, at.y - point_radius, side, side, at.x, at.y});
        labels.push_back(
            {point.lesson, 0, 0, letter_width * static_cast<double>(point.lesson.size()), label_height, at.x, at.y});
    }
    // Right and left of the point, then further and further up and down, until there is room.
    for (Label& label : labels) {
        const double gap = 2 * point_radius;
        double best_distance = std::numeric_limits<double>::infinity();
        Label best = label;
        for (int row = 0; row < 80; ++row) {
            for (int col = 0; col < 12; ++col) {
                for (const double up : {-1.0, 1.0}) {
                    for (const bool to_right : {true, false}) {
                        const double shift = gap + 20 * col;
                        Label here = label;
                        here.left = to_right ? label.point_x + shift : label.point_x - shift - label.width;
                        here.top = label.point_y - label_height / 2 + up * row * label_height / 2;
                        if (here.left < plot_left + 2 || here.left + here.width > plot_right - 2) continue;
                        if (here.top < plot_top + 2 || here.top + here.height > plot_bottom - 2) continue;
                        const double distance = std::hypot(shift, row * label_height / 2);
                        if (distance >= best_distance) continue;
                        if (std::any_of(taken.begin(), taken.end(),
                                        [&](const Label& other) { return here.overlaps(other); }))
                            continue;
                        best_distance = distance;
                        best = here;
                    }
                }
            }
        }
        label = best;
        taken.push_back(label);
    }
    return labels;
}

std::string svg(const Roofline& roofline) {
    const Axis x = intensity_axis(roofline), y = rate_axis(roofline, x);
    std::string picture =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + text_of("%.0f ", picture_width) +
        text_of("%.0f", picture_height) +
        "\" role=\"img\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<title>Roofline of " +
        escaped(roofline.machine) +
        "</title>\n<style>\n"
        "svg { color: #1f2328; background: #ffffff; --point: #0969da; }\n"
        "@media (prefers-color-scheme: dark) { svg { color: #e6edf3; background: #0d1117; --point: #58a6ff; } }\n"
        "text { fill: currentColor; }\n"
        ".head { font-size: 16px; font-weight: bold; }\n"
        ".middle { text-anchor: middle; }\n.end { text-anchor: end; }\n"
        ".axis { stroke: currentColor; }\n.grid { stroke: currentColor; opacity: 0.15; }\n"
        ".roof { stroke: currentColor; stroke-width: 2; }\n"
        ".leader { stroke: currentColor; opacity: 0.4; stroke-width: 0.8; }\n"
        ".point { fill: var(--point); }\n"
        "</style>\n";
    picture += "<desc>";
    for (const RooflinePoint& point : roofline.points) {
        picture += escaped(point.lesson) + ": " + text_of("%.3g", point.gop_per_s()) + " Gop/s, " +
                   text_of("%.3g", point.gb_per_s()) + " GB/s. ";
    }
    picture += "</desc>\n";
    picture += text_at({plot_left, 26}, "head", "Where the lessons lie: " + roofline.machine);
    picture += text_at({plot_left, 46}, "note",
                       "The best step of each lesson, measured " + roofline.date + ". Copy " +
                           text_of("%.0f", roofline.gb_per_s) + " GB/s; FP32 peak " +
                           text_of("%.1f", roofline.gop_per_s * 1e-3) + " Top/s.");
    for (int power = static_cast<int>(std::ceil(x.first)); power <= x.last; ++power) {
        const double at = place_of(x, y, std::pow(10, power), 1).x;
        picture += line_between({at, plot_top}, {at, plot_bottom}, "grid");
        picture += text_at({at, plot_bottom + 18}, "middle", power_text(power));
    }
    for (int power = static_cast<int>(std::ceil(y.first)); power <= y.last; ++power) {
        const double at = place_of(x, y, 1, std::pow(10, power)).y;
        picture += line_between({plot_left, at}, {plot_right, at}, "grid");
        picture += text_at({plot_left - 8, at + 4}, "end", power_text(power));
    }
    picture += line_between({plot_left, plot_top}, {plot_left, plot_bottom}, "axis");
    picture += line_between({plot_left, plot_bottom}, {plot_right, plot_bottom}, "axis");
    picture += text_at({(plot_left + plot_right) / 2, plot_bottom + 38}, "middle", "operations for each byte");
    picture += text_at({plot_left, plot_bottom + 58}, "note",
                       "Upright: 1e9 operations a second, as each lesson counts them. At the right edge: lessons that "
                       "move no bytes.");
    std::string without;
    for (const RooflinePoint& point : roofline.points) {
        if (point.operations <= 0) without += (without.empty() ? "" : ", ") + point.lesson;
    }
    if (!without.empty()) {
        picture += text_at({plot_left, plot_bottom + 74}, "note", "Without operations, so not here: " + without + ".");
    }
    picture +=
        "<text class=\"end\" transform=\"translate(20 " + text_of("%.0f", plot_top) + ") rotate(-90)\">Gop/s</text>\n";
    const Place ridge = place_of(x, y, roofline.ridge(), roofline.gop_per_s);
    const double lowest = std::max(x.value_at(0), y.value_at(0) / roofline.gb_per_s);
    picture += line_between(place_of(x, y, lowest, roofline.attainable(lowest)), ridge, "roof");
    picture += line_between(ridge, {plot_right, ridge.y}, "roof");
    for (const Label& label : place_labels(roofline)) {
        const bool to_right = label.left > label.point_x;
        const Place near{to_right ? label.left : label.left + label.width, label.top + label.height / 2};
        if (std::hypot(near.x - label.point_x, near.y - label.point_y) > 2.5 * point_radius) {
            picture += line_between({label.point_x, label.point_y}, near, "leader");
        }
        picture += "<circle class=\"point\" cx=\"" + text_of("%.1f", label.point_x) + "\" cy=\"" +
                   text_of("%.1f", label.point_y) + "\" r=\"" + text_of("%.0f", point_radius) + "\"/>\n";
        picture += text_at({near.x, label.top + 11}, to_right ? "label" : "end", label.text);
    }
    return picture + "</svg>\n";
}

std::string write_picture(const Roofline& roofline) {
    const fs::path root = project_root();
    fs::path file;
    std::string shown;
    if (const std::string wanted = variable("WARPWISE_ROOFLINE"); !wanted.empty()) {
        file = named_by_reader(wanted);
        shown = wanted;
    } else if (std::error_code error; !root.empty() && fs::is_directory(root / "build", error)) {
        shown = "build/results/roofline.svg";
        file = root / shown;
    }
    if (file.empty()) return {};
    // As a whole or not at all: two programs may write it at the same time.
    std::error_code error;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
    const fs::path unfinished = file.string() + "." + std::to_string(getpid());
    std::ofstream stream(unfinished);
    stream << svg(roofline);
    stream.close();
    if (stream.fail()) return {};
    fs::rename(unfinished, file, error);
    return error ? std::string() : shown;
}

}  // namespace optimization
