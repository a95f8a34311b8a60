// The table of a lesson's steps.
//
//     StepTable table = make_step_table(steps, roof, on_gpu);
//     fmt::print("{}", format_table(table.header, table.rows, terminal));
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/lesson/results.h"
#include "common/lesson/terminal.h"

namespace warpwise {

struct StepTable {
    std::vector<std::string> header;
    std::vector<std::vector<Cell>> rows;
    std::vector<std::string> footnotes;
};

/// Without the columns that have nothing but "-" or blanks in every row. The first column stays, because it names the
/// rows.
TableResult without_empty_columns(const TableResult& table);

/// Derives rates, shares and speed-ups from timings and work. Steps without a timing get none.
void derive_rates(std::vector<StepResult>& steps, const std::optional<Roof>& roof);

/// Lays out steps (after derive_rates) as a table: a row for each step, and one for the copy. On the CPU device only
/// host steps have a time, and there are no columns for rates. Columns without any figure are left out.
StepTable make_step_table(const std::vector<StepResult>& steps, const std::optional<Roof>& roof, bool on_gpu);

/// The lines that tell where a wrong step went wrong: "wrong at size 33: index 32: got nan, expected 0.123".
std::vector<std::string> describe_mismatches(const StepResult& step);

}  // namespace warpwise
