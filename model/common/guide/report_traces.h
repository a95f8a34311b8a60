// What a chapter's program wrote with --trace --trace-brief (common/lesson/trace_file.h), for the views of the page.
//
//     for (const LessonTrace& trace : parse_traces(text, project.root)) page += trace.json;
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace guide {

struct LessonTrace {
    std::string lesson;
    std::string json;           ///< its launches as a trace that common/views/packed_trace.mjs unpacks
    bool has_barriers = false;  ///< in one of its launches
};

/// In the order of the file. Throws std::runtime_error, which says what is wrong, for anything that is not the trace of
/// a chapter. In commands paths below the root are relative to it.
std::vector<LessonTrace> parse_traces(std::string_view json, const std::filesystem::path& root);

}  // namespace guide
