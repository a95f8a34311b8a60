#include "common/guide/report_plots.h"

#include <fmt/format.h>

#include <cstdlib>

#include "common/helpers/json.h"
#include "common/lesson/terminal.h"

namespace guide {
namespace {

using Json = nlohmann::ordered_json;
using warpwise::three_digits;

/// Six digits: more than a drawing shows.
double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

const char* name_of(BarKind kind) {
    switch (kind) {
        case BarKind::device:
            return "device";
        case BarKind::host:
            return "host";
        case BarKind::vendor:
            return "vendor";
        case BarKind::wrong:
            return "wrong";
    }
    return "device";
}

template <class Point, class PointJson>
Json series_json(const std::vector<Series<Point>>& series, const PointJson& point_json) {
    Json all = Json::array();
    for (const Series<Point>& one : series) {
        Json points = Json::array();
        for (const Point& point : one.points) points.push_back(point_json(point));
        all.push_back({{"name", one.name}, {"points", std::move(points)}});
    }
    return all;
}

Json json_of(const BarChart& chart) {
    Json bars = Json::array();
    for (const Bar& bar : chart.bars) {
        bars.push_back({{"label", bar.label},
                        {"text", bar.value_text},
                        {"value", rounded(bar.value)},
                        {"kind", name_of(bar.kind)}});
    }
    Json marks = Json::array();
    for (const Mark& mark : chart.marks) {
        marks.push_back(
            {{"label", mark.label}, {"value", rounded(mark.value)}, {"kind", mark.is_roof ? "roof" : "mark"}});
    }
    return {{"kind", "bars"}, {"title", chart.title}, {"axis", chart.axis}, {"bars", bars}, {"marks", marks}};
}

Json json_of(const Curves& curves) {
    return {{"kind", "curves"},
            {"title", curves.title},
            {"x", {{"title", curves.x_axis}}},
            {"y", {{"title", curves.y_axis}}},
            {"series", series_json(curves.series, [](const CurvePoint& point) {
                 return Json{rounded(point.first), rounded(point.second)};
             })}};
}

Json json_of(const Roofline& roofline) {
    Json json = {{"kind", "roofline"},
                 {"title", roofline.title},
                 {"gb_per_s", rounded(roofline.gb_per_s)},
                 {"bandwidth_name", roofline.bandwidth_name},
                 {"x_title", "operations per byte"},
                 {"y_title", "10\xE2\x81\xB9 operations per second"},
                 {"series", series_json(roofline.series, [](const RooflinePoint& point) {
                      return Json{rounded(point.intensity), rounded(point.gop_per_s)};
                  })}};
    if (roofline.gop_per_s) {
        json["gop_per_s"] = rounded(*roofline.gop_per_s);
        json["ceiling_name"] = roofline.ceiling_name;
    }
    return json;
}

NumberTable numbers_of(const BarChart& chart) {
    NumberTable table{chart.title, {"", chart.axis}, {}};
    for (const Bar& bar : chart.bars) table.rows.push_back({bar.label, bar.value_text});
    for (const Mark& mark : chart.marks) table.rows.push_back({mark.label, three_digits(mark.value)});
    return table;
}

NumberTable numbers_of(const Curves& curves) {
    NumberTable table{curves.title, {"", curves.x_axis, curves.y_axis}, {}};
    for (const Series<CurvePoint>& series : curves.series) {
        for (const auto& [x, y] : series.points) table.rows.push_back({series.name, three_digits(x), three_digits(y)});
    }
    return table;
}

NumberTable numbers_of(const Roofline& roofline) {
    NumberTable table{roofline.title, {"", "operations per byte", "Gop/s"}, {}};
    for (const Series<RooflinePoint>& series : roofline.series) {
        for (const RooflinePoint& point : series.points) {
            table.rows.push_back({series.name, three_digits(point.intensity), three_digits(point.gop_per_s)});
        }
    }
    return table;
}

}  // namespace

std::string plot_json(const Plot& plot) {
    return std::visit([](const auto& known) { return warpwise::json_text(json_of(known)); }, plot);
}

NumberTable numbers_of(const Plot& plot) {
    return std::visit([](const auto& known) { return numbers_of(known); }, plot);
}

std::string escape_html(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (const char c : text) {
        switch (c) {
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
            case '\'':
                result += "&#39;";
                break;
            default:
                result += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? ' ' : c;
        }
    }
    return result;
}

}  // namespace guide
