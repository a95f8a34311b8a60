// A lesson's table with a column of what a GPU had there, for lessons whose figures only a GPU can give.
//
//     table_beside_record(lesson, {"processors", "Processors"}, {"what", "value", "meaning"}, rows, "value");
//     // on the CPU device: what, value, H200, meaning
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/lesson/lesson.h"

namespace warpwise {

/// Lesson::table, and after `column` the same column of the recorded table of this name, named after the GPU. Rows
/// are found by their first cells. The title says where and when that was recorded. Without a record of the table, and
/// where the lesson measures, it is Lesson::table alone.
inline void table_beside_record(Lesson& lesson, TableTitle title, std::vector<std::string> header,
                                std::vector<std::vector<std::string>> rows, const std::string& column) {
    const Record& recorded = lesson.recorded();
    std::size_t place = 0;
    while (place < header.size() && header[place] != column) ++place;
    if (recorded.table(title.name) == nullptr || place == header.size()) {
        lesson.table(title, header, rows);
        return;
    }
    const auto after = static_cast<std::ptrdiff_t>(place + 1);
    for (std::vector<std::string>& row : rows) {
        row.insert(row.begin() + after, recorded.cell(title.name, {row.at(0)}, column));
    }
    header.insert(header.begin() + after, recorded.label());
    title.note = recorded.label() + " " + recorded.where();
    lesson.table(title, header, rows);
}

}  // namespace warpwise
