#include "common/helpers/benchmark.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/timer.h"

namespace warpwise {
namespace {

bool only_once = false;

/// Replaces what the L2 cache holds by writing twice its size.
class L2Flush {
public:
    L2Flush() : scratch_(2 * l2_bytes()) {}

    /// Returns at once; work given to the default stream afterwards starts with a cold cache.
    void run() {
        if (scratch_.size() != 0) check(cudaMemsetAsync(scratch_.data(), 0, scratch_.bytes(), nullptr));
    }

private:
    static std::size_t l2_bytes() {
#ifdef __CPU_DEVICE__
        return 0;  // that of the host is not to be flushed
#else
        int device = 0;
        int bytes = 0;
        check(cudaGetDevice(&device));
        check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
        return static_cast<std::size_t>(bytes);
#endif
    }

    DeviceBuffer<unsigned char> scratch_;
};

/// Runs all device candidates until the chip has left its idle clocks.
void warm_up(const std::vector<Candidate>& candidates) {
    constexpr double long_enough = 0.3;
    constexpr int most_rounds = 20;
    const HostTimer timer;
    for (int round = 0; round < most_rounds && timer.seconds() < long_enough; ++round) {
        for (const Candidate& candidate : candidates) {
            if (!candidate.on_host) candidate.run();
        }
        check_finished();
    }
}

}  // namespace

Timing timing_of(std::vector<double> samples) {
    if (samples.empty()) throw std::invalid_argument("timing_of: no samples");
    std::sort(samples.begin(), samples.end());
    const auto percentile = [&](double share) {
        const double position = share * static_cast<double>(samples.size() - 1);
        const auto below = static_cast<std::size_t>(position);
        const std::size_t above = std::min(below + 1, samples.size() - 1);
        return std::lerp(samples[below], samples[above], position - static_cast<double>(below));
    };
    return {.median = percentile(0.5),
            .minimum = samples.front(),
            .maximum = samples.back(),
            .samples = static_cast<int>(samples.size()),
            .p10 = percentile(0.1),
            .p90 = percentile(0.9)};
}

std::vector<Timing> measure_rounds(const std::vector<Candidate>& candidates, const BenchmarkOptions& options,
                                   const BenchmarkClock& clock) {
    struct Progress {
        std::vector<double> samples;
        double spent = 0;  // seconds, flushes included
    };
    std::vector<Progress> measured(candidates.size());
    const auto done = [&](const Progress& progress) {
        const int count = static_cast<int>(progress.samples.size());
        return count > 0 && ((count >= options.samples && progress.spent >= options.seconds) ||
                             (count >= options.samples_when_slow && progress.spent >= options.longest));
    };
    bool waiting = !candidates.empty();
    for (int round = 0; waiting; ++round) {
        if (options.progress) options.progress(round);
        waiting = false;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (done(measured[i])) continue;
            const double begin = clock.now();
            measured[i].samples.push_back(clock.run_once(candidates[i]));
            measured[i].spent += clock.now() - begin;
            waiting = waiting || !done(measured[i]);
        }
    }
    std::vector<Timing> timings;
    for (Progress& progress : measured) timings.push_back(timing_of(std::move(progress.samples)));
    return timings;
}

std::vector<Timing> measure_in_turn(const std::vector<Candidate>& candidates, const BenchmarkOptions& options) {
    const bool any_on_device =
        std::any_of(candidates.begin(), candidates.end(), [](const Candidate& c) { return !c.on_host; });
    std::optional<DeviceTimer> device_timer;
    std::optional<L2Flush> flush;
    if (any_on_device) {
        device_timer.emplace();
        if (options.flush_l2 && !only_once) flush.emplace();
        if (!only_once) warm_up(candidates);
    }
    const HostTimer since_start;
    const auto run_once = [&](const Candidate& candidate) {
        if (candidate.on_host) {
            const HostTimer timer;
            candidate.run();
            return timer.seconds();
        }
        if (flush) flush->run();
        device_timer->start();
        candidate.run();
        device_timer->stop();
        return device_timer->seconds();
    };
    const BenchmarkOptions& chosen = only_once ? BenchmarkOptions{.samples = 1, .seconds = 0} : options;
    return measure_rounds(candidates, chosen, {run_once, [&] { return since_start.seconds(); }});
}

void measure_only_once(bool once) { only_once = once; }

}  // namespace warpwise
