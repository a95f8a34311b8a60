// What a GPU measured of a lesson, read from docs/results while the lesson runs. Lessons show it where there is no GPU.
//
//     const Record& record = lesson.recorded();
//     if (record) header.push_back("GB/s on an H200");
//     ...
//     if (record) row.push_back(record.cell("stride", {"8"}, "useful GB/s"));
//     ...
//     if (record) title.note = "GB/s " + record.where();
//     lesson.table(title, header, rows);
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwise {

/// "NVIDIA H200" -> "H200", "NVIDIA GeForce RTX 4090" -> "RTX 4090", "NVIDIA A100-SXM4-80GB" -> "A100".
std::string short_device_name(const std::string& device);

/// A table that a recorded lesson printed. The cells are text, as they were printed.
struct RecordedTable {
    std::string name;
    std::string title;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
};

/// A step of a recorded lesson, at its main size.
struct RecordedStep {
    std::string name;
    std::string change;
    bool on_host = false;    ///< timed on the host of the recorded machine
    bool is_vendor = false;  ///< a library routine
    std::optional<int> number;
    std::optional<double> seconds;  ///< median
    std::optional<double> gb_per_s;
    std::optional<double> gop_per_s;
    std::optional<double> share_of_copy;  ///< gb_per_s over copy bandwidth
};

/// The copy from device to device that a recorded lesson was compared with.
struct RecordedCopy {
    double gb_per_s = 0;
    std::optional<double> seconds;  ///< median
};

/// Tables are found by their names. What is not recorded is absent, or "-" as a cell: a lesson may be ahead of its
/// record.
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

    const std::string& device() const { return device_; }              ///< "NVIDIA H200"
    const std::string& cuda() const { return cuda_; }                  ///< "13.0"; empty where it is not known
    const std::string& date() const { return date_; }                  ///< "2026-11-22"
    const std::string& file() const { return file_; }                  ///< "docs/results/h200_chapter_2.json"
    const std::vector<std::size_t>& size() const { return size_; }     ///< extents; empty where it is not known
    const std::optional<RecordedCopy>& copy() const { return copy_; }  ///< of the lesson's first list of steps

    /// The device as a column's header calls it: "H200".
    std::string label() const { return short_device_name(device_); }

    const std::vector<RecordedStep>& steps() const { return steps_; }
    const std::vector<RecordedTable>& tables() const { return tables_; }

    /// Of the lists of steps that the lesson has (each counts from 1), the one with the most of these names. Empty
    /// where none has any.
    std::vector<RecordedStep> list_with(const std::vector<std::string>& names) const;

    /// A step, the first of its name; null where it is not recorded.
    const RecordedStep* step(std::string_view name) const;

    /// A table; null where it is not recorded. Lesson::show_recorded prints one as it is.
    const RecordedTable* table(std::string_view name) const;

    /// The cell of a table, of the row that begins with the cells `row`: cell("whole", {"8", "32"}, "of the ideal").
    std::string cell(std::string_view table_name, const std::vector<std::string>& row, std::string_view column) const;

    /// The number at the beginning of that cell.
    std::optional<double> number(std::string_view table_name, const std::vector<std::string>& row,
                                 std::string_view column) const;

private:
    std::string where_;
    std::string device_;
    std::string cuda_;
    std::string date_;
    std::string file_;
    std::vector<std::size_t> size_;
    std::optional<RecordedCopy> copy_;
    std::vector<RecordedStep> steps_;
    std::vector<RecordedTable> tables_;
};

/// The folder of recorded runs: docs/results in the source tree, or what WARPWISE_RECORDINGS in the environment names.
std::string recorded_folder();

/// The GPU recordings of a chapter in a folder, by name: "h200" for h200_chapter_2.json.
std::vector<std::string> recordings(const std::string& folder, int chapter);

/// The file of a chapter's recording called `name`. Without a name, the one called h200, else the newest. Empty for
/// "none", and where nothing is recorded and no name given. Throws Refusal, with the names that there are, for an
/// unknown one.
std::string recorded_file(const std::string& folder, int chapter, const std::string& name = {});

}  // namespace warpwise
