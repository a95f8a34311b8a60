// The report as one HTML page that loads nothing, and reads well on a phone, on paper, in the dark, and without its
// script, which draws the plots and makes the views of what the CPU device traced.
//
//     const std::string page = report_page(report);
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/guide/catalog.h"
#include "common/guide/ideas.h"
#include "common/guide/progress.h"
#include "common/guide/report_results.h"
#include "common/guide/report_traces.h"

namespace guide {

/// A chapter of the report. Without results the note says why.
struct ReportChapter {
    const Chapter* chapter = nullptr;
    std::optional<ChapterResults> results;
    std::string note = {};    ///< what the reader should know about them: that they are old, or why there are none
    std::string output = {};  ///< what the compiler or the chapter's program said when it failed; a few lines
    std::vector<LessonTrace> traces = {};
    std::string trace_note = {};  ///< why there are none, on the CPU device
};

struct Report {
    std::filesystem::path root;  ///< of the reader's copy: left out of the paths that the page shows
    std::string typed;           ///< "./warpwise"
    std::string date;            ///< of the report: "2026-11-21 12:00 UTC"
    std::vector<std::pair<std::string, std::string>> machine;  ///< what is known of the host: {"processor", "..."}
    std::vector<ReportChapter> chapters;
    Progress progress;
    std::optional<PathMap> path = {};
};

std::string report_page(const Report& report);

}  // namespace guide
