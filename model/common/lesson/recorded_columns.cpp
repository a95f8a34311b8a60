#include "common/lesson/recorded_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/lesson/terminal.h"

namespace warpwise {
namespace {

constexpr double near_copy_bandwidth = 0.1;  // the least share of it that makes GB/s the rate to look at

enum class RateColumn { none, bytes, operations };

RateColumn rate_of(const std::vector<StepResult>& steps) {
    double nearest = 0;
    bool bytes = false;
    bool operations = false;
    for (const StepResult& step : steps) {
        if (!step.recorded || step.recorded->on_host) continue;
        nearest = std::max(nearest, step.recorded->share_of_copy.value_or(0));
        bytes = bytes || step.recorded->gb_per_s.has_value();
        operations = operations || step.recorded->gop_per_s.has_value();
    }
    if (bytes && (nearest >= near_copy_bandwidth || !operations)) return RateColumn::bytes;
    return operations ? RateColumn::operations : RateColumn::none;
}

std::string time_cell(const RecordedStep& step) {
    if (!step.seconds) return "-";
    return time_text(*step.seconds) + (step.on_host ? "*" : "");
}

std::string rate_cell(const RecordedStep& step, RateColumn rate) {
    const std::optional<double>& value = rate == RateColumn::bytes ? step.gb_per_s : step.gop_per_s;
    return value ? three_digits(*value) : "-";
}

/// "at size 8192 x 33792", and the size of the counts where it is another one.
std::string sizes_text(const Recording& recording, const Size& counted) {
    if (recording.size.dimensions() == 0) return "";
    std::string text = fmt::format(" at size {}", recording.size.text());
    if (counted.dimensions() != 0 && !(counted == recording.size)) {
        text += fmt::format(", while the counts are those of size {}", counted.text());
    }
    return text;
}

/// What is said of rows without a number: "vendor (H200) is cub::DeviceTransform".
std::string rows_text(const std::vector<RecordedRow>& rows) {
    std::vector<std::string> texts;
    for (const RecordedRow& row : rows) {
        if (!row.change.empty()) texts.push_back(fmt::format("{} is {}", row.name, row.change));
    }
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string note_of(const Recording& recording, const Size& counted, bool host, const std::vector<RecordedRow>& rows) {
    const std::string cuda = recording.cuda.empty() ? "" : fmt::format("CUDA {}, ", recording.cuda);
    std::string note = fmt::format("{}: recorded on one {} ({}{}){}; {}.", recording.label, recording.device, cuda,
                                   recording.date, sizes_text(recording, counted), recording.file);
    if (host) note += " Times with a * are those of its host.";
    if (const std::string text = rows_text(rows); !text.empty()) note += " " + text + ".";
    return note;
}

}  // namespace

RecordedColumns recorded_columns(const std::vector<StepResult>& steps, const std::optional<Recording>& recording,
                                 const Size& counted) {
    RecordedColumns result;
    const auto is_timed = [](const StepResult& step) { return step.recorded && step.recorded->seconds; };
    if (!recording || std::none_of(steps.begin(), steps.end(), is_timed)) return result;
    const RateColumn rate = rate_of(steps);
    CounterColumn times{recording->label + " time", {}, {}, {}};
    CounterColumn rates{recording->label + (rate == RateColumn::bytes ? " GB/s" : " Gop/s"), {}, {}, {}};
    bool host = false;
    const auto add = [&](const RecordedStep& step) {
        times.cells.push_back(time_cell(step));
        rates.cells.push_back(rate_cell(step, rate));
        host = host || step.on_host;
    };
    for (const StepResult& step : steps) add(step.recorded.value_or(RecordedStep{}));
    for (const RecordedStep& vendor : recording->vendors) {
        result.rows.push_back({fmt::format("{} ({})", vendor.name, recording->label), vendor.change});
        add(vendor);
    }
    if (rate == RateColumn::bytes && recording->copy && recording->copy->seconds) {
        result.rows.push_back({fmt::format("copy ({})", recording->label), "copy bandwidth (cudaMemcpy)"});
        RecordedStep row;
        row.seconds = recording->copy->seconds;
        row.gb_per_s = recording->copy->gb_per_s;
        add(row);
    }
    result.columns.push_back(std::move(times));
    if (rate != RateColumn::none) result.columns.push_back(std::move(rates));
    result.note = note_of(*recording, counted, host, result.rows);
    return result;
}

void add_rows(StepTable& table, const RecordedColumns& recorded) {
    for (const RecordedRow& row : recorded.rows) {
        std::vector<Cell>& cells = table.rows.emplace_back(table.header.size());
        cells.at(0) = {"   " + row.name, Style::faint};
        cells.at(1) = {row.change, Style::faint};
    }
}

}  // namespace warpwise
