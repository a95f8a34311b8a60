// The results of a chapter as JSON.
//
//     write_json("results.json", report);
//
// {
//   "warpwise": 1,                              version of this layout
//   "date": "2026-01-31T12:00:00Z",
//   "chapter": {"number", "title", "folder"},
//   "device": {"name", "kind": "cpu" | "cuda", "compute_capability": "9.0", "driver_version", "runtime_version",
//              "processors", "clock_mhz": number | null, "l2_bytes", "memory_bytes"},
//   "command": [argv ...],
//   "lessons": [{
//     "name", "idea", "size": [extents] | null,
//     "story": [{"part": "question" | "prediction" | "answer" | "conclusion", "text"}],
//     "predictions": [{"question", "choices": [...] where there are any, "unit" where there is one,
//                      "answer": "32" or one of the choices | null, "factor": where a number may be so many times off,
//                      "because", "idea": where it is not the lesson's, "recorded": where the answer was,
//                      "guess": as "answer", "right": true | false, the last two where somebody guessed}],
//     "left": true where the reader had enough before the end,
//     "texts": [...],
//     "drawings": [{"name", "text"}],                of what was measured
//     "steps": [{"number": null for vendor routines, "name", "change", "kind": "device" | "host" | "vendor", "size",
//                "comparison": {"passed", "largest_error", "tolerance", "sizes_compared",
//                          "mismatches": [{"size", "index", "got", "expected"}], "failures": [{"size", "message"}]},
//                "seconds": {"median", "minimum", "maximum", "p10", "p90", "samples"} | null,
//                "bytes", "operations", "gb_per_s", "gop_per_s", "share_of_roof", "share_of_vendor", "speed_up",
//                "figures": [{"column", "value", "unit"}],
//                "launches": [{"kernel", "file", "line", "grid", "block", "shared_bytes", "blocks",
//                "instrumented_blocks",
//                              "registers": per thread | null, "occupancy", "counters": {...}, "lines": [{"file",
//                              "line", "counters"}], "arrays": [{"name", "counters"}]}] | null where nothing was
//                              counted,
//                "recorded": {"seconds", "gb_per_s", "gop_per_s", "share_of_copy", "on_host"} | null: figures of a GPU,
//                            which "recording" names, and not of this machine,
//                "diagnostics": [errors that the CPU device found]}],
//     "roof": {"name", "bytes", "gb_per_s", "seconds"} | null,
//     "recording": {"label", "device", "cuda", "date", "file", "size", "copy": {"gb_per_s", "seconds"} | null,
//                   "vendors": [as "recorded", with "name" and "change"]} | null,
//     "tables": [{"name", "title", "note": where figures of others are from, "header", "rows"}],
//     "expectations": [{"what", "passed"}],
//     "diagnostics": [those found outside of steps],
//     "failure": message of what ended the lesson early | null,
//     "passed"
//   }],
//   "left": true where the reader left a lesson, or the lessons after it,
//   "passed"
// }
// "counters": {"global_load": {"requests", "lanes", "bytes", "sectors", "needed_sectors", "wavefronts",
// "least_wavefronts",
//              "same_address"}, and so for each memory operation of which there are any (see counts.h), "barriers",
//              "steps", "active_lanes"}; of `instrumented_blocks` of the launch's `blocks`, not scaled up.
// What is not known or not a finite number is null.
#pragma once

#include <string>
#include <vector>

#include "common/lesson/chapter.h"
#include "common/lesson/results.h"

namespace warpwise {

struct ChapterReport {
    const Chapter& chapter;
    DeviceInfo device;
    std::vector<std::string> command;
    std::vector<LessonResult> lessons;
    bool passed = false;
    bool left = false;  ///< by the reader, before all lessons had come to their ends
};

/// One launch as "launches" above has it.
std::string launch_json(const LaunchCounts& launch);

/// Throws Refusal when the file, which `option` names, cannot be written. The file is left as it was.
void require_writable(const std::string& option, const std::string& file);

/// Throws Refusal when the file cannot be written.
void write_json(const std::string& file, const ChapterReport& report);

/// The lessons of a chapter, for programs that lead to them; to stdout when the file is "-".
void write_json(const std::string& file, const Chapter& chapter);

}  // namespace warpwise
