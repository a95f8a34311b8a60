// Instrumentation of kernels, for those who work on every device: on the CPU device launches are counted and errors
// found, on a GPU nothing is seen. (Programs for the CPU device alone may use cpu_device/instrument.h.)
//
//     const Instrumentation instrumenting({.diagnostics = true});          // for as long as it lives
//     const std::vector<LaunchCounts> launches = count_launches([&] { kernel<<<grid, block>>>(...); });
//     for (const Diagnostic& diagnostic : take_diagnostics()) ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/helpers/counts.h"

namespace warpwise {

/// Blocks of a launch that are instrumented where a sample is enough.
constexpr std::uint64_t sampled_blocks = 256;

struct CountOptions {
    std::uint64_t blocks = 0;  ///< of a launch with more blocks than this, so many are instrumented; 0: all
    int registers = 0;         ///< per thread, for theoretical occupancy; 0: not known
    bool model = true;         ///< gather what the time model needs: LaunchCounts::facts
    bool lines = true;  ///< counts of each source line, too: looking up the lines takes some tens of milliseconds
    std::uint64_t traced_blocks = 0;  ///< so many blocks of each launch leave a trace: LaunchCounts::trace
    std::size_t traced_events = 400;  ///< of each warp that leaves one, at most
};

struct InstrumentOptions {
    bool counters = false;
    bool diagnostics = false;
    CountOptions count = {};
    bool leaks = false;  ///< with `diagnostics`: what is never freed is an error, and not only a note
};

/// True on the CPU device when kernels of this program were compiled for instrumenting.
bool can_instrument();

/// True while the CPU device looks for errors in the kernels of this program.
bool is_diagnosing();

/// Sets what launches are instrumented for, and restores the former setting in the end.
class Instrumentation {
public:
    explicit Instrumentation(const InstrumentOptions& options);
    ~Instrumentation();
    Instrumentation(const Instrumentation&) = delete;
    Instrumentation& operator=(const Instrumentation&) = delete;

private:
    [[maybe_unused]] InstrumentOptions before_;
};

/// Runs `body` and returns the counts of its launches, in their order; none where `can_instrument()` is false. Errors
/// are looked for in them as before.
std::vector<LaunchCounts> count_launches(const std::function<void()>& body, const CountOptions& options = {});

/// Hands over the counts of the launches since the last call, in their order, for a program that is counted from its
/// start (environment: CPU_DEVICE_INSTRUMENT=counters). `with_lines`: counts of each source line, too.
std::vector<LaunchCounts> take_counts(bool with_lines = true);

/// What the CPU device found wrong with a program.
struct Diagnostic {
    std::string kind;  ///< "data_race", "out_of_bounds" ...: the CPU device's identifiers
    std::string site;  ///< "pi.cu:12", with the file's path; empty where it is not known
    std::string text;  ///< as the terminal shows it, several lines
    std::string json;  ///< all of it, as a JSON object
    /// The same for diagnostics that differ only in how often they were made.
    std::string identity = {};
    bool is_note = false;  ///< worth knowing, but no error: a program with nothing worse is right
};

/// Messages of the CPU device name a source by what follows `folder` in its path, "coalescing/kernels.cuh" for
/// "chapters/2_memory_model"; all other files by their own names.
void name_sources_from(const std::string& folder);

/// What was found since the last call; forgotten by that. With this the program's exit status stays its own.
std::vector<Diagnostic> take_diagnostics();

/// Runs `body` and returns what was found meanwhile. Nothing is forgotten by it.
std::vector<Diagnostic> diagnostics_during(const std::function<void()>& body);

/// Forgets these, and nothing else that was found.
void forget_diagnostics(const std::vector<Diagnostic>& diagnostics);

/// What part of the launches so far was searched for errors: "Examined all 4,096 blocks of 3 launches, 1.2 M
/// accesses." `how_to_examine_all` names the option that makes it all of them. Empty where nothing was looked at.
std::string coverage_text(const std::string& how_to_examine_all);

/// True if one of them is an error.
inline bool any_error(const std::vector<Diagnostic>& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](const Diagnostic& diagnostic) { return !diagnostic.is_note; });
}

/// Reports errors of this thread's calls and launches that nobody has looked at so far; and memory that nobody has
/// freed, and objects of the runtime that nobody has destroyed: as notes, or as errors with InstrumentOptions::leaks.
/// After a kernel died, nothing can be freed any more, and nothing is missed.
void report_leaks();

}  // namespace warpwise
