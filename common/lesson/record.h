// What a GPU measured of a lesson, read from docs/results while the lesson runs. Lessons show it where there is no GPU.
//
//     const Record& record = lesson.recorded();
//     if (record) header.push_back("GB/s on an H200");
//     ...
//     if (record) row.push_back(record.cell("Lane k reads element k * stride", {"8"}, "useful GB/s"));
//     ...
//     lesson.table(record ? title + "; GB/s " + record.where() : title, header, rows);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwise {

/// A table that a recorded lesson printed. The cells are text, as they were printed.
struct RecordedTable {
    std::string title;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
};

/// A step of a recorded lesson, at its main size.
struct RecordedStep {
    std::string name;
    std::optional<double> seconds;  ///< median
    std::optional<double> gb_per_s;
    std::optional<double> gop_per_s;

    std::optional<double> microseconds() const { return seconds ? std::optional(*seconds * 1e6) : std::nullopt; }
};

/// Tables are found by their titles, or by the beginning of them, because titles may end with sizes and clocks of the
/// machine. What is not recorded is absent, or "-" as a cell: a lesson may be ahead of its record.
class Record {
public:
    /// Nothing is recorded.
    Record() = default;

    /// The record of a lesson in a file that a chapter program wrote. Empty when there is no such file, or when it has
    /// no such lesson; throws std::runtime_error when the file holds something else.
    static Record read(const std::string& file, std::string_view lesson);

    /// True when there is anything to show.
    explicit operator bool() const { return !where_.empty(); }

    /// "recorded on one NVIDIA H200 (memory_model --device cuda, 2026-11-22)".
    const std::string& where() const { return where_; }

    const std::vector<RecordedStep>& steps() const { return steps_; }
    const std::vector<RecordedTable>& tables() const { return tables_; }

    /// A step, the first of its name; null where it is not recorded.
    const RecordedStep* step(std::string_view name) const;

    /// A table; null where it is not recorded. Lesson::show_recorded prints one as it is.
    const RecordedTable* table(std::string_view title) const;

    /// The cell of a table, of the row that begins with the cells `row`: cell("All of it", {"8", "32"}, "of the
    /// ideal").
    std::string cell(std::string_view title, const std::vector<std::string>& row, std::string_view column) const;

    /// The number at the beginning of that cell.
    std::optional<double> number(std::string_view title, const std::vector<std::string>& row,
                                 std::string_view column) const;

private:
    std::string where_;
    std::vector<RecordedStep> steps_;
    std::vector<RecordedTable> tables_;
};

/// The file with what was recorded of a chapter: docs/results/h200_chapter_2.json in the source tree.
std::string recorded_file(int chapter);

}  // namespace warpwise
