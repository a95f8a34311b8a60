#include "common/lesson/counter_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace warpwise {
namespace {

constexpr std::size_t gap = 2;               // spaces between two columns
constexpr std::size_t room_for_change = 26;  // characters that the text of what changed needs at least
constexpr std::size_t fewest_columns = 3;    // of the last table, where the one before has columns to give

using Launches = std::vector<LaunchCounts>;
using Values = std::vector<std::optional<double>>;  // of the counted steps; absent: nothing of the kind was done

/// When a column is worth its place, judged by the least and the most of its values.
using Worth = bool (*)(double least, double most);

bool always(double, double) { return true; }
bool not_zero(double, double most) { return most > 0; }
bool different(double least, double most) { return most > 1.05 * least; }
bool serialized(double, double most) { return most > 1.005; }
bool not_full(double least, double) { return least < 31.95; }

constexpr double full = 0.995;  // of an SM's warps, as it is printed
bool limited(double least, double most) { return least <= full && different(least, most); }

struct Definition {
    const char* header;
    const char* meaning;
    const char* metrics;  ///< "..._{ld,st}.sum" stands for two
    Worth worth;
    std::function<std::optional<double>(const Launches&)> value;
    std::function<std::string(double)> text;
    RequestCounts Counts::*sectors_of = nullptr;  ///< shown as "32 of 4" instead of `text`
};

std::optional<double> sectors_per_request(const RequestCounts& counts) {
    if (counts.requests == 0) return std::nullopt;
    return counts.sectors_per_request();
}

/// "32 of 4": sectors that a request touches, and those that its bytes need.
std::string sectors_text(const RequestCounts& counts) {
    const std::string touched = ratio_text(counts.sectors_per_request());
    if (counts.needed_sectors == 0) return touched;  // results of an earlier version
    return fmt::format("{} of {}", touched, ratio_text(counts.needed_sectors / counts.requests));
}

RequestCounts loads_and_stores(const Launches& launches) {
    const Counts counts = sum_of(launches);
    RequestCounts sum = counts.global_load;
    return sum += counts.global_store;
}

/// The launch with the most threads; null where there is none.
const LaunchCounts* largest_of(const Launches& launches) {
    const auto threads = [](const LaunchCounts& launch) {
        return static_cast<double>(launch.blocks) * launch.block[0] * launch.block[1] * launch.block[2];
    };
    const auto largest =
        std::max_element(launches.begin(), launches.end(),
                         [&](const LaunchCounts& a, const LaunchCounts& b) { return threads(a) < threads(b); });
    return largest == launches.end() ? nullptr : &*largest;
}

/// Absent where nobody said how many registers a thread takes.
std::optional<double> occupancy_of(const Launches& launches) {
    const LaunchCounts* const launch = largest_of(launches);
    return launch != nullptr && launch->registers > 0 ? std::optional(launch->occupancy) : std::nullopt;
}

/// What block and shared memory permit, where nobody said how many registers a thread takes.
std::optional<double> occupancy_limit_of(const Launches& launches) {
    const LaunchCounts* const launch = largest_of(launches);
    return launch != nullptr && launch->registers == 0 ? std::optional(launch->occupancy) : std::nullopt;
}

const std::vector<Definition>& definitions() {
    static const std::vector<Definition> all = {
        {"sectors/ld",
         "32-byte sectors that a warp's load from global memory (what cudaMalloc gives) touches, of those that its "
         "bytes need: 4 of 4 (one float per thread) and 16 of 16 (16 bytes per thread) waste nothing, and 32 of 4 "
         "moves eight times as much as needed",
         "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", always,
         [](const Launches& launches) { return sectors_per_request(sum_of(launches).global_load); }, ratio_text,
         &Counts::global_load},
        {"sectors/st", "the same for a warp's store to global memory",
         "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", always,
         [](const Launches& launches) { return sectors_per_request(sum_of(launches).global_store); }, ratio_text,
         &Counts::global_store},
        {"requests", "loads and stores of global memory that warps carried out",
         "l1tex__t_requests_pipe_lsu_mem_global_op_{ld,st}.sum", different,
         [](const Launches& launches) -> std::optional<double> {
             const RequestCounts counts = loads_and_stores(launches);
             if (counts.requests == 0) return std::nullopt;
             return counts.requests;
         },
         count_text},
        {"moved", "bytes of all sectors of global memory that loads and stores touched",
         "l1tex__t_bytes_pipe_lsu_mem_global_op_{ld,st}.sum", not_zero,
         [](const Launches& launches) -> std::optional<double> {
             const RequestCounts counts = loads_and_stores(launches);
             if (counts.requests == 0) return std::nullopt;
             return counts.bytes_moved();
         },
         bytes_moved_text},
        {"conflicts",
         "wavefronts of shared memory beyond those that its loads, stores, and atomics need without bank conflicts",
         "derived__memory_l1_wavefronts_shared_excessive", not_zero,
         [](const Launches& launches) { return sum_of(launches).shared().conflicts(); }, count_text},
        {"const rd", "wavefronts of a warp's read of constant memory: one per address; 1 when all lanes read the same",
         "", serialized,
         [](const Launches& launches) -> std::optional<double> {
             const RequestCounts reads = sum_of(launches).constant_load;
             if (reads.requests == 0) return std::nullopt;
             return reads.wavefronts_per_request();
         },
         ratio_text},
        {"serialized", "lanes that wait at an atomic because another lane of the warp has the same address", "",
         not_zero,
         [](const Launches& launches) {
             const Counts counts = sum_of(launches);
             return counts.global_atomic.same_address + counts.shared_atomic.same_address;
         },
         count_text},
        {"remote", "accesses of threads to the shared memory of another block of the cluster, atomics included", "",
         not_zero, [](const Launches& launches) { return sum_of(launches).shared().remote_lanes; }, count_text},
        {"lanes",
         "threads of a warp (its lanes) that are active, on average over the stretches of code it runs; at most 32",
         "smsp__thread_inst_executed_per_inst_executed.ratio", not_full,
         [](const Launches& launches) -> std::optional<double> {
             const Counts counts = sum_of(launches);
             if (counts.steps == 0) return std::nullopt;
             return counts.active_lanes_per_step();
         },
         [](double lanes) { return fmt::format("{:.1f}", lanes); }},
        {"barriers", "__syncthreads() that a warp passes, over all launches of the step", "", not_zero,
         [](const Launches& launches) {
             double barriers = 0;
             for (const LaunchCounts& launch : launches) barriers += launch.barriers_per_warp();
             return barriers;
         },
         ratio_text},
        {"launches", "kernels launched in one run of the step", "", different,
         [](const Launches& launches) { return static_cast<double>(launches.size()); }, count_text},
        {"occupancy", "theoretical: warps that an SM can hold at a time, as a share of its limit of 64",
         "sm__maximum_warps_per_active_cycle_pct", different, occupancy_of,
         [](double share) { return fmt::format("{:.0f} %", share * 100); }},
        {"max occupancy",
         "an SM has room for 64 warps: the largest share of them that can be there at a time, by the size of the "
         "blocks and by the fast memory of the SM that each block asks for (shared memory); what the variables of a "
         "thread take (registers), which only nvcc knows, may permit less",
         "", limited, occupancy_limit_of,
         [](double share) { return share > full ? "-" : fmt::format("{:.0f} %", share * 100); }},
    };
    return all;
}

bool is_worth_showing(const Definition& definition, const Values& values) {
    std::vector<double> known;
    for (const std::optional<double>& value : values) {
        if (value) known.push_back(*value);
    }
    if (known.empty()) return false;
    const auto [least, most] = std::minmax_element(known.begin(), known.end());
    return definition.worth(*least, *most);
}

std::size_t width_of(const CounterColumn& column) {
    std::size_t width = column.header.size();
    for (const std::string& cell : column.cells) width = std::max(width, cell.size());
    return width;
}

/// Characters that a column of the table takes; texts of what changed may be wrapped.
std::size_t least_width_of(const StepTable& table, std::size_t column) {
    std::size_t width = table.header[column].size();
    for (const std::vector<Cell>& row : table.rows) {
        if (column < row.size()) width = std::max(width, row[column].text.size());
    }
    return column == 1 ? std::min(width, room_for_change) : width;
}

}  // namespace

std::string CounterColumn::legend() const {
    return metrics.empty() ? header + ": " + meaning : fmt::format("{}: {} ({})", header, meaning, metrics);
}

std::vector<CounterColumn> counter_columns(const std::vector<StepResult>& steps) {
    std::vector<CounterColumn> columns;
    for (const Definition& definition : definitions()) {
        Values values;
        for (const StepResult& step : steps) {
            values.push_back(step.launches && !step.launches->empty() ? definition.value(*step.launches)
                                                                      : std::nullopt);
        }
        if (!is_worth_showing(definition, values)) continue;
        CounterColumn& column = columns.emplace_back();
        column.header = definition.header;
        column.meaning = definition.meaning;
        column.metrics = definition.metrics;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (!values[i]) {
                column.cells.push_back("-");
            } else if (definition.sectors_of != nullptr) {
                column.cells.push_back(sectors_text(sum_of(*steps[i].launches).*definition.sectors_of));
            } else {
                column.cells.push_back(definition.text(*values[i]));
            }
        }
    }
    std::vector<std::optional<model::Estimate>> estimates;
    for (const StepResult& step : steps) {
        estimates.push_back(step.launches ? estimate_of(*step.launches) : std::nullopt);
    }
    for (CounterColumn& column : model_columns(estimates)) columns.push_back(std::move(column));
    return columns;
}

std::vector<CounterColumn> model_columns(const std::vector<std::optional<model::Estimate>>& estimates) {
    const model::Gpu* const gpu = model::chosen_gpu();
    const auto is_known = [](const std::optional<model::Estimate>& estimate) { return estimate.has_value(); };
    if (gpu == nullptr || std::none_of(estimates.begin(), estimates.end(), is_known)) return {};
    CounterColumn times{fmt::format("~ {} time", gpu->name),
                        fmt::format("a model's estimate of the time of all launches at this size on one {}{}; "
                                    "docs/time_model.md says how far to trust it",
                                    gpu->full_name, gpu->measured ? "" : ", on which nobody has checked the model"),
                        {},
                        {}};
    CounterColumn limits{"~ limited by",
                         "what limits the time by this model, and the share of the time that it would need alone",
                         {},
                         {}};
    for (const std::optional<model::Estimate>& estimate : estimates) {
        times.cells.push_back(estimate ? time_text(estimate->seconds) : "-");
        limits.cells.push_back(
            estimate ? fmt::format("{} {:.0f} %", model::short_name_of(estimate->limiter), estimate->share * 100)
                     : "-");
    }
    return {times, limits};
}

std::optional<model::Estimate> estimate_of(const std::vector<LaunchCounts>& launches) {
    if (model::chosen_gpu() == nullptr) return std::nullopt;
    std::vector<model::Estimate> estimates;
    for (const LaunchCounts& launch : launches) {
        if (!launch.facts.known) return std::nullopt;
        estimates.push_back(model::estimate(model::with_machine_code(launch.facts), *model::chosen_gpu()));
    }
    return estimates.empty() ? std::nullopt : std::optional(model::sum_of(estimates));
}

std::string sample_note(const std::vector<StepResult>& steps) {
    const LaunchCounts* largest = nullptr;
    for (const StepResult& step : steps) {
        if (!step.launches) continue;
        for (const LaunchCounts& launch : *step.launches) {
            if (launch.instrumented_blocks == launch.blocks) continue;
            if (largest == nullptr || launch.blocks > largest->blocks) largest = &launch;
        }
    }
    if (largest == nullptr) return {};
    return fmt::format(
        "Counted on a sample of {} blocks of each launch (the largest has {}), and scaled up; --all-blocks counts all.",
        largest->instrumented_blocks, largest->blocks);
}

bool fits(const StepTable& table, const std::vector<CounterColumn>& columns, const Terminal& terminal) {
    std::size_t width = 0;
    for (std::size_t column = 0; column < table.header.size(); ++column) width += least_width_of(table, column) + gap;
    for (const CounterColumn& column : columns) width += width_of(column) + gap;
    return width <= terminal.table_width + gap;
}

void append(StepTable& table, const std::vector<CounterColumn>& columns) {
    for (const CounterColumn& column : columns) {
        table.header.push_back(column.header);
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            table.rows[i].push_back({i < column.cells.size() ? column.cells[i] : std::string()});
        }
    }
}

std::vector<StepTable> counter_tables(const StepTable& steps, const std::vector<CounterColumn>& columns,
                                      const Terminal& terminal) {
    std::vector<std::vector<CounterColumn>> groups;
    std::size_t width = 0;
    for (const CounterColumn& column : columns) {
        if (groups.empty() || width + gap + width_of(column) > terminal.table_width) {
            groups.emplace_back();
            width = least_width_of(steps, 0);
        }
        groups.back().push_back(column);
        width += gap + width_of(column);
    }
    // One column alone would waste the lines of a table.
    while (groups.size() > 1 && groups.back().size() < fewest_columns && groups.rbegin()[1].size() > fewest_columns) {
        groups.back().insert(groups.back().begin(), groups.rbegin()[1].back());
        groups.rbegin()[1].pop_back();
    }
    std::vector<StepTable> tables;
    for (const std::vector<CounterColumn>& group : groups) {
        StepTable& table = tables.emplace_back();
        table.header = {steps.header.at(0)};
        for (std::size_t i = 0; i < group.front().cells.size(); ++i) table.rows.push_back({steps.rows.at(i).at(0)});
        append(table, group);
    }
    return tables;
}

std::string all_metrics() {
    constexpr std::string_view both = "{ld,st}";
    std::vector<std::string> metrics;
    for (const Definition& definition : definitions()) {
        const std::string metric = definition.metrics;
        const std::size_t at = metric.find(both);
        if (at == std::string::npos) {
            if (!metric.empty()) metrics.push_back(metric);
            continue;
        }
        for (const char* operation : {"ld", "st"}) {
            metrics.push_back(std::string(metric).replace(at, both.size(), operation));
        }
    }
    return fmt::format("{}", fmt::join(metrics, ","));
}

}  // namespace warpwise
