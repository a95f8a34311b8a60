#include "common/guide/report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string_view>

#include "common/guide/report_charts.h"
#include "common/guide/report_views.h"
#include "common/lesson/counter_columns.h"
#include "common/lesson/output.h"
#include "common/lesson/recorded_columns.h"
#include "common/lesson/step_table.h"

namespace guide {
namespace {

using warpwise::LessonResult;
using warpwise::StepResult;

// Both schemes keep text at 4.5:1 or more against its background.
constexpr const char* style = R"(
:root{color-scheme:light dark;
--ink:#1b1f24;--soft:#51585f;--page:#fff;--panel:#f4f6f8;--line:#c9d0d7;--link:#0b57a4;--good:#17663a;--bad:#a61b1b;
--bad-panel:#fdecec;--bar:#0b6bb8}
@media (prefers-color-scheme:dark){:root{
--ink:#e7eaee;--soft:#abb3bc;--page:#14171a;--panel:#1f2429;--line:#434b54;--link:#7fbcf5;--good:#6fd394;--bad:#ff9a92;
--bad-panel:#3a1d1d;--bar:#5aaaf0}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1rem;max-width:72rem;background:var(--page);color:var(--ink);
font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:break-word}
h1,h2,h3{line-height:1.25;margin:2.2rem 0 .6rem}h1{margin-top:.5rem}
h2{border-bottom:2px solid var(--line);padding-bottom:.25rem}#summary{margin-top:.8rem}#summary~.scroll{margin:.6rem 0}
p,ul,ol,dl{margin:.6rem 0;max-width:46rem}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
code,pre{font-family:ui-monospace,"Cascadia Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.9em}
pre{background:var(--panel);padding:.7rem;border-radius:.4rem;overflow-x:auto;max-width:100%}
.soft,.source,caption small{color:var(--soft)}.source{font-size:.82rem}
.good{color:var(--good)}.bad{color:var(--bad);font-weight:700}
dl.facts{display:grid;grid-template-columns:fit-content(40%) 1fr;gap:.15rem 1rem}
dl.facts dt{color:var(--soft)}dl.facts dd{margin:0;min-width:0}
.counts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.7rem;padding:0;
list-style:none;max-width:none}
.counts li{background:var(--panel);border-radius:.5rem;padding:.6rem .8rem}.counts b{display:block;font-size:1.5rem}
.scroll{overflow-x:auto;margin:1rem 0;max-width:100%}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.1rem 0 .2rem}
caption small{font-weight:400;display:block}
caption span{position:sticky;left:0;display:inline-block;max-width:calc(100vw - 2rem)}
th,td{padding:.28rem 1.1rem .28rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;
overflow-wrap:normal}
thead :is(th,td){border-bottom:2px solid var(--line)}tbody th{font-weight:500}
.number{text-align:right}.number,.result,tbody th{white-space:nowrap}.wide{min-width:11rem}
.scroll tr>:first-child{position:sticky;left:0}.scroll tr:not(.wrong)>:first-child{background:var(--page)}
tr.wrong>*{background:var(--bad-panel)}tr.roof>*{color:var(--soft)}
.bar{display:inline-block;width:8rem;height:.75rem;border:1px solid var(--ink);border-radius:.2rem;overflow:hidden;
vertical-align:middle}.bar i{display:block;height:100%;background:var(--bar)}
figure{margin:1.2rem 0;max-width:38rem}figcaption{font-size:.92rem}
.wrong-box{border-left:.35rem solid var(--bad);background:var(--bad-panel);padding:.4rem .9rem;margin:1rem 0;
max-width:46rem}
.wrong-box ul{padding-left:1.1rem}.wrong-box pre{background:none;padding:0}
.fold>summary{cursor:pointer;padding:.3rem 0;line-height:1.25;border-bottom:1px solid var(--line)}
.fold>summary>:is(h2,h3){display:inline;border:0;margin:0;font-size:1.1rem}.fold>summary>h3{font-size:1rem}
.fold>summary>span{margin-left:.6rem;font-size:.9rem}.fold .fold{margin-left:1rem}.fold[open]{margin-bottom:1.5rem}
.views>details{margin:.6rem 0}.views>details>summary{font-weight:600;cursor:pointer}
.views .ww{margin:.6rem 0}.ww :is(p,ul,ol){max-width:none}.ww tbody th{white-space:normal}
footer{margin-top:1rem}footer p{max-width:none}
@media (max-width:40rem){.scroll tbody th{max-width:46vw;white-space:normal;overflow-wrap:break-word}}
@media print{:root{color-scheme:light;
--ink:#000;--soft:#444;--page:#fff;--panel:#f4f4f4;--line:#aaa;--link:#000;--good:#17663a;--bad:#a61b1b;
--bad-panel:#fdecec;--bar:#0b6bb8}
body{max-width:none;padding:0;font-size:10pt}.views{display:none}.scroll{overflow:visible}table{font-size:7.5pt}
th,td{padding-right:.4rem}.wide{min-width:0}td.wide,tbody th,thead th.number{overflow-wrap:anywhere;
white-space:normal}
pre{white-space:pre-wrap}
figure{max-width:13cm}h1,h2,h3,caption{break-after:avoid}
figure,tr,.wrong-box,.counts li,pre{break-inside:avoid}table.short{break-inside:avoid}thead{display:table-header-group}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)";

/// The rows that still fit a printed page, so that the table need not be broken.
constexpr std::size_t short_table = 14;

// ---- texts ----------------------------------------------------------------------------------------------------------

/// Escaped, with `code` in its element.
std::string inline_html(std::string_view text) {
    std::string html;
    while (true) {
        const std::size_t begin = text.find('`');
        const std::size_t end = begin == std::string_view::npos ? begin : text.find('`', begin + 1);
        if (end == std::string_view::npos) return html + escape_html(text);
        html += escape_html(text.substr(0, begin)) + "<code>" + escape_html(text.substr(begin + 1, end - begin - 1)) +
                "</code>";
        text.remove_prefix(end + 1);
    }
}

/// Paragraphs as lessons write them: blank lines between them, lines that start with four spaces kept as they are.
std::string text_html(std::string_view text) {
    std::string html;
    std::string paragraph;
    std::string code;
    const auto finish = [&] {
        if (!paragraph.empty()) html += "<p>" + inline_html(paragraph) + "</p>\n";
        if (!code.empty()) html += "<pre tabindex=\"0\"><code>" + escape_html(code) + "</code></pre>\n";
        paragraph.clear();
        code.clear();
    };
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.find_first_not_of(" \t") == std::string_view::npos) {
            finish();
        } else if (line.starts_with("    ")) {
            if (!paragraph.empty()) finish();
            code += std::string(line.substr(4)) + "\n";
        } else {
            if (!code.empty()) finish();
            paragraph += (paragraph.empty() ? "" : "\n") + std::string(line);
        }
    }
    finish();
    return html;
}

/// A name as it may stand in an address: other characters become '-'.
std::string identifier(std::string_view name) {
    std::string result;
    for (const char c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        result += plain ? c : '-';
    }
    return result;
}

/// "-", "12", "0.97!", "12.3 us", "ok" is none: starts like a number and has at most one more word, the unit.
bool looks_like_a_number(const std::string& text) {
    if (text.empty() || text == "-") return true;
    const std::size_t first = text.front() == '-' || text.front() == '+' ? 1 : 0;
    if (text.size() <= first || text[first] < '0' || text[first] > '9') return false;
    return std::count(text.begin(), text.end(), ' ') <= 1;
}

// ---- tables ---------------------------------------------------------------------------------------------------------

struct HtmlCell {
    std::string html;
    bool is_number = false;
};
struct HtmlRow {
    std::vector<HtmlCell> cells;  ///< the first one names the row
    std::string style = {};       ///< a class of the style sheet
};
struct HtmlTable {
    std::string caption;  ///< plain text
    std::string source;   ///< plain text: machine, command, date; may be empty
    std::vector<std::string> header;
    std::vector<std::string> columns =
        {};  ///< classes of the style sheet: "number", "wide" or "result"; may be shorter
    std::vector<HtmlRow> rows;
};

std::string table_html(const HtmlTable& table) {
    const std::string label = escape_html(table.caption);
    std::string html = fmt::format(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table{}>\n<caption><span>{}", label,
        table.rows.size() <= short_table ? " class=\"short\"" : "", label);
    if (!table.source.empty()) html += "<small>" + escape_html(table.source) + "</small>";
    html += "</span></caption>\n<thead><tr>";
    const auto column_class = [&](std::size_t column) {
        const bool has_one = column < table.columns.size() && !table.columns[column].empty();
        return has_one ? fmt::format(" class=\"{}\"", table.columns[column]) : std::string();
    };
    for (std::size_t column = 0; column < table.header.size(); ++column) {
        html += table.header[column].empty() ? "<td></td>"
                                             : fmt::format("<th scope=\"col\"{}>{}</th>", column_class(column),
                                                           inline_html(table.header[column]));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (const HtmlRow& row : table.rows) {
        html += row.style.empty() ? "<tr>" : "<tr class=\"" + row.style + "\">";
        for (std::size_t column = 0; column < row.cells.size(); ++column) {
            html += column == 0
                        ? fmt::format("<th scope=\"row\"{}>{}</th>", column_class(column), row.cells[column].html)
                        : fmt::format("<td{}>{}</td>", column_class(column), row.cells[column].html);
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
}

/// "number" for columns that hold nothing else, the first `texts` columns aside.
std::vector<std::string> column_classes(std::size_t columns, const std::vector<std::vector<std::string>>& rows,
                                        std::size_t texts = 0) {
    std::vector<std::string> classes(columns);
    for (std::size_t column = texts; column < columns && !rows.empty(); ++column) {
        const bool numeric = std::all_of(rows.begin(), rows.end(), [&](const std::vector<std::string>& row) {
            return column >= row.size() || looks_like_a_number(row[column]);
        });
        if (numeric) classes[column] = "number";
    }
    return classes;
}

HtmlTable plain_table(const std::string& caption, const std::string& source, const std::vector<std::string>& header,
                      const std::vector<std::vector<std::string>>& rows) {
    HtmlTable table{caption, source, header, column_classes(header.size(), rows), {}};
    for (const std::vector<std::string>& row : rows) {
        HtmlRow& html_row = table.rows.emplace_back();
        for (const std::string& cell : row) html_row.cells.push_back({inline_html(cell)});
    }
    return table;
}

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? std::string() : text.substr(begin);
}

const char* mark_of(warpwise::Style style_of_cell) {
    if (style_of_cell == warpwise::Style::bad) return "bad";
    return style_of_cell == warpwise::Style::good ? "good" : "";
}

std::string cell_html(const warpwise::Cell& cell) {
    const std::string text = escape_html(trimmed(cell.text));
    const char* mark = mark_of(cell.style);
    return *mark == '\0' ? text : fmt::format("<span class=\"{}\">{}</span>", mark, text);
}

// ---- numbers of the summary -----------------------------------------------------------------------------------------

struct Tally {
    std::size_t lessons_run = 0;
    std::size_t lessons = 0;
    std::size_t steps_right = 0;
    std::size_t steps = 0;
    std::size_t expectations_met = 0;
    std::size_t expectations = 0;
    std::size_t exercises_done = 0;
    std::size_t exercises = 0;

    Tally& operator+=(const Tally& other) {
        lessons_run += other.lessons_run;
        lessons += other.lessons;
        steps_right += other.steps_right;
        steps += other.steps;
        expectations_met += other.expectations_met;
        expectations += other.expectations;
        exercises_done += other.exercises_done;
        exercises += other.exercises;
        return *this;
    }
};

template <class Range, class Predicate>
std::size_t count_if(const Range& range, const Predicate& predicate) {
    return static_cast<std::size_t>(std::count_if(range.begin(), range.end(), predicate));
}

Tally tally_of(const ReportChapter& part, const Progress& progress) {
    Tally tally;
    tally.lessons = part.chapter->lessons.size();
    tally.exercises = part.chapter->exercises.size();
    tally.exercises_done =
        count_if(part.chapter->exercises, [&](const Exercise& exercise) { return progress.has_passed(exercise.name); });
    if (!part.results) return tally;
    tally.lessons_run = part.results->lessons.size();
    tally.lessons = std::max(tally.lessons, tally.lessons_run);
    for (const LessonResult& lesson : part.results->lessons) {
        tally.steps += lesson.steps.size();
        tally.steps_right += count_if(lesson.steps, [](const StepResult& step) { return is_right(step); });
        tally.expectations += lesson.expectations.size();
        tally.expectations_met +=
            count_if(lesson.expectations, [](const warpwise::Expectation& expectation) { return expectation.passed; });
    }
    return tally;
}

std::string bar_html(std::size_t done, std::size_t of) {
    const double percent = of == 0 ? 0 : 100.0 * static_cast<double>(done) / static_cast<double>(of);
    return fmt::format("<span class=\"bar\" aria-hidden=\"true\"><i style=\"width:{:.0f}%\"></i></span>", percent);
}

std::string of_text(std::size_t part, std::size_t whole) {
    return whole == 0 ? "-" : fmt::format("{} of {}", part, whole);
}

// ---- the page -------------------------------------------------------------------------------------------------------

std::string version_text(int number) {  // 13020 is 13.2
    return number == 0 ? "-" : fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string gibibytes(std::size_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 0x1p30); }

/// "vector_add/kernels.cuh" of "chapters/1_basics_and_pi/vector_add/kernels.cuh": several lessons have files of that
/// name.
std::string name_in_chapter(const std::filesystem::path& file) {
    const auto chapters = std::find(file.begin(), file.end(), "chapters");
    if (std::distance(chapters, file.end()) < 3) return file.filename().string();
    std::filesystem::path name;
    std::for_each(std::next(chapters, 2), file.end(), [&](const std::filesystem::path& part) { name /= part; });
    return name.string();
}

/// The line of a source file; empty where it cannot be read.
std::string source_line(const std::string& file, int line) {
    std::ifstream stream(file);
    std::string text;
    for (int i = 0; i < line; ++i) {
        if (!std::getline(stream, text)) return {};
    }
    return trimmed(text);
}

/// A word that nobody can know before the page is written.
std::string unguessable_word() {
    std::random_device device;
    std::string word;
    for (int i = 0; i < 4; ++i) word += fmt::format("{:08x}", device());
    return word;
}

class Page {
public:
    explicit Page(const Report& report)
        : report_(report),
          has_views_(std::any_of(report.chapters.begin(), report.chapters.end(),
                                 [](const ReportChapter& part) { return !part.traces.empty(); })) {}

    std::string write() {
        head();
        add("<main>\n");
        summary();  // what fits a screen; the details below are folded
        best_steps();
        for (const ReportChapter& part : report_.chapters) chapter(part);
        exercises();
        path();
        environment();
        add("</main>\n");
        foot();
        return html_;
    }

private:
    void add(std::string_view html) { html_ += html; }
    template <class... Values>
    void put(fmt::format_string<Values...> format, Values&&... values) {
        html_ += fmt::format(format, std::forward<Values>(values)...);
    }

    void head() {
        add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            // The browser itself sees to it that nothing is loaded, and that no script runs but the one at the end.
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
            "style-src 'unsafe-inline'");
        put("; script-src 'nonce-{}'", nonce_);
        add("\">\n<link rel=\"icon\" href=\"data:,\">\n<title>Warpwise report</title>\n<style>");
        add(style);
        add(views_style);
        add("</style>\n</head>\n<body>\n<header>\n<h1>Warpwise report</h1>\n");
        put("<p class=\"soft\">What was run and done in this copy of Warpwise until {}.</p>\n",
            escape_html(report_.date));
        put("<noscript><p class=\"soft\">With JavaScript on, this page draws its plots{}. Without it, tables hold "
            "their "
            "numbers.</p></noscript>\n",
            has_views_ ? ", and lessons have warp views and block views" : "");
        add("</header>\n");
    }

    /// Begins a part that is closed until the reader opens it. `said`: HTML beside its title.
    void begin_fold(const char* heading, const std::string& id, const std::string& title, const std::string& said) {
        put("<details class=\"fold\"><summary><{0} id=\"{1}\">{2}</{0}>{3}</summary>\n", heading, id, title,
            said.empty() ? "" : "<span class=\"soft\">" + said + "</span>");
    }

    static std::string chapter_id(const Chapter& chapter) { return "chapter-" + identifier(chapter.folder); }
    static std::string lesson_id(const Chapter& chapter, const std::string& lesson) {
        return "lesson-" + identifier(chapter.folder) + "-" + identifier(lesson);
    }

    // ---- environment and summary

    void environment() {
        add("<section aria-labelledby=\"environment\">\n");
        begin_fold("h2", "environment", "Environment", "devices, this machine, and where the figures come from");
        devices();
        if (!report_.machine.empty()) {
            add("<h3>This machine</h3>\n");
            fact_list(report_.machine);
        }
        runs();
        const bool any_gpu =
            std::any_of(report_.chapters.begin(), report_.chapters.end(),
                        [](const ReportChapter& part) { return part.results && part.results->device.on_gpu; });
        if (any_gpu && !has_views_) {
            put("<p class=\"soft\">A GPU does not tell what each warp did: the warp view and the block view are in the "
                "report of <code>{} --device cpu report</code>.</p>\n",
                escape_html(report_.typed));
        }
        add("</details>\n</section>\n");
    }

    using Facts = std::vector<std::pair<std::string, std::string>>;

    /// The devices that results come from, each once, with the chapters that ran on it.
    void devices() {
        struct Device {
            Facts known;
            std::vector<int> chapters;
        };
        std::vector<Device> devices;
        for (const ReportChapter& part : report_.chapters) {
            if (!part.results) continue;
            Facts known = facts_of(part.results->device);
            const auto same = std::find_if(devices.begin(), devices.end(),
                                           [&](const Device& device) { return device.known == known; });
            Device& device = same == devices.end() ? devices.emplace_back(Device{std::move(known), {}}) : *same;
            device.chapters.push_back(part.chapter->number);
        }
        for (const Device& device : devices) {
            put("<h3>Device of chapter{} {}</h3>\n", device.chapters.size() == 1 ? "" : "s",
                fmt::join(device.chapters, ", "));
            fact_list(device.known);
        }
    }

    static Facts facts_of(const warpwise::DeviceInfo& device) {
        Facts known = {{"device", device.name}};
        if (!device.on_gpu) {
            known.emplace_back(
                "what it is",
                "no GPU: kernels ran on the host's processors and were counted; it gives no times for them");
        }
        known.emplace_back("compute capability", fmt::format("{}.{}{}", device.major, device.minor,
                                                             device.on_gpu ? "" : " (whose limits it applies)"));
        known.emplace_back("multiprocessors", std::to_string(device.processors));
        if (device.clock) known.emplace_back("highest clock", fmt::format("{} MHz", *device.clock));
        if (device.l2_bytes > 0) {
            known.emplace_back("L2 cache", fmt::format("{:.0f} MiB", static_cast<double>(device.l2_bytes) / 0x1p20));
        }
        known.emplace_back("memory", gibibytes(device.memory_bytes));
        if (device.on_gpu) {
            known.emplace_back("CUDA version that the driver supports", version_text(device.driver_version));
            known.emplace_back("CUDA runtime", version_text(device.runtime_version));
            if (const std::optional<double> peak = peak_gop_per_s(device)) {
                known.emplace_back("FP32 peak rate, derived", fmt::format("{:.1f} Tflop/s", *peak * 1e-3));
            }
        } else {
            known.emplace_back("CUDA version that it stands for", version_text(device.runtime_version));
        }
        return known;
    }

    void fact_list(const Facts& known) {
        add("<dl class=\"facts\">\n");
        for (const auto& [what, value] : known) put("<dt>{}</dt><dd>{}</dd>\n", escape_html(what), escape_html(value));
        add("</dl>\n");
    }

    void runs() {
        HtmlTable table{"Where the figures of this report come from",
                        "",
                        {"chapter", "date", "command", "device"},
                        {"", "result"},
                        {}};
        for (const ReportChapter& part : report_.chapters) {
            HtmlRow& row = table.rows.emplace_back();
            row.cells = {{escape_html(fmt::format("{} {}", part.chapter->number, part.chapter->title))}};
            if (part.results) {
                row.cells.push_back({escape_html(part.results->date)});
                row.cells.push_back(
                    {"<code>" + escape_html(shown_command(part.results->command, report_.root)) + "</code>"});
                row.cells.push_back({escape_html(part.results->device.name)});
            } else {
                row.cells.push_back({"<span class=\"bad\">no results</span>"});
                row.cells.push_back({"-"});
                row.cells.push_back({"-"});
            }
        }
        add(table_html(table));
        times();
    }

    /// What the book's roofline reads when this page is dropped on it.
    void times() {
        for (const ReportChapter& part : report_.chapters) {
            if (!part.results || !part.results->device.on_gpu) continue;
            put("<script type=\"application/json\" id=\"times-{}\">{}</script>\n", identifier(part.chapter->folder),
                without_tags(times_as_json(*part.results, report_.root)));
        }
    }

    void summary() {
        Tally all;
        HtmlTable table{"Each chapter",
                        "",
                        {"chapter", "lessons run", "steps right", "expectations", "exercises done", ""},
                        {},
                        {}};
        for (const ReportChapter& part : report_.chapters) {
            const Tally tally = tally_of(part, report_.progress);
            all += tally;
            HtmlRow& row = table.rows.emplace_back();
            row.cells = {{fmt::format("<a href=\"#{}\">{} {}</a>", chapter_id(*part.chapter), part.chapter->number,
                                      escape_html(part.chapter->title))},
                         {of_text(tally.lessons_run, tally.lessons)},
                         {of_text(tally.steps_right, tally.steps)},
                         {of_text(tally.expectations_met, tally.expectations)},
                         {of_text(tally.exercises_done, tally.exercises)},
                         {tally.exercises == 0 ? "" : bar_html(tally.exercises_done, tally.exercises)}};
            if (part.results && !part.results->passed) row.style = "wrong";
        }
        add("<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary</h2>\n<ul class=\"counts\">\n");
        const auto count = [&](const char* what, std::size_t part, std::size_t whole) {
            put("<li><b>{}</b>{}</li>\n", of_text(part, whole), what);
        };
        count("lessons run", all.lessons_run, all.lessons);
        count("steps right", all.steps_right, all.steps);
        count("expectations met", all.expectations_met, all.expectations);
        count("exercises done", all.exercises_done, all.exercises);
        add("</ul>\n");
        wrong_list();
        notes_of_chapters();
        add(table_html(table));
        add("</section>\n");
    }

    /// Why chapters have no results, or old ones.
    void notes_of_chapters() {
        for (const ReportChapter& part : report_.chapters) {
            if (part.note.empty()) continue;
            put("<p><a href=\"#{}\">Chapter {}</a>: {}</p>\n", chapter_id(*part.chapter), part.chapter->number,
                inline_html(part.note));
        }
    }

    void best_steps() {
        std::vector<const ChapterResults*> results;
        for (const ReportChapter& part : report_.chapters) {
            if (part.results) results.push_back(&*part.results);
        }
        const std::optional<Chart> roofline = roofline_of_all(results);
        if (!roofline) return;
        source_ = "The runs are those under Environment.";
        add("<section aria-labelledby=\"roofline\">\n");
        begin_fold("h2", "roofline", "Roofline", "the fastest step of each lesson");
        figure(*roofline);
        add("</details>\n</section>\n");
    }

    /// What is wrong, on top of the page where it cannot be overlooked.
    void wrong_list() {
        std::string items;
        for (const ReportChapter& part : report_.chapters) {
            if (!part.results) continue;
            for (const LessonResult& result : part.results->lessons) {
                if (is_right(result)) continue;
                std::vector<std::string> names;
                for (const StepResult& step : result.steps) {
                    if (!is_right(step)) names.push_back(step.name);
                }
                items += fmt::format("<li><a href=\"#{}\">{}</a>{}</li>\n", lesson_id(*part.chapter, result.name),
                                     escape_html(result.name),
                                     names.empty() ? "" : escape_html(fmt::format(": {}", fmt::join(names, ", "))));
            }
        }
        if (items.empty()) return;
        add("<div class=\"wrong-box\"><p class=\"bad\">Wrong:</p>\n<ul>\n" + items + "</ul></div>\n");
    }

    // ---- chapters and lessons

    void chapter(const ReportChapter& part) {
        const std::string id = chapter_id(*part.chapter);
        put("<section aria-labelledby=\"{}\">\n", id);
        begin_fold("h2", id, fmt::format("Chapter {}: {}", part.chapter->number, escape_html(part.chapter->title)),
                   lessons_in_words(part));
        if (!part.note.empty()) {
            add("<div class=\"wrong-box\">\n" + text_html(part.note));
            if (!part.output.empty()) add("<pre tabindex=\"0\">" + escape_html(part.output) + "</pre>\n");
            add("</div>\n");
        }
        if (part.results) {
            source_ = fmt::format("{}, {}, {}", part.results->device.name,
                                  shown_command(part.results->command, report_.root), part.results->date);
            put("<p class=\"source\">All figures of this chapter: {}</p>\n", escape_html(source_));
            if (!part.trace_note.empty()) put("<p class=\"soft\">{}</p>\n", inline_html(part.trace_note));
            if (const std::optional<Chart> roofline = roofline_of(*part.results)) figure(*roofline);
            for (std::size_t i = 0; i < part.results->lessons.size(); ++i) lesson(part, i);
        }
        add("</details>\n</section>\n");
    }

    static std::string lessons_in_words(const ReportChapter& part) {
        if (!part.results) return "no results";
        const std::vector<LessonResult>& lessons = part.results->lessons;
        const std::size_t right = count_if(lessons, [](const LessonResult& lesson) { return is_right(lesson); });
        return fmt::format("{} of {} lessons right", right, lessons.size());
    }

    std::string title_of(const ReportChapter& part, const LessonResult& result) const {
        const std::vector<Lesson>& lessons = part.chapter->lessons;
        const auto found = std::find_if(lessons.begin(), lessons.end(),
                                        [&](const Lesson& known) { return known.name == result.name; });
        if (found == lessons.end()) return escape_html(result.name);
        const std::string number = fmt::format("{}.{} ", part.chapter->number, found - lessons.begin() + 1);
        return number + escape_html(result.name) + (found->title.empty() ? "" : ": " + inline_html(found->title));
    }

    void lesson(const ReportChapter& part, std::size_t index) {
        const LessonResult& result = part.results->lessons[index];
        const warpwise::DeviceInfo& device = part.results->device;
        const std::string id = lesson_id(*part.chapter, result.name);
        put("<article aria-labelledby=\"{}\">\n", id);
        begin_fold("h3", id, title_of(part, result), is_right(result) ? "" : "<span class=\"bad\">wrong</span>");
        if (!result.failure.empty()) {
            put("<div class=\"wrong-box\"><p><span class=\"bad\">This lesson ended early:</span> {}</p></div>\n",
                escape_html(result.failure));
        }
        // What the lesson is about; below its figures stands what they mean.
        const auto& story = result.story;
        const auto figures = std::find_if(story.begin(), story.end(), [](const auto& told) {
            return told.part == "answer" || told.part == "conclusion";
        });
        std::for_each(story.begin(), figures, [&](const auto& told) { lesson_text(part, result.name, told.text); });
        if (!result.steps.empty()) {
            steps(result, device);
            wrong_steps(result);
            for (const Chart& chart : step_charts(result, device)) figure(chart);
            costly_lines(result);
        }
        views(part, result.name);
        for (const warpwise::TableResult& table : result.tables) {
            add(table_html(plain_table(table.title.heading(), source_, table.header, table.rows)));
            if (const std::optional<Chart> curves = curves_of(table)) figure(*curves);
        }
        expectations(result);
        diagnostics(result.diagnostics, "Errors that the CPU device found outside of the steps");
        std::for_each(figures, story.end(), [&](const auto& told) { lesson_text(part, result.name, told.text); });
        for (const std::string& text : result.texts) lesson_text(part, result.name, text);
        for (const warpwise::Drawing& drawing : result.drawings) add(text_html(drawing.text));
        add("</details>\n</article>\n");
    }

    void lesson_text(const ReportChapter& part, const std::string& lesson, const std::string& text) {
        const std::string typed = fmt::format("{} run {}", report_.typed, part.chapter->number);
        add(text_html(warpwise::with_typed_command(text, part.chapter->program, typed)));
        // What a kernel or the lesson itself prints is no part of the results.
        if (!text.empty() && text.back() == ':') {
            put("<p class=\"soft\">What the screen shows here is not kept: see <code>{} {}</code>.</p>\n",
                escape_html(typed), escape_html(lesson));
        }
    }

    static bool has_one_size(const LessonResult& result) {
        return std::all_of(result.steps.begin(), result.steps.end(),
                           [&](const StepResult& step) { return step.size == result.steps.front().size; });
    }

    void steps(const LessonResult& result, const warpwise::DeviceInfo& device) {
        // The same table as on the screen.
        warpwise::StepTable table = warpwise::make_step_table(result.steps, result.roof, device.on_gpu);
        const warpwise::RecordedColumns recorded = warpwise::recorded_columns(
            result.steps, result.recording, result.steps.empty() ? warpwise::Size() : result.steps.front().size);
        const std::vector<warpwise::CounterColumn> columns = warpwise::counter_columns(result.steps);
        warpwise::add_rows(table, recorded);
        warpwise::append(table, recorded.columns);
        warpwise::append(table, columns);
        const bool one_size = has_one_size(result);
        HtmlTable html;
        html.caption = fmt::format("Steps of {}{}", result.name,
                                   one_size ? ", size " + text_of(result.steps.front().size) : std::string());
        html.source = source_;
        html.header = table.header;
        if (!one_size) html.header.insert(html.header.begin() + 1, "size");
        std::vector<std::vector<std::string>> texts;
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            HtmlRow& row = html.rows.emplace_back();
            std::vector<std::string>& row_texts = texts.emplace_back();
            for (const warpwise::Cell& cell : table.rows[i]) {
                row.cells.push_back({cell_html(cell)});
                row_texts.push_back(trimmed(cell.text));
            }
            const bool is_step = i < result.steps.size();  // the last ones are the copy and what only was recorded
            if (!one_size) {
                const std::string size = is_step ? text_of(result.steps[i].size) : std::string();
                row.cells.insert(row.cells.begin() + 1, HtmlCell{size});
                row_texts.insert(row_texts.begin() + 1, size);
            }
            row.style = !is_step ? "roof" : is_right(result.steps[i]) ? "" : "wrong";
        }
        html.columns = column_classes(html.header.size(), texts, 1);
        for (std::size_t column = 0; column < html.header.size(); ++column) {
            if (html.header[column] == "what changed") html.columns[column] = "wide";
            if (html.header[column] == "result") html.columns[column] = "result";
        }
        add(table_html(html));
        if (!recorded.note.empty()) put("<p class=\"soft\">{}</p>\n", escape_html(recorded.note));
        notes(table, columns, result);
    }

    void notes(const warpwise::StepTable& table, const std::vector<warpwise::CounterColumn>& columns,
               const LessonResult& result) {
        for (const std::string& footnote : table.footnotes) put("<p class=\"soft\">{}</p>\n", escape_html(footnote));
        if (columns.empty()) return;
        if (const std::string note = warpwise::sample_note(result.steps); !note.empty()) {
            put("<p class=\"soft\">{}</p>\n", escape_html(note));
        }
        std::vector<std::string> fresh;
        for (const warpwise::CounterColumn& column : columns) {
            if (std::find(explained_.begin(), explained_.end(), column.header) != explained_.end()) continue;
            explained_.push_back(column.header);
            fresh.push_back("<li>" + escape_html(column.legend()) + "</li>\n");
        }
        if (!fresh.empty()) put("<ul class=\"soft\">\n{}</ul>\n", fmt::join(fresh, ""));
    }

    static std::string value_text(double value) {
        return std::isfinite(value) ? fmt::format("{:.9g}", value) : "not a finite number";
    }

    void wrong_steps(const LessonResult& result) {
        for (const StepResult& step : result.steps) {
            if (is_right(step)) continue;
            put("<div class=\"wrong-box\"><p><span class=\"bad\">Wrong:</span> step {}</p>\n", escape_html(step.name));
            std::string items;
            for (const warpwise::WrongAtSize& wrong : step.wrong) {
                const std::string where = "at size " + text_of(wrong.size) + ": ";
                if (!wrong.failure.empty()) items += "<li>" + escape_html(where + wrong.failure) + "</li>\n";
                for (const warpwise::Mismatch& mismatch : wrong.comparison.mismatches) {
                    items += "<li>" +
                             escape_html(fmt::format("{}index {}: got {}, expected {}", where, mismatch.index,
                                                     value_text(mismatch.got), value_text(mismatch.expected))) +
                             "</li>\n";
                }
                if (wrong.failure.empty() && wrong.comparison.mismatches.empty()) {
                    items += "<li>" + escape_html(where + "wrong") + "</li>\n";
                }
            }
            if (!step.comparison && step.wrong.empty())
                items += "<li>it was not run: the device was lost before</li>\n";
            if (!items.empty()) add("<ul>\n" + items + "</ul>\n");
            for (const warpwise::Diagnostic& diagnostic : step.diagnostics) diagnostic_text(diagnostic);
            add("</div>\n");
        }
    }

    void diagnostics(const std::vector<warpwise::Diagnostic>& found, const char* title) {
        if (found.empty()) return;
        put("<div class=\"wrong-box\"><p class=\"bad\">{}</p>\n", title);
        for (const warpwise::Diagnostic& diagnostic : found) diagnostic_text(diagnostic);
        add("</div>\n");
    }

    void diagnostic_text(const warpwise::Diagnostic& diagnostic) {
        add("<pre tabindex=\"0\">" + escape_html(without_root(diagnostic.text)) + "</pre>\n");
    }

    std::string without_root(std::string text) const {
        const std::string root = report_.root.string() + "/";
        if (root.size() < 2) return text;
        for (std::size_t at = text.find(root); at != std::string::npos; at = text.find(root, at))
            text.erase(at, root.size());
        return text;
    }

    /// The line of each step that costs the memory most.
    void costly_lines(const LessonResult& result) {
        std::vector<std::vector<std::string>> rows;
        for (const StepResult& step : result.steps) {
            if (!step.launches) continue;
            const std::vector<warpwise::LineCounts> lines = warpwise::lines_of(*step.launches);
            const auto costliest = std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
                return a.counts.cost() < b.counts.cost();
            });
            if (costliest == lines.end() || costliest->counts.cost() <= 0) continue;
            const warpwise::RequestCounts global = costliest->counts.global();
            const warpwise::RequestCounts shared = costliest->counts.shared();
            const std::string code = source_line(costliest->file, costliest->line);
            rows.push_back(
                {step.name, fmt::format("{}:{}", name_in_chapter(costliest->file), costliest->line),
                 code.empty() ? "-" : "`" + code + "`",
                 fmt::format("{:.0f} %", 100 * costliest->counts.cost() / warpwise::sum_of(*step.launches).cost()),
                 global.requests > 0 ? warpwise::ratio_text(global.sectors_per_request()) : "-",
                 shared.requests > 0 ? warpwise::ratio_text(shared.wavefronts_per_request()) : "-"});
        }
        if (rows.empty()) return;
        add(table_html(plain_table(
            "The line of each step that gives memory most to do", source_,
            {"step", "line", "code", "share of all", "sectors per request", "wavefronts per request"}, rows)));
    }

    /// Places for the views, which report_views.mjs makes when they are opened.
    void views(const ReportChapter& part, const std::string& lesson) {
        const auto trace = std::find_if(part.traces.begin(), part.traces.end(),
                                        [&](const LessonTrace& known) { return known.lesson == lesson; });
        if (trace == part.traces.end()) return;
        const std::string id = "trace-of-" + lesson_id(*part.chapter, lesson);
        add("<div class=\"views\" hidden>\n");
        const auto place = [&](const char* view, const char* title) {
            put("<details data-view=\"{}\" data-trace=\"{}\"><summary>{}</summary></details>\n", view, id, title);
        };
        place("warp", "Warp view: what each lane touches");
        if (trace->has_barriers) place("block", "Block view: what the warps do between barriers");
        put("<script type=\"application/json\" id=\"{}\">{}</script>\n</div>\n", id, without_tags(trace->json));
    }

    /// In JSON '<' stands in texts only, where it may be written like this.
    static std::string without_tags(const std::string& json) {
        std::string text;
        text.reserve(json.size());
        for (const char c : json) {
            if (c == '<') {
                text += "\\u003c";
            } else {
                text += c;
            }
        }
        return text;
    }

    void expectations(const LessonResult& result) {
        const std::size_t met =
            count_if(result.expectations, [](const warpwise::Expectation& expectation) { return expectation.passed; });
        if (result.expectations.empty()) return;
        put("<p>Expectations of this lesson: {} of {} met.</p>\n", met, result.expectations.size());
        if (met == result.expectations.size()) return;
        add("<div class=\"wrong-box\"><p class=\"bad\">Not as expected:</p>\n<ul>\n");
        for (const warpwise::Expectation& expectation : result.expectations) {
            if (!expectation.passed) put("<li>{}</li>\n", escape_html(expectation.what));
        }
        add("</ul></div>\n");
    }

    void figure(const Chart& chart) {
        put("<figure>\n<div class=\"ww-chart\" data-chart=\"plot-{0}\"></div>\n"
            "<script type=\"application/json\" id=\"plot-{0}\">{1}</script>\n",
            ++plots_, without_tags(plot_json(chart.plot)));
        const NumberTable numbers = numbers_of(chart.plot);
        put("<noscript>\n{}</noscript>\n<figcaption>{} <span class=\"source\">{}</span></figcaption>\n</figure>\n",
            table_html(plain_table(numbers.caption, {}, numbers.header, numbers.rows)), escape_html(chart.caption),
            escape_html(source_));
    }

    // ---- the path

    void path() {
        if (!report_.path) return;
        std::map<Mastery, std::size_t> counts;
        for (const Idea& idea : report_.path->ideas) ++counts[idea.mastery];
        add("<section aria-labelledby=\"path\">\n");
        begin_fold("h2", "path", "The path",
                   fmt::format("ideas: {} mastered, {} shaky, {} begun, {} open", counts[Mastery::mastered],
                               counts[Mastery::shaky], counts[Mastery::begun], counts[Mastery::open]));
        for (const ChapterMap& part : report_.path->chapters) {
            HtmlTable table{fmt::format("The path through chapter {}: {} of {} stops done", part.chapter->number,
                                        part.done, part.stops),
                            "Marks of this copy, read on " + report_.date,
                            {"idea", "stops", "state", "why, and what to do"},
                            {"", "wide", "result", "wide"},
                            {}};
            for (const Stretch& stretch : part.stretches) table.rows.push_back(stretch_row(stretch));
            if (!table.rows.empty()) add(table_html(table));
        }
        add("</details>\n</section>\n");
    }

    HtmlRow stretch_row(const Stretch& stretch) const {
        std::string stops;
        for (std::size_t i = 0; i < stretch.stations.size(); ++i) {
            if (i > 0) stops += ", ";
            const std::string name = escape_html(stretch.stations[i].name());
            switch (stretch.states[i]) {
                case StopState::done:
                    stops += fmt::format("<span class=\"good\">\xE2\x9C\x93 {}</span>", name);
                    break;
                case StopState::here:
                    stops += fmt::format("<b>{} (here)</b>", name);
                    break;
                case StopState::skipped:
                    stops += fmt::format("<span class=\"soft\">{} (left out)</span>", name);
                    break;
                case StopState::open:
                    stops += fmt::format("<span class=\"soft\">{}</span>", name);
                    break;
            }
        }
        const Idea* idea = report_.path->find_idea(stretch.idea);
        const Mastery mastery = idea == nullptr ? Mastery::open : idea->mastery;
        const char* style = mastery == Mastery::mastered ? "good" : mastery == Mastery::shaky ? "bad" : "soft";
        std::string why;
        if (mastery == Mastery::shaky) {
            why = escape_html(fmt::format("{}.", fmt::join(idea->reasons, "; ")));
            if (idea->look_at) {
                why += fmt::format(" Look again at {}: <code>{} run {}</code>", escape_html(idea->look_at.text()),
                                   escape_html(report_.typed), escape_html(idea->look_at.name()));
            }
        }
        return {{{escape_html(stretch.idea)},
                 {stops},
                 {fmt::format("<span class=\"{}\">{}</span>", style, name_of(mastery))},
                 {why}}};
    }

    // ---- exercises

    void exercises() {
        add("<section aria-labelledby=\"exercises\">\n");
        begin_fold("h2", "exercises", "Exercises", "which are done, with attempts and hints");
        bool any = false;
        for (const ReportChapter& part : report_.chapters) {
            if (part.chapter->exercises.empty()) continue;
            any = true;
            HtmlTable table{fmt::format("Chapter {}: {}", part.chapter->number, part.chapter->title),
                            "Marks of this copy, read on " + report_.date,
                            {"exercise", "what it is about", "done", "date", "attempts", "hints used"},
                            {"", "", "", "result", "number", "number"},
                            {}};
            for (const Exercise& exercise : part.chapter->exercises) table.rows.push_back(exercise_row(exercise));
            add(table_html(table));
        }
        if (!any) add("<p>There are none yet.</p>\n");
        add("</details>\n</section>\n");
    }

    HtmlRow exercise_row(const Exercise& exercise) const {
        const auto found = report_.progress.exercises.find(exercise.name);
        const ExerciseProgress marks = found == report_.progress.exercises.end() ? ExerciseProgress{} : found->second;
        std::string state = "not yet";
        if (!marks.passed.empty()) {
            state = "<span class=\"good\">\xE2\x9C\x93 done</span>";
        } else if (marks.attempts > 0) {
            state = "tried";
        }
        if (marks.solution_seen) state += ", after reading the solution";
        return {{{escape_html(exercise.name)},
                 {inline_html(exercise.title)},
                 {state},
                 {marks.passed.empty() ? "-" : escape_html(marks.passed)},
                 {std::to_string(marks.attempts)},
                 {std::to_string(marks.hints)}}};
    }

    void foot() {
        put("<footer><p class=\"soft\">Figures are those of the runs named beside them; another machine gives others. "
            "Run "
            "<code>{} report</code> again for a new report.</p></footer>\n",
            escape_html(report_.typed));
        put("<script nonce=\"{}\">\n{}</script>\n", nonce_, views_script);
        add("</body>\n</html>\n");
    }

    const Report& report_;
    const bool has_views_;
    const std::string nonce_ = unguessable_word();  // of the page's script
    std::string html_;
    int plots_ = 0;                       // on the page so far
    std::string source_;                  // of the chapter's figures
    std::vector<std::string> explained_;  // counters whose meaning the page has told
};

}  // namespace

std::string report_page(const Report& report) { return Page(report).write(); }

}  // namespace guide
