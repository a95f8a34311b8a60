// Problem: what does a program lose in its calls between kernels, and what can it tell the
// GPU in advance?
//
// Four questions, each with a problem of its own: where is scratch memory from
// (scratch.cuh), who goes first, what stays in the L2 cache (lookups.cuh), and where are
// the pages of managed memory?
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "chapters/5_modern_cuda/memory_and_streams/kernels.cuh"
#include "chapters/5_modern_cuda/memory_and_streams/lookups.cuh"
#include "chapters/5_modern_cuda/memory_and_streams/pools.h"
#include "chapters/5_modern_cuda/memory_and_streams/scratch.cuh"
#include "chapters/5_modern_cuda/memory_and_streams/wrong.cuh"
#include "chapters/5_modern_cuda/mistakes.h"
#include "common/helpers/activity.h"
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
#include "common/lesson/memory.h"

namespace modern_cuda {
namespace {

using warpwise::text_of;

double median_of(std::vector<double> samples) {
    return warpwise::timing_of(std::move(samples)).median;
}

const std::vector<std::size_t> kAwkward = {0,  1,   2,   3,    31,   32,
                                           33, 255, 257, 1009, 4096, 50021};

// ---- where scratch memory is from -------------------------------------------------------

struct Source {
    const char* name;
    const char* change;
    void (*run)(Smoothing&);
    const Pool* (*pool)(Smoothing&);  // null: not from a pool
};

const std::array<Source, 5> kSources = {{
    {"scratch_by_malloc", "cudaMalloc and cudaFree in each round", scratch_by_malloc,
     nullptr},
    {"scratch_once", "allocated once, before the rounds", scratch_once, nullptr},
    {"scratch_async", "cudaMallocAsync, threshold 0", scratch_async,
     [](Smoothing& problem) -> const Pool* { return &problem.returning; }},
    {"scratch_async_kept", "the pool keeps its memory", scratch_async_kept,
     [](Smoothing& problem) -> const Pool* { return &problem.keeping; }},
    {"scratch_in_two_streams", "a second stream uses it, too", scratch_in_two_streams,
     [](Smoothing& problem) -> const Pool* { return &problem.keeping; }},
}};

// What the runtime was asked for meanwhile: the CPU device keeps a list.
struct Calls {
    std::size_t allocations = 0;
    std::size_t waits = 0;  // calls that wait for the device, or for a stream
};

Calls calls_of(const std::function<void()>& body) {
    Calls calls;
    for (const warpwise::ApiCall& call : warpwise::log_during(body)) {
        calls.allocations += call.function.starts_with("cudaMalloc");
        calls.waits += call.waits;
    }
    return calls;
}

void show_pools(warpwise::Lesson& lesson) {
    // Where each call and launch is looked at, a shorter array does.
    const bool on_gpu = warpwise::Lesson::on_gpu();
    Smoothing problem({on_gpu ? std::size_t{1} << 20 : 10007});
    std::vector<std::vector<std::string>> rows;
    for (const Source& source : kSources) {
        problem.watched = source.pool == nullptr ? nullptr : source.pool(problem);
        if (problem.watched == &problem.keeping)
            check(cudaMemPoolTrimTo(problem.keeping.handle(), 0));
        problem.held = problem.times_grown = 0;
        problem.most_held = problem.held_after = 0;
        problem.poison();
        const Calls calls = calls_of([&] { source.run(problem); });
        lesson.expect(problem.compare().passed,
                      std::string(source.name) + ": right while it is watched");
        const bool is_pool = problem.watched != nullptr;
        const auto mebibytes = [&](std::size_t bytes) {
            return is_pool ? text_of("%.0f", static_cast<double>(bytes) / kMiB) : "-";
        };
        rows.push_back({source.name, on_gpu ? "-" : std::to_string(calls.allocations),
                        on_gpu ? "-" : std::to_string(calls.waits),
                        is_pool ? std::to_string(problem.times_grown) : "-",
                        mebibytes(problem.most_held), mebibytes(problem.held_after)});
        problem.watched = nullptr;
    }
    lesson.table({"pools", "What " + std::to_string(kRounds) + " rounds ask for"},
                 {"step", "allocations", "calls that wait", "pool grew", "MiB held in use",
                  "MiB held after"},
                 rows);
}

// ---- mistakes that the CPU device finds -------------------------------------------------

Mistake in_function(const char* name, const char* what,
                    void (*function)(const float*, float*), const char* kind) {
    const auto run = [function] {
        const DeviceBuffer<float> d_in(warpwise::uniform<float>(kFew, 1));
        DeviceBuffer<float> d_out(kFew);
        function(d_in.data(), d_out.data());
        warpwise::check_finished();
    };
    return {name, what, run, kind};
}

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        in_function("used_before_it_is_allocated", "no event after cudaMallocAsync",
                    used_before_it_is_allocated, "missing_order"),
        in_function("freed_without_an_event", "no event before cudaFreeAsync",
                    freed_without_an_event, "missing_order"),
        in_function("event_after_the_free", "the event comes too late",
                    event_after_the_free, "use_after_free"),
        in_function("freed_by_cuda_free", "cudaFree does not wait for a pool's memory",
                    freed_by_cuda_free, "missing_order"),
        in_function("managed_read_without_waiting", "host code reads too early",
                    managed_read_without_waiting, "missing_order"),
    };
    return all;
}

// ---- who goes first ---------------------------------------------------------------------

struct Range {
    int least = 0, greatest = 0;  // priorities; a smaller number is more urgent
    Range() { check(cudaDeviceGetStreamPriorityRange(&least, &greatest)); }
};

// A kernel that takes long, and one that is urgent.
struct TwoKinds {
    std::vector<float> goal, in;
    DeviceBuffer<float> d_goal, d_reached, d_in, d_out;
    int turns = 64;

    TwoKinds(std::size_t long_count, std::size_t urgent_count)
        : goal(warpwise::uniform<float>(long_count, 11)),
          in(warpwise::uniform<float>(urgent_count, 12)),
          d_goal(goal),
          d_reached(long_count),
          d_in(in),
          d_out(urgent_count) {}

    void poison() {
        d_reached.fill_bytes(0xFF);
        d_out.fill_bytes(0xFF);
        warpwise::check_finished();
    }
    void launch_long(cudaStream_t stream) {
        long_work<<<warpwise::blocks_for(goal.size(), kThreads), kThreads, 0, stream>>>(
            d_goal.data(), goal.size(), turns, d_reached.data());
        warpwise::check_launch();
    }
    void launch_urgent(cudaStream_t stream) {
        urgent_work<<<warpwise::blocks_for(in.size(), kThreads), kThreads, 0, stream>>>(
            d_in.data(), in.size(), d_out.data());
        warpwise::check_launch();
    }
    // Each turn halves the distance to the goal, and rounds by less than an epsilon of it.
    bool right() const {
        const auto reached = [&](std::size_t i) {
            return goal[i] * (1 - std::pow(0.5, turns));
        };
        const auto doubled = [&](std::size_t i) { return 2.0 * in[i]; };
        return warpwise::compare_each(d_reached.download(), goal.size(), reached,
                                      {.absolute = FLT_MIN, .relative = 4 * FLT_EPSILON})
                   .passed &&
               warpwise::compare_each(d_out.download(), in.size(), doubled).passed;
    }
};

// Seconds from the launch of the urgent kernel until its stream is done, while the long one
// runs.
double latency(TwoKinds& kinds, const Stream& background, const Stream& urgent) {
    kinds.launch_long(background);
    const warpwise::HostTimer running;
    while (running.seconds() < 0.3e-3) {  // until all places on the GPU are taken
    }
    const warpwise::HostTimer timer;
    kinds.launch_urgent(urgent);
    urgent.wait();
    const double seconds = timer.seconds();
    background.wait();
    return seconds;
}

double seconds_of_long(TwoKinds& kinds, const Stream& stream) {
    stream.wait();
    const warpwise::HostTimer timer;
    kinds.launch_long(stream);
    stream.wait();
    return timer.seconds();
}

// So many turns that a block keeps its place for about so long.
int turns_for(double block_seconds) {
    const unsigned resident = warpwise::blocks_that_fill(long_work, kThreads);
    TwoKinds one_wave(std::size_t{resident} * kThreads, kThreads);
    const Stream stream;
    one_wave.turns = 100'000;
    (void)seconds_of_long(one_wave, stream);
    const double seconds = seconds_of_long(one_wave, stream);
    return static_cast<int>(std::clamp(one_wave.turns * block_seconds / seconds, 1.0, 1e9));
}

void show_priorities(warpwise::Lesson& lesson) {
    const Range range;
    const Stream background(range.least), equal(range.least), first(range.greatest);
    int priority = 1;
    check(cudaStreamGetPriority(first, &priority));
    lesson.expect(priority == range.greatest,
                  "the urgent stream has the priority asked for");
    for (const std::size_t count : kAwkward) {
        TwoKinds kinds(count, count / 2);
        for (const Stream* urgent : {&equal, &first}) {
            kinds.poison();
            kinds.launch_long(background);
            kinds.launch_urgent(*urgent);
            warpwise::check_finished();
            lesson.expect(kinds.right(), "long and urgent work, " + std::to_string(count));
        }
    }
    if (!lesson.measures()) {
        lesson.show_recorded("priorities");
        return;
    }
    constexpr double long_seconds = 10e-3;
    const unsigned resident = warpwise::blocks_that_fill(long_work, kThreads);
    std::vector<std::vector<std::string>> rows;
    for (const double block_seconds : {20e-6, 200e-6, 2e-3}) {
        const auto waves =
            static_cast<std::size_t>(std::lround(long_seconds / block_seconds));
        TwoKinds kinds(waves * resident * kThreads, std::size_t{1} << 16);
        kinds.turns = turns_for(block_seconds);
        kinds.poison();
        std::vector<double> whole, alone, same, urgent;
        for (int sample = 0; sample < 21; ++sample) {
            whole.push_back(seconds_of_long(kinds, background));
            const warpwise::HostTimer timer;
            kinds.launch_urgent(first);
            first.wait();
            alone.push_back(timer.seconds());
            same.push_back(latency(kinds, background, equal));
            urgent.push_back(latency(kinds, background, first));
        }
        lesson.expect(kinds.right(), "long and urgent work, after timing");
        rows.push_back({text_of("%.0f", block_seconds * 1e6), std::to_string(waves),
                        text_of("%.1f", median_of(whole) * 1e3),
                        text_of("%.0f", median_of(alone) * 1e6),
                        text_of("%.0f", median_of(same) * 1e6),
                        text_of("%.0f", median_of(urgent) * 1e6)});
    }
    lesson.table({"priorities", "A kernel of 65536 threads, while a long one runs"},
                 {"us per block", "waves", "long kernel, ms", "alone, us",
                  "equal priority, us", "higher priority, us"},
                 rows);
}

// ---- what stays in the L2 cache ---------------------------------------------------------

struct Policy {
    const char* name;
    bool has_window;
    void (Lookups::*run)();
};

const std::array<Policy, 4> kPolicies = {{
    {"plain", false, &Lookups::run_plain},
    {"streaming loads", false, &Lookups::run_streaming},
    {"window", true, &Lookups::run_plain},
    {"window and streaming loads", true, &Lookups::run_streaming},
}};

// Seconds of one run, warm: the runs before have left in the cache what they leave.
double seconds_of(Lookups& problem, const Policy& policy) {
    warpwise::DeviceTimer timer;
    std::vector<double> samples;
    for (int run = 0; run < 12; ++run) {
        timer.start(problem.stream);
        (problem.*policy.run)();
        timer.stop(problem.stream);
        if (run >= 2) samples.push_back(timer.seconds());
    }
    return median_of(std::move(samples));
}

void with_policy(Lookups& problem, const Policy& policy,
                 const std::function<void()>& body) {
    if (!policy.has_window) return body();
    const PersistingTable window(problem.stream, problem.d_table.data(),
                                 problem.d_table.bytes());
    body();
    problem.stream.wait();
}

constexpr std::array<std::size_t, 6> kTables = {2, 8, 16, 24, 32, 48};  // MiB

// How much of the array passes, on average, between two lookups of one sector.
void show_distances(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t mebibytes : kTables) {
        const std::size_t sectors = mebibytes * kMiB / 32;
        const std::size_t passing = sectors * kPerLookup * sizeof(float);
        rows.push_back({std::to_string(mebibytes), std::to_string(sectors),
                        std::to_string(passing / kMiB),
                        std::to_string(passing / kMiB + mebibytes)});
    }
    lesson.table({"distances", "Between two lookups of one sector, on average"},
                 {"table, MiB", "sectors", "MiB of the array", "with the table"}, rows);
}

void show_windows(warpwise::Lesson& lesson) {
    show_distances(lesson);
    const auto is_left_out = [](const Policy& policy) {
        return policy.has_window && !has_windows();
    };
    for (const std::size_t count : kAwkward) {
        Lookups problem(count, 4096);
        for (const Policy& policy : kPolicies) {
            if (is_left_out(policy)) continue;
            problem.poison();
            with_policy(problem, policy, [&] { (problem.*policy.run)(); });
            lesson.expect(problem.compare().passed, std::string("lookups, ") + policy.name +
                                                        ", " + std::to_string(count));
        }
    }
    if (!has_windows())
        lesson.text(
            "This GPU has no window for the L2 cache: left out are the rows with one.");
    if (!lesson.measures()) {
        lesson.show_recorded("windows");
        return;
    }
    const std::size_t count = warpwise::halve_to_fit(
        std::size_t{1} << 28, 1 << 20, [](std::size_t n) { return n * sizeof(float); });
    std::vector<std::string> head = {"loads of the array and of the table"};
    std::vector<std::vector<std::string>> rows;
    for (const Policy& policy : kPolicies)
        if (!is_left_out(policy)) rows.push_back({policy.name});
    for (const std::size_t mebibytes : kTables) {
        head.push_back(std::to_string(mebibytes) + " MiB");
        Lookups problem(count, mebibytes * kMiB);
        std::size_t row = 0;
        for (const Policy& policy : kPolicies) {
            if (is_left_out(policy)) continue;
            problem.poison();
            double seconds = 0;
            with_policy(problem, policy, [&] { seconds = seconds_of(problem, policy); });
            lesson.expect(problem.compare().passed,
                          std::string("lookups, ") + policy.name + ", after timing");
            rows[row++].push_back(text_of("%.0f", problem.bytes() / seconds * 1e-9));
        }
    }
    lesson.table(
        {"windows", std::to_string(count) + " floats pass: GB/s, by the size of the table",
         "at most " +
             std::to_string(static_cast<std::size_t>(
                                attribute_of_device(cudaDevAttrMaxPersistingL2CacheSize)) /
                            kMiB) +
             " MiB may be set aside"},
        head, rows);
}

// ---- where the pages of managed memory are ----------------------------------------------

bool can_advise() { return attribute_of_device(cudaDevAttrConcurrentManagedAccess) != 0; }

cudaMemLocation this_device() {
    cudaMemLocation location = {};
    location.type = cudaMemLocationTypeDevice;
    check(cudaGetDevice(&location.id));
    return location;
}
cudaMemLocation the_host() {
    cudaMemLocation location = {};
    location.type = cudaMemLocationTypeHost;
    return location;
}

// x and y, either managed or twice: on the host and on the device.
class Vectors {
public:
    Vectors(std::size_t count, bool managed) : count_(count), managed_(managed) {
        const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(float);
        for (Vector* vector : {&x, &y}) {
            void *host = nullptr, *device = nullptr;
            if (managed) {
                check(cudaMallocManaged(&host, bytes));
                device = host;
            } else {
                check(cudaHostAlloc(&host, bytes, cudaHostAllocDefault));
                check(cudaMalloc(&device, bytes));
            }
            vector->host = static_cast<float*>(host);
            vector->device = static_cast<float*>(device);
        }
    }
    ~Vectors() {
        for (const Vector* vector : {&x, &y}) {
            if (!managed_) (void)cudaFreeHost(vector->host);
            (void)cudaFree(vector->device);
        }
    }
    Vectors(const Vectors&) = delete;
    Vectors& operator=(const Vectors&) = delete;

    struct Vector {
        float *host = nullptr, *device = nullptr;
    };
    Vector x, y;

    std::size_t bytes() const { return count_ * sizeof(float); }

    void prefetch(const Vector& vector, cudaMemLocation location) const {
        if (count_ > 0)
            check(cudaMemPrefetchAsync(vector.host, bytes(), location, 0, nullptr));
    }
    void advise(const Vector& vector, cudaMemoryAdvise advice,
                cudaMemLocation location) const {
        if (count_ > 0) check(cudaMemAdvise(vector.host, bytes(), advice, location));
    }
    void copy(void* to, const void* from) const {
        check(cudaMemcpyAsync(to, from, bytes(), cudaMemcpyDefault, nullptr));
    }

private:
    std::size_t count_;
    bool managed_;
};

struct Placement {
    const char* name;
    bool managed;
    std::function<void(Vectors&)> at_first = [](Vectors&) {};   // not timed
    std::function<void(Vectors&)> to_device = [](Vectors&) {};  // before the first kernel
    std::function<void(Vectors&)> to_host = [](Vectors&) {};    // after the second one
};

std::vector<Placement> placements() {
    std::vector<Placement> all;
    all.push_back({.name = "explicit copies",
                   .managed = false,
                   .to_device =
                       [](Vectors& v) {
                           v.copy(v.x.device, v.x.host);
                           v.copy(v.y.device, v.y.host);
                       },
                   .to_host = [](Vectors& v) { v.copy(v.y.host, v.y.device); }});
    all.push_back({.name = "managed, by page faults", .managed = true});
    if (!can_advise()) return all;
    const auto prefetch_both = [](Vectors& v) {
        v.prefetch(v.x, this_device());
        v.prefetch(v.y, this_device());
    };
    const auto prefetch_result = [](Vectors& v) { v.prefetch(v.y, the_host()); };
    all.push_back({.name = "managed, prefetched",
                   .managed = true,
                   .to_device = prefetch_both,
                   .to_host = prefetch_result});
    all.push_back(
        {.name = "  and x is read mostly",
         .managed = true,
         .at_first =
             [](Vectors& v) { v.advise(v.x, cudaMemAdviseSetReadMostly, this_device()); },
         .to_device = prefetch_both,
         .to_host = prefetch_result});
    all.push_back(
        {.name = "managed, kept on the host", .managed = true, .at_first = [](Vectors& v) {
             for (const Vectors::Vector* vector : {&v.x, &v.y}) {
                 v.advise(*vector, cudaMemAdviseSetPreferredLocation, the_host());
                 v.advise(*vector, cudaMemAdviseSetAccessedBy, this_device());
             }
         }});
    return all;
}

// Seconds of the parts; bytes as each needs them.
struct Moves {
    double first = 0;   // kernel, and all that brings its operands to it
    double again = 0;   // the same kernel at once after that
    double result = 0;  // until the host has read y
    double input = 0;   // until the host has read x once more
};

constexpr float kFactor = 0.5f;

double sum_of(const float* values, std::size_t count) {
    const std::size_t parts = warpwise::parallel_parts(count);
    std::vector<double> sums(parts);
    warpwise::parallel_for_parts(count, parts,
                                 [&](std::size_t part, std::size_t begin, std::size_t end) {
                                     double sum = 0;
                                     for (std::size_t i = begin; i < end; ++i)
                                         sum += values[i];
                                     sums[part] = sum;
                                 });
    double sum = 0;
    for (const double part : sums) sum += part;
    return sum;
}

Moves move(warpwise::Lesson& lesson, const Placement& placement, Vectors& v,
           std::size_t count) {
    // The host writes both, so that all pages are there.
    const auto x_of = [](std::size_t i) { return static_cast<float>(i % 1000); };
    warpwise::parallel_for(count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            v.x.host[i] = x_of(i);
            v.y.host[i] = 1;
        }
    });
    const unsigned blocks = std::min(warpwise::blocks_for(count, kThreads),
                                     warpwise::blocks_that_fill(add_scaled, kThreads));
    const auto launch = [&] {
        add_scaled<<<blocks, kThreads>>>(kFactor, v.x.device, v.y.device, count);
        warpwise::check_launch();
        warpwise::check_finished();
    };
    Moves moves;
    warpwise::HostTimer timer;
    placement.to_device(v);
    launch();
    moves.first = timer.seconds();
    timer.start();
    launch();
    moves.again = timer.seconds();
    timer.start();
    placement.to_host(v);
    warpwise::check_finished();
    const double sum_of_y = sum_of(v.y.host, count);
    moves.result = timer.seconds();
    timer.start();
    const double sum_of_x = sum_of(v.x.host, count);
    moves.input = timer.seconds();

    // All values are halves of small integers, so nothing rounds.
    double expected_x = 0;
    for (std::size_t i = 0; i < count; ++i) expected_x += x_of(i);
    const std::vector<float> got(v.y.host, v.y.host + count);
    const auto expected = [&](std::size_t i) { return 1 + 2.0 * kFactor * x_of(i); };
    lesson.expect(
        warpwise::compare_each(got, count, expected).passed && sum_of_x == expected_x &&
            sum_of_y == static_cast<double>(count) + 2 * kFactor * expected_x,
        std::string(placement.name) + ": all values arrive, " + std::to_string(count));
    return moves;
}

void show_placements(warpwise::Lesson& lesson) {
    const std::size_t count =
        lesson.measures()
            ? warpwise::halve_to_fit(std::size_t{1} << 26, 1 << 16,
                                     [](std::size_t n) { return 2 * n * sizeof(float); })
            : 0;
    std::vector<std::vector<std::string>> rows;
    for (const Placement& placement : placements()) {
        for (const std::size_t few : kAwkward) {
            Vectors vectors(few, placement.managed);
            placement.at_first(vectors);
            (void)move(lesson, placement, vectors, few);
        }
        if (!lesson.measures()) continue;
        Vectors vectors(count, placement.managed);
        placement.at_first(vectors);
        std::vector<double> first, again, result, input;
        for (int sample = 0; sample < 5; ++sample) {
            const Moves moves = move(lesson, placement, vectors, count);
            first.push_back(moves.first);
            again.push_back(moves.again);
            result.push_back(moves.result);
            input.push_back(moves.input);
        }
        // x and y go in, x and y are read and y is written, y comes back, x is read again.
        const double gigabytes = static_cast<double>(vectors.bytes()) * 1e-9;
        const auto rate = [&](double arrays, std::vector<double> seconds) {
            return text_of("%.1f", arrays * gigabytes / median_of(std::move(seconds)));
        };
        rows.push_back({placement.name, rate(2, first), rate(3, again), rate(1, result),
                        rate(1, input)});
    }
    if (!can_advise())
        lesson.text("This GPU does not take advice: left out are the rows with it.");
    if (!lesson.measures()) {
        lesson.show_recorded("managed");
        return;
    }
    lesson.table(
        {"managed", "y = a * x + y, " + std::to_string(count) + " floats, GB/s"},
        {"memory", "first kernel", "second kernel", "host reads y", "host reads x"}, rows);
}

}  // namespace

void memory_and_streams(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A loop of 16 rounds needs scratch memory in each round, and the host looks at a
number after each. Where should the memory be from: from cudaMalloc in the loop, from before
the loop, or from a pool?)");
    lesson.predict(
        {.question = R"(Each of 16 rounds allocates with cudaMallocAsync, frees with
cudaFreeAsync, and then the host synchronizes. The pool's release threshold is 0, as it
is at first. How many times does the pool ask the system for memory?)",
         .answer =
             warpwise::Number{
                 .value = 16,
                 .unit = "times",
                 .shown_by = warpwise::TableCell{"pools", {"scratch_async"}, "pool grew"}},
         .because = R"(At each synchronization it gives back all that it holds above the
threshold. The next round has to ask again. With a high threshold it asks once.)"});
    lesson.predict(
        {.question = R"(Which of these steps is the fastest on a GPU, for 2^20 floats?)",
         .answer = warpwise::Fastest{{"scratch_by_malloc", "scratch_once", "scratch_async",
                                      "scratch_async_kept"}},
         .because =
             R"(Memory that is there costs nothing. A pool that keeps its memory comes
close, because it asks the system only once.)"});
    std::vector<warpwise::Step<Smoothing>> steps = {
        {"serial_rounds", "a loop, one core", serial_rounds, warpwise::StepKind::host}};
    for (const Source& source : kSources)
        steps.push_back({source.name, source.change, source.run});
    std::vector<warpwise::Size> awkward;
    for (const std::size_t count : kAwkward) awkward.push_back({count});
    lesson.steps<Smoothing>(
        {.gpu = {std::size_t{1} << 20}, .cpu = {10007}, .awkward = awkward}, steps);
    show_pools(lesson);
    lesson.conclusion(
        R"(cudaMalloc and cudaFree take longer than all the rest of a round here, and
cudaFree waits for all streams. Allocate before the loop where you can. Where you cannot,
take memory in the order of a stream, from a pool whose release threshold is high enough
for what the loop needs again and again.)");

    lesson.question(
        R"(Memory in the order of a stream is there only for work that comes later in that
order. Five functions get the order wrong. On a GPU they may give the right result for
years. How can these mistakes be found?)");
    lesson.predict(
        {.question =
             R"(Stream A allocates memory and fills it. An event lets stream B wait for A,
and a kernel in B reads the memory. After that launch, cudaFreeAsync frees the memory in A.
What may go wrong?)",
         .answer = warpwise::Choice{.choices = {"nothing: the free comes after the launch",
                                                "A frees the memory while B still reads it",
                                                "cudaFreeAsync fails"},
                                    .right = 1},
         .because = R"(The event orders B after A. Nothing orders A's free after B's kernel,
so the memory may be somebody else's by then.)"});
    show_mistakes(lesson, "function", mistakes(), "freed_without_an_event");
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(Two events are needed where two streams share memory: one after the
allocation, for the stream that borrows it, and one after the last use, for the stream that
frees it. The search for errors knows the order of all streams, and names both places.)"
            : R"(By the search for errors of the CPU device, which this program does not
have. Run this lesson there, without --no-counters.)");

    lesson.question(
        R"(A kernel with many blocks keeps the GPU busy for milliseconds. Somebody waits for
the result of a small kernel that is launched meanwhile. How long?)");
    lesson.predict(
        {.question = R"(All places on the GPU are taken by blocks of a long kernel. A kernel
in a stream of higher priority is launched. When do its blocks begin?)",
         .answer =
             warpwise::Choice{
                 .choices = {"at once: running blocks are stopped",
                             "when running blocks end: it gets their places first",
                             "when the long kernel has ended"},
                 .right = 1},
         .because = R"(Priority decides which blocks are given free places. A block that
runs stays until its end.)"});
    show_priorities(lesson);
    lesson.conclusion(
        R"(Blocks of a stream with higher priority get the next places that become free. So
the urgent kernel waits at most about as long as a block of the long kernel takes, and not
for all blocks. Where latency counts, let the blocks of background work be short.)");

    lesson.question(
        R"(An array of 1 GiB passes through the GPU. For every 16 floats a thread needs
one entry of a table, any of them. The table fits into the L2 cache, the array does
not. Does the table stay in the cache?)");
    lesson.predict(
        {.question = R"(Each lookup of a 16 MiB table touches one sector of 32 bytes, in no
order, and 64 bytes of an array are read per lookup. How many MiB of the array pass, on
average, between two lookups of one sector?)",
         .answer =
             warpwise::Number{
                 .value = 32,
                 .unit = "MiB",
                 .shown_by = warpwise::TableCell{"distances", {"16"}, "MiB of the array"}},
         .because =
             R"(The table has 524288 sectors, so a sector has its turn once in as many
lookups, on average: 524288 times 64 bytes.)"});
    show_windows(lesson);
    lesson.conclusion(
        R"(A cache that keeps what was used last keeps a sector of the table only if less
than its size passes until the next lookup. A window sets a part of the cache aside for
the table. Loads with a streaming hint help from the other side: they say what need not
stay. In this experiment the hint helps more than the window on an H200.)");

    lesson.question(
        R"(Managed memory has one address for host and device, and its pages move to the
side that touches them. What does that cost, and what do prefetching and advice change?)");
    lesson.predict(
        {.question = R"(The host has written two managed arrays. How many times as fast as
by page faults do they get to a kernel with cudaMemPrefetchAsync, the kernel included?)",
         .answer =
             warpwise::Measured{
                 .by =
                     warpwise::CellRatio{
                         warpwise::TableCell{
                             "managed", {"managed, prefetched"}, "first kernel"},
                         warpwise::TableCell{
                             "managed", {"managed, by page faults"}, "first kernel"}},
                 .unit = "times",
                 .factor = 2},
         .because = R"(A prefetch moves large pieces with the copy engine. Page faults move
them while threads wait, a group of pages at a time.)"});
    show_placements(lesson);
    lesson.conclusion(
        R"(Prefetching to the device turns page faults into copies. Read mostly lets both
sides have a copy of what neither writes. Kept on the host, memory is read over the bus each
time: right for data that a kernel needs once, and wrong for data that it needs again.)");
}

}  // namespace modern_cuda
