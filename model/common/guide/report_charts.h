// What to plot of a lesson's results, with a caption in words.
//
//     for (const Chart& chart : step_charts(lesson, results.device)) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/guide/report_plots.h"
#include "common/guide/report_results.h"

namespace guide {

struct Chart {
    Plot plot;
    std::string caption;  ///< plain text
};

/// Bars of the steps: on a GPU bandwidth, else operations a second, else time, against the copy and the vendor's
/// routine; on the CPU device the one or two counters in which the steps differ most. None for a lesson without steps,
/// or without anything that was measured or counted.
std::vector<Chart> step_charts(const warpwise::LessonResult& lesson, const warpwise::DeviceInfo& device);

/// Lines of a table called "... against ...": the first column across, the others upward. None for other tables.
std::optional<Chart> curves_of(const warpwise::TableResult& table);

/// The chapter's steps by operations per byte. On a GPU measured, under the copy's bandwidth and the peak rate that
/// follows from the device's data; steps on tensor cores are named in the caption instead. On the CPU device operations
/// per byte that global loads and stores moved, as positions under the roofline of a reference GPU: attainable there at
/// most, not measured. None where no step has a place.
std::optional<Chart> roofline_of(const ChapterResults& results);

/// The fastest step of each lesson, of all chapters that were measured on the GPU of the latest results.
std::optional<Chart> roofline_of_all(const std::vector<const ChapterResults*>& chapters);

/// 1e9 single-precision operations a second at the highest clock, an FMA counting as two; absent where the lanes of the
/// compute capability or the clock are not known, and on the CPU device.
std::optional<double> peak_gop_per_s(const warpwise::DeviceInfo& device);

/// "12", "1.2e-07", "16 KiB", "3.4 ms", "25 %", "1.5x": the number in base units (bytes, seconds); none for other text.
std::optional<double> number_in(const std::string& cell);

}  // namespace guide
