// Problem: C = A B, with the rows of all three matrices split among the GPUs.
//
// A device computes its rows of C from its rows of A and from all of B, of which it has
// only its own rows. The steps differ in when the other rows of B arrive.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "chapters/5_modern_cuda/mistakes.h"
#include "chapters/6_several_gpus/device_arrays.h"
#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/nccl.h"
#include "chapters/6_several_gpus/numbers.cuh"
#include "chapters/6_several_gpus/scaling.h"
#include "chapters/6_several_gpus/split_matrix_product/kernels.cuh"
#include "chapters/6_several_gpus/split_matrix_product/wrong.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/cublas.h"
#include "common/helpers/instrument.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/lesson.h"

namespace several_gpus {
namespace {

using warpwise::text_of;

struct SplitProduct {
    std::size_t m, n, k;
    Devices devices, copies;
    DeviceArrays<float> d_a, d_b, d_c;            // its rows of A and C; room for all of B
    DeviceArrays<float> d_own_b;                  // its rows of B
    std::vector<std::unique_ptr<Event>> arrived;  // of each device and each part of B
    std::vector<std::size_t> probes;              // elements of C that are compared

    SplitProduct(std::size_t rows, std::size_t cols, std::size_t terms, int count)
        : m(rows),
          n(cols),
          k(terms),
          devices(count),
          copies(count),
          d_a(devices, [&](int d) { return rows_of(d).size() * k; }),
          d_b(devices, [&](int) { return k * n; }),
          d_c(devices, [&](int d) { return rows_of(d).size() * n; }),
          d_own_b(devices, [&](int d) { return terms_of(d).size() * n; }) {
        for (int d = 0; d < count; ++d) {
            fill_with_numbers(d, 1, rows_of(d).begin * k, d_a.size(d), d_a.data(d));
            fill_with_numbers(d, 2, terms_of(d).begin * n, d_own_b.size(d),
                              d_own_b.data(d));
            for (int part = 0; part < count; ++part)
                arrived.push_back(std::make_unique<Event>(d));
        }
        choose_probes();
    }
    explicit SplitProduct(const warpwise::Size& size)
        : SplitProduct(size[0], size[1], size[2], device_count()) {}

    Part rows_of(int d) const { return part_of(m, devices.count(), d); }
    Part terms_of(int d) const { return part_of(k, devices.count(), d); }
    Event& arrived_at(int d, int part) {
        return *arrived[std::size_t(d * devices.count() + part)];
    }

    // All elements of a small C. Of a large one the corners, and places all over it.
    void choose_probes() {
        constexpr std::size_t most = 8192;
        const std::size_t all = m * n;
        for (std::size_t i = 0; i < std::min(all, most); ++i) {
            const std::size_t step = all / std::min(all, most);
            const std::size_t jitter =
                step > 1 ? std::size_t((number_at(3, i) + 1) * 0.49 * double(step)) : 0;
            probes.push_back(std::min(all - 1, i * step + jitter));
        }
        if (all > most) probes.insert(probes.end(), {0, n - 1, (m - 1) * n, all - 1});
    }

    // The copies of B become NaN, too: what is not copied in a run cannot be right.
    void poison() {
        d_c.fill_bytes(0xFF);
        d_b.fill_bytes(0xFF);
    }
    warpwise::Comparison compare() {
        std::vector<float> all;
        for (int d = 0; d < devices.count(); ++d) {
            const std::vector<float> rows = d_c.download(d);
            all.insert(all.end(), rows.begin(), rows.end());
        }
        std::vector<float> got;
        for (const std::size_t place : probes) got.push_back(all[place]);
        const double magnitudes = static_cast<double>(k);  // no product is larger than 1
        warpwise::Comparison compared = warpwise::compare_each(
            got, probes.size(),
            [&](std::size_t i) {
                const std::size_t row = probes[i] / n, col = probes[i] % n;
                double sum = 0;
                for (std::size_t p = 0; p < k; ++p)
                    sum += double{number_at(1, row * k + p)} *
                           double{number_at(2, p * n + col)};
                return sum;
            },
            {.absolute = warpwise::sum_tolerance(k, 6e-8, magnitudes / 3)});
        // No element may be NaN, compared or not.
        const bool any_nan =
            std::any_of(all.begin(), all.end(), [](float value) { return value != value; });
        if (any_nan && compared.passed) {
            compared.passed = false;
            compared.note = "an element that is not compared is NaN";
        }
        return compared;
    }
    warpwise::Work work() const {
        const double elements = static_cast<double>(m) * double(n);
        return {.bytes = sizeof(float) * (double(m * k) + double(k * n) + elements),
                .operations = 2 * elements * double(k)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return sizeof(float) *
                   (size[0] * size[2] + 2 * size[1] * size[2] + size[0] * size[1]) +
               4096;
    }
};

// A device's rows of C, from the terms of `part`.
using MultiplyPart = void (*)(SplitProduct&, int device, Part part, const float* b,
                              bool adds, cudaStream_t stream);

void by_kernel(SplitProduct& problem, int d, Part part, const float* b, bool adds,
               cudaStream_t stream) {
    const std::size_t rows = problem.rows_of(d).size();
    if (rows == 0 || problem.n == 0 || (part.size() == 0 && adds)) return;
    const OnDevice current(d);
    const std::size_t tiles =
        warpwise::ceil_div(rows, kTile) * warpwise::ceil_div(problem.n, kTile);
    multiply<<<static_cast<unsigned>(tiles), kProductThreads, 0, stream>>>(
        {problem.d_a.data(d) + part.begin, b, problem.d_c.data(d), rows, problem.n,
         part.size(), problem.k, problem.n, problem.n, adds});
    warpwise::check_launch();
}

#ifndef __CPU_DEVICE__
void by_cublas(SplitProduct& problem, int d, Part part, const float* b, bool adds,
               cudaStream_t stream) {
    static std::vector<cublasHandle_t> handles;
    while (int(handles.size()) <= d) {
        const OnDevice current(int(handles.size()));
        handles.push_back(warpwise::make_cublas_handle());
    }
    const int rows = warpwise::cublas_extent(problem.rows_of(d).size());
    const int cols = warpwise::cublas_extent(problem.n);
    const int terms = warpwise::cublas_extent(part.size());
    if (rows == 0 || cols == 0 || (terms == 0 && adds)) return;
    if (terms == 0) return by_kernel(problem, d, part, b, adds, stream);
    const OnDevice current(d);
    const float one = 1, old = adds ? 1 : 0;
    warpwise::check_cublas(cublasSetStream(handles[std::size_t(d)], stream));
    warpwise::check_cublas(
        cublasSgemm(handles[std::size_t(d)], CUBLAS_OP_N, CUBLAS_OP_N, cols, rows, terms,
                    &one, b, cols, problem.d_a.data(d) + part.begin,
                    warpwise::cublas_extent(problem.k), &old, problem.d_c.data(d), cols));
}
#endif

float* part_of_b(SplitProduct& problem, int d, int part) {
    return problem.d_b.data(d) + problem.terms_of(part).begin * problem.n;
}

void copy_part(SplitProduct& problem, int to, int from, cudaStream_t stream) {
    const std::size_t bytes = problem.d_own_b.size(from) * sizeof(float);
    if (bytes > 0)
        warpwise::check(cudaMemcpyPeerAsync(part_of_b(problem, to, from), to,
                                            problem.d_own_b.data(from), from, bytes,
                                            stream));
}

// Step 1, gather_first: each device fetches all of B, and then multiplies. Slow because the
// SMs are idle until the last row of B has arrived.
template <MultiplyPart Multiply>
void gather_first(SplitProduct& problem) {
    Devices& devices = problem.devices;
    devices.fork();
    for (int d = 0; d < devices.count(); ++d) {
        for (int k = 0; k < devices.count(); ++k)
            copy_part(problem, d, (d + k) % devices.count(), devices.stream(d));
        Multiply(problem, d, {0, problem.k}, problem.d_b.data(d), false, devices.stream(d));
    }
    devices.join();
}

#ifdef WARPWISE_NCCL
// The same with ncclAllGather, which needs parts of the same size: the terms are padded
// to a multiple of the number of devices by the caller's choice of k.
void gather_by_nccl(SplitProduct& problem) {
    Devices& devices = problem.devices;
    if (problem.k % std::size_t(devices.count()) != 0)
        return gather_first<by_kernel>(problem);
    Communicators& communicators = communicators_of(devices.count());
    devices.fork();
    check_nccl(ncclGroupStart());
    for (int d = 0; d < devices.count(); ++d)
        check_nccl(ncclAllGather(problem.d_own_b.data(d), problem.d_b.data(d),
                                 problem.d_own_b.size(d), ncclFloat, communicators.of(d),
                                 devices.stream(d)));
    check_nccl(ncclGroupEnd());
    for (int d = 0; d < devices.count(); ++d)
        by_kernel(problem, d, {0, problem.k}, problem.d_b.data(d), false,
                  devices.stream(d));
    devices.join();
}
#endif

// Step 3, panels: a device multiplies with its own rows of B first, while those of the next
// device arrive in another stream, and so on around the devices. Faster because only the
// first copy could be waited for, and it has the time of a whole panel to arrive. Each
// device begins with another neighbor, so that no link has to serve all of them.
template <MultiplyPart Multiply>
void panels(SplitProduct& problem) {
    Devices& devices = problem.devices;
    const int count = devices.count();
    devices.fork();
    problem.copies.fork();
    for (int k = 1; k < count; ++k) {
        for (int d = 0; d < count; ++d) {
            const int from = (d + k) % count;
            copy_part(problem, d, from, problem.copies.stream(d));
            problem.arrived_at(d, from).record(problem.copies.stream(d));
        }
    }
    for (int k = 0; k < count; ++k) {
        for (int d = 0; d < count; ++d) {
            const int part = (d + k) % count;
            if (k > 0) problem.arrived_at(d, part).wait_in(devices.stream(d));
            const float* const b =
                k == 0 ? problem.d_own_b.data(d) : part_of_b(problem, d, part);
            Multiply(problem, d, problem.terms_of(part), b, k > 0, devices.stream(d));
        }
    }
    devices.join();
}

using Step = warpwise::Step<SplitProduct>;

std::vector<Step> steps_of_lesson() {
    std::vector<Step> steps = {
        {"gather_first", "all of B, and then the product", gather_first<by_kernel>}};
#ifdef WARPWISE_NCCL
    steps.push_back({"gather_by_nccl", "the same by ncclAllGather", gather_by_nccl});
#endif
    steps.push_back({"panels", "panels of B arrive meanwhile", panels<by_kernel>});
#ifndef __CPU_DEVICE__
    steps.push_back({"cublas_panels", "panels, multiplied by cuBLAS", panels<by_cublas>,
                     warpwise::StepKind::vendor});
#endif
    return steps;
}

// ---- against one device -----------------------------------------------------------------

double milliseconds_of(SplitProduct& problem, void (*run)(SplitProduct&)) {
    std::vector<double> seconds;
    for (int sample = -1; sample < 5; ++sample) {
        warpwise::check_finished();
        warpwise::DeviceTimer timer;
        timer.start();
        run(problem);
        timer.stop();
        const double took = timer.seconds();
        if (sample >= 0) seconds.push_back(took);
    }
    return 1e3 * warpwise::timing_of(seconds).median;
}

void show_scaling(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("scaling");
        return lesson.show_recorded("predicted");
    }
    Scaling model;
    struct Way {
        const char* name;
        void (*run)(SplitProduct&);
    };
    std::vector<Way> ways = {{"gather_first", gather_first<by_kernel>},
                             {"panels", panels<by_kernel>}};
#ifndef __CPU_DEVICE__
    ways.push_back({"cuBLAS, gather_first", gather_first<by_cublas>});
    ways.push_back({"cuBLAS, panels", panels<by_cublas>});
#endif
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t side :
         {std::size_t{1024}, std::size_t{2048}, std::size_t{4096}, std::size_t{8192}}) {
        std::vector<double> of_one(ways.size());
        for (int count = 1; count <= device_count(); count *= 2) {
            SplitProduct problem(side, side, side, count);
            std::vector<std::string> row = {std::to_string(side), std::to_string(count)};
            for (std::size_t w = 0; w < ways.size(); ++w) {
                const double took = milliseconds_of(problem, ways[w].run);
                if (count == 1) of_one[w] = took;
                model.add(std::to_string(side) + ", " + ways[w].name, count, 1e-3 * took);
                row.push_back(text_of("%.3f", took));
                row.push_back(text_of("%.3f", of_one[w] / took));
            }
            rows.push_back(row);
        }
    }
    std::vector<std::string> head = {"side", "devices"};
    for (const Way& way : ways)
        head.insert(head.end(), {std::string(way.name) + " ms",
                                 std::string(way.name) + " times one device"});
    lesson.table({"scaling", "A square product by the number of devices"}, head, rows);
    model.show(lesson, "predicted", "ms", 1e3);
}

// Operations per byte that has to arrive.
void show_intensity(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const double side : {1024.0, 8192.0}) {
        for (const double n : {2.0, 8.0}) {
            const double bytes = (n - 1) / n * side * side * sizeof(float);
            const double operations = 2 * side * side * side / n;
            rows.push_back({text_of("%.0f", side), text_of("%.0f", n),
                            text_of("%.0f", bytes / (1 << 20)),
                            text_of("%.0f", operations / bytes)});
        }
    }
    lesson.table({"intensity", "What a device receives, and computes from it"},
                 {"side", "devices", "MiB", "operations per byte"}, rows);
}

}  // namespace

void split_matrix_product(warpwise::Lesson& lesson) {
    enable_all_peers(device_count());
    const std::vector<Step> steps = steps_of_lesson();

    lesson.question(
        R"(The rows of A, B, and C are split among the GPUs. For its rows of C, a device
needs all of B, and has only a part. Does it have to wait until the others have sent
theirs?)");
    if (device_count() == 1)
        lesson.text("There is one device here, and it has all of B: nothing is sent.");
    lesson.predict(
        {.question = R"(The matrices have 8192 rows and columns, and two GPUs share the
work. How many operations does a GPU compute per byte that it receives?)",
         .answer = warpwise::Number{.value = 4096,
                                    .unit = "operations",
                                    .shown_by = warpwise::TableCell{"intensity",
                                                                    {"8192", "2"},
                                                                    "operations per byte"}},
         .because = R"(It computes 8192 x 8192 x 8192 operations, half of all, and receives
half of B: 8192 x 4096 floats of 4 bytes.)"});
    show_intensity(lesson);
    lesson.steps<SplitProduct>({.gpu = {8192, 8192, 8192},
                                .cpu = {160, 144, 96},
                                .awkward = {{1, 1, 1},
                                            {1, 33, 31},
                                            {5, 3, 1},
                                            {33, 1, 7},
                                            {32, 32, 32},
                                            {129, 131, 67},
                                            {257, 64, 100}}},
                               steps);
    lesson.conclusion(
        R"(Whoever has something to compute need not wait: the own part of B comes first.
The larger the matrices are, the more operations there are per byte that has to arrive.)");

    lesson.question(
        R"(How close to N times one GPU do N of them come, and from which size on?)");
    lesson.predict(
        {.question = R"(The side of square matrices is doubled. What happens to the
operations per byte that a device receives?)",
         .answer =
             warpwise::Choice{{"they stay", "they double", "they become four times"}, 1},
         .because = R"(Operations become eight times as many, bytes four times.)"});
    show_scaling(lesson);
    lesson.conclusion(
        R"(Operations grow with the third power of the side, bytes with the second, so any
link is fast enough for a matrix that is large enough.)");

    if (device_count() == 1) return;
    lesson.question(
        R"(The copy of B is in one stream, the product in another. Both are asynchronous.
Does anything keep them in order?)");
    lesson.predict(
        {.question = R"(Which call makes the stream that multiplies wait for the copy, and
not the host?)",
         .answer = warpwise::Choice{{"cudaEventSynchronize", "cudaStreamWaitEvent",
                                     "cudaStreamSynchronize"},
                                    1},
         .because = R"(It returns at once: the stream waits, in its own order. In the other
two calls the host waits.)"});
    modern_cuda::show_mistakes(lesson, "program",
                               {{"multiplies_before_the_copy", "no event after the copy",
                                 multiplies_before_the_copy, "data_race"}},
                               "multiplies_before_the_copy");
    lesson.conclusion(
        R"(Nothing does, on one device or on several: record an event after the copy, and
let the stream that multiplies wait for it.)");
}

}  // namespace several_gpus
