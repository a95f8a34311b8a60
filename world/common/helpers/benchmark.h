// Timing several candidates fairly: in turn, so that clock and temperature changes hit all of them alike.
//
//     std::vector<Timing> timings = measure_in_turn({{run_mine, false}, {run_library, false}}, {.samples = 20});
//     double ratio = timings[1].median / timings[0].median;
#pragma once

#include <functional>
#include <vector>

namespace warpwise {

/// What was measured of one candidate, in seconds.
struct Timing {
    double median = 0;
    double minimum = 0;
    double maximum = 0;
    int samples = 0;
    double p10 = 0;  ///< 10th percentile
    double p90 = 0;

    /// Width of the middle 80 % of the samples, as a share of the median.
    double spread() const { return median > 0 ? (p90 - p10) / median : 0; }
};

struct BenchmarkOptions {
    int samples = 10;           ///< a candidate is run at least so often,
    double seconds = 0.5;       ///< and for at least so long (flushes included) ...
    int samples_when_slow = 3;  ///< ... but only so often
    double longest = 5;         ///< once it has taken so many seconds in all
    bool flush_l2 = true;       ///< overwrite the L2 cache before every sample of a device candidate
    std::function<void(int round)> progress = nullptr;  ///< called before every round; may be empty
};

/// Something to be timed: `run` does all of its work once.
struct Candidate {
    std::function<void()> run;
    bool on_host = false;  ///< timed by the host's clock; otherwise by device events in the default stream
};

/// Runs all candidates in turn, round after round, each until it has samples enough. Device candidates are warmed up
/// first. Throws CudaError and what `run` throws.
std::vector<Timing> measure_in_turn(const std::vector<Candidate>& candidates, const BenchmarkOptions& options = {});

/// Whether measure_in_turn, from now on, runs each candidate once, cold: for programs that a tool instruments, where
/// times mean nothing and each launch takes long.
void measure_only_once(bool once);

/// Median, extremes and percentiles (linear interpolation between samples) of at least one sample.
Timing timing_of(std::vector<double> samples);

/// The clocks that measure_in_turn reads, to be replaced in tests.
struct BenchmarkClock {
    std::function<double(const Candidate&)> run_once;  ///< runs a candidate and returns the seconds it took
    std::function<double()> now;                       ///< seconds since some fixed point
};

/// The rounds of measure_in_turn without warm-up and with the clocks given.
std::vector<Timing> measure_rounds(const std::vector<Candidate>& candidates, const BenchmarkOptions& options,
                                   const BenchmarkClock& clock);

}  // namespace warpwise
