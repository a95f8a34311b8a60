// `warpwise report`: all that was run and done, as one HTML file that needs nothing beside it.
#pragma once

#include <filesystem>

#include "common/guide/catalog.h"
#include "common/guide/progress.h"
#include "common/guide/project.h"

namespace guide {

struct ReportOptions {
    std::filesystem::path output = {};  ///< relative to where the reader is; empty: ROOT/build/report.html
    bool run_missing = true;            ///< chapters without results are run first
    bool run_all = false;               ///< all chapters are run anew
    bool colors = false;
};

/// Returns the exit status: 0, 1 when a chapter failed (the report is written and says so).
int write_report(const Project& project, const Catalog& catalog, ProgressFile& progress, const ReportOptions& options);

}  // namespace guide
