// What was recorded of a lesson's steps on a GPU, as columns for the table of the CPU device, which has no times.
//
//     const RecordedColumns recorded = recorded_columns(steps, recording, counted_size);
//     add_rows(table, recorded);
//     append(table, recorded.columns);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/lesson/counter_columns.h"
#include "common/lesson/results.h"
#include "common/lesson/step_table.h"

namespace warpwise {

/// A row of something that only the recording has: a library routine, or the copy that gives copy bandwidth.
struct RecordedRow {
    std::string name;  ///< "vendor (H200)"
    std::string change;
};

struct RecordedColumns {
    std::vector<CounterColumn> columns;  ///< cells of the steps, then of `rows`; no meanings: `note` has them
    std::vector<RecordedRow> rows;
    std::string note;  ///< the line below the table
};

/// "H200 time", and a rate: GB/s where steps come near copy bandwidth or count no operations, else Gop/s. No columns
/// where no step was recorded. `counted` is the size at which this machine counts.
RecordedColumns recorded_columns(const std::vector<StepResult>& steps, const std::optional<Recording>& recording,
                                 const Size& counted);

/// Adds `recorded.rows` below the steps of a table, without its figures.
void add_rows(StepTable& table, const RecordedColumns& recorded);

}  // namespace warpwise
