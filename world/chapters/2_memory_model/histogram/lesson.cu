// Problem: how often does each of the 256 values occur among n bytes?
//
// One byte is read and one of 256 counters goes up by one. Reading is easy: n bytes at the
// full speed of the memory. Counting is not: thousands of threads share 256 counters, two
// of them may want the same one at the same time, and so each increment has to be atomic.
// Where the counters are decides how many threads wait for each other, and the values of
// the bytes decide how often. So all steps run on four inputs: random bytes, one byte over
// and over, skewed, and sorted.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cub/device/device_histogram.cuh>
#endif

#include "chapters/2_memory_model/histogram/kernels.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace memory_model {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kBanks = 32;

// ---- four inputs ------------------------------------------------------------------------

enum class Input { uniform, constant, skewed, sorted };
constexpr std::array<Input, 4> inputs = {Input::uniform, Input::constant, Input::skewed,
                                         Input::sorted};
constexpr std::array<const char*, 4> input_names = {"uniform", "constant", "skewed",
                                                    "sorted"};

unsigned char byte_of(Input input, std::size_t i, std::size_t count) {
    const std::uint64_t bits = warpwise::random_bits(21, i);
    switch (input) {
        case Input::uniform:
            return static_cast<unsigned char>(bits >> 56);
        case Input::constant:
            return 'x';
        case Input::skewed: {
            // The fourth power of a random number in [0, 1): a quarter of all bytes are 0.
            const double root = static_cast<double>(bits >> 11) /
                                static_cast<double>(std::uint64_t{1} << 53);
            return static_cast<unsigned char>(root * root * root * root * kBins);
        }
        case Input::sorted:  // each value equally often, in ascending order
            return static_cast<unsigned char>(i * kBins / count);
    }
    return 0;
}

std::vector<unsigned char> bytes_of(Input input, std::size_t count) {
    std::vector<unsigned char> bytes(count);
    warpwise::parallel_for(count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) bytes[i] = byte_of(input, i, count);
    });
    return bytes;
}

// The bytes on the host and on the device, how often each value occurs, and room for the
// answer on both sides.
struct Histogram {
    std::size_t count;
    std::vector<unsigned char> bytes;
    std::vector<double> expected;
    std::vector<unsigned> counts;
    DeviceBuffer<unsigned char> d_bytes;
    DeviceBuffer<unsigned> d_counts;
    DeviceBuffer<unsigned char> d_vendor_storage;
    bool counts_are_on_host = false;  // set by the step that leaves its result in `counts`

    explicit Histogram(const warpwise::Size& size, Input input = Input::uniform)
        : count(countable(size[0])),
          bytes(bytes_of(input, count)),
          expected(reference()),
          counts(kBins),
          d_bytes(bytes),
          d_counts(kBins) {}

    void poison() {
        std::fill(counts.begin(), counts.end(), std::numeric_limits<unsigned>::max());
        d_counts.fill_bytes(0xFF);
        counts_are_on_host = false;
    }

    // Counts are whole numbers below 2^53, which doubles hold exactly: the answer has to be
    // exact, too.
    warpwise::Comparison compare() {
        if (!counts_are_on_host) counts = d_counts.download();
        return warpwise::compare(counts, expected);
    }

    // Each byte is read once; the 256 counters do not weigh. One increment per byte.
    warpwise::Work work() const {
        return {.bytes = static_cast<double>(count),
                .operations = static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return size[0] + kBins * sizeof(unsigned);
    }

private:
    // Counters have 32 bits, and all bytes may have the same value.
    static std::size_t countable(std::size_t count) {
        if (count > std::numeric_limits<unsigned>::max()) {
            throw warpwise::Refusal(
                "histogram counts in 32 bits: at most 4294967295 bytes");
        }
        return count;
    }

    // Each part of the bytes has counters of its own, so that the threads of the host need
    // not wait for each other.
    std::vector<double> reference() const {
        const std::size_t parts = warpwise::parallel_parts(bytes.size());
        std::vector<std::array<double, kBins>> counters(parts);
        warpwise::parallel_for_parts(
            bytes.size(), parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
                std::array<double, kBins> own{};
                for (std::size_t i = begin; i < end; ++i) ++own[bytes[i]];
                counters[part] = own;
            });
        std::vector<double> sums(kBins);
        for (const std::array<double, kBins>& own : counters) {
            for (std::size_t bin = 0; bin < kBins; ++bin) sums[bin] += own[bin];
        }
        return sums;
    }
};

// ---- steps ------------------------------------------------------------------------------

// Step 1, one core of the host. 256 counters fit in its first cache, and no other thread
// wants them. Slow: one byte after the other, and with bytes that repeat each increment
// waits for the one before it.
void serial(Histogram& problem) {
    std::fill(problem.counts.begin(), problem.counts.end(), 0u);
    for (const unsigned char byte : problem.bytes) ++problem.counts[byte];
    problem.counts_are_on_host = true;
}

// The launches of the steps.
void global_atomics(Histogram& problem) {
    warpwise::check(cudaMemsetAsync(problem.d_counts.data(), 0, problem.d_counts.bytes()));
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    count_global<<<blocks, kThreads>>>(problem.d_bytes.data(), problem.d_counts.data(),
                                       problem.count);
    warpwise::check_launch();
}

// Zeroes the counters and launches a kernel with as many blocks as fit on the device, or as
// few as the bytes need when each thread takes `bytes_per_thread` of them.
template <class Kernel>
void launch(Kernel kernel, Histogram& problem, unsigned threads,
            unsigned bytes_per_thread) {
    warpwise::check(cudaMemsetAsync(problem.d_counts.data(), 0, problem.d_counts.bytes()));
    const unsigned blocks =
        std::min(warpwise::blocks_for(problem.count, threads * bytes_per_thread),
                 warpwise::blocks_that_fill(kernel, threads));
    kernel<<<blocks, threads>>>(problem.d_bytes.data(), problem.d_counts.data(),
                                problem.count);
    warpwise::check_launch();
}

void shared_atomics(Histogram& problem) { launch(count_shared, problem, kThreads, 1); }

void shared_atomics_uint4(Histogram& problem) {
    launch(count_shared_uint4, problem, kThreads, kVectorBytes);
}

void warp_copies(Histogram& problem) {
    launch(count_warp_copies, problem, kThreads, kVectorBytes);
}

void lane_bytes(Histogram& problem) {
    launch(count_lane_bytes, problem, kByteThreads, kVectorBytes);
}

void lane_copies(Histogram& problem) {
    launch(count_lane_copies, problem, kThreads, kVectorBytes);
}

void lane_copies_deep(Histogram& problem) {
    launch(count_lane_copies_deep, problem, kDeepThreads, kVectorBytes);
}

#ifndef __CPU_DEVICE__
// What a user would call instead. Called without storage it only says how much it needs;
// 257 levels border 256 bins.
void vendor(Histogram& problem) {
    const auto call = [&](void* storage, std::size_t& bytes) {
        const unsigned char* samples = problem.d_bytes.data();
        return cub::DeviceHistogram::HistogramEven(
            storage, bytes, samples, problem.d_counts.data(), int{kBins} + 1, 0, int{kBins},
            static_cast<long long>(problem.count));
    };
    std::size_t needed = 0;
    warpwise::check(call(nullptr, needed));
    if (problem.d_vendor_storage.size() < needed)
        problem.d_vendor_storage = DeviceBuffer<unsigned char>(needed);
    warpwise::check(call(problem.d_vendor_storage.data(), needed));
}
#endif

// ---- the four inputs, counted and timed -------------------------------------------------

// What the 32 increments of a warp cost on average, worked out of the bytes.
struct Collisions {
    // Lanes that find another lane of their warp at the same counter before them.
    double waiting = 0;
    // Over the banks; lanes at the same counter share one, because all of them add 1.
    double wavefronts = 0;
};

// When a thread takes `width` bytes at a time, lane k counts byte k * width + j of a warp's
// bytes in its j-th increment. One histogram: bins lie in the banks in turn. `count` is a
// multiple of 32 * width.
Collisions collisions_of(const std::vector<unsigned char>& bytes, std::size_t width) {
    Collisions sum;
    for (std::size_t first = 0; first < bytes.size(); first += kLanes * width) {
        for (std::size_t j = 0; j < width; ++j) {
            std::array<bool, kBins> seen{};
            std::array<unsigned, kBanks> bins_of_bank{};
            unsigned wavefronts = 0;
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const unsigned char bin = bytes[first + lane * width + j];
                if (std::exchange(seen[bin], true)) {
                    ++sum.waiting;
                } else {
                    wavefronts = std::max(wavefronts, ++bins_of_bank[bin % kBanks]);
                }
            }
            sum.wavefronts += wavefronts;
        }
    }
    const double requests = static_cast<double>(bytes.size()) / kLanes;
    return {sum.waiting / requests, sum.wavefronts / requests};
}

// A step of the ladder, and how it finds its counters.
struct Method {
    const char* name;
    void (*run)(Histogram&);
    enum class Counters {
        global,
        shared_by_lanes,
        bytes_of_a_lane,
        copy_per_lane
    } counters;
    std::size_t width;  // bytes of a load
};
constexpr std::array<Method, 7> methods = {
    {{"count_global", global_atomics, Method::Counters::global, 1},
     {"count_shared", shared_atomics, Method::Counters::shared_by_lanes, 1},
     {"count_shared_uint4", shared_atomics_uint4, Method::Counters::shared_by_lanes,
      kVectorBytes},
     {"count_warp_copies", warp_copies, Method::Counters::shared_by_lanes, kVectorBytes},
     {"count_lane_bytes", lane_bytes, Method::Counters::bytes_of_a_lane, kVectorBytes},
     {"count_lane_copies", lane_copies, Method::Counters::copy_per_lane, kVectorBytes},
     {"count_lane_copies_deep", lane_copies_deep, Method::Counters::copy_per_lane,
      kVectorBytes}}};

// What step 6 does apart from counting, in wavefronts of shared memory, when each lane
// counts a single vector: a warp sets its tallies to 0, adds them up, and sets them to 0
// again; a block has its bins to set to 0 and to read.
double passes_around(std::size_t count) {
    const double blocks = static_cast<double>(count / (kByteThreads * kVectorBytes));
    return blocks * (kByteWarps * 3.0 * kRows + 2.0 * kBins / kLanes);
}

// Runs every step on `problem`, expects it to be right, and on the CPU device expects what
// the bytes predict.
void expect_collisions(warpwise::Lesson& lesson, Histogram& problem,
                       const std::string& input,
                       std::vector<std::vector<std::string>>& rows) {
    using Counters = Method::Counters;
    const double requests = static_cast<double>(problem.count) / kLanes;
    for (const Method& method : methods) {
        const std::string name = std::string(method.name) + ", " + input + ": ";
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        lesson.expect(problem.compare().passed, name + "the histogram is right");

        Collisions predicted{0, 1};  // one copy per lane: nobody waits, and nobody collides
        if (method.counters == Counters::bytes_of_a_lane) predicted.wavefronts = 2;
        const bool shared_by_lanes = method.counters == Counters::global ||
                                     method.counters == Counters::shared_by_lanes;
        if (shared_by_lanes) predicted = collisions_of(problem.bytes, method.width);
        std::string waiting = "-", wavefronts = "-";
        if (counts) {
            const bool global = method.counters == Counters::global;
            warpwise::RequestCounts counting =
                global ? counts->global_atomic : counts->shared_atomic;
            if (method.counters == Counters::bytes_of_a_lane) {
                counting.wavefronts =
                    counts->shared_load.wavefronts + counts->shared_store.wavefronts;
                counting.wavefronts -= passes_around(problem.count);
                counting.same_address = 0;
            } else {
                lesson.expect(counting.requests == requests,
                              name + "one atomic of a warp for 32 bytes");
            }
            lesson.expect(counting.same_address == predicted.waiting * requests,
                          name + "as many lanes wait as predicted");
            lesson.expect(global || counting.wavefronts == predicted.wavefronts * requests,
                          name + "as many wavefronts as predicted");
            waiting = warpwise::ratio_text(counting.same_address / requests);
            wavefronts = warpwise::ratio_text(counting.wavefronts / requests);
        }
        const bool like_another =
            method.run == warp_copies || method.run == lane_copies_deep;
        if (method.counters == Counters::global || like_another) continue;
        rows.push_back({input, method.name, warpwise::ratio_text(predicted.waiting),
                        waiting, warpwise::ratio_text(predicted.wavefronts), wavefronts});
    }
}

// As many bytes of each input as the memory has room for, up to 1 GiB.
std::size_t bytes_of_each_input() {
    return warpwise::halve_to_fit(std::size_t{1} << 30, 1024,
                                  [](std::size_t count) { return inputs.size() * count; });
}

// 32 Ki bytes of each input tell what all of them do.
void compare_inputs(warpwise::Lesson& lesson) {
    constexpr std::size_t count = std::size_t{1} << 15;
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        Histogram problem({count}, inputs[k]);
        expect_collisions(lesson, problem, input_names[k], rows);
    }
    lesson.table({"increments", "What the increments of 32 lanes do, 32768 bytes"},
                 {"bytes", "step", "lanes that wait", "counted", "wavefronts", "counted"},
                 rows);
}

// The same, measured.
void print_measured_rates(warpwise::Lesson& lesson,
                          const std::vector<std::string>& header) {
    const std::size_t count = bytes_of_each_input();
    std::vector<std::pair<std::string, void (*)(Histogram&)>> timed;
    for (const Method& method : methods) timed.emplace_back(method.name, method.run);
#ifndef __CPU_DEVICE__
    timed.emplace_back("vendor", vendor);
#endif
    std::vector<std::unique_ptr<Histogram>> problems;
    for (const Input input : inputs) {
        problems.push_back(std::make_unique<Histogram>(warpwise::Size{count}, input));
        std::vector<unsigned char>().swap(
            problems.back()->bytes);  // the host needs them no more
    }
    std::vector<warpwise::Candidate> candidates;
    for (const auto& [name, run] : timed) {
        for (const std::unique_ptr<Histogram>& problem : problems) {
            problem->poison();
            run(*problem);
            lesson.expect(problem->compare().passed,
                          name + ": the histogram of " + std::to_string(count) + " bytes");
            candidates.push_back(
                {[run = run, problem = problem.get()] { run(*problem); }, false});
        }
    }
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        candidates, {.seconds = 0.1, .longest = 1, .flush_l2 = false});
    std::vector<std::vector<std::string>> rows;
    for (std::size_t row = 0; row < timed.size(); ++row) {
        rows.push_back({timed[row].first});
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const double seconds = timings[row * inputs.size() + k].median;
            rows.back().push_back(
                text_of("%.4g", static_cast<double>(count) / seconds * 1e-9));
        }
    }
    lesson.table(
        {"inputs", "GB/s of each step on each input, " + std::to_string(count) + " bytes"},
        header, rows);
}

}  // namespace

void histogram(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A histogram of bytes has 256 counters, and each byte adds 1 to one of them.
Thousands of threads share these counters, so an increment has to be atomic. Where should
the counters be, and how many copies of them should there be?)");
    lesson.predict(
        {.question = R"(The steps keep counters in global memory, and then copies in
shared memory: one for each block, each warp, and each lane. Which is the first without
bank conflicts?)",
         .answer = warpwise::Choice{{"a copy for each block", "a copy for each warp",
                                     "a copy for each lane"},
                                    2},
         .because = R"(Lanes of one warp meet in a copy that they share. A copy for
each lane is in a bank of its own.)"});
    lesson.predict({.question = R"(Counters in global memory serve all threads of the
device. A copy in shared memory serves one block, and the blocks run on many SMs (132 on
an H200). How many times as fast are such copies on a GPU? A guess within a factor
of 3 is right.)",
                    .answer = warpwise::Measured{.by = warpwise::TimeRatio{"count_global",
                                                                           "count_shared"},
                                                 .unit = "times",
                                                 .factor = 3},
                    .because = R"(All blocks compete for the same 256 counters in global
memory, and atomics to the same address are serialized.)"});
    std::vector<warpwise::Step<Histogram>> steps = {
        {"serial", "one core of the host", serial, warpwise::StepKind::host},
        {"count_global", "one thread per byte, counters in global memory", global_atomics},
        {"count_shared", "a histogram for each block, in shared memory", shared_atomics},
        {"count_shared_uint4", "16 bytes per load", shared_atomics_uint4},
        {"count_warp_copies", "a copy for each warp", warp_copies},
        {"count_lane_bytes", "byte counters for each lane, no atomics", lane_bytes},
        {"count_lane_copies", "a copy for each lane, in a bank of its own", lane_copies},
        {"count_lane_copies_deep", "full blocks, more bytes in flight per thread",
         lane_copies_deep}};
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cub::DeviceHistogram::HistogramEven", vendor,
                     warpwise::StepKind::vendor});
#endif
    lesson.steps<Histogram>({.gpu = {std::size_t{1} << 30},
                             .cpu = {std::size_t{1} << 18},
                             .awkward = {{0},
                                         {1},
                                         {15},
                                         {16},
                                         {17},
                                         {31},
                                         {32},
                                         {33},
                                         {511},
                                         {513},
                                         {1009},
                                         {4099},
                                         {65537}}},
                            steps);
    lesson.conclusion(
        R"(Only counters of its own for each lane, in a bank of its own, have no
conflicts, because it is the lanes of one warp that collide. Without atomics
(count_lane_bytes) an increment is a load and a store, and the counters of 8 bits have
to be emptied again and again. With atomics it is one request, so leaving them out is
not what makes it fast.)");

    lesson.question(
        R"(How often do threads meet at a counter? That depends on the bytes. Now all
steps count four inputs: random bytes, one byte over and over, skewed ones (a quarter of
all bytes are 0), and sorted ones. The predicted columns were worked out on the host from
the bytes. "Lanes that wait" find another lane at their counter before them; in shared
memory they need not wait if all add 1.)");
    lesson.predict(
        {.question = R"(All bytes are equal, and a warp counts 32 of them in shared
memory. How many of its lanes find another lane at the same counter before them?)",
         .answer =
             warpwise::Number{.value = 31,
                              .unit = "lanes",
                              .shown_by = warpwise::TableCell{"increments",
                                                              {"constant", "count_shared"},
                                                              "lanes that wait"}},
         .because = R"(All 32 lanes want one counter. The column is called "lanes that
wait", but in shared memory they need not: as all of them add 1, the SM counts them
together, in one wavefront.)"});
    compare_inputs(lesson);
    lesson.conclusion(
        R"(Of 32 random bytes about 30 are different: two lanes find another one at
their counter before them. But 30 counters do not spread evenly over 32 banks; the
busiest has three or four, and takes a wavefront for each. One byte over and over takes
a single wavefront, because all lanes add 1 to the same counter, which the SM counts
together. With counters for each lane, the bytes no longer matter.)");

    std::vector<std::string> header = {"step"};
    header.insert(header.end(), input_names.begin(), input_names.end());
    if (lesson.measures()) {
        print_measured_rates(lesson, header);
    } else {
        lesson.show_recorded("inputs");
    }
    lesson.conclusion(
        R"(On a GPU wavefronts are time, because shared memory makes one wavefront per
cycle: with three or four wavefronts for 32 bytes, the SMs count more slowly than the
memory delivers. With one wavefront, enough warps, and enough bytes in flight, the last
step is limited by the memory for every input. Where many threads update few places,
give them copies, and let the copies of neighboring lanes lie in different banks.)");
}

}  // namespace memory_model
