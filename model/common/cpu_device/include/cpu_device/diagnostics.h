// Errors that the CPU device found in a program: printed, kept for whoever grades.
//
// Diagnostics of one kind at the same line (or pair of lines) of one launch are one diagnostic with a count. They are
// printed when the launch ends. A program in which an error was found ends with exit status 86, unless it already
// failed or took its diagnostics with `take_diagnostics()`. Notes (memory that was never freed) leave the status as it
// is. With the environment variable CPU_DEVICE_DIAGNOSTICS=FILE all diagnostics of the process, taken or not, are
// written to that file as JSON when it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cpu_device/execution.h"

namespace cpu_device {

enum class DiagnosticKind {
    // Always found.
    divergent_barrier,    ///< threads of a block wait at different barriers, or for one that waits elsewhere
    missing_lane,         ///< a warp-wide operation names a lane that still runs and never comes
    mask_without_caller,  ///< a lane calls a warp-wide operation whose mask leaves it out
    missing_arrival,      ///< threads wait for a cuda::barrier at which others that still have to arrive never do
    barrier_misuse,       ///< a cuda::barrier or pipeline that is not initialized, or a phase that is long over
    endless_kernel,       ///< stopped by the watchdog
    illegal_access,       ///< an address that belongs to nobody
    kernel_trap,          ///< __trap(), a failed assert, or exhausted stack
    unsupported,          ///< something the CPU device does not do
    // Found while errors are looked for (instrument.h, InstrumentOptions::diagnostics).
    invalid_free,        ///< of memory that was freed already or never allocated
    out_of_bounds,       ///< before the start or past the end of an array
    misaligned_access,   ///< an address that is no multiple of the access's size
    use_after_free,      ///< of memory that was freed
    host_memory,         ///< a kernel was given a host pointer, or host code a device pointer
    uninitialized_read,  ///< of memory nobody wrote
    broken_restrict,     ///< an array that a kernel changes was passed by two pointers, one of them `__restrict__`
    undefined_shuffle,   ///< a lane uses what a shuffle took from a lane that has exited or that the mask leaves out
    data_race,           ///< two threads, one of them writing, nothing that orders them
    memory_leak,         ///< memory, or an object of the runtime, that was never given back: a note unless asked for
    unseen_error,        ///< a launch or call failed and the program never checked for it
    unseen_output,       ///< a kernel printed and the program never waited for it: a note
    missing_order,       ///< memory of a pool, used in another stream than its own, and nothing orders the two
    wrong_device,        ///< a stream, an event, or memory of another device than the one that it is used on
    stalled_collective,  ///< ranks of a communicator wait for each other in different operations
};

/// Messages name a source file by the end of its path: by what follows the last `folder` in it, as in
/// "coalescing/kernels.cuh" for "chapters/2_memory_model", and by the file's own name where `folder` is not in its
/// path.
void name_sources_from(const std::string& folder);

/// "data race" ...
const char* name_of(DiagnosticKind kind);
/// "data_race" ...: for programs, and for tests.
const char* identifier_of(DiagnosticKind kind);

/// The other thread of a race.
struct OtherSide {
    Site site;
    uint3 block{};
    uint3 thread{};
    std::string action;  ///< "wrote 4 bytes (0 -> 1.5)", "read 4 bytes (2)"
    std::vector<Site> callers = {};
    bool is_no_thread = false;  ///< a call, or a node of a graph: `action` says who did it
};

/// Advice that depends on the lines of a diagnostic, as that for a race on where its two lines stand.
struct RaceHints {
    std::string same_line{};          ///< where both accesses stand in one line
    std::string same_line_in_loop{};  ///< where that line stands in a loop; empty: as `same_line`
    // What both threads passed last before the two accesses. If it stands between the two lines, one of the accesses
    // belongs to another iteration.
    Site barrier{};   ///< of the block
    Site syncwarp{};  ///< of the warp
    /// What one of the two lanes passed last, and the other one did not.
    Site syncwarp_of_one{};
    /// For an access out of bounds, not a race: follows "line 12", a line that compares an index before the access.
    std::string guarded{};
};

struct Diagnostic {
    DiagnosticKind kind;
    std::string message;  ///< what happened, in one sentence
    std::string kernel;   ///< as written left of `<<<`; empty outside kernels
    Site site;            ///< where; file empty when unknown
    uint3 block{};
    uint3 thread{};
    std::string hint;         ///< what to try
    std::string array = {};   ///< name of the array, variable or allocation; empty when unknown
    std::string memory = {};  ///< what it is and how far away: "shared memory, 512 bytes, 4 bytes past its end"
    std::string action = {};  ///< what this thread did: "reads 4 bytes", "writes 4 bytes (0 -> 1.5)"
    std::optional<OtherSide> other = std::nullopt;
    std::uint64_t count = 1;  ///< how often in the launch
    bool is_note = false;     ///< worth knowing, but no error: the exit status stays as it is
    /// Where `site` stands in a function that was compiled into its callers: the lines of the calls, innermost first.
    std::vector<Site> callers = {};
    /// Code addresses of the accesses where `site` and `other->site` are still to be found out (see source_lines.h).
    const void* code = nullptr;
    const void* other_code = nullptr;
    RaceHints by_line{};  ///< replaces `hint` when the lines are known and it applies
};

/// Adds the diagnostic to those of the running launch; outside of launches (in host code, with `kernel` empty) prints
/// and keeps it at once. A diagnostic is the same as an earlier one of the launch if kind and code addresses are the
/// same, or without `code` if kind and lines are; the order of the two sides does not matter. Then only the count
/// grows.
void report(Diagnostic diagnostic);

/// Counts one more of a diagnostic that the running launch has reported already; false if there is none yet. Takes no
/// lock: a few nanoseconds. The first is for diagnostics reported without `code` and `other`, the second for those with
/// `code`.
bool report_again(DiagnosticKind kind, const Site& site);
bool report_again(DiagnosticKind kind, const void* code, const void* other_code = nullptr);

/// Another hint for a diagnostic of the running launch that was reported with these code addresses.
void revise_hint(DiagnosticKind kind, const void* code, const void* other_code, const std::string& hint);

/// Prints and keeps what the launch that has just ended reported, in order of first appearance. Finds out lines from
/// code addresses; diagnostics of one kind that turn out to be about the same array and lines become one. Of hundreds
/// of diagnostics the first 20 are printed. What another host thread's kernel, still running, has found is published in
/// parts.
void publish_diagnostics();

/// Hands over what was found so far and forgets it. With this the exit status stays the program's own.
std::vector<Diagnostic> take_diagnostics();

/// The last launch of this host thread that was refused for its shape, in a sentence, and forgets it: "the launch of
/// add at add.cu:12 was refused: a grid of 0 x 1 x 1 blocks has no block". Empty when there was none.
std::string take_refused_launch();

/// The nearest line with an `if` around line `line` of a source file whose condition depends on the number of the
/// thread, as far as indentation and names show; 0 when there is none.
int branch_on_threads_around(const std::string& file, int line);

/// Turns printing off (graders show diagnostics their own way) or on again; returns the former setting.
bool print_diagnostics(bool on);

/// Before something is printed to standard error: prints what standard output still holds, and ends its last line if
/// the program has left that unfinished.
void begin_fresh_line();

/// The diagnostic as the terminal shows it behind "CPU device: ", several lines without a newline at the end; `colour`:
/// with escape sequences.
std::string text_of(const Diagnostic& diagnostic, bool colour = false);

/// The diagnostics as a JSON array of objects with the members of `Diagnostic`, less the code addresses. `kind` is the
/// identifier, `name` the name in words. `callers`, here and in `other`, is only there when there are some. Places are
/// {"file", "line", "source"}, `block` and `thread` are [x, y, z]; what is not known or not there is null (`site`,
/// `other`, and in host code `block` and `thread`) or an empty string.
std::string json_of(const std::vector<Diagnostic>& diagnostics);

}  // namespace cpu_device
