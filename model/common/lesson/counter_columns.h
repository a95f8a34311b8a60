// The counters of a lesson's steps as columns of its table.
//
//     const std::vector<CounterColumn> columns = counter_columns(steps);
//     if (fits(table, columns, terminal)) append(table, columns);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/lesson/results.h"
#include "common/lesson/step_table.h"
#include "common/lesson/terminal.h"
#include "common/model/model.h"

namespace warpwise {

struct CounterColumn {
    std::string header;              ///< "sectors/ld"
    std::string meaning;             ///< what it counts, and what to compare it with
    std::string metrics;             ///< of Nsight Compute, "..._{ld,st}.sum" for two; empty where it has none
    std::vector<std::string> cells;  ///< one for each step; "-" where a step was not counted or has no such access

    /// The line below the table: "sectors/ld: ... (l1tex__...)".
    std::string legend() const;
};

/// The columns in which some step has something to say. None when no step was counted.
std::vector<CounterColumn> counter_columns(const std::vector<StepResult>& steps);

/// What the time model says: "~ H200 time" and "~ limited by". None where no GPU is chosen or nothing is known.
std::vector<CounterColumn> model_columns(const std::vector<std::optional<model::Estimate>>& estimates);

/// Of all launches together, for the chosen GPU; nothing where no GPU is chosen or a launch was not looked at.
std::optional<model::Estimate> estimate_of(const std::vector<LaunchCounts>& launches);

/// "Counted on 256 of 4096 blocks ..."; empty when every block of every launch was counted.
std::string sample_note(const std::vector<StepResult>& steps);

/// Whether the columns fit beside those of the table, with enough room for the text of what changed.
bool fits(const StepTable& table, const std::vector<CounterColumn>& columns, const Terminal& terminal);

/// Adds the columns to the rows of the steps, the first of the table.
void append(StepTable& table, const std::vector<CounterColumn>& columns);

/// The columns as tables of their own, each as wide as the terminal at most, whose first column names the steps.
std::vector<StepTable> counter_tables(const StepTable& steps, const std::vector<CounterColumn>& columns,
                                      const Terminal& terminal);

/// All metrics that columns may stand for, separated by commas, as `ncu --metrics` wants them.
std::string all_metrics();

}  // namespace warpwise
