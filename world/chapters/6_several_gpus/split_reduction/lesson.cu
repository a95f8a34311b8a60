// Problem: the dot product of two vectors, of which each GPU has a part.
//
// Adding up what the GPUs have found is next to no work. What costs time is how they and
// the host wait for each other.
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chapters/5_modern_cuda/mistakes.h"
#include "chapters/6_several_gpus/device_arrays.h"
#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/nccl.h"
#include "chapters/6_several_gpus/numbers.cuh"
#include "chapters/6_several_gpus/scaling.h"
#include "chapters/6_several_gpus/split_reduction/kernels.cuh"
#include "chapters/6_several_gpus/split_reduction/wrong.cuh"
#include "common/helpers/activity.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/instrument.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/lesson.h"

namespace several_gpus {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

struct Reference {
    double sum = 0, magnitudes = 0;
};

// In double, on all cores of the host.
Reference reference_of(std::size_t count) {
    std::vector<Reference> parts(warpwise::parallel_parts(count));
    warpwise::parallel_for_parts(
        count, parts.size(), [&](std::size_t part, std::size_t begin, std::size_t end) {
            Reference found;
            for (std::size_t i = begin; i < end; ++i) {
                const double product = double{number_at(1, i)} * double{number_at(2, i)};
                found.sum += product;
                found.magnitudes += std::fabs(product);
            }
            parts[part] = found;
        });
    Reference all;
    for (const Reference& part : parts) {
        all.sum += part.sum;
        all.magnitudes += part.magnitudes;
    }
    return all;
}

struct PinnedSums {
    explicit PinnedSums(int count) {
        warpwise::check(cudaHostAlloc(&sums, static_cast<std::size_t>(count) * sizeof *sums,
                                      cudaHostAllocPortable));
    }
    ~PinnedSums() { (void)cudaFreeHost(sums); }
    PinnedSums(const PinnedSums&) = delete;
    PinnedSums& operator=(const PinnedSums&) = delete;
    double* sums = nullptr;
};

// So many runs can be in flight at once: each has a place of its own for the sums.
constexpr unsigned kInARow = 20;

// Vectors of `count` numbers, split among the first devices of the machine.
struct SplitVectors {
    std::size_t count;
    Devices devices;
    DeviceArrays<float> d_a, d_b;
    DeviceArrays<double> d_block_sums;
    DeviceArrays<unsigned> d_done;
    DeviceArrays<double> d_sum;  // of each device; NCCL's is as large as the others
    DeviceBuffer<double> d_sums, d_total;  // of all devices, on device 0
    DeviceBuffer<unsigned> d_flags;
    PinnedSums on_host;
    Reference expected;
    unsigned run = 0;
    std::vector<unsigned> blocks;

    SplitVectors(std::size_t numbers, int device_number)
        : count(numbers),
          devices(device_number),
          d_a(devices, [this](int d) { return part(d).size(); }),
          d_b(devices, [this](int d) { return part(d).size(); }),
          d_block_sums(devices, [this](int d) { return blocks_of(d); }),
          d_done(devices, [](int) { return std::size_t{1}; }),
          d_sum(devices, [](int) { return std::size_t{1}; }),
          d_sums(kInARow * static_cast<std::size_t>(device_number)),
          d_total(1),
          d_flags(static_cast<std::size_t>(device_number)),
          on_host(device_number),
          expected(reference_of(count)) {
        for (int d = 0; d < devices.count(); ++d) {
            fill_with_numbers(d, 1, part(d).begin, part(d).size(), d_a.data(d));
            fill_with_numbers(d, 2, part(d).begin, part(d).size(), d_b.data(d));
            blocks.push_back(blocks_of(d));
        }
        d_done.fill_bytes(0);
        d_flags.fill_bytes(0);
        warpwise::check_finished();
    }
    explicit SplitVectors(const warpwise::Size& size)
        : SplitVectors(size[0], device_count()) {}

    Part part(int device) const { return part_of(count, devices.count(), device); }
    unsigned blocks_of(int device) const {
        const OnDevice current(device);
        const std::size_t threads = part(device).size() / 16 + 1;
        return std::min(warpwise::blocks_for(threads, kDotThreads),
                        warpwise::blocks_that_fill(dot_of_part, kDotThreads));
    }
    DotPart dot_part(int d) {
        return {d_a.data(d), d_b.data(d), part(d).size(), d_block_sums.data(d),
                d_done.data(d)};
    }
    unsigned blocks_on(int d) const { return blocks[static_cast<std::size_t>(d)]; }

    // The dot product of a device's part, in its stream.
    void launch(int device, double* out) {
        const OnDevice current(device);
        dot_of_part<<<blocks_on(device), kDotThreads, 0, devices.stream(device)>>>(
            dot_part(device), out);
        warpwise::check_launch();
    }
    void launch_add() {
        const OnDevice current(0);
        add_sums<<<1, 1, 0, devices.stream(0)>>>(d_sums.data(), devices.count(),
                                                 d_total.data());
        warpwise::check_launch();
    }

    void poison() {
        d_total.fill_bytes(0xFF);
        d_sums.fill_bytes(0xFF);
        d_sum.fill_bytes(0xFF);
    }
    warpwise::Comparison compare() {
        const double allowed =
            warpwise::sum_tolerance(count, 6e-8, expected.magnitudes) + 1e-30;
        return warpwise::compare(d_total.download(), {expected.sum}, {.absolute = allowed});
    }
    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * static_cast<double>(count),
                .operations = 2.0 * static_cast<double>(count)};
    }
    // Of the device that has all of it: in step 1.
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * size[0] * sizeof(float) + (std::size_t{1} << 20);
    }
};

// The sums of all devices are on the host: it adds them up.
void add_on_host(SplitVectors& problem) {
    double total = 0;
    for (int d = 0; d < problem.devices.count(); ++d) total += problem.on_host.sums[d];
    warpwise::check(cudaMemcpyAsync(problem.d_total.data(), &total, sizeof total,
                                    cudaMemcpyHostToDevice, nullptr));
    warpwise::check(cudaStreamSynchronize(nullptr));
}

void copy_sum_to_host(SplitVectors& problem, int device) {
    warpwise::check(cudaMemcpyAsync(
        problem.on_host.sums + device, problem.d_sum.data(device), sizeof(double),
        cudaMemcpyDeviceToHost, problem.devices.stream(device)));
}

// Step 1, one_after_another: the host waits for the sum of a device before it launches the
// kernel of the next one. The mistake is easy to make: cudaMemcpy, without Async, does the
// same. All devices but one are idle at any time.
void one_after_another(SplitVectors& problem) {
    problem.devices.fork();
    for (int d = 0; d < problem.devices.count(); ++d) {
        problem.launch(d, problem.d_sum.data(d));
        copy_sum_to_host(problem, d);
        warpwise::check(cudaStreamSynchronize(problem.devices.stream(d)));
    }
    add_on_host(problem);
}

// Step 2, all_at_once: first everything is launched, and then the host waits. Faster
// because all devices compute at the same time. Still slow because at the end there are a
// copy and a wait of the host for each device, and a copy back.
void all_at_once(SplitVectors& problem) {
    problem.devices.fork();
    for (int d = 0; d < problem.devices.count(); ++d) {
        problem.launch(d, problem.d_sum.data(d));
        copy_sum_to_host(problem, d);
    }
    problem.devices.wait();
    add_on_host(problem);
}

// Step 3, events: the sums are copied to device 0, and its stream waits for the copies by
// events. Faster because the host does not wait any more. Still slow because of the copies.
void with_events(SplitVectors& problem) {
    problem.devices.fork();
    for (int d = problem.devices.count() - 1; d >= 0; --d) {
        problem.launch(d, problem.d_sum.data(d));
        warpwise::check(cudaMemcpyPeerAsync(problem.d_sums.data() + d, 0,
                                            problem.d_sum.data(d), d, sizeof(double),
                                            problem.devices.stream(d)));
        if (d == 0) continue;
        problem.devices.event(d).record(problem.devices.stream(d));
        problem.devices.event(d).wait_in(problem.devices.stream(0));
    }
    problem.launch_add();
    problem.devices.join();
}

// Step 4, peer_stores: the last block of each device stores its sum in the memory of device
// 0. Faster because no copies are left. Still slow because a kernel of device 0 begins only
// after the events of all other devices.
void peer_stores(SplitVectors& problem) {
    problem.devices.fork();
    for (int d = problem.devices.count() - 1; d >= 0; --d)
        problem.launch(d, problem.d_sums.data() + d);
    for (int d = 1; d < problem.devices.count(); ++d) {
        problem.devices.event(d).record(problem.devices.stream(d));
        problem.devices.event(d).wait_in(problem.devices.stream(0));
    }
    problem.launch_add();
    problem.devices.join();
}

// Step 5: see dot_with_flags. The devices other than 0 are launched first.
void launch_with_flags(SplitVectors& problem) {
    const int count = problem.devices.count();
    ++problem.run;
    double* const sums =
        problem.d_sums.data() + problem.run % kInARow * static_cast<std::size_t>(count);
    for (int d = count - 1; d >= 0; --d) {
        const OnDevice current(d);
        dot_with_flags<<<problem.blocks_on(d), kDotThreads, 0, problem.devices.stream(d)>>>(
            problem.dot_part(d), d, count, problem.run, sums, problem.d_flags.data(),
            problem.d_total.data());
        warpwise::check_launch();
    }
}
void with_flags(SplitVectors& problem) {
    problem.devices.fork();
    launch_with_flags(problem);
    problem.devices.join();
}

#ifdef WARPWISE_NCCL
// NCCL adds up the sums, and every device gets the total.
void with_nccl(SplitVectors& problem) {
    Communicators& communicators = communicators_of(problem.devices.count());
    problem.devices.fork();
    for (int d = 0; d < problem.devices.count(); ++d)
        problem.launch(d, problem.d_sum.data(d));
    check_nccl(ncclGroupStart());
    for (int d = 0; d < problem.devices.count(); ++d)
        check_nccl(ncclAllReduce(problem.d_sum.data(d), problem.d_sum.data(d), 1,
                                 ncclDouble, ncclSum, communicators.of(d),
                                 problem.devices.stream(d)));
    check_nccl(ncclGroupEnd());
    warpwise::check(cudaMemcpyAsync(problem.d_total.data(), problem.d_sum.data(0),
                                    sizeof(double), cudaMemcpyDeviceToDevice,
                                    problem.devices.stream(0)));
    problem.devices.join();
}
#endif

using Step = warpwise::Step<SplitVectors>;

std::vector<Step> steps_of(bool peers) {
    std::vector<Step> steps = {
        {"one_after_another", "waits before the next device", one_after_another},
        {"all_at_once", "launches all, then waits", all_at_once},
        {"events", "device 0 waits, and not the host", with_events}};
    if (peers) {
        steps.push_back({"peer_stores", "sums stored on device 0", peer_stores});
        steps.push_back({"dot_with_flags", "flags instead of events", with_flags});
    }
#ifdef WARPWISE_NCCL
    steps.push_back({"ncclAllReduce", "NCCL adds the sums of the devices", with_nccl,
                     warpwise::StepKind::vendor});
#endif
    return steps;
}

// ---- against one device -----------------------------------------------------------------

// Microseconds of one of several runs that are given to the devices without a wait. With
// flags, a device need not even wait for the others to begin its next run.
double microseconds_in_a_row(SplitVectors& problem, bool peers) {
    std::vector<double> seconds;
    for (int sample = -1; sample < 5; ++sample) {
        warpwise::check_finished();
        warpwise::DeviceTimer timer;
        timer.start();
        if (peers) problem.devices.fork();
        for (unsigned k = 0; k < kInARow; ++k)
            peers ? launch_with_flags(problem) : with_events(problem);
        if (peers) problem.devices.join();
        timer.stop();
        const double took = timer.seconds();
        if (sample >= 0) seconds.push_back(took / kInARow);
    }
    return 1e6 * warpwise::timing_of(seconds).median;
}

void show_scaling(warpwise::Lesson& lesson, bool peers) {
    if (!lesson.measures()) {
        lesson.show_recorded("scaling");
        return lesson.show_recorded("predicted");
    }
    Scaling model;
    const std::size_t most = lesson.size({std::size_t{1} << 29}, {1 << 20})[0];
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t count :
         {std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 27, most}) {
        double of_one = 0;
        for (int number = 1; number <= device_count(); number *= 2) {
            SplitVectors problem(count, number);
            problem.poison();
            const double took = microseconds_in_a_row(problem, peers);
            lesson.expect(problem.compare().passed, "the sum of several runs in a row");
            if (number == 1) of_one = took;
            model.add(std::to_string(count), number, 1e-6 * took);
            rows.push_back({std::to_string(count), std::to_string(number),
                            text_of("%.1f", took), text_of("%.3f", of_one / took),
                            text_of("%.1f %%", 100 * of_one / took / number)});
        }
    }
    lesson.table({"scaling", "The last step by the number of devices, 20 runs in a row"},
                 {"numbers", "devices", "us", "times one device", "efficiency"}, rows);
    model.show(lesson, "predicted", "us", 1e6);
}

// How often the host waits for a device.
void show_waits(warpwise::Lesson& lesson, const std::vector<Step>& steps) {
    if (!warpwise::can_instrument()) return;
    SplitVectors problem(1000, device_count());
    std::vector<std::vector<std::string>> rows;
    for (const Step& step : steps) {
        if (step.kind != warpwise::StepKind::device) continue;
        const warpwise::Instrumentation instrumenting({.diagnostics = true});
        int waits = 0, launches = 0, copies = 0;
        for (const warpwise::ApiCall& call :
             warpwise::log_during([&] { step.run(problem); })) {
            waits += call.waits ? 1 : 0;
            launches += call.launch != 0 ? 1 : 0;
            copies += call.bytes > 0 ? 1 : 0;
        }
        rows.push_back({step.name, std::to_string(launches), std::to_string(copies),
                        std::to_string(waits)});
    }
    lesson.table({"waits", "Calls of the host in one run, " +
                               warpwise::counted(static_cast<std::size_t>(device_count()),
                                                 "device")},
                 {"step", "launches", "copies", "waits"}, rows);
}

}  // namespace

void split_reduction(warpwise::Lesson& lesson) {
    const bool peers = enable_all_peers(device_count());
    const std::vector<Step> steps = steps_of(peers);

    lesson.question(
        R"(Each GPU has a part of two vectors. It can find the dot product of its part
alone, and then a handful of numbers is left to add up. How close to N times the speed of
one GPU can N of them come?)");
    if (device_count() == 1)
        lesson.text(
            "There is one device here: the steps run, with one part. What several devices "
            "gain is skipped.");
    if (peers)
        lesson.predict(
            {.question = "Which of these steps is the fastest on several GPUs?",
             .answer = warpwise::Fastest{{"one_after_another", "all_at_once", "events",
                                          "peer_stores", "dot_with_flags"}},
             .because = R"(Every wait of the host, every copy, and every launch after the
sums are known delays the result. A flag that a kernel waits for needs none of them.)"});
    lesson.steps<SplitVectors>(
        {.gpu = {std::size_t{1} << 29},
         .cpu = {1 << 18},
         .awkward = {{0}, {1}, {2}, {31}, {32}, {33}, {1009}, {4097}, {100003}}},
        steps);
    show_waits(lesson, steps);
    lesson.conclusion(
        R"(Launch on all devices before you wait for any of them, and let devices wait
for devices: by events, or by flags in memory that both can reach.)");

    lesson.question(
        R"(The time of one GPU is that of the memory. The time of several has the
overhead of starting them and of their meeting on top. From which size on is that small?)");
    lesson.predict(
        {.question = R"(A dot product takes 1 ms on one GPU. Starting two GPUs and bringing
their sums together takes 10 us. What is the efficiency of two GPUs?)",
         .answer = warpwise::Choice{{"100 %", "about 98 %", "about 50 %"}, 1},
         .because = R"(Two GPUs take 500 + 10 us. That is 1000 / 510 = 1.96 times as fast as
one, and 1.96 / 2 = 98 %.)"});
    show_scaling(lesson, peers);
    lesson.conclusion(
        R"(Efficiency is the time of one GPU, divided by the time of N and by N. The
overhead is about the same at every size, so large problems scale and small ones do not.)");

    if (device_count() == 1) return;
    lesson.question(
        R"(A kernel of device 0 reads what a kernel of device 1 has written. The launches
stand in the right order in the program. Is that enough?)");
    lesson.predict(
        {.question =
             R"(A kernel is launched on device 1, and then one on device 0 that reads
its result. Both streams are their own. What is guaranteed?)",
         .answer = warpwise::Choice{{"the first one ends before the second one begins",
                                     "the first one begins first", "nothing"},
                                    2},
         .because = R"(Launches return at once, and each device works through its own
streams.)"});
    modern_cuda::show_mistakes(lesson, "program",
                               {{"no_event_between", "streams of two devices, no event",
                                 no_event_between, "data_race"}},
                               "no_event_between");
    lesson.conclusion(
        R"(Streams of different devices know nothing of each other. Record an event after
the kernel that writes, and let the stream of the kernel that reads wait for it.)");
}

}  // namespace several_gpus
