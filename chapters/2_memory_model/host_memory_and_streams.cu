// Problem: n floats lie on the host, their square roots are to be there in the end, and the device is to compute them.
//
// For most programs that is the real problem, and the bus between host and device is the slowest part of it. Two things
// help: memory of a kind that the device can reach by itself, and doing three things at the same time. The device has
// an engine that copies in, one that copies out, and SMs that compute; a stream is a queue that keeps its order, and
// work of different streams may overlap. This lesson moves the same data by four kinds of host memory, and then cuts
// them into chunks for 1, 2, 4 and 8 streams.
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

#include "chapters/2_memory_model/lessons.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"

namespace memory_model {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;

// Page-locked memory of the host, mapped into the addresses of the device. The system must leave it where it is, so
// that the copy engine can work on it while the processor does something else.
class PageLocked {
public:
    explicit PageLocked(std::size_t count) {
        void* memory = nullptr;
        check(cudaHostAlloc(&memory, std::max<std::size_t>(count, 1) * sizeof(float), cudaHostAllocMapped));
        data_ = static_cast<float*>(memory);
    }
    ~PageLocked() { (void)cudaFreeHost(data_); }
    PageLocked(const PageLocked&) = delete;
    PageLocked& operator=(const PageLocked&) = delete;

    float* data() { return data_; }

    /// The same memory under the address that kernels have to use.
    float* device() {
        void* pointer = nullptr;
        check(cudaHostGetDevicePointer(&pointer, data_, 0));
        return static_cast<float*>(pointer);
    }

private:
    float* data_ = nullptr;
};

// Memory with one address for host and device. Its pages move to whoever touches them.
class Managed {
public:
    explicit Managed(std::size_t count) : bytes_(count * sizeof(float)) {
        void* memory = nullptr;
        check(cudaMallocManaged(&memory, std::max<std::size_t>(bytes_, 1)));
        data_ = static_cast<float*>(memory);
    }
    ~Managed() { (void)cudaFree(data_); }
    Managed(const Managed&) = delete;
    Managed& operator=(const Managed&) = delete;

    float* data() { return data_; }

    /// Moves all pages ahead of their use, in the default stream.
    void prefetch(bool to_device) {
        int device = 0;
        check(cudaGetDevice(&device));
#if CUDART_VERSION >= 13000
        cudaMemLocation location = {};
        location.type = to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
        location.id = to_device ? device : 0;
        check(cudaMemPrefetchAsync(data_, bytes_, location, 0));
#else
        check(cudaMemPrefetchAsync(data_, bytes_, to_device ? device : cudaCpuDeviceId));
#endif
    }

    /// Reads from every page on the host.
    void touch() const {
        constexpr std::size_t page = 4096 / sizeof(float);
        volatile float last = 0;
        for (std::size_t i = 0; i < bytes_ / sizeof(float); i += page) last = data_[i];
        (void)last;
    }

private:
    std::size_t bytes_;
    float* data_ = nullptr;
};

void fill(float* values, std::size_t count, float value) {
    warpwise::parallel_for(count,
                           [=](std::size_t begin, std::size_t end) { std::fill(values + begin, values + end, value); });
}

// ---- four kinds of host memory -----------------------------------------------------------------------------------

__global__ void copy_floats(const float* from, float* to, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) to[i] = from[i];
}

void copy_by_kernel(const float* from, float* to, std::size_t count) {
    const unsigned blocks =
        std::min(warpwise::blocks_for(count, kThreads), warpwise::blocks_that_fill(copy_floats, kThreads));
    copy_floats<<<blocks, kThreads>>>(from, to, count);
    warpwise::check_launch();
}

// One kind of host memory, and how data get from it to an array on the device and back.
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

// Moves an array in and out several times, checks both ways, and returns the shortest times by the host's clock.
Seconds move_both_ways(warpwise::Lesson& lesson, const HostMemory& memory, DeviceBuffer<float>& d_values) {
    const std::size_t count = d_values.size();
    const auto value = [](std::size_t i) { return static_cast<double>(i % (std::size_t{1} << 24)); };
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
            for (std::size_t i = begin; i < end; ++i) memory.host[i] = static_cast<float>(value(i));
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
        return {.name = name,
                .host = host,
                .to_device = [=] { check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)); },
                .to_host = [=] { check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)); }};
    };
    std::vector<HostMemory> kinds;
    kinds.push_back(copied("pageable", pageable.data()));
    kinds.push_back(copied("page-locked", page_locked.data()));
    kinds.push_back({.name = "mapped",
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
        rows.push_back(
            {name, text_of("%.1f", gigabytes / seconds.to_device), text_of("%.1f", gigabytes / seconds.to_host)});
    }
    const std::string title = "An array between host and device, GB/s";
    if (lesson.measures()) {
        lesson.table(title, {"host memory", "to the device", "to the host"}, rows);
    } else {
        lesson.show_recorded(title);
    }
}

// ---- copies that overlap with kernels ----------------------------------------------------------------------------

// Heron's rule: the mean of a guess and x / guess is a better guess. Few rounds are enough; more of them change
// nothing, and make the kernel as long as the lesson wants it.
__global__ void square_roots(const float* in, float* out, std::size_t count, int rounds) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = in[i];
    float root = 0.5f * (x + 1);
    for (int round = 0; round < rounds; ++round) root = 0.5f * (root + x / root);
    out[i] = root;
}

constexpr int kEnoughRounds = 8;  // for 0.25 <= x <= 4 the fifth already changes nothing that counts
constexpr std::size_t kMostStreams = 8;

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

// Input and output on the host, both pageable and page-locked, and on the device.
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
        if (warpwise::Lesson::on_gpu() && count >= std::size_t{1} << 20) rounds = rounds_for_a_long_kernel();
    }

    void poison() {
        warpwise::check_finished();  // nobody writes to the host any more
        fill(out.data(), count, std::numeric_limits<float>::quiet_NaN());
        fill(locked_out.data(), count, std::numeric_limits<float>::quiet_NaN());
        d_in.fill_bytes(0xFF);
        d_out.fill_bytes(0xFF);
        result_is_pageable = false;
    }

    // The last round makes three roundings, by half an epsilon each. That of the quotient counts half, halving is
    // exact, and what is left of the guess's own error is its square.
    warpwise::Comparison compare() {
        warpwise::check_finished();  // the copies were asynchronous
        if (!result_is_pageable) std::copy(locked_out.data(), locked_out.data() + count, out.begin());
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        const auto root = [&](std::size_t i) { return std::sqrt(static_cast<double>(in[i])); };
        return warpwise::compare_each(out, count, root, {.relative = 2 * half_epsilon});
    }

    warpwise::Work work() const { return {.bytes = 2.0 * sizeof(float) * static_cast<double>(count)}; }
    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(float) * size[0]; }

    void copy_in(std::size_t first, std::size_t elements, cudaStream_t stream) {
        check(cudaMemcpyAsync(d_in.data() + first, locked_in.data() + first, elements * sizeof(float),
                              cudaMemcpyHostToDevice, stream));
    }
    void compute(std::size_t first, std::size_t elements, cudaStream_t stream) {
        square_roots<<<warpwise::blocks_for(elements, kThreads), kThreads, 0, stream>>>(
            d_in.data() + first, d_out.data() + first, elements, rounds);
        warpwise::check_launch();
    }
    void copy_out(std::size_t first, std::size_t elements, cudaStream_t stream) {
        check(cudaMemcpyAsync(locked_out.data() + first, d_out.data() + first, elements * sizeof(float),
                              cudaMemcpyDeviceToHost, stream));
    }

private:
    // So many that the kernel takes three quarters of the time of a copy, on whatever GPU: long enough to be worth
    // hiding, and the copies decide.
    int rounds_for_a_long_kernel() {
        constexpr int trial = 64;
        rounds = trial;
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
            {{[&] { copy_in(0, count, nullptr); }, false}, {[&] { compute(0, count, nullptr); }, false}},
            {.samples = 3, .seconds = 0});
        const double wanted = trial * 0.75 * timings[0].median / timings[1].median;
        return static_cast<int>(std::clamp<double>(wanted, kEnoughRounds, 16384));
    }
};

// Step 1, as one would begin: ordinary memory, and cudaMemcpy, which returns when the data have arrived.
// Slow: a copy engine cannot use pageable memory. The driver first copies everything, piece by piece, into page-locked
// memory of its own.
void pageable(Roots& problem) {
    const std::size_t bytes = problem.count * sizeof(float);
    check(cudaMemcpy(problem.d_in.data(), problem.in.data(), bytes, cudaMemcpyHostToDevice));
    problem.compute(0, problem.count, nullptr);
    check(cudaMemcpy(problem.out.data(), problem.d_out.data(), bytes, cudaMemcpyDeviceToHost));
    problem.result_is_pageable = true;
}

// Step 2, page-locked memory: the copy engine reads and writes it directly, at the speed of the bus.
// Slow: three things one after the other. While one part of the machine works, two have nothing to do.
void page_locked(Roots& problem) {
    problem.copy_in(0, problem.count, nullptr);
    problem.compute(0, problem.count, nullptr);
    problem.copy_out(0, problem.count, nullptr);
}

// Step 3, mapped memory, "zero copy": the kernel itself reads and writes the host's memory, each element once. Some
// warps wait for the bus while others compute, so that all three overlap without further ado. Slow: every access
// crosses the bus. What is read twice crosses it twice, unless a cache helps.
void mapped(Roots& problem) {
    square_roots<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.locked_in.device(), problem.locked_out.device(), problem.count, problem.rounds);
    warpwise::check_launch();
}

// A multiple of the block, so that chunks begin where a sector does.
std::size_t chunk_size(std::size_t count, std::size_t chunks) {
    return warpwise::ceil_div(warpwise::ceil_div(count, chunks), kThreads) * kThreads;
}

using Mark = std::function<void(std::size_t chunk, int point, cudaStream_t stream)>;

// Steps 4 to 7: cuts the array into chunks and gives them to the streams in turn. A stream keeps the order of a chunk's
// three parts; chunks of different streams have none. So one chunk is copied in while another is computed and a third
// is copied out. The host only fills the queues: nothing in here waits. `mark` is called before, between and behind the
// three parts.
void queue_chunks(
    Roots& problem, std::size_t streams, std::size_t chunks, const Mark& mark = [](auto...) {}) {
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

// ---- what the streams do, and when ---------------------------------------------------------------------------------

constexpr int kParts = 3;  // copy in, compute, copy out
constexpr std::array<char, kParts> kSymbols = {'>', '#', '<'};

struct Span {
    double begin, end;
};
struct Chunk {
    std::size_t stream;
    std::array<Span, kParts> parts;
};

// The rules of the game: each engine does one thing at a time, in the order in which it was queued, and a stream keeps
// its order. Nothing else makes anything wait. (On a chip, copies in both directions share the bus, and each is a
// little slower while the other runs.) `whole`: how long each part takes for the whole array.
std::vector<Chunk> planned(std::size_t streams, std::size_t chunks, const std::array<double, kParts>& whole) {
    std::array<double, kParts> engine_is_free = {};
    std::array<double, kMostStreams> stream_is_free = {};
    std::vector<Chunk> result;
    for (std::size_t k = 0; k < chunks; ++k) {
        Chunk chunk = {.stream = k % streams, .parts = {}};
        for (std::size_t part = 0; part < kParts; ++part) {
            const double begin = std::max(engine_is_free[part], stream_is_free[chunk.stream]);
            const double end = begin + whole[part] / static_cast<double>(chunks);
            chunk.parts[part] = {begin, end};
            engine_is_free[part] = stream_is_free[chunk.stream] = end;
        }
        result.push_back(chunk);
    }
    return result;
}

double end_of(const std::vector<Chunk>& chunks) { return chunks.empty() ? 0 : chunks.back().parts.back().end; }

double ideal(const std::array<double, kParts>& whole) { return *std::max_element(whole.begin(), whole.end()); }

// The same, as events have seen it, in seconds. An event between two parts of a stream is passed when the part before
// is done; if the engine is busy with another stream then, the part after it has to wait.
std::vector<Chunk> measured(Roots& problem, std::size_t streams, std::size_t chunks) {
    std::vector<cudaEvent_t> events(1 + chunks * (kParts + 1));
    for (cudaEvent_t& event : events) check(cudaEventCreate(&event));
    warpwise::check_finished();
    check(cudaEventRecord(events[0]));  // in the default stream: all others begin behind it
    std::size_t queued = 0;
    queue_chunks(problem, streams, chunks, [&](std::size_t k, int point, cudaStream_t stream) {
        check(cudaEventRecord(events[1 + k * (kParts + 1) + static_cast<std::size_t>(point)], stream));
        queued = k + 1;
    });
    warpwise::check_finished();
    const auto seconds = [&](std::size_t k, std::size_t point) {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, events[0], events[1 + k * (kParts + 1) + point]));
        return milliseconds * 1e-3;
    };
    std::array<double, kParts> engine_is_free = {};
    std::vector<Chunk> result;
    for (std::size_t k = 0; k < queued; ++k) {
        Chunk chunk = {.stream = k % streams, .parts = {}};
        for (std::size_t part = 0; part < kParts; ++part) {
            const double end = seconds(k, part + 1);
            chunk.parts[part] = {std::min(end, std::max(seconds(k, part), engine_is_free[part])), end};
            engine_is_free[part] = end;
        }
        result.push_back(chunk);
    }
    for (const cudaEvent_t event : events) (void)cudaEventDestroy(event);
    return result;
}

// A row for each stream; `columns_per_time` characters are one unit of time. Where there is room, the second character
// of a bar is the last digit of the chunk's number.
std::string bars(const std::vector<Chunk>& chunks, std::size_t streams, double columns_per_time) {
    const auto column = [=](double time) { return static_cast<std::size_t>(std::lround(time * columns_per_time)); };
    std::size_t width = 1;
    for (const Chunk& chunk : chunks) width = std::max(width, column(chunk.parts.back().end));
    std::vector<std::string> rows(streams, std::string(width, '.'));
    for (std::size_t k = 0; k < chunks.size(); ++k) {
        for (std::size_t part = 0; part < kParts; ++part) {
            const std::size_t begin = column(chunks[k].parts[part].begin), end = column(chunks[k].parts[part].end);
            std::string& row = rows[chunks[k].stream];
            for (std::size_t i = begin; i < end; ++i) row[i] = kSymbols[part];
            if (end > begin + 1) row[begin + 1] = static_cast<char>('0' + k % 10);
        }
    }
    std::string text = "    " + std::to_string(streams) + (streams == 1 ? " stream\n" : " streams\n");
    for (std::size_t s = 0; s < streams; ++s) text += "      " + std::to_string(s) + "  " + rows[s] + "\n";
    return text;
}

constexpr std::array<std::size_t, 4> kStreamCounts = {1, 2, 4, 8};
constexpr std::array<std::size_t, 3> kChunkCounts = {8, 16, 32};

// Three parts that take a turn each: what the text says about the number of turns follows from the rules.
void expect_predicted_turns(warpwise::Lesson& lesson) {
    for (const std::size_t chunks : kChunkCounts) {
        const double c = static_cast<double>(chunks);
        for (const std::size_t streams : kStreamCounts) {
            const double turns = end_of(planned(streams, chunks, {c, c, c}));
            const double predicted = streams == 1 ? 3 * c : streams == 2 ? 1.5 * c + 1 : c + 2;
            lesson.expect(std::fabs(turns - predicted) < 1e-9 * c, std::to_string(streams) + " streams, " +
                                                                       std::to_string(chunks) +
                                                                       " chunks: as many turns as predicted");
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
        const std::string what = std::to_string(streams) + " streams: ";
        lesson.expect(counts->global_load.requests == warps && counts->global_store.requests == warps,
                      what + "a load and a store for each warp of elements, as without chunks");
        lesson.expect(counts->global_load.sectors == 4 * warps && counts->global_store.sectors == 4 * warps,
                      what + "4 sectors for each of them");
    }
}

void show_plans(warpwise::Lesson& lesson) {
    std::string text;
    for (const std::size_t streams : kStreamCounts) {
        text += bars(planned(streams, 8, {8, 8, 8}), streams, 2);
    }
    lesson.text(
        "As the rules have it, 8 chunks, where each part takes one turn:\n\n" + text +
        "\n`>` copies in, `#` computes, `<` copies out; behind it stands the number of the chunk, and a turn is "
        "two characters wide. In each column there is one of a kind, since there is one engine of a kind.");
}

// The sweep over streams and chunks where there is a clock: times of the parts alone, then of all of it.
void measure_overlap(warpwise::Lesson& lesson, Roots& problem) {
    std::vector<warpwise::Candidate> candidates = {{[&] { problem.copy_in(0, problem.count, nullptr); }, false},
                                                   {[&] { problem.compute(0, problem.count, nullptr); }, false},
                                                   {[&] { problem.copy_out(0, problem.count, nullptr); }, false}};
    for (const std::size_t streams : kStreamCounts) {
        for (const std::size_t chunks : kChunkCounts) {
            candidates.push_back({[&problem, streams, chunks] { queue_chunks(problem, streams, chunks); }, false});
        }
    }
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn(candidates, {.samples = 5, .seconds = 0.2, .flush_l2 = false});
    const std::array<double, kParts> whole = {timings[0].median, timings[1].median, timings[2].median};
    const double bytes = static_cast<double>(problem.count) * sizeof(float);
    lesson.table("Each part alone, the whole array", {"part", "ms", "GB/s over the bus"},
                 {{"copy in", text_of("%.2f", whole[0] * 1e3), text_of("%.1f", bytes / whole[0] * 1e-9)},
                  {"compute", text_of("%.2f", whole[1] * 1e3), "-"},
                  {"copy out", text_of("%.2f", whole[2] * 1e3), text_of("%.1f", bytes / whole[2] * 1e-9)}});

    std::vector<std::vector<std::string>> rows;
    std::size_t next = kParts;
    for (const std::size_t streams : kStreamCounts) {
        for (const std::size_t chunks : kChunkCounts) {
            const double seconds = timings[next++].median;
            rows.push_back({std::to_string(streams), std::to_string(chunks), text_of("%.2f", seconds * 1e3),
                            text_of("%.2f", ideal(whole) / seconds),
                            text_of("%.2f", ideal(whole) / end_of(planned(streams, chunks, whole)))});
        }
    }
    lesson.table("All of it; the ideal is the longest part alone, " + text_of("%.2f ms", ideal(whole) * 1e3),
                 {"streams", "chunks", "ms", "of the ideal", "by the rules"}, rows);

    std::string text;
    double columns_per_second = 0;
    for (const std::size_t streams : kStreamCounts) {
        const std::vector<Chunk> chunks = measured(problem, streams, 8);
        if (columns_per_second == 0) columns_per_second = 64 / end_of(chunks);  // one stream fills the line
        text += bars(chunks, streams, columns_per_second);
    }
    lesson.text("As it was, by events, 8 chunks, all on one scale:\n\n" + text +
                "\n`>` copies in, `#` computes, `<` copies out; behind it stands the number of the chunk.");
    problem.poison();
    queue_chunks(problem, kMostStreams, 32);
    lesson.expect(problem.compare().passed, "after all measurements the result is right");
}

// The same table without a clock: parts of equal length, and what was recorded.
void tell_overlap(warpwise::Lesson& lesson) {
    const warpwise::Record& recorded = lesson.recorded();
    std::vector<std::string> header = {"streams", "chunks", "turns", "ideal", "of the ideal"};
    if (recorded) header.push_back("on an H200");
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t streams : kStreamCounts) {
        for (const std::size_t chunks : kChunkCounts) {
            const double c = static_cast<double>(chunks);
            const double turns = end_of(planned(streams, chunks, {c, c, c}));
            rows.push_back({std::to_string(streams), std::to_string(chunks), text_of("%.0f", turns), text_of("%.0f", c),
                            text_of("%.2f", c / turns)});
            if (!recorded) continue;
            rows.back().push_back(
                recorded.cell("All of it", {std::to_string(streams), std::to_string(chunks)}, "of the ideal"));
        }
    }
    const std::string where = recorded ? "; last column: " + recorded.where() : "";
    lesson.table("As the rules have it, three parts of equal length" + where, header, rows);
}

// What the rules leave out, told by what an H200 did.
void tell_both_ways(warpwise::Lesson& lesson) {
    lesson.text(
        R"(On an H200 the bus decides. Alone, copying in takes 19.4 ms, computing 14.5 and copying out 19.4. By the
rules 32 chunks in four streams reach 0.95 of the ideal, which is the longest part alone; they reached 0.85, and eight
streams no more. One stream, in which nothing overlaps, keeps to the rules exactly: 0.36. So the calls cost little, and
the rest is the bus. The rules have an engine for each direction, neither of which knows of the other; but the bus moves
55 GB/s in one direction alone, and where the kernel reads and writes it by itself (mapped), 84.5 in both together, not
110. With four streams it was 94.5.)");
}

}  // namespace

void host_memory_and_streams(warpwise::Lesson& lesson) {
    lesson.text(
        R"(The host has four kinds of memory for a program that uses a device. Pageable is what malloc and new give:
the system may move it or write it to a disk. Page-locked memory (cudaMallocHost) stays where it is. Mapped memory is
page-locked, and kernels may read and write it themselves. Managed memory (cudaMallocManaged) has one address for both
sides, and its pages move to whoever touches them.

What you will see: an array on its way by all four; then square roots of an array on the host, in one go and cut into
chunks for several streams.

Predict: which kind is the slowest way to the device? And for which of the four does it matter who touched the data
last?)");
    compare_kinds_of_memory(lesson);
    lesson.text(
        warpwise::Lesson::on_gpu()
            ? R"(Pageable memory is copied twice, the first time by the processor. Page-locked memory moves at the speed
of the bus, by a copy engine or by a kernel that reads it as mapped memory. Managed memory is the one for which it
matters who touched it last: what is on the other side has to move, page fault by page fault, unless it is prefetched.
Then it comes nearly as fast as a copy to the device; back to the host an H200 moved it at a third of that, 19 GB/s.)"
            : R"(On the CPU device all memory is the host's own, so there is nothing to measure here; all data have
arrived. On a GPU, pageable memory is copied twice, the first time by the processor. Page-locked memory moves at the
speed of the bus, by a copy engine or by a kernel that reads it as mapped memory. Managed memory is the one for which it
matters who touched it last: what is on the other side has to move, page fault by page fault, unless it is prefetched.
Then it comes nearly as fast as a copy to the device; back to the host an H200 moved it at a third of that, 19 GB/s.)");
    lesson.text(
        R"(Page-locked memory is no free gift: to allocate it takes long, and the system has to do without it. Allocate
it once, and use it again and again.

Now the whole problem: copy in, compute, copy out. The roof in this table is the device's own memory, so "of roof" says
how far away the bus is. Say that the three parts take the same time. How many times as fast can it become, if all three
overlap? And how many streams does that take?)");

    const auto in_streams = [](std::size_t streams) {
        return [streams](Roots& problem) { queue_chunks(problem, streams, 32); };
    };
    const warpwise::Sizes sizes = {
        .gpu = {std::size_t{1} << 28},
        .cpu = {std::size_t{1} << 14},
        .awkward = {{0}, {1}, {31}, {32}, {33}, {255}, {257}, {1009}, {8191}, {8193}, {50021}}};
    lesson.steps<Roots>(sizes, {{"pageable", "ordinary memory, one part after the other", pageable},
                                {"page_locked", "page-locked memory", page_locked},
                                {"mapped", "the kernel crosses the bus itself", mapped},
                                {"one_stream", "32 chunks in one stream", in_streams(1)},
                                {"two_streams", "in two streams", in_streams(2)},
                                {"four_streams", "in four streams", in_streams(4)},
                                {"eight_streams", "in eight streams", in_streams(8)}});
    expect_predicted_requests(lesson);
    expect_predicted_turns(lesson);

    lesson.text(
        R"(At most three times, and it takes three streams: a stream does one part at a time, so two of them keep two
engines busy. With c chunks, one stream takes 3c turns, two take 1.5c + 1, three or more take c + 2. The 2 are fill and
drain: the first chunk has to come in before anything can overlap, and the last one has to go out.)");
    show_plans(lesson);
    lesson.text(
        R"(Smaller chunks make fill and drain shorter: c / (c + 2) is 0.80 for 8 chunks and 0.94 for 32. Why not 10000?
Because each copy and each launch has a price of its own, some microseconds, and a small copy does not reach the speed
of a large one.)");
    if (lesson.measures()) {
        std::size_t free_bytes = 0, all_bytes = 0, count = lesson.size(sizes.gpu, sizes.cpu)[0];
        check(cudaMemGetInfo(&free_bytes, &all_bytes));
        while (Roots::device_bytes({count}) > free_bytes / 2) count /= 2;
        Roots problem({count});
        problem.poison();
        measure_overlap(lesson, problem);
        lesson.text(
            R"("By the rules" is what the three times and the rules above predict, fill and drain included. What is
missing from it is the price of the calls, and copies that slow each other down when the bus is used both ways.)");
    } else {
        tell_overlap(lesson);
    }
    if (!warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(The CPU device does the work inside of each call, in the order of the calls: results are those of a GPU,
times are not. It cannot show that something overlaps, nor that a wait is missing. The bars above are the rules, and not
a measurement; a GPU prints its own, by events.)");
    }
    tell_both_ways(lesson);
    lesson.text(
        R"(Mistakes to avoid: cudaMemcpyAsync on pageable memory, which waits for the processor's part of the work; a
copy or a launch without a stream in between, since the legacy default stream waits for all others and they for it (but
not for streams made with cudaStreamNonBlocking, and not if compiled with --default-stream per-thread); cudaMalloc,
cudaFree or cudaMallocHost in the loop; synchronizing after every chunk; reading the result, or writing the next input
into the same memory, before the stream is done with it; starting a kernel in another stream than the copy that it needs
without an event between them.

Try next: sizes for which a chunk is small, and the exercise overlap_streams. Then queue all copies in first, then all
kernels, then all copies out: which row of bars changes?

    memory_model host_memory_and_streams --size 1Mi
    memory_model host_memory_and_streams --step streams)");
}

}  // namespace memory_model
