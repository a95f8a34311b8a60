// A roofline of recorded results: where the lessons of the book lie, as text for the
// terminal. The book and `warpwise report` draw it as a picture.
//
//     if (const std::optional<Roofline> roofline = find_roofline()) {
//         for (const std::string& line : text_plot(*roofline)) ...
//     }
//
// Results are the JSON files that chapter programs write (common/lesson/json_output.h), of
// runs on a GPU.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace optimization {

/// The fastest step of a lesson's own that can be FP32 work, at the lesson's main size; of
/// those within 1 %, the last.
struct RooflinePoint {
    std::string lesson;
    std::string step;
    double bytes = 0;       ///< the least that the problem has to read and write
    double operations = 0;  ///< as the lesson counts them
    double seconds = 0;     ///< median

    double intensity() const;  ///< operations per byte; infinity without bytes
    double gop_per_s() const;
    double gb_per_s() const;
};

struct Roofline {
    std::string machine;  ///< "NVIDIA H200"
    std::string date;     ///< "2026-01-31", or the first and the last
    double gb_per_s = 0;  ///< of the fastest copy in the results
    double gop_per_s =
        0;  ///< peak in single precision, a fused multiply-add counting as two
    std::vector<std::string> files = {};  ///< they come from
    std::vector<RooflinePoint> points = {};
    /// Lessons with steps that are left out, because the FP32 peak is no limit to tensor
    /// cores.
    std::vector<std::string> on_tensor_cores = {};

    double ridge() const {
        return gop_per_s / gb_per_s;
    }  ///< operations per byte where both limits meet
    double attainable(
        double intensity) const;  ///< 1e9 operations per second, by the nearer limit
    /// Operations per second over the attainable ones; bytes per second over the copy's
    /// where nothing is counted.
    double share(const RooflinePoint& point) const;
};

/// The points of results on a GPU, one JSON document a chapter. Of a chapter that comes
/// twice, the later results count; results of another machine than the latest ones are left
/// out. Absent when no step has been measured on a GPU. What cannot be understood is left
/// out.
struct ResultsFile {
    std::string name;
    std::string json;
};
std::optional<Roofline> roofline_of(const std::vector<ResultsFile>& files);

/// From the folder that WARPWISE_RESULTS names; else from build/results/cuda, where
/// `./warpwise run` on a GPU leaves what it measured; else from docs/results, the recorded
/// runs. Absent when there are none.
std::optional<Roofline> find_roofline();

/// The plot, each line at most `width` characters: logarithmic axes, `.` the limits, one
/// letter per point; points without bytes in a strip of their own.
std::vector<std::string> text_plot(const Roofline& roofline, std::size_t width = 74,
                                   std::size_t height = 20);

/// The letter of the point with this index.
char mark_of(std::size_t index);

}  // namespace optimization
