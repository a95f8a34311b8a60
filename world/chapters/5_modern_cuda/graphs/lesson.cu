// Problem: smooth three rows of numbers six times each, and add them up: 20 small kernels.
//
// Each kernel takes about a microsecond, so the time goes into starting kernels. The
// steps start the same work in other ways: with waits, in a stream, as a graph, as a graph
// with branches, as kernels that overlap, and as one kernel.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "chapters/5_modern_cuda/graphs/executable.h"
#include "chapters/5_modern_cuda/graphs/kernels.cuh"
#include "chapters/5_modern_cuda/graphs/wrong.cuh"
#include "chapters/5_modern_cuda/mistakes.h"
#include "common/helpers/activity.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/instrument.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/beside_record.h"
#include "common/lesson/lesson.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

// The same on the host.
std::vector<unsigned> smoothed(const std::vector<unsigned>& row) {
    std::vector<unsigned> out(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
        const unsigned left = row[i == 0 ? 0 : i - 1];
        const unsigned right = row[i + 1 < row.size() ? i + 1 : i];
        out[i] = (left + 2 * row[i] + right + 2) / 4;
    }
    return out;
}

std::vector<unsigned> rows_added(const std::vector<unsigned>& in, unsigned factor) {
    std::vector<unsigned> sum(in.size());
    for (unsigned number = 0; number < kRows; ++number) {
        std::vector<unsigned> row(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) row[i] = in[i] >> number;
        for (unsigned turn = 0; turn < kSweeps; ++turn) row = smoothed(row);
        for (std::size_t i = 0; i < in.size(); ++i) sum[i] += row[i] * factor;
    }
    return sum;
}

std::vector<unsigned> numbers(std::size_t count) {
    std::vector<unsigned> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<unsigned>(warpwise::random_bits(1, i) >> 40);  // 24 bits
    return values;
}

warpwise::Comparison compare_exactly(const std::vector<unsigned>& got,
                                     const std::vector<unsigned>& expected) {
    return warpwise::compare_each(
        got, expected.size(),
        [&](std::size_t i) { return static_cast<double>(expected[i]); }, {.absolute = 0});
}

// The numbers, what is to come out, memory, and streams for the steps.
struct Smoothing {
    std::size_t count;
    unsigned factor = 3;
    std::vector<unsigned> in, expected;
    DeviceBuffer<unsigned> d_in, d_rows, d_others, d_out;
    std::array<Stream, kRows> streams;
    std::array<Event, kRows> events;
    std::map<std::string, Executable> graphs;  // of the steps that replay one

    explicit Smoothing(const warpwise::Size& size)
        : count(size[0]),
          in(numbers(count)),
          expected(rows_added(in, factor)),
          d_in(in),
          d_rows(kRows * count),
          d_others(kRows * count),
          d_out(count) {}

    unsigned blocks() const { return warpwise::blocks_for(count, kThreads); }
    cudaStream_t stream() const { return streams[0].get(); }

    void poison() {
        for (DeviceBuffer<unsigned>* buffer : {&d_rows, &d_others, &d_out})
            buffer->fill_bytes(0xFF);
    }
    warpwise::Comparison compare() { return compare_exactly(d_out.download(), expected); }
    warpwise::Work work() const {
        const double per_number = 1 + 2 * kRows + 2 * kRows * kSweeps + 1;
        return {.bytes = sizeof(unsigned) * per_number * static_cast<double>(count),
                .operations = 4.0 * kRows * kSweeps * static_cast<double>(count)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return (2 + 2 * kRows) * size[0] * sizeof(unsigned) + 4096;
    }
};

// ---- step 1, and the launches of the others ---------------------------------------------

void serial(Smoothing& problem) {
    const std::vector<unsigned> out = rows_added(problem.in, problem.factor);
    if (!out.empty()) problem.d_out.upload(out);
}

// A launch must not wait for the device while it is captured, so this only asks for errors.
void check_call() { warpwise::check(cudaGetLastError()); }

void launch_spread(Smoothing& problem, cudaStream_t stream) {
    spread<<<problem.blocks(), kThreads, 0, stream>>>(problem.d_in.data(), problem.count,
                                                      problem.d_rows.data());
    check_call();
}

// Sweep number `turn` of one row.
void launch_sweep(Smoothing& problem, unsigned row, unsigned turn, cudaStream_t stream) {
    const std::size_t begin = row * problem.count;
    unsigned* from = problem.d_rows.data() + begin;
    unsigned* to = problem.d_others.data() + begin;
    if (turn % 2 == 1) std::swap(from, to);
    sweep<<<problem.blocks(), kThreads, 0, stream>>>(from, problem.count, to);
    check_call();
}

void launch_gather(Smoothing& problem, cudaStream_t stream) {
    gather<<<problem.blocks(), kThreads, 0, stream>>>(problem.d_rows.data(), problem.count,
                                                      problem.factor, problem.d_out.data());
    check_call();
}

// Steps 2 and 3, wait_after_each and one_stream. The wait is the mistake of step 2: nothing
// that the host does next needs the result, and meanwhile no kernel is in the queue.
template <bool Waits>
void launch_all(Smoothing& problem) {
    const cudaStream_t stream = problem.stream();
    const auto wait = [&] {
        if (Waits) warpwise::check(cudaStreamSynchronize(stream));
    };
    launch_spread(problem, stream);
    wait();
    for (unsigned turn = 0; turn < kSweeps; ++turn) {
        for (unsigned row = 0; row < kRows; ++row) {
            launch_sweep(problem, row, turn, stream);
            wait();
        }
    }
    launch_gather(problem, stream);
    wait();
}

// ---- steps 4 to 6, graphs ---------------------------------------------------------------

// Captures what `launch_them` gives to the first stream.
void capture(Smoothing& problem, Executable& graph, void (*launch_them)(Smoothing&)) {
    warpwise::check(
        cudaStreamBeginCapture(problem.stream(), cudaStreamCaptureModeThreadLocal));
    launch_them(problem);
    warpwise::check(cudaStreamEndCapture(problem.stream(), &graph.graph));
    warpwise::check(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
}

// Step 4, captured: the launches of step 3 are recorded once, and replayed with one call.
// Faster because the host makes one call, and everything that can be prepared was prepared
// by cudaGraphInstantiate. Still slow because the 20 kernels wait for each other, one by
// one.
template <void (*LaunchThem)(Smoothing&)>
void replay(Smoothing& problem, const char* name) {
    Executable& graph = problem.graphs[name];
    if (graph.executable == nullptr) capture(problem, graph, LaunchThem);
    warpwise::check(cudaGraphLaunch(graph.executable, problem.stream()));
}

// Step 5, graph_with_branches: the same kernels as nodes, with an edge only where one needs
// what another has written. Faster because the rows no longer wait for each other: the
// longest chain has 8 kernels. Still slow because a chain of 8 dependent kernels remains.
// Returns the last node.
cudaGraphNode_t add_nodes(Smoothing& problem, cudaGraph_t graph) {
    unsigned *in = problem.d_in.data(), *rows = problem.d_rows.data(),
             *out = problem.d_out.data();
    cudaKernelNodeParams kernel{};
    kernel.gridDim = dim3(problem.blocks());
    kernel.blockDim = dim3(kThreads);
    // What these point to is copied when a node is added.
    void* of_spread[] = {&in, &problem.count, &rows};
    kernel.func = (void*)spread;
    kernel.kernelParams = of_spread;
    cudaGraphNode_t first = nullptr;
    warpwise::check(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
    std::array<cudaGraphNode_t, kRows> last{};
    for (unsigned row = 0; row < kRows; ++row) {
        last[row] = first;
        for (unsigned turn = 0; turn < kSweeps; ++turn) {
            unsigned* from = rows + row * problem.count;
            unsigned* to = problem.d_others.data() + row * problem.count;
            if (turn % 2 == 1) std::swap(from, to);
            void* of_sweep[] = {&from, &problem.count, &to};
            kernel.func = (void*)sweep;
            kernel.kernelParams = of_sweep;
            const cudaGraphNode_t before = last[row];
            warpwise::check(cudaGraphAddKernelNode(&last[row], graph, &before, 1, &kernel));
        }
    }
    void* of_gather[] = {&rows, &problem.count, &problem.factor, &out};
    kernel.func = (void*)gather;
    kernel.kernelParams = of_gather;
    cudaGraphNode_t end = nullptr;
    warpwise::check(cudaGraphAddKernelNode(&end, graph, last.data(), last.size(), &kernel));
    return end;
}

void graph_with_branches(Smoothing& problem) {
    Executable& graph = problem.graphs["graph_with_branches"];
    if (graph.executable == nullptr) {
        warpwise::check(cudaGraphCreate(&graph.graph, 0));
        add_nodes(problem, graph.graph);
        warpwise::check(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
    }
    warpwise::check(cudaGraphLaunch(graph.executable, problem.stream()));
}

// Step 6, captured_branches: the same graph, captured. An event that was recorded in the
// captured stream takes the capture along to the stream that waits for it. Every stream has
// to come back in the same way before the capture ends.
void launch_in_branches(Smoothing& problem) {
    const cudaStream_t stream = problem.stream();
    launch_spread(problem, stream);
    warpwise::check(cudaEventRecord(problem.events[0].get(), stream));
    for (unsigned row = 0; row < kRows; ++row) {
        const cudaStream_t own = problem.streams[row].get();
        if (row > 0) warpwise::check(cudaStreamWaitEvent(own, problem.events[0].get(), 0));
        for (unsigned turn = 0; turn < kSweeps; ++turn)
            launch_sweep(problem, row, turn, own);
    }
    for (unsigned row = 1; row < kRows; ++row) {
        warpwise::check(
            cudaEventRecord(problem.events[row].get(), problem.streams[row].get()));
        warpwise::check(cudaStreamWaitEvent(stream, problem.events[row].get(), 0));
    }
    launch_gather(problem, stream);
}

// ---- steps 7 to 9, overlapping kernels and a single one ---------------------------------

// A launch that may begin before the kernel ahead of it in the stream has ended.
template <class... Parameters, class... Arguments>
void launch_dependent(Smoothing& problem, void (*kernel)(Parameters...),
                      Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(problem.blocks());
    config.blockDim = dim3(kThreads);
    config.stream = problem.stream();
    config.attrs = &attribute;
    config.numAttrs = 1;
    warpwise::check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

void dependent_launches(Smoothing& problem) {
    unsigned* const rows = problem.d_rows.data();
    launch_dependent(problem, spread_dependent, problem.d_in.data(), problem.count, rows);
    for (unsigned turn = 0; turn < kSweeps; ++turn) {
        for (unsigned row = 0; row < kRows; ++row) {
            unsigned* from = rows + row * problem.count;
            unsigned* to = problem.d_others.data() + row * problem.count;
            if (turn % 2 == 1) std::swap(from, to);
            launch_dependent(problem, sweep_dependent, from, problem.count, to);
        }
    }
    launch_dependent(problem, gather_dependent, rows, problem.count, problem.factor,
                     problem.d_out.data());
}

void one_kernel(Smoothing& problem) {
    static const unsigned resident = warpwise::blocks_that_fill(persistent, kThreads);
    const unsigned blocks =
        std::min(resident, warpwise::blocks_for(kRows * problem.count, kThreads));
    unsigned *in = problem.d_in.data(), *rows = problem.d_rows.data(),
             *others = problem.d_others.data(), *out = problem.d_out.data();
    void* arguments[] = {&in, &problem.count, &rows, &others, &problem.factor, &out};
    warpwise::check(cudaLaunchCooperativeKernel(persistent, dim3(blocks), dim3(kThreads),
                                                arguments, 0, problem.stream()));
}

// ---- all of them ------------------------------------------------------------------------

struct Method {
    const char* name;
    const char* change;
    void (*run)(Smoothing&);
    unsigned launches;  // kernels that the host launches in a run
    unsigned graphs;    // graphs that it launches
    unsigned kernels;   // that run
    unsigned waits;     // of the host
    unsigned chain;     // kernels that wait for each other
    bool dependent = false;
};

const std::array<Method, 8> kMethods = {{
    {"wait_after_each", "a kernel per sweep, a wait after each", launch_all<true>, kKernels,
     0, kKernels, kKernels, kKernels},
    {"one_stream", "no waits: the stream keeps the order", launch_all<false>, kKernels, 0,
     kKernels, 0, kKernels},
    {"captured", "recorded once, replayed as a graph",
     [](Smoothing& problem) { replay<launch_all<false>>(problem, "captured"); }, 0, 1,
     kKernels, 0, kKernels},
    {"graph_with_branches", "edges only where data flows", graph_with_branches, 0, 1,
     kKernels, 0, 2 + kSweeps},
    {"captured_branches", "the same, captured with events",
     [](Smoothing& problem) { replay<launch_in_branches>(problem, "captured_branches"); },
     0, 1, kKernels, 0, 2 + kSweeps},
    {"dependent_launches", "kernels that begin early and wait", dependent_launches,
     kKernels, 0, kKernels, 0, kKernels, true},
    {"captured_dependent", "the same, recorded and replayed",
     [](Smoothing& problem) { replay<dependent_launches>(problem, "captured_dependent"); },
     0, 1, kKernels, 0, kKernels, true},
    {"persistent", "one cooperative kernel, grid.sync()", one_kernel, 1, 0, 1, 0, 1},
}};

// Programmatic dependent launches came with compute capability 9.0.
bool has_dependent_launches() {
    int device = 0, major = 0;
    warpwise::check(cudaGetDevice(&device));
    warpwise::check(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return major >= 9;
}

std::vector<Method> methods_of_this_device() {
    std::vector<Method> all(kMethods.begin(), kMethods.end());
    if (!has_dependent_launches())
        std::erase_if(all, [](const Method& method) { return method.dependent; });
    return all;
}

void expect_right(warpwise::Lesson& lesson, const std::string& what, Smoothing& problem,
                  const std::function<void()>& run) {
    problem.poison();
    run();
    const warpwise::Comparison comparison = problem.compare();
    lesson.expect(comparison.passed, what + ": " + comparison.summary());
}

// ---- what the host does, as the CPU device logs it --------------------------------------

struct HostWork {
    unsigned launches = 0, graphs = 0, kernels = 0, waits = 0, instantiations = 0;
};

// Counts the calls of `run`; nothing where no calls are logged.
HostWork host_work_of(const std::function<void()>& run) {
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    HostWork work;
    for (const warpwise::ApiCall& call : warpwise::log_during(run)) {
        work.kernels += call.launch != 0 ? 1 : 0;
        work.launches += call.launch != 0 && !call.in_graph ? 1 : 0;
        work.graphs += call.function == "cudaGraphLaunch" ? 1 : 0;
        work.instantiations += call.function.starts_with("cudaGraphInstantiate") ? 1 : 0;
        work.waits += call.waits ? 1 : 0;
    }
    return work;
}

void show_host_work(warpwise::Lesson& lesson) {
    Smoothing problem(warpwise::Size{1000});
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : kMethods) {
        rows.push_back({method.name, std::to_string(method.launches),
                        std::to_string(method.graphs), std::to_string(method.kernels),
                        std::to_string(method.waits), std::to_string(method.chain)});
        if (!warpwise::can_instrument()) continue;
        method.run(problem);  // a step that replays a graph has captured it now
        const HostWork work = host_work_of([&] { method.run(problem); });
        const bool as_predicted =
            work.launches == method.launches && work.graphs == method.graphs &&
            work.kernels == method.kernels && work.waits == method.waits;
        lesson.expect(as_predicted, std::string(method.name) + ": as many calls as shown");
    }
    lesson.table({"host_work", "Calls of the host in one run"},
                 {"step", "kernels launched", "graphs launched", "kernels run", "waits",
                  "longest chain"},
                 rows);
}

// ---- microseconds, on a GPU -------------------------------------------------------------

struct Times {
    std::vector<double> host, done, in_a_row;  // of a run, in microseconds
};

constexpr int kInARow = 50;

// Runs all methods in turn: a single run, of which also the host's part is timed, and
// several runs one after the other.
std::vector<Times> time_in_turn(Smoothing& problem, const std::vector<Method>& methods,
                                int rounds) {
    std::vector<Times> times(methods.size());
    for (int round = -3; round < rounds; ++round) {
        for (std::size_t m = 0; m < methods.size(); ++m) {
            warpwise::check_finished();
            const warpwise::HostTimer timer;
            methods[m].run(problem);
            const double host = 1e6 * timer.seconds();
            warpwise::check(cudaStreamSynchronize(problem.stream()));
            const double done = 1e6 * timer.seconds();
            const warpwise::HostTimer in_a_row;
            for (int run = 0; run < kInARow; ++run) methods[m].run(problem);
            warpwise::check(cudaStreamSynchronize(problem.stream()));
            if (round < 0) continue;  // warming up
            times[m].host.push_back(host);
            times[m].done.push_back(done);
            times[m].in_a_row.push_back(1e6 * in_a_row.seconds() / kInARow);
        }
    }
    return times;
}

std::string per_kernel(const std::vector<double>& runs) {
    return text_of("%.2f", warpwise::timing_of(runs).median / kKernels);
}

constexpr std::size_t kSmall = 4096;

void show_per_kernel(warpwise::Lesson& lesson) {
    if (!lesson.measures()) return lesson.show_recorded("per_kernel");
    Smoothing problem(warpwise::Size{kSmall});
    const std::vector<Method> methods = methods_of_this_device();
    const std::vector<Times> times = time_in_turn(problem, methods, 100);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t m = 0; m < methods.size(); ++m) {
        rows.push_back({methods[m].name, per_kernel(times[m].host),
                        per_kernel(times[m].done), per_kernel(times[m].in_a_row)});
        expect_right(lesson, std::string(methods[m].name) + ", after timing", problem,
                     [&] { methods[m].run(problem); });
    }
    lesson.table({"per_kernel", "Microseconds per kernel, " + std::to_string(kSmall) +
                                    " numbers per row"},
                 {"step", "host", "one run", "50 runs in a row"}, rows);
}

// From which size on it no longer matters how kernels are started.
void show_sizes(warpwise::Lesson& lesson) {
    if (!lesson.measures()) return lesson.show_recorded("sizes");
    const std::vector<Method> methods = methods_of_this_device();
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) rows.push_back({method.name});
    std::vector<std::string> head = {"step"};
    for (const std::size_t count : {std::size_t{1} << 12, std::size_t{1} << 16,
                                    std::size_t{1} << 20, std::size_t{1} << 24}) {
        head.push_back(std::to_string(count));
        Smoothing problem(warpwise::Size{count});
        const std::vector<Times> times = time_in_turn(problem, methods, 10);
        for (std::size_t m = 0; m < methods.size(); ++m)
            rows[m].push_back(per_kernel(times[m].in_a_row));
    }
    lesson.table({"sizes", "Microseconds per kernel against numbers per row"}, head, rows);
}

// ---- other parameters -------------------------------------------------------------------

// A graph whose last kernel gets another factor at each launch.
struct Changing {
    explicit Changing(Smoothing& of) : problem(of) {
        warpwise::check(cudaGraphCreate(&graph.graph, 0));
        last = add_nodes(problem, graph.graph);
        warpwise::check(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
    }

    Smoothing& problem;
    Executable graph;
    cudaGraphNode_t last = nullptr;
};

// Everything anew: the graph is built, instantiated, launched, and thrown away.
void build_again(Changing& changing) {
    Executable graph;
    warpwise::check(cudaGraphCreate(&graph.graph, 0));
    add_nodes(changing.problem, graph.graph);
    warpwise::check(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
    warpwise::check(cudaGraphLaunch(graph.executable, changing.problem.stream()));
}

// The graph is built anew, and what is instantiated takes over its parameters.
void update_all(Changing& changing) {
    Executable graph;
    warpwise::check(cudaGraphCreate(&graph.graph, 0));
    add_nodes(changing.problem, graph.graph);
    cudaGraphExecUpdateResultInfo info{};
    warpwise::check(cudaGraphExecUpdate(changing.graph.executable, graph.graph, &info));
    warpwise::check(cudaGraphLaunch(changing.graph.executable, changing.problem.stream()));
}

// One node of what is instantiated gets other parameters.
void set_one_node(Changing& changing) {
    Smoothing& problem = changing.problem;
    unsigned *rows = problem.d_rows.data(), *out = problem.d_out.data();
    void* of_gather[] = {&rows, &problem.count, &problem.factor, &out};
    cudaKernelNodeParams kernel{};
    kernel.func = (void*)gather;
    kernel.gridDim = dim3(problem.blocks());
    kernel.blockDim = dim3(kThreads);
    kernel.kernelParams = of_gather;
    warpwise::check(cudaGraphExecKernelNodeSetParams(changing.graph.executable,
                                                     changing.last, &kernel));
    warpwise::check(cudaGraphLaunch(changing.graph.executable, problem.stream()));
}

struct Way {
    const char* name;
    const char* what;
    void (*run)(Changing&);
    unsigned instantiations;
};

constexpr std::array<Way, 3> kWays = {{
    {"build_again", "a new graph for each launch", build_again, 1},
    {"update_all", "cudaGraphExecUpdate", update_all, 0},
    {"set_one_node", "cudaGraphExecKernelNodeSetParams", set_one_node, 0},
}};

void show_updates(warpwise::Lesson& lesson) {
    Smoothing problem(warpwise::Size{lesson.on_gpu() ? kSmall : 1000});
    Changing changing(problem);
    std::vector<std::vector<std::string>> rows;
    for (const Way& way : kWays) {
        for (const unsigned factor : {1u, 2u, 5u}) {
            problem.factor = factor;
            problem.expected = rows_added(problem.in, factor);
            expect_right(lesson, std::string(way.name) + ", " + std::to_string(factor),
                         problem, [&] { way.run(changing); });
        }
        rows.push_back({way.name, way.what, std::to_string(way.instantiations), "-"});
        if (warpwise::can_instrument()) {
            const HostWork work = host_work_of([&] { way.run(changing); });
            lesson.expect(work.instantiations == way.instantiations,
                          std::string(way.name) + ": as many instantiations as shown");
        }
        if (!lesson.measures()) continue;
        std::vector<double> times;
        for (int round = 0; round < 100; ++round) {
            problem.factor = 1 + static_cast<unsigned>(round) % 4;
            warpwise::check_finished();
            const warpwise::HostTimer timer;
            way.run(changing);
            warpwise::check(cudaStreamSynchronize(problem.stream()));
            times.push_back(1e6 * timer.seconds());
        }
        rows.back()[3] = text_of("%.1f", warpwise::timing_of(times).median);
    }
    warpwise::table_beside_record(lesson, {"updates", "Another factor at each launch"},
                                  {"way", "what", "instantiations", "us per launch"}, rows,
                                  "us per launch");
}

// ---- a loop until nothing moves ---------------------------------------------------------

constexpr unsigned kMostSweeps = 400;

// One row, and how long to go on: until no number moves by more than `limit`.
struct Settling {
    explicit Settling(std::size_t size)
        : count(size), values(numbers(size)), d_row(values), d_other(size), d_progress(1) {
        limit = 1u << 16;
        std::vector<unsigned> row = values;
        for (bool moves = true; moves && sweeps < kMostSweeps; sweeps += 2) {
            moves = false;
            for (int k = 0; k < 2; ++k) {
                std::vector<unsigned> next = smoothed(row);
                for (std::size_t i = 0; i < count; ++i) {
                    const unsigned low = std::min(row[i], next[i]);
                    moves = moves || std::max(row[i], next[i]) - low > limit;
                }
                row = std::move(next);
            }
        }
        expected = std::move(row);
    }

    void start() {
        d_row.upload(values);
        d_other.fill_bytes(0xFF);
        d_progress.upload({{0, 0}});
    }
    unsigned blocks() const { return warpwise::blocks_for(count, kThreads); }

    std::size_t count;
    unsigned limit = 0;
    unsigned sweeps = 0;  // that are needed
    std::vector<unsigned> values, expected;
    DeviceBuffer<unsigned> d_row, d_other;
    DeviceBuffer<Progress> d_progress;
    PinnedNumber moved;
    Stream stream;
};

void launch_two_sweeps(Settling& problem) {
    unsigned *row = problem.d_row.data(), *other = problem.d_other.data();
    Progress* const progress = problem.d_progress.data();
    const cudaStream_t stream = problem.stream.get();
    sweep_and_count<<<problem.blocks(), kThreads, 0, stream>>>(
        row, problem.count, problem.limit, other, progress);
    check_call();
    sweep_and_count<<<problem.blocks(), kThreads, 0, stream>>>(
        other, problem.count, problem.limit, row, progress);
    check_call();
}

// The host asks after every second sweep, and waits for the answer. Returns the sweeps.
unsigned ask_on_the_host(Settling& problem) {
    unsigned sweeps = 0;
    const cudaStream_t stream = problem.stream.get();
    do {
        warpwise::check(
            cudaMemsetAsync(problem.d_progress.data(), 0, sizeof(unsigned), stream));
        launch_two_sweeps(problem);
        warpwise::check(cudaMemcpyAsync(problem.moved.get(), problem.d_progress.data(),
                                        sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
        warpwise::check(cudaStreamSynchronize(stream));
        sweeps += 2;
    } while (*problem.moved.get() > 0 && sweeps < kMostSweeps);
    return sweeps;
}

// A graph with a WHILE node, whose body is two sweeps and the question.
void build_loop(Settling& problem, Executable& loop) {
    warpwise::check(cudaGraphCreate(&loop.graph, 0));
    cudaGraphConditionalHandle again = 0;
    warpwise::check(cudaGraphConditionalHandleCreate(&again, loop.graph, 1,
                                                     cudaGraphCondAssignDefault));
    cudaGraphNodeParams node{};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = again;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    cudaGraphNode_t condition = nullptr;
#if CUDART_VERSION >= 13000
    warpwise::check(cudaGraphAddNode(&condition, loop.graph, nullptr, nullptr, 0, &node));
#else
    warpwise::check(cudaGraphAddNode(&condition, loop.graph, nullptr, 0, &node));
#endif
    const cudaGraph_t body = node.conditional.phGraph_out[0];
    const cudaStream_t stream = problem.stream.get();
    warpwise::check(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                                  cudaStreamCaptureModeThreadLocal));
    launch_two_sweeps(problem);
    ask_for_another_turn<<<1, 1, 0, stream>>>(problem.d_progress.data(), kMostSweeps,
                                              again);
    check_call();
    cudaGraph_t captured = nullptr;
    warpwise::check(cudaStreamEndCapture(stream, &captured));
    warpwise::check(cudaGraphInstantiate(&loop.executable, loop.graph, 0));
}

// Conditional nodes came with CUDA 12.4; a driver that is older refuses them.
bool has_conditional_nodes() {
    int version = 0;
    warpwise::check(cudaDriverGetVersion(&version));
    return version >= 12040;
}

void expect_settled(warpwise::Lesson& lesson, const std::string& way, Settling& problem,
                    unsigned sweeps) {
    const warpwise::Comparison comparison =
        compare_exactly(problem.d_row.download(), problem.expected);
    lesson.expect(comparison.passed, way + ": " + comparison.summary());
    lesson.expect(sweeps == problem.sweeps, way + ": stops after the right sweep");
}

void show_loop(warpwise::Lesson& lesson) {
    const bool conditional = has_conditional_nodes();
    for (const std::size_t count : {std::size_t{1}, std::size_t{33}, std::size_t{1009}}) {
        Settling problem(count);
        problem.start();
        expect_settled(lesson, "ask_on_the_host", problem, ask_on_the_host(problem));
        if (!conditional) continue;
        Executable loop;
        build_loop(problem, loop);
        problem.start();
        warpwise::check(cudaGraphLaunch(loop.executable, problem.stream.get()));
        warpwise::check(cudaStreamSynchronize(problem.stream.get()));
        expect_settled(lesson, "while_node", problem,
                       problem.d_progress.download()[0].sweeps);
    }
    Settling problem(kSmall);
    Executable loop;
    if (conditional) build_loop(problem, loop);
    const auto on_host = [&] { (void)ask_on_the_host(problem); };
    const auto as_graph = [&] {
        warpwise::check(cudaGraphLaunch(loop.executable, problem.stream.get()));
        warpwise::check(cudaStreamSynchronize(problem.stream.get()));
    };
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const std::string& name, unsigned waits,
                         const std::function<void()>& run) {
        problem.start();
        rows.push_back({name, std::to_string(problem.sweeps), std::to_string(waits), "-"});
        if (warpwise::can_instrument()) {
            const HostWork work = host_work_of(run);
            lesson.expect(work.waits == waits, name + ": as many waits as shown");
        }
        if (!lesson.measures()) return;
        std::vector<double> times;
        for (int round = 0; round < 50; ++round) {
            problem.start();
            warpwise::check_finished();
            const warpwise::HostTimer timer;
            run();
            times.push_back(1e6 * timer.seconds());
        }
        rows.back()[3] =
            text_of("%.2f", warpwise::timing_of(times).median / problem.sweeps);
    };
    add("ask_on_the_host", problem.sweeps / 2, on_host);
    if (conditional) add("while_node", 1, as_graph);
    warpwise::table_beside_record(
        lesson,
        {"loop", "Until no number moves by more than " + std::to_string(problem.limit)},
        {"way", "sweeps", "waits of the host", "us per sweep"}, rows, "us per sweep");
    if (!conditional)
        lesson.text("Left out: while_node, because conditional nodes need CUDA 12.4.");
}

// ---- mistakes that the CPU device finds -------------------------------------------------

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        {"captured_pointer_gone", "memory freed before the launch", captured_pointer_gone,
         "use_after_free"},
        {"missing_edge", "a kernel waits for one input of two", missing_edge, "data_race"},
        {"copy_of_a_local_variable", "the source is gone", copy_of_a_local_variable,
         "use_after_free"},
        {"destroyed_too_early", "launched after cudaGraphExecDestroy", destroyed_too_early,
         "use_after_free"},
        {"reads_before_the_wait", "reads, and waits afterwards", reads_before_the_wait,
         "data_race"},
    };
    return all;
}

}  // namespace

void graphs(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Twenty small kernels have little work: each takes about a microsecond. A launch
takes the host longer than that, and a kernel also takes its time to start and to end. So
most of the time goes into starting kernels. How can the same work be started with less?)");
    lesson.predict(
        {.question = R"(The steps run 20 kernels. After the kernels were captured and
instantiated once, how many calls does the host make per run to launch them?)",
         .answer = warpwise::Number{.value = 1,
                                    .unit = "calls",
                                    .shown_by =
                                        warpwise::TableCell{
                                            "host_work", {"captured"}, "graphs launched"}},
         .because = "cudaGraphLaunch starts the whole graph."});
    lesson.predict(
        {.question = R"(One kernel writes three rows, each row is smoothed by 6 kernels, and
one kernel adds the rows. With an edge only where data flows: how many kernels has the
longest chain?)",
         .answer = warpwise::Number{.value = 8,
                                    .unit = "kernels",
                                    .shown_by = warpwise::TableCell{"host_work",
                                                                    {"graph_with_branches"},
                                                                    "longest chain"}},
         .because = "The first kernel, six sweeps of one row, and the last kernel."});
    lesson.predict(
        {.question = R"(A launch with the arguments (d_row, n) was captured. Then the host
changes its variable n. Which n does the kernel get at the next launch of the graph?)",
         .answer = warpwise::Choice{.choices = {"the n of the capture", "the new n",
                                                "the n of the instantiation"},
                                    .right = 0},
         .because = R"(The values of all arguments are copied when the launch is captured,
as for a launch in a stream. A pointer is copied too, and not what it points to.)"});
    lesson.predict(
        {.question = "Which of these steps is the fastest on a GPU?",
         .answer = warpwise::Fastest{{"wait_after_each", "one_stream", "captured",
                                      "graph_with_branches", "persistent"}},
         .because = R"(What counts is how many times something has to wait for
all of what came before it, and what such a wait costs: a new kernel, or a barrier of the
grid.)"});
    std::vector<warpwise::Step<Smoothing>> steps = {
        {"serial", "a loop, one core", serial, warpwise::StepKind::host}};
    for (const Method& method : methods_of_this_device())
        steps.push_back({method.name, method.change, method.run});
    lesson.steps<Smoothing>(
        {.gpu = {kSmall},
         .cpu = {kSmall},
         .awkward =
             {{0}, {1}, {2}, {31}, {32}, {33}, {255}, {256}, {257}, {1009}, {20011}}},
        steps);
    if (!has_dependent_launches())
        lesson.text(
            "Left out: dependent_launches and captured_dependent, because "
            "programmatic dependent launches need compute capability 9.0.");
    show_host_work(lesson);
    lesson.conclusion(
        R"(A stream keeps the order of kernels without the help of the host. A graph is
prepared once and launched with one call. And what has no edge may run at the same time.
A persistent kernel needs only one launch, but its barriers cost time as well.)");

    lesson.question(
        R"(How many microseconds does each kernel cost? One run alone shows what the host
has to do before the last kernel can begin. Many runs in a row show what the GPU needs from
kernel to kernel.)");
    show_per_kernel(lesson);
    show_sizes(lesson);
    lesson.conclusion(
        R"(Starting kernels matters as long as it takes longer than their work. For large
arrays most ways take about the same time. A wait after each kernel still costs some, and
on an H200 kernels that begin early are slower than the others there. Nobody has examined
why.)");

    lesson.question(
        R"(The last kernel of the graph gets another factor at each launch. The graph has
copied the old one. Does it have to be built again?)");
    show_updates(lesson);
    lesson.conclusion(
        R"(What is instantiated can be given other parameters, in one node or by a graph of
the same shape. Only another shape needs another instantiation.)");

    lesson.question(
        R"(A row is smoothed until no number moves by more than a limit. How often that is,
only the device knows. Does the host have to ask after every few sweeps?)");
    lesson.predict(
        {.question = R"(A WHILE node repeats two sweeps and the question whether to go on.
How many times does the host wait until all sweeps are done?)",
         .answer = warpwise::Number{.value = 1,
                                    .unit = "waits",
                                    .shown_by =
                                        warpwise::TableCell{
                                            "loop", {"while_node"}, "waits of the host"}},
         .because = R"(The last kernel of the body sets the condition on the device. The
host launches the graph, and waits once for all of it.)"});
    show_loop(lesson);
    lesson.conclusion(
        R"(A condition that a kernel sets lets a graph repeat a part of itself. The host
does not have to look at the data in between.)");

    lesson.question(
        R"(A graph works with what it was given, much later and many times. Five programs
break a rule of graphs or of dependent launches. How can these mistakes be found?)");
    show_mistakes(lesson, "program", mistakes(), "captured_pointer_gone");
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(A graph has to find everything in place at each launch: its memory, and the
sources of its copies. Two nodes that share memory need an edge, in whatever order they
happened to run.)"
            : R"(By the search for errors of the CPU device, which this program does not
have. Run this lesson there, without --no-counters.)");
}

}  // namespace modern_cuda
