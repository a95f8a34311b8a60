// Problem: Jacobi iteration on an array whose rows are split among the GPUs.
//
// In each iteration a GPU needs the rows next to its own, as its neighbors have just
// computed them. The steps differ in how much is sent, and in what happens meanwhile.
#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "chapters/5_modern_cuda/mistakes.h"
#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/halo_exchange/kernels.cuh"
#include "chapters/6_several_gpus/halo_exchange/strips.h"
#include "chapters/6_several_gpus/halo_exchange/wrong.cuh"
#include "chapters/6_several_gpus/nccl.h"
#include "chapters/6_several_gpus/scaling.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/instrument.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/lesson.h"

namespace several_gpus {
namespace {

using warpwise::text_of;

// Step 1, whole_array: every device has room for the whole array, and after each iteration
// it sends its rows to all others. Right, and easy to write. Slow because nearly all of
// what is sent is never read, and because the copies begin when the kernel has ended.
void whole_array(Strips& problem) {
    Devices& devices = problem.devices;
    const std::size_t cols = problem.cols, floats = (problem.rows + 2) * cols;
    for (DeviceArrays<float>& arrays : problem.d_whole) {
        if (arrays.empty()) {
            arrays = DeviceArrays<float>(devices, [&](int) { return floats; });
            arrays.fill_bytes(0);
        }
    }
    const auto whole_row = [&](int d, int iteration, std::size_t row) {
        return problem.d_whole[std::size_t(iteration) % 2].data(d) + row * cols;
    };
    devices.fork();
    for (int d = 0; d < devices.count(); ++d) {  // with the halo: the start of everybody
        const std::size_t bytes = (problem.strip(d).size() + 2) * cols * sizeof(float);
        warpwise::check(cudaMemcpyAsync(whole_row(d, 0, problem.strip(d).begin),
                                        problem.row_of(d, 0, 0), bytes,
                                        cudaMemcpyDeviceToDevice, devices.stream(d)));
    }
    for (int iteration = 0; iteration < problem.iterations; ++iteration) {
        for (int d = 0; d < devices.count(); ++d) {
            const Part strip = problem.strip(d);
            for (int other = 0; iteration > 0 && other < devices.count(); ++other)
                if (other != d)
                    problem.event_of(problem.sent, other, iteration - 1)
                        .wait_in(devices.stream(d));
            problem.launch_relax_of(d, whole_row(d, iteration, 0),
                                    whole_row(d, iteration + 1, 0), strip.begin + 1,
                                    strip.size(), devices.stream(d));
            for (int other = 0; other < devices.count(); ++other) {
                if (other == d) continue;
                warpwise::check(cudaMemcpyPeerAsync(
                    whole_row(other, iteration + 1, strip.begin + 1), other,
                    whole_row(d, iteration + 1, strip.begin + 1), d,
                    strip.size() * cols * sizeof(float), devices.stream(d)));
            }
            problem.event_of(problem.sent, d, iteration).record(devices.stream(d));
        }
    }
    for (int d = 0; d < devices.count(); ++d) {
        const Part strip = problem.strip(d);
        warpwise::check(cudaMemcpyAsync(problem.d_strips[0].data(d) + cols,
                                        whole_row(d, problem.iterations, strip.begin + 1),
                                        strip.size() * cols * sizeof(float),
                                        cudaMemcpyDeviceToDevice, devices.stream(d)));
    }
    devices.join();
}

// Step 2, halo_rows: a device has its strip and two rows more, and sends two rows. Faster
// because a row is little. Still slow because the next iteration waits for the copies, and
// the copies wait for the kernel: each device is idle for as long as a copy takes to start.
void halo_rows(Strips& problem) {
    Devices& devices = problem.devices;
    devices.fork();
    for (int iteration = 0; iteration < problem.iterations; ++iteration) {
        for (int d = 0; d < devices.count(); ++d) {
            const cudaStream_t stream = devices.stream(d);
            if (iteration > 0) problem.wait_for_neighbors(d, iteration - 1, stream);
            problem.launch_relax(d, iteration, 1, problem.strip(d).size(), stream);
            problem.send_edges(d, iteration, stream);
            problem.event_of(problem.sent, d, iteration).record(stream);
        }
    }
    devices.join();
}

// Steps 3 to 5: the edges first, in a stream whose blocks go before others. They are sent
// while the interior, which needs none of what is sent, is computed in the other stream.
// `send(d, iteration, stream)` sends, or does nothing if the kernel of the edges has.
template <class Send>
void edges_first(Strips& problem, bool kernel_stores, const Send& send) {
    Devices& devices = problem.devices;
    devices.fork();
    for (int d = 0; d < devices.count(); ++d) {
        devices.event(d).record(devices.stream(d));
        devices.event(d).wait_in(problem.urgent_stream(d));
    }
    for (int iteration = 0; iteration < problem.iterations; ++iteration) {
        for (int d = 0; d < devices.count(); ++d) {
            const cudaStream_t urgent = problem.urgent_stream(d);
            const cudaStream_t stream = devices.stream(d);
            if (iteration > 0) {
                problem.event_of(problem.interior, d, iteration - 1).wait_in(urgent);
                problem.wait_for_neighbors(d, iteration - 1, urgent);
                problem.event_of(problem.edges, d, iteration - 1).wait_in(stream);
            }
            problem.launch_edges(d, iteration, kernel_stores, urgent);
            problem.event_of(problem.edges, d, iteration).record(urgent);
            const std::size_t rows = problem.strip(d).size();
            problem.launch_relax(d, iteration, 2, rows > 2 ? rows - 2 : 0, stream);
            problem.event_of(problem.interior, d, iteration).record(stream);
        }
        send(iteration);
        for (int d = 0; d < devices.count(); ++d)
            problem.event_of(problem.sent, d, iteration).record(problem.urgent_stream(d));
    }
    for (int d = 0; d < devices.count(); ++d)
        problem.event_of(problem.sent, d, problem.iterations - 1)
            .wait_in(devices.stream(d));
    devices.join();
}

// Step 3, overlapped: copies. Faster because no kernel waits for a copy that could have
// been made before. Still slow only where a strip is so thin that its interior takes less
// time than a copy.
void overlapped(Strips& problem) {
    edges_first(problem, false, [&](int iteration) {
        for (int d = 0; d < problem.devices.count(); ++d)
            problem.send_edges(d, iteration, problem.urgent_stream(d));
    });
}

// Step 4, peer_stores: the kernel of the edges stores them in the halos of the neighbors,
// too. Faster for thin strips because no copy has to be started.
void peer_stores_of_edges(Strips& problem) {
    edges_first(problem, true, [](int) {});
}

#ifdef WARPWISE_NCCL
// Step 5, nccl: ncclSend and ncclRecv, as it is done between machines. All of an iteration
// stand in one group: a call that waits for its counterpart does not keep others from
// starting.
void nccl_send_recv(Strips& problem) {
    const int count = problem.devices.count();
    Communicators& communicators = communicators_of(count);
    edges_first(problem, false, [&](int iteration) {
        if (count == 1) return;
        check_nccl(ncclGroupStart());
        for (int d = 0; d < count; ++d) {
            const cudaStream_t stream = problem.urgent_stream(d);
            const ncclComm_t communicator = communicators.of(d);
            for (const int peer : {d - 1, d + 1}) {
                if (peer < 0 || peer == count) continue;
                const std::size_t edge = peer < d ? 1 : problem.strip(d).size();
                const std::size_t halo_row = peer < d ? 0 : problem.strip(d).size() + 1;
                check_nccl(ncclSend(problem.row_of(d, iteration + 1, edge), problem.cols,
                                    ncclFloat, peer, communicator, stream));
                check_nccl(
                    ncclRecv(problem.d_strips[std::size_t(iteration + 1) % 2].data(d) +
                                 halo_row * problem.cols,
                             problem.cols, ncclFloat, peer, communicator, stream));
            }
        }
        check_nccl(ncclGroupEnd());
    });
}
#endif

using Step = warpwise::Step<Strips>;

std::vector<Step> steps_of(bool peers) {
    std::vector<Step> steps = {
        {"whole_array", "every device gets every row", whole_array},
        {"halo_rows", "only rows that are needed", halo_rows},
        {"overlapped", "edges first, and sent meanwhile", overlapped}};
    if (peers)
        steps.push_back(
            {"peer_stores", "edges stored in the peer's halo", peer_stores_of_edges});
#ifdef WARPWISE_NCCL
    steps.push_back({"nccl", "ncclSend and ncclRecv in a group", nccl_send_recv});
#endif
    return steps;
}

// ---- strong and weak scaling ------------------------------------------------------------

double microseconds_per_iteration(Strips& problem, void (*run)(Strips&)) {
    std::vector<double> seconds;
    for (int sample = -2; sample < 7; ++sample) {
        warpwise::check_finished();
        warpwise::DeviceTimer timer;
        timer.start();
        run(problem);
        timer.stop();
        const double took = timer.seconds();
        if (sample >= 0) seconds.push_back(took / problem.iterations);
    }
    return 1e6 * warpwise::timing_of(seconds).median;
}

void show_scaling(warpwise::Lesson& lesson, const std::string& name, bool weak,
                  const std::vector<Step>& steps) {
    if (!lesson.measures()) {
        lesson.show_recorded(name);
        return lesson.show_recorded(name + "_predicted");
    }
    Scaling model(weak);
    const std::size_t side = lesson.size({16384, 16384}, {64, 64})[0];
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t cols : {side, side / 4}) {
        double of_one = 0;
        for (int count = 1; count <= device_count(); count *= 2) {
            const std::size_t all = weak ? cols * std::size_t(count) : cols;
            Strips problem(all, cols, count);
            std::vector<std::string> row = {
                std::to_string(all) + " x " + std::to_string(cols), std::to_string(count)};
            double fastest = 0;
            for (const Step& step : steps) {
                if (step.name == "whole_array") continue;
                void (*const* run)(Strips&) = step.run.target<void (*)(Strips&)>();
                const double took = microseconds_per_iteration(problem, *run);
                if (fastest == 0 || took < fastest) fastest = took;
                row.push_back(text_of("%.1f", took));
            }
            if (count == 1) of_one = fastest;
            model.add(std::to_string(cols) + (weak ? " rows each" : " rows"), count,
                      1e-6 * fastest);
            row.push_back(text_of("%.3f", of_one / fastest));
            row.push_back(text_of("%.1f %%", 100 * of_one / fastest / (weak ? 1 : count)));
            rows.push_back(row);
        }
    }
    std::vector<std::string> head = {"array", "devices"};
    for (const Step& step : steps)
        if (step.name != "whole_array") head.push_back(step.name);
    head.insert(head.end(), {"times one device", "efficiency"});
    lesson.table(
        {name, weak ? "Microseconds per iteration, the array grows with the devices"
                    : "Microseconds per iteration, the same array for all"},
        head, rows);
    model.show(lesson, name + "_predicted", "us per iteration", 1e6);
}

// What an iteration sends.
void show_bytes(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    constexpr double row = 16384 * sizeof(float);
    for (const int count : {2, 4, 8}) {
        const double whole = (count - 1) * row * 16384, halo = 2 * (count - 1) * row;
        rows.push_back({std::to_string(count), text_of("%.0f MiB", whole / (1 << 20)),
                        text_of("%.0f KiB", halo / 1024)});
    }
    lesson.table({"bytes", "Sent per iteration by all devices, 16384 x 16384"},
                 {"devices", "whole array", "halo rows"}, rows);
}

}  // namespace

void halo_exchange(warpwise::Lesson& lesson) {
    const bool peers = enable_all_peers(device_count());
    const std::vector<Step> steps = steps_of(peers);

    lesson.question(
        R"(An array is split into strips of rows, one for each GPU. Each point becomes the
mean of its neighbors, again and again. How much has to be sent in an iteration, and does
anybody have to wait for it?)");
    if (device_count() == 1)
        lesson.text(
            "There is one device here: the steps run with one strip, and nothing is "
            "sent.");
    lesson.predict(
        {.question = R"(An array has 16384 x 16384 floats, in two strips. How many KiB are
sent in an iteration, by both devices together, if they send what the other needs?)",
         .answer =
             warpwise::Number{.value = 128,
                              .unit = "KiB",
                              .shown_by = warpwise::TableCell{"bytes", {"2"}, "halo rows"}},
         .because = R"(One row of 64 KiB in each direction. The whole strips would be 1024
MiB.)"});
    show_bytes(lesson);
    lesson.steps<Strips>({.gpu = {16384, 16384},
                          .cpu = {128, 96},
                          .awkward = {{1, 1},
                                      {1, 33},
                                      {2, 2},
                                      {3, 5},
                                      {5, 1},
                                      {31, 33},
                                      {32, 32},
                                      {67, 129},
                                      {257, 263}}},
                         steps);
    lesson.conclusion(
        R"(Send the edges only, and compute them first: then they arrive while the
interior is computed, and no GPU waits as long as its strip is thick enough.)");

    lesson.question(
        R"(Two questions can be asked of N GPUs. How much faster do they solve the same
problem (strong scaling)? And can they solve an N times larger one in the same time (weak
scaling)?)");
    lesson.predict(
        {.question = R"(The same array is split among more and more GPUs. What happens to
the work of each, and to the rows that each sends?)",
         .answer =
             warpwise::Choice{{"both become smaller",
                               "the work becomes smaller, the rows stay", "both stay"},
                              1},
         .because = R"(A strip gets fewer rows, and each has two edges of the same length,
however thin it is. So strong scaling ends somewhere.)"});
    show_scaling(lesson, "strong", false, steps);
    show_scaling(lesson, "weak", true, steps);
    lesson.conclusion(
        R"(With more GPUs, strips of the same array get thinner, and the interior is ready
before the edges have arrived. If the array grows with the GPUs, strips stay as they
are.)");

    if (device_count() == 1) return;
    lesson.question(
        R"(A kernel stores the edges in the memory of its neighbors. When may it do
that?)");
    lesson.predict(
        {.question = R"(There are two arrays, of which each iteration reads one and writes
the other. How many iterations may a device be ahead of its neighbor, so that no halo is
overwritten that is still needed?)",
         .answer = warpwise::Choice{{"none", "one", "any number"}, 1},
         .because = R"(One iteration ahead, it writes the array that the neighbor does not
read now. Two ahead, it would write the one that the neighbor reads.)"});
    modern_cuda::show_mistakes(
        lesson, "program",
        {{"no_wait_for_neighbors", "halos overwritten while they are read",
          no_wait_for_neighbors, "data_race"}},
        "no_wait_for_neighbors");
    lesson.conclusion(
        R"(A neighbor has to have read the halo of two iterations ago, and must not read
the new one before it is there. One event per device and iteration does both.)");
}

}  // namespace several_gpus
