#include "common/guide/report_plots.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "common/guide/command.h"
#include "common/guide/project.h"
#include "common/helpers/utf8.h"
#include "common/lesson/refusal.h"

namespace guide {
namespace {

namespace fs = std::filesystem;

// Sizes in units of the drawing: 480 of them are as wide as a phone or a column of text.
constexpr int width = 480;
constexpr int font_size = 14;
constexpr int row_height = 40;   // a bar and its label
constexpr int mark_height = 20;  // the label of a mark
constexpr int axis_height = 50;
constexpr std::size_t longest_text = 56;  // characters of this font that fit into the width

/// gnuplot writes colors as numbers. These stand for the page's variables, and are replaced by them in the drawing.
struct PaletteColor {
    const char* variable;
};
constexpr std::array<PaletteColor, 15> palette = {{{"--plot-text"},
                                                   {"--plot-grid"},
                                                   {"--plot-device"},
                                                   {"--plot-host"},
                                                   {"--plot-vendor"},
                                                   {"--plot-wrong"},
                                                   {"--plot-roof"},
                                                   {"--plot-mark"},
                                                   {"--plot-1"},
                                                   {"--plot-2"},
                                                   {"--plot-3"},
                                                   {"--plot-4"},
                                                   {"--plot-5"},
                                                   {"--plot-6"},
                                                   {"--plot-7"}}};
enum PaletteIndex {
    text_color,
    grid_color,
    device_color,
    host_color,
    vendor_color,
    wrong_color,
    roof_color,
    mark_color
};
constexpr int first_series_color = 8;
constexpr int series_colors = 7;

/// The number that stands for a color: red 1, green 1, blue its index.
int number_of(int color) { return 0x010100 + color; }
std::string rgb(int color) { return fmt::format("rgb '#{:06x}'", number_of(color)); }

/// A string of gnuplot's: within single quotes nothing but the quote itself is special.
std::string gnuplot_string(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'') {
            result += "''";
        } else {
            result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
    }
    return result + "'";
}

/// At most so many characters, the last ones dots where some are left out. Bytes of one character stay together.
std::string shortened(const std::string& text, std::size_t most) {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool starts = !warpwise::continues_utf8(text[i]);
        if (starts && ++characters > most) {
            std::size_t end = i;
            for (std::size_t dropped = 0; end > 0 && dropped < 3;) {
                --end;
                if (!warpwise::continues_utf8(text[end])) ++dropped;
            }
            return text.substr(0, end) + "...";
        }
    }
    return text;
}

std::string terminal(int height) {
    return fmt::format(
        "reset\n"
        "set encoding utf8\n"
        "set terminal svg size {},{} dynamic noenhanced font 'sans-serif,{}'\n"
        "set border 3 lc {}\n"
        "set tics nomirror out scale 0.5 textcolor {}\n"
        "set xtics offset 0,0.5\n"
        "set format '%g'\n"
        "set grid lt 1 lw 0.5 lc {}\n",
        width, height, font_size, rgb(text_color), rgb(text_color), rgb(grid_color));
}

// ---- bars -----------------------------------------------------------------------------------------------------------

int color_of(BarKind kind) {
    switch (kind) {
        case BarKind::device:
            return device_color;
        case BarKind::host:
            return host_color;
        case BarKind::vendor:
            return vendor_color;
        case BarKind::wrong:
            return wrong_color;
    }
    return device_color;
}

double largest_of(const BarChart& chart) {
    double largest = 0;
    for (const Bar& bar : chart.bars) largest = std::max(largest, bar.value);
    for (const Mark& mark : chart.marks) largest = std::max(largest, mark.value);
    return largest > 0 ? largest : 1;
}

int height_of(const BarChart& chart) {
    return static_cast<int>(chart.bars.size()) * row_height + static_cast<int>(chart.marks.size()) * mark_height +
           axis_height;
}

std::string script_of(const BarChart& chart) {
    const int height = height_of(chart);
    const double most = largest_of(chart) * 1.02;
    std::string script = fmt::format(
        "set lmargin at screen 0.02\nset rmargin at screen 0.97\n"
        "set tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n"
        "set border 1\nunset ytics\nset grid noy x\nset xrange [0:{:.9g}]\nset yrange [{}:0]\n"
        "set xlabel {} offset 0,0.9 textcolor {}\n",
        1 - static_cast<double>(chart.marks.size()) * mark_height / height, static_cast<double>(axis_height) / height,
        most, chart.bars.size(), gnuplot_string(shortened(chart.axis, longest_text)), rgb(text_color));
    std::string right;
    std::string wrong;
    for (std::size_t i = 0; i < chart.bars.size(); ++i) {
        const Bar& bar = chart.bars[i];
        const double top = static_cast<double>(i);
        const std::size_t room = longest_text - std::min(longest_text - 8, bar.value_text.size() + 2);
        script += fmt::format("set label {} at first 0, first {:.3f} left textcolor {} front\n",
                              gnuplot_string(shortened(bar.label, room) + ": " + bar.value_text), top + 0.28,
                              rgb(text_color));
        (bar.kind == BarKind::wrong ? wrong : right) +=
            fmt::format("0 {0:.3f} 0 {1:.9g} {2:.3f} {3:.3f} {4}\n", top + 0.7, bar.value, top + 0.52, top + 0.88,
                        number_of(color_of(bar.kind)));
    }
    for (std::size_t i = 0; i < chart.marks.size(); ++i) {
        const Mark& mark = chart.marks[i];
        const int color = mark.is_roof ? roof_color : mark_color;
        const double above = (static_cast<double>(i) + 0.5) * mark_height / (height - axis_height);
        script += fmt::format(
            "set arrow from first {0:.9g}, graph 0 to first {0:.9g}, graph {1:.4f} nohead {2} lw 2 lc {3} "
            "front\n",
            mark.value, 1 + above, mark.is_roof ? "dt 2" : "dt 3", rgb(color));
        script += fmt::format("set label {} at first {:.9g}, graph {:.4f} {} textcolor {}\n",
                              gnuplot_string(mark.label), mark.value, 1 + above,
                              mark.value > most / 2 ? "right offset -0.6,0" : "left offset 0.6,0", rgb(text_color));
    }
    std::vector<std::string> plots;
    constexpr const char* columns = "using 1:2:3:4:5:6";
    if (!right.empty()) {
        script += "$right << END\n" + right + "END\n";
        plots.push_back(fmt::format("$right {}:7 with boxxyerror fs solid noborder lc rgb variable notitle", columns));
    }
    if (!wrong.empty()) {  // hollow
        script += "$wrong << END\n" + wrong + "END\n";
        plots.push_back(
            fmt::format("$wrong {} with boxxyerror fs empty lc {} lw 2 notitle", columns, rgb(wrong_color)));
    }
    return script + fmt::format("plot {}\n", fmt::join(plots, ", "));
}

// ---- curves ---------------------------------------------------------------------------------------------------------

constexpr int plot_height = 310;  // of curves and rooflines, their axes' labels included
constexpr int key_row = 21;       // as high as gnuplot makes it for this font
// Hollow, so that points on top of each other show: squares, circles, triangles, diamonds ...
constexpr std::array<int, 7> point_shapes = {4, 6, 8, 12, 10, 2, 1};
constexpr std::array<const char*, 4> dashes = {"dt 1", "dt 2", "dt 4", "dt 3"};

struct Range {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    double least_above_zero = std::numeric_limits<double>::infinity();
    bool has_zero = false;

    void add(double value) {
        if (value == 0) has_zero = true;
        if (value > 0) least_above_zero = std::min(least_above_zero, value);
        least = std::min(least, value);
        most = std::max(most, value);
    }
    /// Worth a logarithmic axis: positive over more than a decade and a half.
    bool is_wide() const { return least > 0 && most > 30 * least; }
    /// So wide beside some zeros that a linear axis would show nothing else. A logarithmic one leaves the zeros out.
    bool is_wide_beside_zero() const { return has_zero && least == 0 && most > 1e4 * least_above_zero; }
};

std::string series_style(std::size_t index) {
    return fmt::format("pt {} ps 1 lw 2 lc {}", point_shapes[index % point_shapes.size()],
                       rgb(first_series_color + static_cast<int>(index) % series_colors));
}

std::string data_block(std::size_t index, const Series& series) {
    std::string block = fmt::format("$series{} << END\n", index);
    for (const auto& [x, y] : series.points) block += fmt::format("{:.9g} {:.9g}\n", x, y);
    return block + "END\n";
}

int height_with_key(std::size_t entries) { return plot_height + key_row * static_cast<int>(entries); }

/// Where everything is: the name of the upward axis on top (upright it would be hard to read on a phone), the plot, and
/// the names of lines and points one below the other.
std::string layout(std::size_t entries, const std::string& x_axis, const std::string& y_axis) {
    const double height = height_with_key(entries);
    const double key_height = static_cast<double>(key_row) * static_cast<double>(entries);
    std::string script = fmt::format(
        "set lmargin at screen 0.15\nset rmargin at screen 0.93\nset tmargin at screen {:.4f}\n"
        "set bmargin at screen {:.4f}\n"
        "set key at screen 0.02,{:.4f} left top vertical maxcols 1 Left reverse samplen 3 textcolor {}\n",
        1 - 34 / height, (key_height + 62) / height, (key_height + 8) / height, rgb(text_color));
    script += fmt::format("set label {} at screen 0.02,{:.4f} left textcolor {}\n",
                          gnuplot_string(shortened(y_axis, longest_text)), 1 - 13 / height, rgb(text_color));
    script += fmt::format("set xlabel {} offset 0,0.9 textcolor {}\n",
                          gnuplot_string(shortened(x_axis, longest_text - 6)), rgb(text_color));
    return script;
}

int height_of(const Curves& curves) { return height_with_key(curves.series.size()); }

std::string script_of(const Curves& curves) {
    Range x;
    Range y;
    for (const Series& series : curves.series) {
        for (const auto& point : series.points) {
            x.add(point.first);
            y.add(point.second);
        }
    }
    const bool leaves_zeros_out = y.is_wide_beside_zero();
    const std::string y_axis = leaves_zeros_out ? curves.y_axis + " (without zeros)" : curves.y_axis;
    std::string script = layout(curves.series.size(), curves.x_axis, y_axis);
    if (x.is_wide()) script += "set logscale x\nunset mxtics\n";
    script += y.is_wide() || leaves_zeros_out ? "set logscale y\nunset mytics\n"
              : y.least >= 0                  ? "set yrange [0:*]\n"
                                              : "";
    if (x.least == x.most) script += fmt::format("set xrange [{:.9g}:{:.9g}]\n", x.least - 1, x.least + 1);
    if (y.least == 0 && y.most == 0) script += "set yrange [0:1]\n";
    std::vector<std::string> plots;
    for (std::size_t i = 0; i < curves.series.size(); ++i) {
        if (curves.series[i].points.empty()) continue;
        script += data_block(i, curves.series[i]);
        plots.push_back(fmt::format("$series{} with linespoints {} {} title {}", i, dashes[i % dashes.size()],
                                    series_style(i),
                                    gnuplot_string(shortened(curves.series[i].name, longest_text - 8))));
    }
    return script + fmt::format("plot {}\n", fmt::join(plots, ", "));
}

// ---- roofline -------------------------------------------------------------------------------------------------------

std::size_t key_entries(const Roofline& roofline) { return roofline.series.size() + (roofline.gop_per_s ? 2 : 1); }

int height_of(const Roofline& roofline) { return height_with_key(key_entries(roofline)); }

std::string script_of(const Roofline& roofline) {
    Range x;
    Range y;
    for (const Series& series : roofline.series) {
        for (const auto& point : series.points) {
            x.add(point.first);
            y.add(point.second);
        }
    }
    if (roofline.gop_per_s) x.add(*roofline.gop_per_s / roofline.gb_per_s);  // where the two roofs meet
    const double left = x.least / 4;
    const double right = x.most * 4;
    y.add(left * roofline.gb_per_s);
    y.add(std::min(right * roofline.gb_per_s, roofline.gop_per_s.value_or(std::numeric_limits<double>::infinity())));
    std::string script = layout(key_entries(roofline), "operations for each byte", "1e9 operations a second");
    script += fmt::format(
        "set logscale xy\nunset mxtics\nunset mytics\nset xrange [{:.9g}:{:.9g}]\nset yrange [{:.9g}:{:.9g}]\n", left,
        right, y.least / 1.5, y.most * 2);
    const double meeting = roofline.gop_per_s ? *roofline.gop_per_s / roofline.gb_per_s : right;
    std::vector<std::string> plots;
    script += fmt::format("$roof << END\n{0:.9g} {1:.9g}\n{2:.9g} {3:.9g}\nEND\n", left, left * roofline.gb_per_s,
                          meeting, meeting * roofline.gb_per_s);
    plots.push_back(fmt::format("$roof with lines dt 2 lw 2 lc {} title {}", rgb(roof_color),
                                gnuplot_string(shortened(roofline.bandwidth_name, longest_text - 8))));
    if (roofline.gop_per_s) {
        script += fmt::format("$ceiling << END\n{0:.9g} {2:.9g}\n{1:.9g} {2:.9g}\nEND\n", meeting, right,
                              *roofline.gop_per_s);
        plots.push_back(fmt::format("$ceiling with lines dt 3 lw 2 lc {} title {}", rgb(mark_color),
                                    gnuplot_string(shortened(roofline.ceiling_name, longest_text - 8))));
    }
    for (std::size_t i = 0; i < roofline.series.size(); ++i) {
        if (roofline.series[i].points.empty()) continue;
        script += data_block(i, roofline.series[i]);
        plots.push_back(fmt::format("$series{} with points {} title {}", i, series_style(i),
                                    gnuplot_string(shortened(roofline.series[i].name, longest_text - 8))));
    }
    return script + fmt::format("plot {}\n", fmt::join(plots, ", "));
}

// ---- from gnuplot's file to a drawing in the page -------------------------------------------------------------------

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

/// Erases every attribute that starts like this, up to the quote that ends its value.
void erase_attribute(std::string& tag, std::string_view start) {
    for (std::size_t at = tag.find(start); at != std::string::npos; at = tag.find(start, at)) {
        const char quote = start.back();
        const std::size_t end = tag.find(quote, at + start.size());
        tag.erase(at, end == std::string::npos ? std::string::npos : end + 1 - at);
    }
}

/// "rgb(  1,   1,   7)" -> the variable that it stands for.
void replace_colors(std::string& tag) {
    for (std::size_t at = tag.find("rgb("); at != std::string::npos; at = tag.find("rgb(", at + 1)) {
        const std::size_t end = tag.find(')', at);
        if (end == std::string::npos) return;
        std::array<int, 3> parts{};
        std::size_t part = 0;
        for (std::size_t i = at + 4; i < end && part < parts.size(); ++i) {
            if (tag[i] == ',') ++part;
            if (std::isdigit(static_cast<unsigned char>(tag[i])) != 0) parts[part] = parts[part] * 10 + (tag[i] - '0');
        }
        const int color = (parts[0] << 16) + (parts[1] << 8) + parts[2] - number_of(0);
        if (color < 0 || color >= static_cast<int>(palette.size())) continue;
        tag.replace(at, end + 1 - at, fmt::format("var({})", palette[static_cast<std::size_t>(color)].variable));
    }
}

/// One tag in the page's terms: its colors, names that no other drawing has, nothing that says nothing.
std::string restyled(std::string tag, const std::string& prefix) {
    for (const char* attribute : {" id=\"", " font-family=\"", " color=\"", " xmlns=\"", " class=\""}) {
        erase_attribute(tag, attribute);
    }
    replace_all(tag, "\"black\"", "\"currentColor\"");
    replace_all(tag, "'black'", "'currentColor'");
    replace_all(tag, " id='", " id='" + prefix);
    replace_all(tag, "xlink:href='#", "href='#" + prefix);
    replace_colors(tag);
    return tag;
}

struct OpenTag {
    std::size_t begin = 0;       // in the result
    std::size_t end_of_tag = 0;  // behind its >
};

/// The drawing's elements without gnuplot's titles, filters, empty groups, and definitions that nothing uses.
std::string elements_of(std::string_view body, const std::string& prefix) {
    std::string result;
    std::vector<OpenTag> groups;
    const std::size_t definitions_end = body.find("</defs>");
    const bool uses_definitions =
        definitions_end != std::string_view::npos && body.find("<use ", definitions_end) != std::string_view::npos;
    const auto skip_element = [&](std::size_t at, std::string_view end) {
        const std::size_t found = body.find(end, at);
        return found == std::string_view::npos ? body.size() : found + end.size();
    };
    std::size_t at = 0;
    while (at < body.size()) {
        if (body[at] != '<') {
            const std::size_t end = std::min(body.find('<', at), body.size());
            const std::string_view text = body.substr(at, end - at);
            if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) result += text;
            at = end;
            continue;
        }
        const std::string_view rest = body.substr(at);
        if (rest.starts_with("<title>")) {
            at = skip_element(at, "</title>");
        } else if (rest.starts_with("<filter")) {
            at = skip_element(at, "</filter>");
        } else if (rest.starts_with("<defs>") && !uses_definitions) {
            at = skip_element(at, "</defs>");
        } else {
            const std::size_t end = skip_element(at, ">");
            const std::string tag(body.substr(at, end - at));
            if (tag == "</g>" && !groups.empty()) {
                const OpenTag group = groups.back();
                groups.pop_back();
                if (result.size() == group.end_of_tag) {
                    result.resize(group.begin);
                } else {
                    result += tag;
                }
            } else {
                const std::size_t begin = result.size();
                result += restyled(tag, prefix);
                if (tag.starts_with("<g ") || tag == "<g>") groups.push_back({begin, result.size()});
            }
            at = end;
        }
    }
    return result;
}

std::string drawing_of(const std::string& file, const Plot& plot, std::size_t index) {
    constexpr std::string_view end_of_head = "</desc>";
    const std::size_t head = file.find(end_of_head);
    const std::size_t end = file.rfind("</svg>");
    if (head == std::string::npos || end == std::string::npos || end < head) {
        throw Refusal("gnuplot wrote no drawing that can be read: is it version 5.2 or newer? (gnuplot --version)");
    }
    const std::string prefix = fmt::format("plot{}-", index + 1);
    const std::string_view body =
        std::string_view(file).substr(head + end_of_head.size(), end - head - end_of_head.size());
    return std::visit(
        [&](const auto& known) {
            return fmt::format(
                "<svg class=\"drawing\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"{2}title {2}text\">"
                "<title id=\"{2}title\">{3}</title><desc id=\"{2}text\">{4}</desc>{5}</svg>",
                width, height_of(known), prefix, escape_html(known.title), escape_html(known.description),
                elements_of(body, prefix));
        },
        plot);
}

// ---- running gnuplot ------------------------------------------------------------------------------------------------

/// A folder for as long as this object lives.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "warpwise_plots_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            throw Refusal("cannot make a folder in " + fs::temp_directory_path().string() +
                          " for the plots: is the disk full? TMPDIR=FOLDER chooses another place");
        }
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

std::string content_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string install_command() {
    struct Manager {
        const char* program;
        const char* command;
    };
    constexpr std::array<Manager, 6> managers = {{{"apt-get", "apt-get install gnuplot-nox"},
                                                  {"dnf", "dnf install gnuplot"},
                                                  {"zypper", "zypper install gnuplot"},
                                                  {"pacman", "pacman -S gnuplot"},
                                                  {"apk", "apk add gnuplot"},
                                                  {"brew", "brew install gnuplot"}}};
    for (const Manager& manager : managers) {
        if (!has_program(manager.program)) continue;
        const bool needs_root = std::string_view(manager.program) != "brew" && geteuid() != 0;
        return (needs_root ? "sudo " : "") + std::string(manager.command);
    }
    return {};
}

}  // namespace

void require_gnuplot() {
    if (has_program("gnuplot")) return;
    const std::string command = install_command();
    throw Refusal("the report's plots are drawn by gnuplot, which is not here. " +
                  (command.empty() ? std::string("Install it with your package manager, then ask for the report again")
                                   : "Install it, then ask for the report again:\n\n    " + command));
}

std::vector<std::string> draw_plots(const std::vector<Plot>& plots) {
    if (plots.empty()) return {};
    const TemporaryFolder folder;
    const auto drawing_file = [&](std::size_t i) { return folder.path() / fmt::format("{}.svg", i); };
    std::string script;
    for (std::size_t i = 0; i < plots.size(); ++i) {
        std::visit(
            [&](const auto& plot) {
                script += terminal(height_of(plot)) + "set output " + gnuplot_string(drawing_file(i).string()) + "\n" +
                          script_of(plot) + "unset output\n";
            },
            plots[i]);
    }
    const fs::path script_file = folder.path() / "plots.gnuplot";
    std::ofstream stream(script_file, std::ios::binary);
    stream << script;
    stream.close();
    if (!stream) throw Refusal("cannot write " + script_file.string() + ": is the disk full?");
    // Without the reader's own settings, which could change anything.
    const CommandResult drawn =
        run_command({"gnuplot", "-d", script_file.string()},
                    {.variables = {{"GNUTERM", "dumb"}, {"LC_ALL", "C"}}, .limit_seconds = 120});
    if (drawn.status != 0) throw Refusal("gnuplot could not draw the report's plots. It says:\n" + drawn.output);
    std::vector<std::string> drawings;
    for (std::size_t i = 0; i < plots.size(); ++i) {
        drawings.push_back(drawing_of(content_of(drawing_file(i)), plots[i], i));
    }
    return drawings;
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
