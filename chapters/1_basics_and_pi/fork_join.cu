// Problem: one loop whose turns do not depend on each other, out[i] = 1 + x + x^2 + ... + x^63 with x = in[i]. It is
// run by one host thread, by a team of host threads (OpenMP: fork, work, join) and by kernels. A launch is a fork as
// well: it starts device threads and returns at once. The join is whatever waits for the device.
//
// Evaluated by Horner's rule, an element takes 63 multiplications and 63 additions, and moves 8 bytes: enough
// arithmetic to be worth sharing out. The rule makes at most 126 roundings; for x >= 0 all terms are positive, so the
// relative error stays below 126 u / (1 - 126 u) (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., section 5.1).
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/lesson.h"

namespace basics_and_pi {
namespace {

using warpwise::blocks_for;
using warpwise::blocks_that_fill;
using warpwise::check;
using warpwise::check_finished;
using warpwise::check_launch;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr int kTerms = 64;

/// in[i] and out[i] on the host and on the device. Reference: the closed form (1 - x^64) / (1 - x) in double.
struct PowerSums {
    explicit PowerSums(const warpwise::Size& size)
        : count(size[0]), in(warpwise::uniform<float>(count, 1, 0.0f, 0.875f)), out(count), d_in(in), d_out(count) {}

    void poison() {
        std::fill(out.begin(), out.end(), std::numeric_limits<float>::quiet_NaN());
        d_out.fill_bytes(0xFF);
        result_is_on_host = false;
    }

    warpwise::Comparison compare() {
        const double roundings = 2 * (kTerms - 1) * (std::numeric_limits<float>::epsilon() / 2);
        const auto closed_form = [this](std::size_t i) {
            const double x = in[i];
            return (1 - std::pow(x, kTerms)) / (1 - x);
        };
        return warpwise::compare_each(result_is_on_host ? out : d_out.download(), count, closed_form,
                                      {.relative = roundings / (1 - roundings)});
    }

    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * count, .operations = 2.0 * (kTerms - 1) * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(float) * size[0]; }

    std::size_t count;
    std::vector<float> in, out;
    DeviceBuffer<float> d_in, d_out;
    bool result_is_on_host = false;  ///< set by the steps that leave their result in `out`
};

// 1. One host thread, the loop as everybody would write it.
//    Still slow: every addition waits for the multiplication before it, and all other processors of the machine are
//    idle.
void serial(const float* in, float* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        float sum = 1;
        for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
        out[i] = sum;
    }
}

// 2. Fork and join. What changed: one line. The program forks into one thread for each host processor, each takes its
//    share of the turns, and behind the loop they join: the next statement runs when the last of them is done.
//    Notice: without OpenMP the line is left out, and the same code is right and serial.
void openmp(const float* in, float* out, std::size_t count) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
    for (std::size_t i = 0; i < count; ++i) {
        float sum = 1;
        for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
        out[i] = sum;
    }
}

// 3. The serial loop in a kernel, launched as one block of one thread. What changed: only where it runs.
//    Slower than the host: one lane of one warp of one SM works, at a lower clock, and waits for memory with nobody to
//    fill the gap. A GPU is not a fast processor, it is very many slow ones.
__global__ void one_thread(const float* in, float* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        float sum = 1;
        for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
        out[i] = sum;
    }
}

// 4. One block of 256 threads. What changed: thread t takes the elements t, t + 256, t + 512 ... Neighboring lanes
//    read neighboring elements, and while one warp waits another one runs. Still slow: a block stays on its SM, so
//    all the others have nothing to do.
__global__ void one_block(const float* in, float* out, std::size_t count) {
    for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) {
        float sum = 1;
        for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
        out[i] = sum;
    }
}

// 5. One thread an element. What changed: the loop over i is gone, the launch is the loop. There are as many blocks
//    as it takes, and the device hands them to its SMs as room gets free.
//    Notice: the guard, because the last block is seldom full.
__global__ void one_element_a_thread(const float* in, float* out, std::size_t count) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 1;
    for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
    out[i] = sum;
}

// 6. Grid-stride loop. What changed: only as many blocks as the device can keep at once, each thread takes every n-th
//    element where n is the number of threads. Any launch shape gives the right result, <<<1, 1>>> included.
//    Notice: hardly faster here. It pays where a thread has something to set up before its first element.
__global__ void grid_stride(const float* in, float* out, std::size_t count) {
    const std::size_t threads = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        float sum = 1;
        for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
        out[i] = sum;
    }
}

// 7. Both at once. What changed: after the launch the host does not wait, it computes the last 1/64 of the elements
//    itself. The copy of its share into the device's array is the join: in the default stream it waits for the
//    kernel.
//    Notice: a join waits for the slower side. If this step is slower than step 5, the host's share is too large.
void host_and_device(PowerSums& p) {
    const std::size_t host_share = p.count / 64, device_share = p.count - host_share;
    one_element_a_thread<<<blocks_for(device_share, 256), 256>>>(p.d_in.data(), p.d_out.data(), device_share);
    check_launch();
    openmp(p.in.data() + device_share, p.out.data() + device_share, host_share);
    if (host_share == 0) return;
    check(cudaMemcpy(p.d_out.data() + device_share, p.out.data() + device_share, host_share * sizeof(float),
                     cudaMemcpyHostToDevice));
}

std::string microseconds(double seconds) {
    if (!warpwise::Lesson::on_gpu()) return "-";  // the CPU device runs the kernel inside the launch: no launch to time
    return text_of("%.1f us", seconds * 1e6);
}

/// Launches a kernel that takes a while (one thread for 16384 elements) and looks at what the host can do meanwhile.
void launch_and_look(warpwise::Lesson& lesson) {
    PowerSums p({16384});
    p.poison();
    const auto launch = [&] {
        one_thread<<<1, 1>>>(p.d_in.data(), p.d_out.data(), p.count);
        check_launch();
    };
    launch();  // once unseen: the first launch of a kernel also loads its code
    check_finished();

    warpwise::HostTimer timer;
    launch();
    const double launched = timer.seconds();
    check_finished();
    const double finished = timer.seconds();

    p.poison();
    check_finished();
    launch();
    const bool running = cudaStreamQuery(nullptr) == cudaErrorNotReady;
    std::size_t turns = 0;  // of a host loop that runs while the kernel does
    while (cudaStreamQuery(nullptr) == cudaErrorNotReady) ++turns;
    (void)cudaGetLastError();  // "not ready" was an answer and not a mistake: forget it
    check_finished();

    const std::string ratio = warpwise::Lesson::on_gpu() ? text_of("%.0f times", finished / launched) : "-";
    lesson.table("One launch, seen from the host", {"question", "answer"},
                 {{"is the kernel still running when the launch has returned?", running ? "yes" : "no, it has ended"},
                  {"turns of a host loop before it ended", std::to_string(turns)},
                  {"host time until the launch returned", microseconds(launched)},
                  {"host time until cudaDeviceSynchronize returned", microseconds(finished)},
                  {"a timer stopped without synchronizing is wrong by", ratio}});
    lesson.expect(p.compare().passed, "one_thread: right after the host has waited for it");
}

}  // namespace

void fork_join(warpwise::Lesson& lesson) {
    lesson.text(
        R"(Three ways to run one loop whose turns are independent: one thread after the other, a team of host
threads, and a grid of device threads. The steps are the same loop; only who runs which turn is different.)");
#ifdef _OPENMP
    lesson.text("OpenMP forks into " + std::to_string(omp_get_max_threads()) + " host threads here.");
#else
    lesson.text("This program was built without OpenMP: the step `openmp` runs on one host thread.");
#endif
    using warpwise::StepKind;
    lesson.steps<PowerSums>(
        {.gpu = {1 << 20}, .cpu = {1 << 16}, .awkward = {{0}, {1}, {31}, {32}, {33}, {1009}, {64 * 300 + 7}}},
        {{"serial", "one host thread",
          [](PowerSums& p) {
              p.result_is_on_host = true;
              serial(p.in.data(), p.out.data(), p.count);
          },
          StepKind::host},
         {"openmp", "a team of host threads",
          [](PowerSums& p) {
              p.result_is_on_host = true;
              openmp(p.in.data(), p.out.data(), p.count);
          },
          StepKind::host},
         {"one_thread", "the same loop in a kernel, <<<1, 1>>>",
          [](PowerSums& p) {
              one_thread<<<1, 1>>>(p.d_in.data(), p.d_out.data(), p.count);
              check_launch();
          }},
         {"one_block", "<<<1, 256>>>: 256 threads take turns",
          [](PowerSums& p) {
              one_block<<<1, 256>>>(p.d_in.data(), p.d_out.data(), p.count);
              check_launch();
          }},
         {"one_element_a_thread", "as many blocks as it takes",
          [](PowerSums& p) {
              one_element_a_thread<<<blocks_for(p.count, 256), 256>>>(p.d_in.data(), p.d_out.data(), p.count);
              check_launch();
          }},
         {"grid_stride", "as many blocks as fit at once",
          [](PowerSums& p) {
              const unsigned blocks = std::min(blocks_for(p.count, 256), blocks_that_fill(grid_stride, 256));
              grid_stride<<<blocks, 256>>>(p.d_in.data(), p.d_out.data(), p.count);
              check_launch();
          }},
         {"host_and_device", "the host computes 1/64 meanwhile", [](PowerSums& p) { host_and_device(p); }}});

    launch_and_look(lesson);
    lesson.text(
        warpwise::Lesson::on_gpu()
            ? R"(A launch puts the kernel into a queue and returns after some microseconds. From then on host and
device work side by side, until the host calls something that waits: cudaDeviceSynchronize, cudaStreamSynchronize,
cudaEventSynchronize, a blocking copy such as cudaMemcpy. Launches in the same stream wait for each other on the
device; the host need not wait between them.)"
            : R"(The CPU device runs the kernel inside the launch, so it has always ended when the launch returns.
Do not rely on it: on a GPU the launch only puts the kernel into a queue and returns after some microseconds, and
the host goes on until it calls something that waits, such as cudaDeviceSynchronize or a blocking cudaMemcpy.)");
    lesson.text(
        R"(Mistakes to avoid: stopping a host timer before the device has been waited for; using a result on
the host that the kernel may still be writing (mapped and managed memory make that easy); looking for errors right
after the launch only, since those inside the kernel show at the join; synchronizing after every launch, which keeps
the host from running ahead.

Try next: few elements, where a launch costs more than the loop; many, where it does not. Then one step alone.

    basics_and_pi fork_join --size 1000
    basics_and_pi fork_join --size 4194304
    basics_and_pi fork_join --step one_block)");
}

}  // namespace basics_and_pi
