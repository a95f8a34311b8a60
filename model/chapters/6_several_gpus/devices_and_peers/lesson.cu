// Problem: copy an array from one GPU to another.
//
// The steps take other ways: through the memory of the host, by a copy engine straight to
// the peer, and by kernels that read or write the memory of the other GPU themselves.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "chapters/5_modern_cuda/mistakes.h"
#include "chapters/6_several_gpus/device_arrays.h"
#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/devices_and_peers/kernels.cuh"
#include "chapters/6_several_gpus/devices_and_peers/wrong.cuh"
#include "chapters/6_several_gpus/numbers.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/instrument.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/beside_record.h"
#include "common/lesson/lesson.h"

namespace several_gpus {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

// Pinned host memory: copies to and from it are asynchronous.
class PinnedFloats {
public:
    explicit PinnedFloats(std::size_t count) {
        if (count > 0)
            warpwise::check(
                cudaHostAlloc(&floats_, count * sizeof(float), cudaHostAllocPortable));
    }
    ~PinnedFloats() {
        if (floats_ != nullptr) (void)cudaFreeHost(floats_);
    }
    PinnedFloats(const PinnedFloats&) = delete;
    PinnedFloats& operator=(const PinnedFloats&) = delete;
    float* get() { return floats_; }

private:
    float* floats_ = nullptr;
};

constexpr std::size_t kChunk = std::size_t{1} << 20;  // floats of a chunk: 4 MiB

// From device 0 to device 1.
struct PeerCopy {
    std::size_t count;
    Devices devices{2};
    DeviceArrays<float> d_from{devices, [this](int d) { return d == 0 ? count : 0; }};
    DeviceArrays<float> d_to{devices, [this](int d) { return d == 1 ? count : 0; }};
    PinnedFloats on_host;

    explicit PeerCopy(const warpwise::Size& size) : count(size[0]), on_host(count) {
        fill_with_numbers(0, 1, 0, count, d_from.data(0));
    }

    const float* from() { return d_from.data(0); }
    float* to() { return d_to.data(1); }
    std::size_t bytes() const { return count * sizeof(float); }

    void poison() { d_to.fill_bytes(0xFF); }
    warpwise::Comparison compare() {
        return warpwise::compare_each(d_to.download(1), count,
                                      [](std::size_t i) { return double{number_at(1, i)}; },
                                      {.absolute = 0});
    }
    warpwise::Work work() const {
        return {.bytes = static_cast<double>(bytes()), .operations = 0};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return size[0] * sizeof(float) + 4096;
    }
};

// Step 1, through_the_host: all of it to the host, and then all of it to the other device.
// Works between any two devices. Slow because the data crosses two links one after the
// other, and the memory of the host twice.
void through_the_host(PeerCopy& problem) {
    problem.devices.fork();
    const cudaStream_t sends = problem.devices.stream(0), gets = problem.devices.stream(1);
    warpwise::check(cudaMemcpyAsync(problem.on_host.get(), problem.from(), problem.bytes(),
                                    cudaMemcpyDeviceToHost, sends));
    problem.devices.event(0).record(sends);
    problem.devices.event(0).wait_in(gets);
    warpwise::check(cudaMemcpyAsync(problem.to(), problem.on_host.get(), problem.bytes(),
                                    cudaMemcpyHostToDevice, gets));
    problem.devices.join();
}

// Step 2, in_chunks: the same in chunks of 4 MiB. Faster because one chunk is on its way
// to device 1 while the next one comes from device 0: both links work at the same time.
// Still slow because the links to the host are slower than those between the GPUs.
void in_chunks(PeerCopy& problem) {
    problem.devices.fork();
    const cudaStream_t sends = problem.devices.stream(0), gets = problem.devices.stream(1);
    for (std::size_t first = 0; first < problem.count; first += kChunk) {
        const std::size_t bytes = std::min(kChunk, problem.count - first) * sizeof(float);
        float* const chunk = problem.on_host.get() + first;
        warpwise::check(cudaMemcpyAsync(chunk, problem.from() + first, bytes,
                                        cudaMemcpyDeviceToHost, sends));
        problem.devices.event(0).record(sends);
        problem.devices.event(0).wait_in(gets);
        warpwise::check(cudaMemcpyAsync(problem.to() + first, chunk, bytes,
                                        cudaMemcpyHostToDevice, gets));
    }
    problem.devices.join();
}

// Step 3, peer_copy: one call, and a copy engine does the rest. Between devices that can
// access each other, and once that was enabled, the data goes straight from one to the
// other. Otherwise the driver sends it through the host, as step 2 does.
void peer_copy(PeerCopy& problem) {
    problem.devices.fork();
    if (problem.count > 0)
        warpwise::check(cudaMemcpyPeerAsync(problem.to(), 1, problem.from(), 0,
                                            problem.bytes(), problem.devices.stream(0)));
    problem.devices.join();
}

// The kernel on the device that sends (0), or on the one that receives (1).
void launch_on(PeerCopy& problem, int device,
               void (*kernel)(const float*, std::size_t, float*),
               std::size_t floats_per_thread) {
    problem.devices.fork();
    const OnDevice current(device);
    const std::size_t threads = warpwise::ceil_div(problem.count, floats_per_thread);
    // A block of 512 threads for every 16 KiB or so: waves of them even out what some wait.
    const unsigned blocks =
        std::min(warpwise::blocks_for(threads, kThreads), 32 * warpwise::multiprocessors());
    kernel<<<blocks, kThreads, 0, problem.devices.stream(device)>>>(
        problem.from(), problem.count, problem.to());
    warpwise::check_launch();
    problem.devices.join();
}

void read_peer(PeerCopy& problem) { launch_on(problem, 1, copy_floats, 1); }
void write_peer(PeerCopy& problem) { launch_on(problem, 0, copy_floats, 1); }
void read_peer_float4(PeerCopy& problem) { launch_on(problem, 1, copy_float4, 8); }
void write_peer_float4(PeerCopy& problem) { launch_on(problem, 0, copy_float4, 8); }

// ---- which devices there are ------------------------------------------------------------

std::string attribute(cudaDeviceP2PAttr which, int device, int peer) {
    int value = 0;
    warpwise::check(cudaDeviceGetP2PAttribute(&value, which, device, peer));
    return std::to_string(value);
}

void show_devices(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (int device = 0; device < device_count(); ++device) {
        const OnDevice current(device);
        cudaDeviceProp about{};
        warpwise::check(cudaGetDeviceProperties(&about, device));
        std::array<char, 32> address{};
        warpwise::check(cudaDeviceGetPCIBusId(address.data(),
                                              static_cast<int>(address.size()), device));
        std::size_t unused = 0, total = 0;
        warpwise::check(cudaMemGetInfo(&unused, &total));
        rows.push_back({std::to_string(device), about.name, address.data(),
                        std::to_string(about.multiProcessorCount),
                        text_of("%.1f GiB", static_cast<double>(total) / (1u << 30))});
    }
    lesson.table({"devices", "The devices of this program"},
                 {"device", "name", "PCI address", "SMs", "memory"}, rows);
}

void show_pairs(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (int device = 0; device < device_count(); ++device) {
        for (int peer = 0; peer < device_count(); ++peer) {
            if (peer == device) continue;
            const bool access = can_access(device, peer);
            rows.push_back(
                {std::to_string(device) + " to " + std::to_string(peer),
                 access ? "yes" : "no",
                 access ? attribute(cudaDevP2PAttrPerformanceRank, device, peer) : "-",
                 access &&
                         attribute(cudaDevP2PAttrNativeAtomicSupported, device, peer) == "1"
                     ? "yes"
                     : "no"});
        }
    }
    lesson.table({"pairs", "What one device may do with the memory of another"},
                 {"device", "access", "rank", "atomics"}, rows);
}

// ---- a copy by its size, both ways at once, and the latency -----------------------------

double median_seconds(const std::function<void()>& run, int samples) {
    std::vector<double> seconds;
    for (int sample = -2; sample < samples; ++sample) {
        warpwise::check_finished();
        warpwise::DeviceTimer timer;
        timer.start();
        run();
        timer.stop();
        const double took = timer.seconds();
        if (sample >= 0) seconds.push_back(took);
    }
    return warpwise::timing_of(seconds).median;
}

void show_sizes(warpwise::Lesson& lesson, bool peers) {
    if (!lesson.measures()) return lesson.show_recorded("sizes");
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t bytes :
         {std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{1} << 20,
          std::size_t{16} << 20, std::size_t{256} << 20, std::size_t{1} << 30}) {
        PeerCopy problem(warpwise::Size{bytes / sizeof(float)});
        std::vector<std::string> row = {std::to_string(bytes >> 10)};
        std::vector<void (*)(PeerCopy&)> ways = {in_chunks, peer_copy};
        if (peers) ways.push_back(write_peer_float4);
        for (void (*const way)(PeerCopy&) : ways) {
            const double seconds = median_seconds([&] { way(problem); }, 20);
            row.push_back(text_of("%.1f", 1e6 * seconds));
            row.push_back(text_of("%.1f", static_cast<double>(bytes) / seconds * 1e-9));
        }
        if (!peers) row.insert(row.end(), {"-", "-"});
        rows.push_back(row);
    }
    lesson.table({"sizes", "A copy from device 0 to device 1 against its size"},
                 {"KiB", "in_chunks us", "in_chunks GB/s", "peer_copy us", "peer_copy GB/s",
                  "write_peer_float4 us", "write_peer_float4 GB/s"},
                 rows);
}

// Copies on a ring at the same time: from each device to the next one, or with the last
// argument also to the one before.
double ring_gb_per_s(DeviceArrays<float>& d_out, DeviceArrays<float>& d_in,
                     DeviceArrays<float>& d_back, Devices& devices, Devices& other_way,
                     bool both) {
    const int count = devices.count();
    const double seconds = median_seconds(
        [&] {
            devices.fork();
            other_way.fork();
            for (int d = 0; d < count; ++d) {
                const int next = (d + 1) % count, last = (d + count - 1) % count;
                warpwise::check(cudaMemcpyPeerAsync(d_in.data(next), next, d_out.data(d), d,
                                                    d_out.size(d) * sizeof(float),
                                                    devices.stream(d)));
                if (both)
                    warpwise::check(cudaMemcpyPeerAsync(
                        d_back.data(last), last, d_out.data(d), d,
                        d_out.size(d) * sizeof(float), other_way.stream(d)));
            }
            devices.join();
            other_way.join();
        },
        10);
    const double ways = both ? 2 : 1;
    return ways * static_cast<double>(d_out.size(0) * sizeof(float)) / seconds * 1e-9;
}

void show_at_once(warpwise::Lesson& lesson) {
    if (!lesson.measures()) return lesson.show_recorded("at_once");
    std::vector<std::vector<std::string>> rows;
    const std::size_t floats = std::size_t{1} << 27;
    for (int count = 2; count <= device_count(); count *= 2) {
        Devices devices(count), other_way(count);
        const auto all = [&](int) { return floats; };
        DeviceArrays<float> d_out(devices, all), d_in(devices, all), d_back(devices, all);
        d_out.fill_bytes(0);
        rows.push_back(
            {std::to_string(count),
             text_of("%.1f", ring_gb_per_s(d_out, d_in, d_back, devices, other_way, false)),
             text_of("%.1f",
                     ring_gb_per_s(d_out, d_in, d_back, devices, other_way, true))});
    }
    lesson.table({"at_once", "GB/s that each device sends while all of them send 512 MiB"},
                 {"devices", "to the next one", "to both neighbors"}, rows);
}

// The chain visits every 64th number once, in an order that no prefetcher can guess.
std::vector<unsigned> chain_of(unsigned places) {
    std::vector<unsigned> chain(places * 64);
    for (unsigned k = 0; k < places; ++k) chain[k * 64] = (k + 7919) % places * 64;
    return chain;
}

void show_latency(warpwise::Lesson& lesson, bool peers) {
    constexpr unsigned places = 1 << 14;  // 4 MiB; no multiple of 7919
    const std::vector<unsigned> chain = chain_of(places);
    std::vector<std::vector<std::string>> rows;
    for (int holder = 0; holder < std::min(2, device_count()); ++holder) {
        if (holder == 1 && !peers) break;
        std::unique_ptr<DeviceBuffer<unsigned>> d_chain;
        {
            const OnDevice current(holder);
            d_chain = std::make_unique<DeviceBuffer<unsigned>>(chain);
            warpwise::check_finished();
        }
        DeviceBuffer<unsigned> d_end(1);
        d_end.fill_bytes(0xFF);
        const unsigned steps = lesson.on_gpu() ? 4 * places : 1000;
        unsigned expected = 0;
        for (unsigned step = 0; step < steps; ++step) expected = chain[expected];
        const auto run = [&] {
            follow<<<1, 1>>>(d_chain->data(), steps, d_end.data());
            warpwise::check_launch();
        };
        run();
        lesson.expect(d_end.download()[0] == expected, "follow ends where the host does");
        rows.push_back({holder == 0 ? "its own" : "that of device 1", "-"});
        if (lesson.measures())
            rows.back()[1] = text_of("%.0f", 1e9 * median_seconds(run, 5) / steps);
    }
    warpwise::table_beside_record(
        lesson, {"latency", "A load of device 0 that depends on the load before"},
        {"memory", "ns per load"}, rows, "ns per load");
}

std::vector<modern_cuda::Mistake> mistakes() {
    return {{"peer_not_enabled", "no cudaDeviceEnablePeerAccess", peer_not_enabled,
             "illegal_access"},
            {"stream_of_another_device", "the current device is another one",
             stream_of_another_device, "wrong_device"},
            {"event_of_another_device", "recorded in a stream of another device",
             event_of_another_device, "wrong_device"}};
}

using Step = warpwise::Step<PeerCopy>;

std::vector<Step> steps_of(bool peers) {
    std::vector<Step> steps = {
        {"through_the_host", "to the host, then to the peer", through_the_host},
        {"in_chunks", "both ways at once, in chunks", in_chunks},
        {"peer_copy", "cudaMemcpyPeerAsync", peer_copy}};
    if (!peers) return steps;
    const std::vector<Step> kernels = {
        {"read_peer", "a kernel loads from the peer", read_peer},
        {"write_peer", "a kernel stores to the peer", write_peer},
        {"read_peer_float4", "16 bytes per load", read_peer_float4},
        {"write_peer_float4", "16 bytes per store", write_peer_float4}};
    steps.insert(steps.end(), kernels.begin(), kernels.end());
    steps.push_back({"cudaMemcpyPeer", "the plain call, which the host makes and awaits",
                     [](PeerCopy& problem) {
                         if (problem.count > 0)
                             warpwise::check(cudaMemcpyPeer(problem.to(), 1, problem.from(),
                                                            0, problem.bytes()));
                     },
                     warpwise::StepKind::vendor});
    return steps;
}

}  // namespace

void devices_and_peers(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A program sees all GPUs of its machine. Each has a memory of its own, and a
kernel runs on one of them. Which GPUs are there, and what may one of them do with the
memory of another?)");
    lesson.predict(
        {.question = R"(Device 1 is the current one. The program allocates memory, makes
device 0 the current one, and launches a kernel. Where does the kernel run?)",
         .answer =
             warpwise::Choice{
                 {"on device 0", "on device 1, where its memory is", "on both"}, 0},
         .because = R"(A launch goes to the device that is current at this moment. Whether
the kernel may use the memory of device 1 is another question.)"});
    show_devices(lesson);
    const bool several = device_count() > 1;
    const bool peers = several && enable_all_peers(2);
    if (several) show_pairs(lesson);
    lesson.conclusion(
        R"(Devices are numbered from 0 in each process. cudaSetDevice makes one of them
the current one: memory, streams, events, and launches belong to the device that was
current when they were made.)");
    if (!several) {
        lesson.text(
            "There is one device here, so the copies between two devices are skipped. The "
            "CPU device has several if CPU_DEVICE_COUNT=4 is in the environment.");
        return lesson.show_recorded("sizes");
    }

    lesson.question(
        R"(An array is on device 0, and device 1 needs it. It can go through the memory of
the host, a copy engine can send it straight to the peer, and a kernel can load from the
peer or store to it. Which way is the fastest?)");
    if (peers)
        lesson.predict(
            {.question = "Which of these kernels moves data to the other GPU the fastest?",
             .answer = warpwise::Fastest{{"read_peer", "write_peer", "read_peer_float4",
                                          "write_peer_float4"}},
             .because = R"(A load occupies a thread until the answer has come back over the
link. A store does not, and 16 bytes per thread need a quarter of the requests.)"});
    lesson.steps<PeerCopy>(
        {.gpu = {std::size_t{1} << 28},
         .cpu = {10007},
         .awkward = {{0}, {1}, {3}, {31}, {32}, {33}, {1009}, {4099}, {65536}}},
        steps_of(peers));
    lesson.conclusion(
        R"(Between GPUs that can access each other, nothing has to pass the host. A
kernel can send as fast as a copy engine if it stores 16 bytes per thread, and it can
compute what it sends.)");

    lesson.question(
        R"(How large must a copy be, until the link is busy and not the overhead of the
call? And do copies in both directions share a link?)");
    lesson.predict(
        {.question =
             R"(How many times as long as a load from its own memory does a load from
the memory of another H200 take, if each load depends on the one before?)",
         .answer =
             warpwise::Measured{
                 .by = warpwise::CellRatio{{"latency", {"that of device 1"}, "ns per load"},
                                           {"latency", {"its own"}, "ns per load"}},
                 .unit = "times",
                 .factor = 1.5},
         .because = R"(The request crosses the link to the other GPU, and the answer comes
back on it.)"});
    show_sizes(lesson, peers);
    show_at_once(lesson);
    show_latency(lesson, peers);
    lesson.conclusion(
        R"(A small copy costs the overhead of a call, whatever its size. A large one costs
its bytes. A load from the peer takes longer than one from the own memory, so it pays to
have many of them in flight.)");

    lesson.question(
        R"(Three programs use the wrong device. How can these mistakes be found?)");
    lesson.predict(
        {.question = R"(Device 0 is current, and a kernel is launched in a stream of device
1. What happens?)",
         .answer =
             warpwise::Choice{{"the kernel runs on device 1", "the kernel runs on device 0",
                               "the launch is refused"},
                              2},
         .because = R"(A stream belongs to the device that was current when it was made. The
launch returns an error, which nobody sees who does not ask for it.)"});
    modern_cuda::show_mistakes(lesson, "program", mistakes(), "peer_not_enabled");
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(Make the device current before you allocate, launch, or record, and
enable the access in both directions if both devices use the memory of each other.)"
            : R"(By the search for errors of the CPU device, which this program does not
have. Run this lesson there, without --no-counters and with CPU_DEVICE_COUNT=2.)");
}

}  // namespace several_gpus
