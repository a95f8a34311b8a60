// A lesson's table with a column of what a GPU had there, for lessons whose figures only a GPU can give.
//
//     table_beside_record(lesson, "Processors", {"what", "value", "meaning"}, rows, "value");
//     // on the CPU device: what, value, H200, meaning
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/lesson/lesson.h"

namespace warpwise {

/// Lesson::table, and behind `column` the same column of the recorded table of this title, named after the GPU. Rows
/// are found by their first cells. The title says where and when that was recorded. Without a record of the table, and
/// where the lesson measures, it is Lesson::table alone.
inline void table_beside_record(Lesson& lesson, const std::string& title, std::vector<std::string> header,
                                std::vector<std::vector<std::string>> rows, const std::string& column) {
    const Record& recorded = lesson.recorded();
    std::size_t place = 0;
    while (place < header.size() && header[place] != column) ++place;
    if (recorded.table(title) == nullptr || place == header.size()) {
        lesson.table(title, header, rows);
        return;
    }
    const auto behind = static_cast<std::ptrdiff_t>(place + 1);
    for (std::vector<std::string>& row : rows) {
        row.insert(row.begin() + behind, recorded.cell(title, {row.at(0)}, column));
    }
    header.insert(header.begin() + behind, recorded.label());
    lesson.table(title + "; " + recorded.label() + " " + recorded.where(), header, rows);
}

}  // namespace warpwise
