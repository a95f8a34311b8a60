// Problem: n floats are on the host, the device computes their square roots, and the roots
// have to be on the host in the end.
//
// For most programs that is the real problem, and the bus between host and device is the
// slowest part of it. Two things help: memory that the device can reach by itself, and
// doing three things at the same time. The device has an engine that copies in, one that
// copies out, and SMs that compute; a stream is a queue that keeps its order, and work of
// different streams may overlap. This lesson moves the same data by four kinds of host
// memory, and then cuts them into chunks for 1, 2, 4 and 8 streams.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "chapters/2_memory_model/host_memory_and_streams/host_memory.h"
#include "chapters/2_memory_model/host_memory_and_streams/kernels.cuh"
#include "chapters/2_memory_model/host_memory_and_streams/schedule.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/lesson.h"

namespace memory_model {
namespace {

using warpwise::counted;
using warpwise::DeviceBuffer;
using warpwise::text_of;

void fill(float* values, std::size_t count, float value) {
    warpwise::parallel_for(count, [=](std::size_t begin, std::size_t end) {
        std::fill(values + begin, values + end, value);
    });
}

// ---- four kinds of host memory ----------------------------------------------------------

void copy_by_kernel(const float* from, float* to, std::size_t count) {
    const unsigned blocks = std::min(warpwise::blocks_for(count, kThreads),
                                     warpwise::blocks_that_fill(copy_floats, kThreads));
    copy_floats<<<blocks, kThreads>>>(from, to, count);
    warpwise::check_launch();
}

// One kind of host memory, and how data move from it to an array on the device and back.
struct HostMemory {
    const char* name;
    float* host;                                   // where the host finds the data
    std::function<void()> to_device;               // timed
    std::function<void()> before_to_host = [] {};  // not timed
    std::function<void()> to_host;                 // timed
};

struct Seconds {
    double to_device = std::numeric_limits<double>::infinity();
    double to_host = std::numeric_limits<double>::infinity();
};

// Moves an array in and out several times, checks both ways, and returns the shortest times
// by the host's clock.
Seconds move_both_ways(warpwise::Lesson& lesson, const HostMemory& memory,
                       DeviceBuffer<float>& d_values) {
    const std::size_t count = d_values.size();
    const auto value = [](std::size_t i) {
        return static_cast<double>(i % (std::size_t{1} << 24));
    };
    const auto timed = [](const std::function<void()>& move) {
        warpwise::check_finished();
        const warpwise::HostTimer timer;
        move();
        warpwise::check_finished();
        return timer.seconds();
    };
    Seconds shortest;
    bool right = true;
    for (int sample = 0; sample < (lesson.measures() ? 3 : 1); ++sample) {
        d_values.fill_bytes(0xFF);
        warpwise::parallel_for(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                memory.host[i] = static_cast<float>(value(i));
        });
        shortest.to_device = std::min(shortest.to_device, timed(memory.to_device));
        right = right && warpwise::compare_each(d_values.download(), count, value).passed;

        fill(memory.host, count, std::numeric_limits<float>::quiet_NaN());
        memory.before_to_host();
        shortest.to_host = std::min(shortest.to_host, timed(memory.to_host));
        const std::vector<float> arrived(memory.host, memory.host + count);
        right = right && warpwise::compare_each(arrived, count, value).passed;
    }
    lesson.expect(right, std::string(memory.name) + ": the data arrive in both directions");
    return shortest;
}

// 256 MiB on a GPU, or what its memory has ample room for.
std::size_t floats_to_move(const warpwise::Lesson& lesson) {
    if (!lesson.measures()) return 10007;
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes));
    return std::min<std::size_t>(std::size_t{1} << 26, free_bytes / 16 / sizeof(float));
}

bool can_prefetch() {
    int device = 0, concurrent = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));
    return concurrent != 0;
}

void compare_kinds_of_memory(warpwise::Lesson& lesson) {
    const std::size_t count = floats_to_move(lesson);
    const std::size_t bytes = count * sizeof(float);
    std::vector<float> pageable(count);
    PageLocked page_locked(count);
    Managed managed(count);
    DeviceBuffer<float> d_values(count);
    float* const device = d_values.data();

    const auto copied = [&](const char* name, float* host) -> HostMemory {
        return {
            .name = name,
            .host = host,
            .to_device =
                [=] { check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)); },
            .to_host =
                [=] { check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)); }};
    };
    std::vector<HostMemory> kinds;
    kinds.push_back(copied("pageable", pageable.data()));
    kinds.push_back(copied("pinned", page_locked.data()));
    kinds.push_back(
        {.name = "mapped",
         .host = page_locked.data(),
         .to_device = [&] { copy_by_kernel(page_locked.device(), device, count); },
         .to_host = [&] { copy_by_kernel(device, page_locked.device(), count); }});
    // The kernel writes the pages on the device; the timed part is their way back.
    const auto write_managed = [&] { copy_by_kernel(device, managed.data(), count); };
    kinds.push_back({.name = "managed",
                     .host = managed.data(),
                     .to_device = [&] { copy_by_kernel(managed.data(), device, count); },
                     .before_to_host = write_managed,
                     .to_host = [&] { managed.touch(); }});
    if (can_prefetch()) {
        kinds.push_back({.name = "managed, prefetched",
                         .host = managed.data(),
                         .to_device =
                             [&] {
                                 managed.prefetch(true);
                                 copy_by_kernel(managed.data(), device, count);
                             },
                         .before_to_host = write_managed,
                         .to_host = [&] { managed.prefetch(false); }});
    }

    std::vector<std::vector<std::string>> rows;
    for (const HostMemory& kind : kinds) {
        const Seconds seconds = move_both_ways(lesson, kind, d_values);
        const double gigabytes = static_cast<double>(bytes) * 1e-9;
        const std::string name = kind.name;
        rows.push_back({name, text_of("%.1f", gigabytes / seconds.to_device),
                        text_of("%.1f", gigabytes / seconds.to_host)});
    }
    if (lesson.measures()) {
        lesson.table({"copies", "An array between host and device, GB/s"},
                     {"host memory", "to the device", "to the host"}, rows);
    } else {
        lesson.show_recorded("copies");
    }
}

// ---- copies that overlap with kernels ---------------------------------------------------

// Rounds of Heron's rule. For 0.25 <= x <= 4 the fifth already changes nothing that counts.
constexpr int kEnoughRounds = 8;

class Streams {
public:
    Streams() {
        for (cudaStream_t& stream : streams_) check(cudaStreamCreate(&stream));
    }
    ~Streams() {
        for (const cudaStream_t stream : streams_) (void)cudaStreamDestroy(stream);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    cudaStream_t operator[](std::size_t i) const { return streams_[i]; }

private:
    std::array<cudaStream_t, kMostStreams> streams_ = {};
};

// Input and output on the host, both in pageable and in pinned memory, and on the device.
struct Roots {
    std::size_t count;
    std::vector<float> in, out;
    PageLocked locked_in, locked_out;
    DeviceBuffer<float> d_in, d_out;
    Streams streams;
    int rounds = kEnoughRounds;
    bool result_is_pageable = false;  // set by the step that leaves its result there

    explicit Roots(const warpwise::Size& size)
        : count(size[0]),
          in(warpwise::uniform<float>(count, 31, 0.25f, 4.0f)),
          out(count),
          locked_in(count),
          locked_out(count),
          d_in(count),
          d_out(count) {
        std::copy(in.begin(), in.end(), locked_in.data());
        if (warpwise::Lesson::on_gpu() && count >= std::size_t{1} << 20)
            rounds = rounds_for_a_long_kernel();
    }

    void poison() {
        warpwise::check_finished();  // no copy still writes to the host
        fill(out.data(), count, std::numeric_limits<float>::quiet_NaN());
        fill(locked_out.data(), count, std::numeric_limits<float>::quiet_NaN());
        d_in.fill_bytes(0xFF);
        d_out.fill_bytes(0xFF);
        result_is_pageable = false;
    }

    // The last round of Heron's rule rounds three times, by half an epsilon each. The
    // rounding of the quotient counts half, halving is exact, and the error that remains of
    // the guess is the square of its own error.
    warpwise::Comparison compare() {
        warpwise::check_finished();  // the copies were asynchronous
        if (!result_is_pageable)
            std::copy(locked_out.data(), locked_out.data() + count, out.begin());
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        const auto root = [&](std::size_t i) {
            return std::sqrt(static_cast<double>(in[i]));
        };
        return warpwise::compare_each(out, count, root, {.relative = 2 * half_epsilon});
    }

    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * static_cast<double>(count)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * size[0];
    }

    void copy_in(std::size_t first, std::size_t elements, cudaStream_t stream) {
        check(cudaMemcpyAsync(d_in.data() + first, locked_in.data() + first,
                              elements * sizeof(float), cudaMemcpyHostToDevice, stream));
    }
    void compute(std::size_t first, std::size_t elements, cudaStream_t stream) {
        square_roots<<<warpwise::blocks_for(elements, kThreads), kThreads, 0, stream>>>(
            d_in.data() + first, d_out.data() + first, elements, rounds);
        warpwise::check_launch();
    }
    void copy_out(std::size_t first, std::size_t elements, cudaStream_t stream) {
        check(cudaMemcpyAsync(locked_out.data() + first, d_out.data() + first,
                              elements * sizeof(float), cudaMemcpyDeviceToHost, stream));
    }

private:
    // So many that the kernel takes three quarters of the time of a copy on any GPU: long
    // enough to be worth hiding, while the copies still decide.
    int rounds_for_a_long_kernel() {
        constexpr int trial = 64;
        rounds = trial;
        const std::vector<warpwise::Timing> timings =
            warpwise::measure_in_turn({{[&] { copy_in(0, count, nullptr); }, false},
                                       {[&] { compute(0, count, nullptr); }, false}},
                                      {.samples = 3, .seconds = 0});
        const double wanted = trial * 0.75 * timings[0].median / timings[1].median;
        return static_cast<int>(std::clamp<double>(wanted, kEnoughRounds, 16384));
    }
};

// Step 1, the simplest way: ordinary memory, and cudaMemcpy, which returns when the data
// have arrived.
// Slow: a copy engine cannot use pageable memory. The driver first copies everything, piece
// by piece, into pinned memory of its own.
void pageable(Roots& problem) {
    const std::size_t bytes = problem.count * sizeof(float);
    check(
        cudaMemcpy(problem.d_in.data(), problem.in.data(), bytes, cudaMemcpyHostToDevice));
    problem.compute(0, problem.count, nullptr);
    check(cudaMemcpy(problem.out.data(), problem.d_out.data(), bytes,
                     cudaMemcpyDeviceToHost));
    problem.result_is_pageable = true;
}

// Step 2, pinned (page-locked) memory: the copy engine reads and writes it directly, at the
// speed of the bus.
// Slow: copy in, compute, and copy out follow one another. While one part runs, the
// hardware of the other two is idle.
void page_locked(Roots& problem) {
    problem.copy_in(0, problem.count, nullptr);
    problem.compute(0, problem.count, nullptr);
    problem.copy_out(0, problem.count, nullptr);
}

// Step 3, mapped memory, "zero-copy": the kernel itself reads and writes the host's memory,
// each element once.
// Better: some warps wait for the bus while others compute, so that all three parts overlap
// without chunks.
// Slow: every access crosses the bus. Data that are read twice cross it twice, unless a
// cache helps.
void mapped(Roots& problem) {
    square_roots<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.locked_in.device(), problem.locked_out.device(), problem.count,
        problem.rounds);
    warpwise::check_launch();
}

// A multiple of the block, so that chunks begin where a sector does.
std::size_t chunk_size(std::size_t count, std::size_t chunks) {
    return warpwise::ceil_div(warpwise::ceil_div(count, chunks), kThreads) * kThreads;
}

using Mark = std::function<void(std::size_t chunk, int point, cudaStream_t stream)>;

// Steps 4 to 7: cut the array into chunks and give them to the streams in turn. A stream
// keeps the order of a chunk's three parts; chunks of different streams are not ordered. So
// one chunk is copied in while another is computed and a third is copied out. The host only
// fills the queues: no call here waits. `mark` is called before, between, and after the
// three parts.
void queue_chunks(
    Roots& problem, std::size_t streams, std::size_t chunks,
    const Mark& mark = [](auto...) {}) {
    const std::size_t chunk = chunk_size(problem.count, chunks);
    for (std::size_t k = 0; k * chunk < problem.count; ++k) {
        const std::size_t first = k * chunk;
        const std::size_t elements = std::min(chunk, problem.count - first);
        const cudaStream_t stream = problem.streams[k % streams];
        mark(k, 0, stream);
        problem.copy_in(first, elements, stream);
        mark(k, 1, stream);
        problem.compute(first, elements, stream);
        mark(k, 2, stream);
        problem.copy_out(first, elements, stream);
        mark(k, 3, stream);
    }
}

// ---- what the streams do, and when ------------------------------------------------------

// The schedule as events have seen it, in seconds. An event between two parts of a stream
// is passed when the part before it is done. If the engine of the part after it is busy
// with another stream then, that part has to wait.
std::vector<Chunk> measured(Roots& problem, std::size_t streams, std::size_t chunks) {
    std::vector<cudaEvent_t> events(1 + chunks * (kParts + 1));
    for (cudaEvent_t& event : events) check(cudaEventCreate(&event));
    warpwise::check_finished();
    check(cudaEventRecord(events[0]));  // in the default stream: all others begin after it
    std::size_t queued = 0;
    queue_chunks(
        problem, streams, chunks, [&](std::size_t k, int point, cudaStream_t stream) {
            check(cudaEventRecord(
                events[1 + k * (kParts + 1) + static_cast<std::size_t>(point)], stream));
            queued = k + 1;
        });
    warpwise::check_finished();
    const auto seconds = [&](std::size_t k, std::size_t point) {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, events[0],
                                   events[1 + k * (kParts + 1) + point]));
        return milliseconds * 1e-3;
    };
    std::array<double, kParts> engine_is_free = {};
    std::vector<Chunk> result;
    for (std::size_t k = 0; k < queued; ++k) {
        Chunk chunk = {.stream = k % streams, .parts = {}};
        for (std::size_t part = 0; part < kParts; ++part) {
            const double end = seconds(k, part + 1);
            chunk.parts[part] = {
                std::min(end, std::max(seconds(k, part), engine_is_free[part])), end};
            engine_is_free[part] = end;
        }
        result.push_back(chunk);
    }
    for (const cudaEvent_t event : events) (void)cudaEventDestroy(event);
    return result;
}

constexpr std::array<std::size_t, 4> kStreamCounts = {1, 2, 4, 8};
constexpr std::array<std::size_t, 3> kChunkCounts = {8, 16, 32};

// Three parts that take one turn each: what the text says about the number of turns follows
// from the rules.
void expect_predicted_turns(warpwise::Lesson& lesson) {
    for (const std::size_t chunks : kChunkCounts) {
        const double c = static_cast<double>(chunks);
        for (const std::size_t streams : kStreamCounts) {
            const double turns = end_of(planned(streams, chunks, {c, c, c}));
            const double predicted = streams == 1   ? 3 * c
                                     : streams == 2 ? 1.5 * c + 1
                                                    : c + 2;
            lesson.expect(std::fabs(turns - predicted) < 1e-9 * c,
                          counted(streams, "stream") + ", " + counted(chunks, "chunk") +
                              ": as many turns as predicted");
        }
    }
}

// Cutting into chunks costs no memory accesses, and chunks begin at sectors.
void expect_predicted_requests(warpwise::Lesson& lesson) {
    constexpr std::size_t warps = 1009;
    Roots problem({32 * warps});
    for (const std::size_t streams : kStreamCounts) {
        const auto counts = lesson.count([&] { queue_chunks(problem, streams, 8); });
        if (!counts) continue;
        const std::string what = counted(streams, "stream") + ": ";
        lesson.expect(
            counts->global_load.requests == warps && counts->global_store.requests == warps,
            what + "a load and a store for each warp of elements, as without chunks");
        lesson.expect(counts->global_load.sectors == 4 * warps &&
                          counts->global_store.sectors == 4 * warps,
                      what + "4 sectors for each of them");
    }
}

void show_plans(warpwise::Lesson& lesson) {
    std::string text;
    for (const std::size_t streams : kStreamCounts) {
        text += bars(planned(streams, 8, {8, 8, 8}), streams, 2);
    }
    lesson.text(
        "The rules: each engine does one thing at a time, and each stream does one "
        "thing at a time. All copies in are done by one engine, all copies out by "
        "another one, and the kernels by the SMs, which count as one engine.\n\nAs "
        "the rules have it, 8 chunks, where each part takes one turn:\n\n" +
        text +
        "\n`>` copies in, `#` computes, `<` copies out; the digit is the number of "
        "the chunk, and a turn is two characters wide. In each column there is at "
        "most one of each kind, since there is one engine of each kind.");
}

// The sweep over streams and chunks where there is a clock: times of the parts alone, then
// of all of it.
void measure_overlap(warpwise::Lesson& lesson, Roots& problem) {
    std::vector<warpwise::Candidate> candidates = {
        {[&] { problem.copy_in(0, problem.count, nullptr); }, false},
        {[&] { problem.compute(0, problem.count, nullptr); }, false},
        {[&] { problem.copy_out(0, problem.count, nullptr); }, false}};
    for (const std::size_t streams : kStreamCounts) {
        for (const std::size_t chunks : kChunkCounts) {
            candidates.push_back(
                {[&problem, streams, chunks] { queue_chunks(problem, streams, chunks); },
                 false});
        }
    }
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        candidates, {.samples = 5, .seconds = 0.2, .flush_l2 = false});
    const std::array<double, kParts> whole = {timings[0].median, timings[1].median,
                                              timings[2].median};
    const double bytes = static_cast<double>(problem.count) * sizeof(float);
    lesson.table({"parts", "Each part alone, the whole array"},
                 {"part", "ms", "GB/s over the bus"},
                 {{"copy in", text_of("%.2f", whole[0] * 1e3),
                   text_of("%.1f", bytes / whole[0] * 1e-9)},
                  {"compute", text_of("%.2f", whole[1] * 1e3), "-"},
                  {"copy out", text_of("%.2f", whole[2] * 1e3),
                   text_of("%.1f", bytes / whole[2] * 1e-9)}});

    std::vector<std::vector<std::string>> rows;
    std::size_t next = kParts;
    for (const std::size_t streams : kStreamCounts) {
        for (const std::size_t chunks : kChunkCounts) {
            const double seconds = timings[next++].median;
            rows.push_back(
                {std::to_string(streams), std::to_string(chunks),
                 text_of("%.2f", seconds * 1e3), text_of("%.2f", ideal(whole) / seconds),
                 text_of("%.2f", ideal(whole) / end_of(planned(streams, chunks, whole)))});
        }
    }
    lesson.table({"whole", "All of it; the ideal is the longest part alone, " +
                               text_of("%.2f ms", ideal(whole) * 1e3)},
                 {"streams", "chunks", "ms", "of the ideal", "by the rules"}, rows);

    std::string text;
    double columns_per_second = 0;
    for (const std::size_t streams : kStreamCounts) {
        const std::vector<Chunk> chunks = measured(problem, streams, 8);
        // One stream fills the line.
        if (columns_per_second == 0) columns_per_second = 64 / end_of(chunks);
        text += bars(chunks, streams, columns_per_second);
    }
    lesson.drawing("timeline", "As it was, by events, 8 chunks, all on one scale:\n\n" +
                                   text +
                                   "\n`>` copies in, `#` computes, `<` copies out; the "
                                   "number after it is that of the chunk.");
    problem.poison();
    queue_chunks(problem, kMostStreams, 32);
    lesson.expect(problem.compare().passed, "after all measurements the result is right");
}

// The same table without a clock: parts of equal length, and what was recorded.
void tell_overlap(warpwise::Lesson& lesson) {
    const warpwise::Record& recorded = lesson.recorded();
    std::vector<std::string> header = {"streams", "chunks", "turns", "ideal",
                                       "of the ideal"};
    if (recorded) header.push_back(recorded.label() + ", measured");
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t streams : kStreamCounts) {
        for (const std::size_t chunks : kChunkCounts) {
            const double c = static_cast<double>(chunks);
            const double turns = end_of(planned(streams, chunks, {c, c, c}));
            rows.push_back({std::to_string(streams), std::to_string(chunks),
                            text_of("%.0f", turns), text_of("%.0f", c),
                            text_of("%.2f", c / turns)});
            if (!recorded) continue;
            rows.back().push_back(
                recorded.cell("whole", {std::to_string(streams), std::to_string(chunks)},
                              "of the ideal"));
        }
    }
    const std::string where = recorded ? "last column " + recorded.where() : "";
    lesson.table({"schedule", "As the rules have it, three parts of equal length", where},
                 header, rows);
    if (recorded) {
        lesson.text(
            "A measured share can be larger than that of the rules, because the recorded "
            "kernel takes only three quarters of the time of a copy: so one stream has "
            "less "
            "to do besides the longest part.");
    }
}

}  // namespace

void host_memory_and_streams(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Data are on the host, the device computes, and the host needs the result. The
host has four kinds of memory for that: pageable (malloc), pinned (page-locked,
cudaMallocHost), mapped (pinned, and kernels access it themselves), and managed (its
pages move to the side that touches them). How do data move at the full speed of the
bus?)");
    lesson.predict(
        {.question = R"(How many times as fast as from pageable memory is a copy to
the device from pinned memory?)",
         .answer =
             warpwise::Measured{
                 .by =
                     warpwise::CellRatio{
                         warpwise::TableCell{"copies", {"pinned"}, "to the device"},
                         warpwise::TableCell{"copies", {"pageable"}, "to the device"}},
                 .unit = "times",
                 .factor = 2},
         .because = R"(Pageable memory is copied twice, the first time by the
processor into pinned memory of the driver.)"});
    compare_kinds_of_memory(lesson);
    lesson.conclusion(
        R"(Pageable memory is copied twice, the first time by the processor. Pinned
memory moves at the speed of the bus, by a copy engine or by a kernel that reads it as
mapped memory. For managed memory it matters who touched it last: its pages move one
page fault at a time, unless they are prefetched. Pinned memory takes long to allocate,
so allocate it once and reuse it.)");

    lesson.question(
        R"(Now the whole problem: copy in, compute square roots, copy out. Streams can
overlap the copies of one chunk with the kernel of another. How much of the way over the
bus can be hidden?)");
    lesson.predict(
        {.question = R"(Say that the three parts of a chunk, copy in, compute, and
copy out, take the same time. How many times as fast can it become at most if all three
overlap?)",
         .answer = warpwise::Number{.value = 3, .unit = "times"},
         .because = R"(While one chunk is copied in, the one before is computed and
the one before that is copied out.)"});

    const auto in_streams = [](std::size_t streams) {
        return [streams](Roots& problem) { queue_chunks(problem, streams, 32); };
    };
    const warpwise::Sizes sizes = {
        .gpu = {std::size_t{1} << 28},
        .cpu = {std::size_t{1} << 14},
        .awkward = {
            {0}, {1}, {31}, {32}, {33}, {255}, {257}, {1009}, {8191}, {8193}, {50021}}};
    lesson.steps<Roots>(
        sizes, {{"pageable", "ordinary memory, one part after the other", pageable},
                {"page_locked", "pinned memory", page_locked},
                {"mapped", "the kernel crosses the bus itself", mapped},
                {"one_stream", "32 chunks in one stream", in_streams(1)},
                {"two_streams", "in two streams", in_streams(2)},
                {"four_streams", "in four streams", in_streams(4)},
                {"eight_streams", "in eight streams", in_streams(8)}});
    expect_predicted_requests(lesson);
    expect_predicted_turns(lesson);

    show_plans(lesson);
    lesson.conclusion(
        R"(At most three times as fast, with three streams: a stream does one part at a
time, so two of them keep two engines busy. With c chunks, one stream takes 3c turns,
two take 1.5c + 1, and three or more take c + 2. The 2 are fill and drain: the first
chunk has to come in, and the last one has to go out.)");

    lesson.predict(
        {.question = R"(32 chunks go through four streams. Each of the three parts
of a chunk takes one turn, and parts of different kinds overlap. How many turns do all
chunks take?)",
         .answer =
             warpwise::Number{
                 .value = 34,
                 .unit = "turns",
                 .shown_by = warpwise::TableCell{"schedule", {"4", "32"}, "turns"}},
         .because = R"(The copies in take 32 turns, one after the other. The last
chunk takes two more, to compute and to copy out.)"});
    if (lesson.measures()) {
        std::size_t free_bytes = 0, all_bytes = 0,
                    count = lesson.size(sizes.gpu, sizes.cpu)[0];
        check(cudaMemGetInfo(&free_bytes, &all_bytes));
        while (Roots::device_bytes({count}) > free_bytes / 2) count /= 2;
        Roots problem({count});
        problem.poison();
        measure_overlap(lesson, problem);
    } else {
        tell_overlap(lesson);
    }
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(Each copy and each launch costs some microseconds, and a small copy is
slower per byte than a large one. The rules predict the rest, with one exception: they
have an engine for each direction, neither of which knows of the other, but copies in
both directions at the same time slow each other down.)"
            : R"(Each copy and each launch costs some microseconds, and a small copy is
slower per byte than a large one. The rules also leave out that copies in both
directions at the same time slow each other down. The CPU device carries out each call
in order: results are those of a GPU, but it cannot show that something overlaps, nor
that a wait is missing.)");
}

}  // namespace memory_model
