// Problem: every device has an array, and all of them need the sum of all arrays.
//
// This all-reduce is what training on several GPUs does after each step, with gradients of
// hundreds of megabytes. The lesson builds it, and compares it with NCCL's.
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
#include "chapters/6_several_gpus/ring_all_reduce/kernels.cuh"
#include "chapters/6_several_gpus/ring_all_reduce/model.h"
#include "chapters/6_several_gpus/ring_all_reduce/wrong.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/instrument.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/lesson.h"

namespace several_gpus {
namespace {

using warpwise::text_of;

constexpr std::size_t kMessage = 16384;  // floats that a block sends at a time, at most
constexpr int kChunks = 8;               // of step 3

struct AllReduce {
    std::size_t count;
    Devices devices;
    DeviceArrays<float> d_in, d_out, d_arrived;
    DeviceArrays<unsigned> d_flags;
    std::vector<std::unique_ptr<Devices>> chunk_streams;
    std::vector<std::unique_ptr<Event>> events;  // of a chunk, a send, and a device
    std::size_t part = 0, message = 0;
    unsigned blocks = 1, messages = 0, received = 0;

    AllReduce(std::size_t numbers, int device_number)
        : count(numbers),
          devices(device_number),
          d_in(devices, [&](int) { return numbers; }),
          d_out(devices, [&](int) { return numbers; }),
          d_arrived(devices, [&](int) { return numbers; }) {
        for (int d = 0; d < devices.count(); ++d)
            fill_with_numbers(d, std::uint64_t(d) + 1, 0, count, d_in.data(d));
        for (int chunk = 0; chunk < kChunks; ++chunk) {
            chunk_streams.push_back(std::make_unique<Devices>(device_number));
            for (int send = 0; send < 2 * device_number; ++send)
                for (int d = 0; d < device_number; ++d)
                    events.push_back(std::make_unique<Event>(d));
        }
        shape_ring();
        d_flags = DeviceArrays<unsigned>(devices, [&](int) { return std::size_t{blocks}; });
        d_flags.fill_bytes(0);
    }
    explicit AllReduce(const warpwise::Size& size) : AllReduce(size[0], device_count()) {}

    // Blocks and messages of step 4, the same on every device.
    void shape_ring() {
        const std::size_t parts = std::size_t(devices.count());
        part = warpwise::ceil_div(warpwise::ceil_div(count, parts), 4) * 4;
        unsigned resident = ~0u;
        for (int d = 0; d < devices.count(); ++d) {
            const OnDevice current(d);
            resident = std::min(
                {resident, warpwise::blocks_that_fill(ring_in_one_kernel, kRingThreads),
                 2 * warpwise::multiprocessors()});
        }
        // A block for every 8 KiB of a part, until all are resident that can be.
        blocks = std::min(resident, warpwise::blocks_for(part, kRingThreads * 4));
        const std::size_t share = warpwise::ceil_div(part, blocks);
        message =
            std::min(kMessage, std::max<std::size_t>(4, warpwise::ceil_div(share, 4) * 4));
        messages = static_cast<unsigned>(warpwise::ceil_div(part, blocks * message));
    }

    Event& event_of(int chunk, int send, int d) {
        const int number = (chunk * 2 * devices.count() + send) * devices.count() + d;
        return *events[std::size_t(number)];
    }
    int next(int d) const { return (d + 1) % devices.count(); }

    void poison() {
        d_out.fill_bytes(0xFF);
        d_arrived.fill_bytes(0xFF);
    }
    warpwise::Comparison compare() {
        warpwise::Comparison all;
        for (int d = 0; d < devices.count(); ++d) {
            const int number = devices.count();
            warpwise::Comparison one = warpwise::compare_each(
                d_out.download(d), count,
                [&](std::size_t i) {
                    double sum = 0;
                    for (int of = 0; of < number; ++of)
                        sum += double{number_at(std::uint64_t(of) + 1, i)};
                    return sum;
                },
                {.absolute = 6e-8 * number * number});
            if (d == 0 || !one.passed) all = one;
            if (!one.passed) break;
        }
        return all;
    }
    warpwise::Work work() const {
        // What NCCL's tests call the bus bandwidth: bytes that each device has to send.
        const double n = devices.count();
        return {.bytes = 2 * (n - 1) / n * sizeof(float) * static_cast<double>(count),
                .operations = (n - 1) / n * static_cast<double>(count)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 3 * size[0] * sizeof(float) + (std::size_t{1} << 20);
    }
};

void launch_add(AllReduce& problem, int d, std::size_t begin, std::size_t end,
                const float* own, float* out, cudaStream_t stream) {
    if (begin == end) return;
    const OnDevice current(d);
    const unsigned blocks = std::min(warpwise::blocks_for(end - begin, kRingThreads),
                                     4 * warpwise::multiprocessors());
    add_arrays<<<blocks, kRingThreads, 0, stream>>>(
        own + begin, problem.d_arrived.data(d) + begin, end - begin, out + begin);
    warpwise::check_launch();
}

void send(int to, float* there, int from, const float* here, std::size_t begin,
          std::size_t end, cudaStream_t stream) {
    if (begin == end) return;
    warpwise::check(cudaMemcpyPeerAsync(there + begin, to, here + begin, from,
                                        (end - begin) * sizeof(float), stream));
}

// Step 1, gather_to_one: device 0 fetches the array of each other device, adds it, and
// sends the sum back to all. Slow because every byte goes through the links of device 0,
// and those of the other devices are idle most of the time.
void gather_to_one(AllReduce& problem) {
    Devices& devices = problem.devices;
    const std::size_t count = problem.count;
    devices.fork();
    const cudaStream_t stream = devices.stream(0);
    const float* own = problem.d_in.data(0);
    for (int d = 1; d < devices.count(); ++d) {
        send(0, problem.d_arrived.data(0), d, problem.d_in.data(d), 0, count, stream);
        launch_add(problem, 0, 0, count, own, problem.d_out.data(0), stream);
        own = problem.d_out.data(0);
    }
    if (devices.count() == 1 && count > 0)
        warpwise::check(cudaMemcpyAsync(problem.d_out.data(0), own, count * sizeof(float),
                                        cudaMemcpyDeviceToDevice, stream));
    for (int d = 1; d < devices.count(); ++d)
        send(d, problem.d_out.data(d), 0, problem.d_out.data(0), 0, count, stream);
    devices.join();
}

// One chunk's way around the ring, in streams of its own: send number `number`.
void ring_send(AllReduce& problem, int chunk, int chunks, int number) {
    Devices& streams = *problem.chunk_streams[std::size_t(chunk)];
    const int count = streams.count();
    for (int d = 0; d < count; ++d) {
        const int part = (d - number + 2 * count) % count;
        const int next = problem.next(d);
        const Part of_array = part_of(problem.count, count, part);
        const Part of_part = part_of(of_array.size(), chunks, chunk);
        const std::size_t begin = of_array.begin + of_part.begin;
        const std::size_t end = of_array.begin + of_part.end;
        const bool adds = number < count - 1;  // the first time around
        const float* const here =
            number == 0 ? problem.d_in.data(d) : problem.d_out.data(d);
        // What d sends now is what it has received, and added to, before.
        send(next, adds ? problem.d_arrived.data(next) : problem.d_out.data(next), d, here,
             begin, end, streams.stream(d));
        problem.event_of(chunk, number, d).record(streams.stream(d));
    }
    for (int d = 0; d < count; ++d) {
        const int before = (d + count - 1) % count;
        problem.event_of(chunk, number, before).wait_in(streams.stream(d));
        if (number >= count - 1) continue;
        const int part = (before - number + 2 * count) % count;
        const Part of_array = part_of(problem.count, count, part);
        const Part of_part = part_of(of_array.size(), chunks, chunk);
        launch_add(problem, d, of_array.begin + of_part.begin, of_array.begin + of_part.end,
                   problem.d_in.data(d), problem.d_out.data(d), streams.stream(d));
    }
}

void ring_of_copies(AllReduce& problem, int chunks) {
    const int count = problem.devices.count();
    if (count == 1) return gather_to_one(problem);
    for (int chunk = 0; chunk < chunks; ++chunk)
        problem.chunk_streams[std::size_t(chunk)]->fork();
    for (int number = 0; number < 2 * (count - 1); ++number)
        for (int chunk = 0; chunk < chunks; ++chunk)
            ring_send(problem, chunk, chunks, number);
    for (int chunk = 0; chunk < chunks; ++chunk)
        problem.chunk_streams[std::size_t(chunk)]->join();
}

// Step 2, ring: each array is N parts. A device sends one part to the next device, which
// adds its own numbers, and sends that on. After N - 1 sends each device has one part of
// the sum, and N - 1 more sends take these around. Faster because all links work at the
// same time, and because each device sends 2 (N - 1) / N of the array, however many devices
// there are. Still slow because a link is idle while the part that arrived is added.
void ring(AllReduce& problem) { ring_of_copies(problem, 1); }

// Step 3, ring_in_chunks: each part is eight chunks, each with streams of its own. Faster
// because one chunk is on its way while another is added. Still slow because each hand-over
// costs an event between devices, a launch, and a copy that has to be started.
void ring_in_chunks(AllReduce& problem) { ring_of_copies(problem, kChunks); }

// Step 4: see ring_in_one_kernel.
void ring_kernel(AllReduce& problem) {
    Devices& devices = problem.devices;
    if (devices.count() == 1) return gather_to_one(problem);
    devices.fork();
    for (int d = 0; d < devices.count(); ++d) {
        const int next = problem.next(d);
        Ring ring{.own = problem.d_in.data(d),
                  .out = problem.d_out.data(d),
                  .arrived = problem.d_arrived.data(d),
                  .flags = problem.d_flags.data(d),
                  .next_out = problem.d_out.data(next),
                  .next_arrived = problem.d_arrived.data(next),
                  .next_flags = problem.d_flags.data(next),
                  .count = problem.count,
                  .part = problem.part,
                  .message = problem.message,
                  .messages = problem.messages,
                  .first = problem.received,
                  .device = d,
                  .devices = devices.count()};
        void* arguments[] = {&ring};
        const OnDevice current(d);
        warpwise::check(cudaLaunchCooperativeKernel(
            ring_in_one_kernel, dim3(problem.blocks), dim3(kRingThreads), arguments, 0,
            devices.stream(d)));
    }
    problem.received += 2 * unsigned(devices.count() - 1) * problem.messages;
    devices.join();
}

#ifdef WARPWISE_NCCL
void nccl_all_reduce(AllReduce& problem) {
    Devices& devices = problem.devices;
    Communicators& communicators = communicators_of(devices.count());
    devices.fork();
    check_nccl(ncclGroupStart());
    for (int d = 0; d < devices.count(); ++d)
        check_nccl(ncclAllReduce(problem.d_in.data(d), problem.d_out.data(d), problem.count,
                                 ncclFloat, ncclSum, communicators.of(d),
                                 devices.stream(d)));
    check_nccl(ncclGroupEnd());
    devices.join();
}
#endif

using Step = warpwise::Step<AllReduce>;

std::vector<Step> steps_of(bool peers) {
    std::vector<Step> steps = {
        {"gather_to_one", "one device adds it all up", gather_to_one},
        {"ring", "parts go around the devices", ring},
        {"ring_in_chunks", "chunks overlap", ring_in_chunks}};
    if (peers)
        steps.push_back({"ring_in_one_kernel", "blocks hand over by flags", ring_kernel});
#ifdef WARPWISE_NCCL
    steps.push_back({"ncclAllReduce", "NCCL, all devices in one group", nccl_all_reduce,
                     warpwise::StepKind::vendor});
#endif
    return steps;
}

// ---- by size ----------------------------------------------------------------------------

double seconds_of(AllReduce& problem, const Step& step) {
    std::vector<double> seconds;
    for (int sample = -2; sample < 10; ++sample) {
        warpwise::check_finished();
        warpwise::DeviceTimer timer;
        timer.start();
        step.run(problem);
        timer.stop();
        const double took = timer.seconds();
        if (sample >= 0) seconds.push_back(took);
    }
    return warpwise::timing_of(seconds).median;
}

std::string size_text(std::size_t bytes) {
    if (bytes >= std::size_t{1} << 20) return std::to_string(bytes >> 20) + " MiB";
    if (bytes >= 1024) return std::to_string(bytes >> 10) + " KiB";
    return std::to_string(bytes) + " B";
}

void show_sizes(warpwise::Lesson& lesson, const std::vector<Step>& steps) {
    if (!lesson.measures()) {
        lesson.show_recorded("sizes");
        return lesson.show_recorded("bandwidth");
    }
    std::vector<std::string> head = {"bytes"};
    for (const Step& step : steps) head.push_back(step.name);
    std::vector<std::vector<std::string>> times, rates;
    for (const std::size_t bytes :
         {std::size_t{8}, std::size_t{1} << 10, std::size_t{1} << 14, std::size_t{1} << 17,
          std::size_t{1} << 20, std::size_t{1} << 23, std::size_t{1} << 26,
          std::size_t{1} << 28}) {
        AllReduce problem(bytes / sizeof(float), device_count());
        times.push_back({size_text(bytes)});
        rates.push_back({size_text(bytes)});
        for (const Step& step : steps) {
            const double seconds = seconds_of(problem, step);
            times.back().push_back(text_of("%.1f", 1e6 * seconds));
            rates.back().push_back(text_of("%.1f", problem.work().bytes / seconds * 1e-9));
        }
    }
    lesson.table({"sizes", "Microseconds of an all-reduce by its size"}, head, times);
    lesson.table({"bandwidth", "GB/s that each device sends, by the size"}, head, rates);
}

// The model T(n) = o + 2 (n - 1) h + 2 (n - 1) / n * bytes / b, fitted on two devices: a
// hand-over takes h, a link b bytes per second, and o is what a run without any devices to
// meet takes. The smallest array gives o + 2 h, of which o is taken from one device; the
// largest one gives b.
void show_predicted(warpwise::Lesson& lesson, const std::vector<Step>& steps) {
    if (!lesson.measures()) return lesson.show_recorded("predicted");
    if (device_count() < 2) return;
    const auto time_of = [&](const Step& step, std::size_t bytes, int devices) {
        AllReduce problem(bytes / sizeof(float), devices);
        return seconds_of(problem, step);
    };
    constexpr std::size_t small = 8, large = std::size_t{1} << 28;
    std::vector<std::vector<std::string>> rows;
    for (const Step& step : steps) {
        if (step.name == "gather_to_one") continue;
        const double start = time_of(step, small, 1);
        const double meeting = std::max(0.0, (time_of(step, small, 2) - start) / 2);
        const double of_large = time_of(step, large, 2);
        const double rate = large / (of_large - start - 2 * meeting);
        for (const std::size_t bytes : {small, std::size_t{1} << 20, large}) {
            std::vector<std::string> row = {step.name, size_text(bytes),
                                            text_of("%.1f", 1e6 * meeting),
                                            text_of("%.0f", rate * 1e-9)};
            for (const int n : {4, 8}) {
                const double predicted =
                    start + 2 * (n - 1) * meeting +
                    2.0 * (n - 1) / n * static_cast<double>(bytes) / rate;
                row.push_back(text_of("%.1f", 1e6 * predicted));
                row.push_back(n <= device_count()
                                  ? text_of("%.1f", 1e6 * time_of(step, bytes, n))
                                  : "-");
            }
            rows.push_back(row);
        }
    }
    lesson.table({"predicted", "All-reduce in us, predicted from two devices"},
                 {"step", "size", "us per hand-over", "GB/s", "4 predicted", "4 measured",
                  "8 predicted", "8 measured"},
                 rows);
}

// What a device sends and receives, by counting what the steps have to do.
void show_traffic(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const double n : {2.0, 4.0, 8.0})
        rows.push_back({text_of("%.0f", n), text_of("%.2f", n - 1),
                        text_of("%.2f", 2 * (n - 1) / n), text_of("%.0f", 2 * (n - 1)),
                        text_of("%.0f", 2 * (n - 1))});
    lesson.table({"traffic", "Arrays that the busiest device receives, and hand-overs"},
                 {"devices", "gather_to_one", "ring", "copies one after the other",
                  "sends around the ring"},
                 rows);
}

}  // namespace

void ring_all_reduce(warpwise::Lesson& lesson) {
    const bool peers = enable_all_peers(device_count());
    const std::vector<Step> steps = steps_of(peers);

    lesson.question(
        R"(Each of N GPUs has an array of the same size, and all of them need the sum of
all arrays. What is the least that a GPU has to send, and how close to that can a program
of our own come?)");
    if (device_count() == 1)
        lesson.text(
            "There is one device here: the sum is its own array, and the steps only "
            "copy it.");
    lesson.predict(
        {.question = R"(Eight devices add up their arrays in a ring. How many times the
size of an array does each device receive?)",
         .answer =
             warpwise::Number{.value = 1.75,
                              .unit = "arrays",
                              .shown_by = warpwise::TableCell{"traffic", {"8"}, "ring"}},
         .because = R"(Seven of eight parts come by to be added to, and seven of eight come
by complete: 14/8. Device 0 in gather_to_one receives seven arrays.)"});
    show_traffic(lesson);
    lesson.steps<AllReduce>(
        {.gpu = {std::size_t{1} << 28},
         .cpu = {40009},
         .awkward = {{0}, {1}, {2}, {7}, {31}, {32}, {33}, {1009}, {4097}, {20011}}},
        steps);
    lesson.conclusion(
        R"(A ring uses every link all the time, and each device sends less than two
arrays. What is left is the cost of a hand-over: chunks hide it behind other chunks.)");

    lesson.question(
        R"(A small array is a matter of latency, and a large one of bandwidth. Where does
one end, and the other begin?)");
    lesson.predict(
        {.question = R"(An all-reduce of 8 bytes takes 20 us on some machine. How long does
one of 1 KiB take there?)",
         .answer = warpwise::Choice{{"about 20 us", "about 40 us", "about 2.5 ms"}, 0},
         .because = R"(Nearly all of the time is that of the hand-overs. 1 KiB takes a few
nanoseconds on a link of hundreds of GB/s.)"});
    show_sizes(lesson, steps);
    lesson.conclusion(
        R"(Below some 100 KiB, all that matters is how many hand-overs there are, one
after the other. A ring of N devices has 2 (N - 1) of them, so other algorithms win
there.)");

    lesson.question(
        R"(A ring of 1,024 GPUs has 2,046 hand-overs, one after the other. A tree has 20.
From two parameters, the time of a hand-over and the bandwidth of a link, times can be
predicted. When is the tree the better choice?)");
    lesson.predict(
        {.question = R"(For which arrays is a binary tree the better choice for 1,024 ranks,
if it sends whole arrays over each of its links?)",
         .answer = warpwise::Choice{{"for small ones", "for large ones", "for all"}, 0},
         .because =
             R"(A tree has few hand-overs, one after the other. A ring sends less over
each link, because a part is 1/1024 of the array.)"});
    show_model(lesson);
    show_predicted(lesson, steps);
    lesson.conclusion(
        R"(The model has a latency per hand-over and a bandwidth, both fitted on two GPUs.
What it says about more of them is a prediction, written down before anybody measured
it.)");

    if (device_count() == 1) return;
    lesson.question(
        R"(One thread calls ncclAllReduce for each of its devices. Two programs do this in a
wrong way. On GPUs they would wait forever. What do they wait for?)");
    lesson.predict(
        {.question = R"(One thread calls ncclAllReduce for device 0, and then for device 1,
without a group. What does the first call wait for?)",
         .answer = warpwise::Choice{{"for nothing", "for the stream of device 0",
                                     "for the call for device 1"},
                                    2},
         .because =
             R"(NCCL may wait in the call until all devices have come. The same thread
would make the other call only after that.)"});
#ifdef WARPWISE_NCCL
    modern_cuda::show_mistakes(
        lesson, "program",
        {{"no_group", "two devices, no ncclGroupStart", no_group, "stalled_collective"},
         {"other_operation", "the devices call different operations", other_operation,
          "stalled_collective"}},
        "other_operation");
#endif
    lesson.conclusion(
        R"(All devices have to call the same operations in the same order, with the same
counts and types. Calls of one thread for several devices belong into a group.)");
}

}  // namespace several_gpus
