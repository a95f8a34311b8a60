// Plots as SVG for the report, drawn by gnuplot (5.2 or newer), in colors that follow the page's scheme.
//
//     require_gnuplot();
//     const std::vector<std::string> drawings = draw_plots({BarChart{.title = "Bandwidth", ...}, Curves{...}});
//     page += drawings[0];                        // <svg ...> ... </svg>, to be put into an HTML page as it is
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
    std::string label;  ///< "roof: 4255 GB/s"
    double value = 0;
    bool is_roof = true;  ///< dashed; dotted otherwise
};

/// Horizontal bars from zero, each below its label.
struct BarChart {
    std::string title;        ///< for screen readers
    std::string description;  ///< likewise: what the bars say, in words
    std::string axis;         ///< "GB/s"
    std::vector<Bar> bars;    ///< at least one
    std::vector<Mark> marks = {};
};

struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;
};

/// Lines through measured points.
struct Curves {
    std::string title;
    std::string description;
    std::string x_axis;
    std::string y_axis;
    std::vector<Series> series;  ///< at least one point in all
};

/// Points under a roof of bandwidth and, where it is known, a ceiling of arithmetic; both axes logarithmic.
struct Roofline {
    std::string title;
    std::string description;
    double gb_per_s = 0;
    std::string bandwidth_name;       ///< "copy: 4255 GB/s"
    std::optional<double> gop_per_s;  ///< the ceiling
    std::string ceiling_name;
    std::vector<Series> series;  ///< operations for each byte, and 1e9 operations a second: all positive
};

using Plot = std::variant<BarChart, Curves, Roofline>;

/// Throws Refusal, with the command that installs it, when there is no gnuplot.
void require_gnuplot();

/// One <svg> for each plot, in their order, with a title and a description; identifiers in them are unique. Colors are
/// the variables --plot-... that the page defines. Throws Refusal when gnuplot fails.
std::vector<std::string> draw_plots(const std::vector<Plot>& plots);

/// Text as it may stand in HTML and SVG, in quoted attributes too. Control characters become spaces.
std::string escape_html(std::string_view text);

}  // namespace guide
