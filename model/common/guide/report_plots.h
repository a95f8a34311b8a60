// What the plots of a report show. common/views/chart.mjs draws them in the reader's browser from JSON.
//
//     page += plot_json(BarChart{.title = "Bandwidth", ...});
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace guide {

enum class BarKind { device, host, vendor, wrong };

struct Bar {
    std::string label;       ///< "3 add_float4"
    std::string value_text;  ///< "4325 GB/s"
    double value = 0;        ///< in units of the axis, finite and not negative
    BarKind kind = BarKind::device;
};

/// A line across all bars, to compare them with.
struct Mark {
    std::string label;  ///< "copy: 4255 GB/s"
    double value = 0;
    bool is_roof = true;  ///< dashed; dotted otherwise
};

/// Horizontal bars from zero, each below its label.
struct BarChart {
    std::string title;      ///< for screen readers
    std::string axis;       ///< "GB/s"
    std::vector<Bar> bars;  ///< at least one
    std::vector<Mark> marks = {};
};

template <class Point>
struct Series {
    std::string name;
    std::vector<Point> points;
};

using CurvePoint = std::pair<double, double>;

/// Lines through measured points.
struct Curves {
    std::string title;
    std::string x_axis;
    std::string y_axis;
    std::vector<Series<CurvePoint>> series;  ///< at least one point in all
};

struct RooflinePoint {
    double intensity = 0;  ///< operations per byte, positive
    double gop_per_s = 0;  ///< 1e9 operations per second, positive
};

/// Points under a limit of bandwidth and, where it is known, a ceiling of arithmetic; both axes logarithmic.
struct Roofline {
    std::string title;
    double gb_per_s = 0;
    std::string bandwidth_name;       ///< "copy: 4255 GB/s"
    std::optional<double> gop_per_s;  ///< the ceiling
    std::string ceiling_name;
    std::vector<Series<RooflinePoint>> series;  ///< at least one, each with a point
};

using Plot = std::variant<BarChart, Curves, Roofline>;

/// A description that common/views/chart.mjs draws.
std::string plot_json(const Plot& plot);

/// The same numbers as text, for readers without JavaScript.
struct NumberTable {
    std::string caption;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
};
NumberTable numbers_of(const Plot& plot);

/// Text as it may stand in HTML, in quoted attributes too. Control characters become spaces.
std::string escape_html(std::string_view text);

}  // namespace guide
