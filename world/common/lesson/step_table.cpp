#include "common/lesson/step_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpwise {
namespace {

constexpr const char* nothing = "-";  // the cell of a figure that is not there
constexpr double roof_margin = 1.05;  // a share above this is marked

std::string or_dash(const std::optional<double>& value) { return value ? three_digits(*value) : nothing; }

std::string share(const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : nothing; }

bool above_roof(const StepResult& step) { return step.share_of_roof && *step.share_of_roof > roof_margin; }

std::string diagnostics_text(const StepResult& step) {
    return fmt::format("{} error{}", step.diagnostics.size(), step.diagnostics.size() == 1 ? "" : "s");
}

Cell result_cell(const StepResult& step) {
    if (!step.wrong.empty() && !step.diagnostics.empty()) return {"WRONG, " + diagnostics_text(step), Style::bad};
    if (!step.wrong.empty()) return {"WRONG", Style::bad};
    if (!step.diagnostics.empty()) return {diagnostics_text(step), Style::bad};
    if (!step.comparison) return {"not run", Style::bad};  // the device was lost before
    if (step.comparison->compared == 0) return {"ok", Style::good};
    if (step.comparison->largest_error == 0) return {"ok, exact", Style::good};
    return {fmt::format("ok, {:.1e}", step.comparison->largest_error), Style::good};
}

Cell name_cell(const StepResult& step) {
    if (step.number) return {fmt::format("{:>2} {}", *step.number, step.name)};
    return {fmt::format("   {} (vendor)", step.name)};
}

template <class Predicate>
bool any(const std::vector<StepResult>& steps, const Predicate& predicate) {
    return std::any_of(steps.begin(), steps.end(), predicate);
}

/// The names of all figures, in the order of their first appearance.
std::vector<std::string> figure_columns(const std::vector<StepResult>& steps) {
    std::vector<std::string> columns;
    for (const StepResult& step : steps) {
        for (const Figure& figure : step.figures) {
            if (std::find(columns.begin(), columns.end(), figure.column) == columns.end()) {
                columns.push_back(figure.column);
            }
        }
    }
    return columns;
}

std::string figure_text(const StepResult& step, const std::string& column) {
    for (const Figure& figure : step.figures) {
        if (figure.column != column) continue;
        const bool whole = figure.value == std::floor(figure.value) && std::fabs(figure.value) < 1e7;
        const std::string value = whole ? fmt::format("{:.0f}", figure.value) : three_digits(figure.value);
        return figure.unit.empty() ? value : value + " " + figure.unit;
    }
    return nothing;
}

}  // namespace

TableResult without_empty_columns(const TableResult& table) {
    TableResult result{table.title, {}, std::vector<std::vector<std::string>>(table.rows.size())};
    for (std::size_t column = 0; column < table.header.size(); ++column) {
        const auto is_empty = [&](const std::vector<std::string>& row) {
            return row.at(column).empty() || row.at(column) == nothing;
        };
        if (column > 0 && !table.rows.empty() && std::all_of(table.rows.begin(), table.rows.end(), is_empty)) continue;
        result.header.push_back(table.header[column]);
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            result.rows[row].push_back(table.rows[row].at(column));
        }
    }
    return result;
}

void derive_rates(std::vector<StepResult>& steps, const std::optional<Roof>& roof) {
    std::optional<double> first;
    std::optional<double> vendor;
    for (const StepResult& step : steps) {
        if (!step.timing) continue;
        const double seconds = step.timing->median;
        if (step.kind != StepKind::vendor && !first) first = seconds;
        if (step.kind == StepKind::vendor) vendor = vendor ? std::min(*vendor, seconds) : seconds;
    }
    for (StepResult& step : steps) {
        if (!step.timing || step.timing->median <= 0) continue;
        const double seconds = step.timing->median;
        if (step.work.bytes > 0) step.gb_per_s = step.work.bytes / seconds * 1e-9;
        if (step.work.operations > 0) step.gop_per_s = step.work.operations / seconds * 1e-9;
        if (step.gb_per_s && roof && roof->gb_per_s > 0) step.share_of_roof = *step.gb_per_s / roof->gb_per_s;
        if (vendor) step.share_of_vendor = *vendor / seconds;
        if (first) step.speed_up = *first / seconds;
    }
}

StepTable make_step_table(const std::vector<StepResult>& steps, const std::optional<Roof>& roof, bool on_gpu) {
    const bool times = any(steps, [](const StepResult& step) { return step.timing.has_value(); });
    const bool rates = on_gpu && times;
    const bool bytes = rates && any(steps, [](const StepResult& step) { return step.gb_per_s.has_value(); });
    const bool operations = rates && any(steps, [](const StepResult& step) { return step.gop_per_s.has_value(); });
    const bool vendor = rates && any(steps, [](const StepResult& step) { return step.share_of_vendor.has_value(); });
    std::vector<std::string> figures = figure_columns(steps);
    std::erase_if(figures, [&](const std::string& column) {
        return !any(steps, [&](const StepResult& step) { return figure_text(step, column) != nothing; });
    });

    StepTable table;
    table.header = {"step", "what changed", "result"};
    if (times) table.header.push_back(on_gpu ? "time" : "time (host)");
    if (rates) table.header.push_back("spread");
    if (bytes) table.header.push_back("GB/s");
    if (bytes && roof) table.header.push_back("of copy");
    if (operations) table.header.push_back("Gop/s");
    if (vendor) table.header.push_back("of vendor");
    if (rates) table.header.push_back("speed-up");
    table.header.insert(table.header.end(), figures.begin(), figures.end());

    for (const StepResult& step : steps) {
        std::vector<Cell> row = {name_cell(step), {step.change}, result_cell(step)};
        if (times) row.push_back({step.timing ? time_text(step.timing->median) : nothing});
        if (rates) row.push_back({step.timing ? fmt::format("{:.1f} %", step.timing->spread() * 100) : nothing});
        if (bytes) row.push_back({or_dash(step.gb_per_s)});
        if (bytes && roof) row.push_back({share(step.share_of_roof) + (above_roof(step) ? "!" : "")});
        if (operations) row.push_back({or_dash(step.gop_per_s)});
        if (vendor) row.push_back({share(step.share_of_vendor)});
        if (rates) row.push_back({step.speed_up ? three_digits(*step.speed_up) + "x" : nothing});
        for (const std::string& column : figures) row.push_back({figure_text(step, column)});
        table.rows.push_back(std::move(row));
    }
    if (bytes && roof) {
        std::vector<Cell> row = {{"   " + roof->name}, {"device-to-device cudaMemcpy"}, {""}};
        row.push_back({time_text(roof->timing.median)});
        row.push_back({fmt::format("{:.1f} %", roof->timing.spread() * 100)});
        row.push_back({three_digits(roof->gb_per_s)});
        row.push_back({"1.00"});
        for (Cell& cell : row) cell.style = Style::faint;
        table.rows.push_back(std::move(row));
    }

    if (any(steps, above_roof)) {
        table.footnotes.push_back(
            "! above copy bandwidth: a kernel that mostly reads, or whose data stays in the L2 cache, can be faster "
            "than a "
            "copy; with any other kernel, doubt the figure.");
    }
    if (!on_gpu && times) {
        table.footnotes.push_back("time (host): host code on this machine; the CPU device gives no times for kernels.");
    }
    return table;
}

std::vector<std::string> describe_mismatches(const StepResult& step) {
    std::vector<std::string> lines;
    if (step.wrong.empty()) return lines;
    const WrongAtSize& first = step.wrong.front();
    const std::string where = fmt::format("wrong at size {}: ", first.size.text());
    if (!first.failure.empty()) {
        lines.push_back(where + first.failure);
    } else if (!first.comparison.note.empty()) {
        lines.push_back(where + first.comparison.note);
    } else if (first.comparison.mismatches.empty()) {
        lines.push_back(where + first.comparison.summary());
    }
    for (const Mismatch& mismatch : first.comparison.mismatches) {
        lines.push_back(fmt::format("{}index {}: got {:.9g}, expected {:.9g}", where, mismatch.index, mismatch.got,
                                    mismatch.expected));
    }
    if (first.comparison.mismatched > first.comparison.mismatches.size()) {
        lines.push_back(fmt::format("{}{}", where, first.comparison.summary()));
    }
    if (step.wrong.size() > 1) {
        std::vector<std::string> sizes;
        for (std::size_t i = 1; i < step.wrong.size(); ++i) sizes.push_back(step.wrong[i].size.text());
        lines.push_back(fmt::format("also wrong at size {}", fmt::join(sizes, ", ")));
    }
    return lines;
}

}  // namespace warpwise
