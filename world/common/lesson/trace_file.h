// Traces as a file: what the warps of the traced blocks did, event by event, with the source lines they ran. The
// book's warp view and block view show it.
//
//     write_trace("transpose.json", {{"transpose_tiled", launches, "transpose"}}, command, TraceParts::brief);
//
// {
//   "warpwise_trace": 1,                       version of this layout
//   "date", "command": [argv ...],
//   "trimmed": {"en", "zh"},                   what of the traces this file holds, where that is not all
//   "launches": [{"lesson": "transpose" | null, "step": "transpose_tiled" | null, "kernel", "file", "line", "grid",
//                 "block", "shared_bytes", "blocks",
//                 "arrays": [{"name", "space": "global" | "shared" | "constant", "bytes",
//                             "begin": address modulo 128; shared memory: its place in that of the block}],
//                 "files": [{"path", "first": number of the first line, "lines": [source text ...]}],
//                 "warps": [{"block": [x, y, z], "warp", "threads", "cut": true where it did more, "events": [
//                     {"kind": "step" (entered a basic block) | "barrier", "file": index, "line", "lanes": "ffffffff"},
//                     {"kind": "global_load" .., "file", "line", "lanes", "array": index, "bytes": of each lane,
//                      "sectors", or of shared and constant memory "wavefronts" and "least_wavefronts",
//                      of atomics "same_address",
//                      offsets in the array: "first" and "stride" where they are evenly spaced, else "at": [..] for
//                      each lane that took part}]}]}]
// }
#pragma once

#include <string>
#include <vector>

#include "common/helpers/counts.h"

namespace warpwise {

struct TracedStep {
    std::string name;  ///< empty outside of steps
    std::vector<LaunchCounts> launches;
    std::string lesson = {};  ///< empty outside of lessons
};

/// `brief` is what a page can hold: the first launch of each kernel of a step, and those outside of steps only of other
/// kernels; of each launch the first warps (all where they meet at barriers), of each warp the first
/// events.
enum class TraceParts { all, brief };

/// Launches without a trace are left out. Throws Refusal when the file cannot be written.
void write_trace(const std::string& file, const std::vector<TracedStep>& steps, const std::vector<std::string>& command,
                 TraceParts parts = TraceParts::all);

}  // namespace warpwise
