// A roofline of recorded results: where the lessons of the book lie, as text for the terminal and as a picture (SVG).
//
//     if (const std::optional<Roofline> roofline = find_roofline()) {
//         for (const std::string& line : text_plot(*roofline)) ...
//         const std::string file = write_picture(*roofline);      // "build/results/roofline.svg"
//     }
//
// Results are the JSON files that chapter programs write (common/lesson/json_output.h), of runs on a GPU.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace optimization {

/// The fastest step of a lesson's own, at the lesson's main size; of those within 1 %, the last.
struct RooflinePoint {
    std::string lesson;
    std::string step;
    double bytes = 0;       ///< the least that the problem has to read and write
    double operations = 0;  ///< as the lesson counts them
    double seconds = 0;     ///< median

    double intensity() const;  ///< operations for each byte; infinity without bytes
    double gop_per_s() const;
    double gb_per_s() const;
};

struct Roofline {
    std::string machine;                  ///< "NVIDIA H200"
    std::string date;                     ///< "2026-01-31", or the first and the last
    double gb_per_s = 0;                  ///< of the fastest copy in the results
    double gop_per_s = 0;                 ///< peak in single precision, a fused multiply-add counting as two
    std::vector<std::string> files = {};  ///< they come from
    std::vector<RooflinePoint> points = {};

    double ridge() const { return gop_per_s / gb_per_s; }  ///< operations for each byte where both limits meet
    double attainable(double intensity) const;             ///< 1e9 operations a second, by the nearer limit
    /// Operations a second over the attainable ones; bytes a second over the copy's where nothing is counted.
    double share(const RooflinePoint& point) const;
};

/// 1e9 operations a second at the highest clock: SMs x FP32 lanes of an SM x 2 x clock. 0 where the lanes of the
/// compute capability are not known.
double peak_gop_per_s(int major, int minor, int processors, double clock_mhz);

/// The points of results on a GPU, one JSON document a chapter. Of a chapter that comes twice, the later results
/// count; results of another machine than the latest ones are left out. Absent when no step has been measured on a
/// GPU. What cannot be understood is left out.
struct ResultsFile {
    std::string name;
    std::string json;
};
std::optional<Roofline> roofline_of(const std::vector<ResultsFile>& files);

/// From the folder that WARPWISE_RESULTS names; else from build/results/cuda, where `./warpwise run` on a GPU leaves
/// what it measured; else from docs/results, the recorded runs. Absent when there are none.
std::optional<Roofline> find_roofline();

/// The plot, each line at most `width` characters: logarithmic axes, `.` the roofs, a letter a point.
std::vector<std::string> text_plot(const Roofline& roofline, std::size_t width = 74, std::size_t height = 20);

/// The letter of the point with this index.
char mark_of(std::size_t index);

/// A label in the picture, and its point.
struct Label {
    std::string text;
    double left, top, width, height;
    double point_x, point_y;

    bool overlaps(const Label& other) const;
};

/// Labels of all points that have operations, in their places: none overlaps another one or covers a point.
std::vector<Label> place_labels(const Roofline& roofline);

/// The picture, a file of its own; dark on light or light on dark, as the reader's system has it.
std::string svg(const Roofline& roofline);

/// Writes the picture to the file that WARPWISE_ROOFLINE names, else to build/results/roofline.svg. Returns the name,
/// or an empty one when nothing could be written.
std::string write_picture(const Roofline& roofline);

}  // namespace optimization
