// Problem: one loop whose iterations do not depend on each other, out[i] = 1 + x + x^2 +
// ... + x^63 with x = in[i]. It is run by one host thread, by all host threads
// (OpenMP: fork, work, join), and by kernels. A launch is a fork as well: it starts device
// threads and returns at once. The join is whatever waits for the device.
//
// By Horner's rule, an element takes 63 multiplications and 63 additions, and moves 8
// bytes: enough arithmetic to be worth dividing among threads. The rule makes at most 126
// roundings. For x >= 0 all terms are positive, so the relative error stays below 126 u /
// (1 - 126 u) (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
// section 5.1).
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

#include "chapters/1_basics_and_pi/fork_join/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/beside_record.h"
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

/// in[i] and out[i] on the host and on the device. Reference: the closed form (1 - x^64) /
/// (1 - x) in double.
struct PowerSums {
    explicit PowerSums(const warpwise::Size& size)
        : count(size[0]),
          in(warpwise::uniform<float>(count, 1, 0.0f, 0.875f)),
          out(count),
          d_in(in),
          d_out(count) {}

    void poison() {
        std::fill(out.begin(), out.end(), std::numeric_limits<float>::quiet_NaN());
        d_out.fill_bytes(0xFF);
        result_is_on_host = false;
    }

    warpwise::Comparison compare() {
        const double roundings =
            2 * (kTerms - 1) * (std::numeric_limits<float>::epsilon() / 2);
        const auto closed_form = [this](std::size_t i) {
            const double x = in[i];
            return (1 - std::pow(x, kTerms)) / (1 - x);
        };
        return warpwise::compare_each(result_is_on_host ? out : d_out.download(), count,
                                      closed_form,
                                      {.relative = roundings / (1 - roundings)});
    }

    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * count,
                .operations = 2.0 * (kTerms - 1) * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * size[0];
    }

    std::size_t count;
    std::vector<float> in, out;
    DeviceBuffer<float> d_in, d_out;
    bool result_is_on_host = false;  ///< set by the steps that leave their result in `out`
};

// Step 1, one host thread: the loop as everybody would write it.
// Slow because each multiplication needs the result of the addition before it, and because
// all other processors of the machine are idle.
void serial(const float* in, float* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        float sum = 1;
        for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
        out[i] = sum;
    }
}

// Step 2, fork and join, by one more line: the program forks into one thread for each
// processor of the host, each thread takes its share of the iterations, and after the loop
// they join. The next statement runs when the last of them is done.
// Without OpenMP the line is left out, and the same code is right and serial.
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

// Step 7, both at once: after the launch, the host does not wait. It computes the last 1/64
// of the elements itself. The copy of its share into the device's array is the join,
// because in the default stream it waits for the kernel.
// A join waits for the slower side. If this step is slower than step 5, the host's share is
// too large.
void host_and_device(PowerSums& p) {
    const std::size_t host_share = p.count / 64, device_share = p.count - host_share;
    one_element_per_thread<<<blocks_for(device_share, 256), 256>>>(
        p.d_in.data(), p.d_out.data(), device_share);
    check_launch();
    openmp(p.in.data() + device_share, p.out.data() + device_share, host_share);
    if (host_share == 0) return;
    check(cudaMemcpy(p.d_out.data() + device_share, p.out.data() + device_share,
                     host_share * sizeof(float), cudaMemcpyHostToDevice));
}

std::string microseconds(double seconds) {
    // The CPU device runs the kernel inside the launch, so there is no launch to time.
    if (!warpwise::Lesson::on_gpu()) return "-";
    return text_of("%.1f us", seconds * 1e6);
}

/// Launches a kernel that takes a while (one thread for 16384 elements) and looks at what
/// the host can do meanwhile.
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
    (void)cudaGetLastError();  // "not ready" was an answer, not a failure: forget it
    check_finished();

    const std::string ratio =
        warpwise::Lesson::on_gpu() ? text_of("%.0f times", finished / launched) : "-";
    warpwise::table_beside_record(
        lesson, {"launch", "One launch, seen from the host"}, {"question", "answer"},
        {{"is the kernel still running when the launch has returned?",
          running ? "yes" : "no, it has ended"},
         {"turns of a host loop before it ended", std::to_string(turns)},
         {"host time until the launch returned", microseconds(launched)},
         {"host time until cudaDeviceSynchronize returned", microseconds(finished)},
         {"a timer stopped without synchronizing is wrong by", ratio}},
        "answer");
    lesson.expect(p.compare().passed, "one_thread: right after the host has waited for it");
}

}  // namespace

void fork_join(warpwise::Lesson& lesson) {
#ifdef _OPENMP
    const std::string team =
        "OpenMP starts " + std::to_string(omp_get_max_threads()) + " of them here.";
#else
    const std::string team = "There is no OpenMP here, so `openmp` has one.";
#endif
    lesson.question(
        R"(The iterations of this loop do not depend on each other, so they can be
divided among threads. What is one GPU thread worth, and how many of them does the loop
need to be much faster than on the threads of the host? )" +
        team);
    lesson.predict({.question = R"(Which is faster on a machine with a GPU: the loop in one
thread of the host (`serial`), or the same loop in one thread of the GPU (`one_thread`)?)",
                    .answer = warpwise::Fastest{{"serial", "one_thread"}},
                    .because = R"(A GPU thread has a lower clock and waits for each load. A
GPU is fast because it runs very many such threads at once.)"});
    lesson.predict(
        {.question = R"(Step 3 runs the loop in one GPU thread, and step 4 in one
block of 256. A load of a warp is one request. How many times as many requests as step 4
does step 3 make?)",
         .answer = warpwise::Number{.value = 32,
                                    .unit = "times",
                                    .shown_by = warpwise::lanes_per_load("one_block")},
         .because = R"(A request brings one float in step 3, and 32 floats in step 4.)",
         .idea = "thread indices and guards"});
    using warpwise::StepKind;
    lesson.steps<PowerSums>(
        {.gpu = {1 << 20},
         .cpu = {1 << 16},
         .awkward = {{0}, {1}, {31}, {32}, {33}, {1009}, {64 * 300 + 7}}},
        {{"serial", "one host thread",
          [](PowerSums& p) {
              p.result_is_on_host = true;
              serial(p.in.data(), p.out.data(), p.count);
          },
          StepKind::host},
         {"openmp", "several host threads",
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
         {"one_element_per_thread", "as many blocks as it takes",
          [](PowerSums& p) {
              one_element_per_thread<<<blocks_for(p.count, 256), 256>>>(
                  p.d_in.data(), p.d_out.data(), p.count);
              check_launch();
          }},
         {"grid_stride", "as many blocks as fit at once",
          [](PowerSums& p) {
              const unsigned blocks =
                  std::min(blocks_for(p.count, 256), blocks_that_fill(grid_stride, 256));
              grid_stride<<<blocks, 256>>>(p.d_in.data(), p.d_out.data(), p.count);
              check_launch();
          }},
         {"host_and_device", "the host computes 1/64 meanwhile",
          [](PowerSums& p) { host_and_device(p); }}});

    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(One GPU thread is slower than one host thread, and one block keeps a
single SM busy. The device is fast when many warps are resident on every SM. In step 7
the join waits for the slower side: if this step is slower than step 5, the share of the
host is too large.)"
            : R"(In step 3 a request brings one float, so it takes 32 times as many as
in step 4. Steps 4, 5, and 6 look the same, because the counters do not say how many SMs
share the work. Step 4 uses one. On a GPU, step 4 is therefore much slower than step 5,
and one GPU thread is slower than a thread of the host.)");

    lesson.question(
        R"(Who waits for whom? The host launches a kernel that takes milliseconds, and
reads its clock when the launch has returned, and again when cudaDeviceSynchronize has.)");
    lesson.predict({.question = R"(On a GPU, the host launches a kernel that takes
milliseconds. Is the kernel still running when the launch has returned?)",
                    .answer = warpwise::Choice{{"yes, the launch only puts it into a queue",
                                                "no, the launch waits for its end",
                                                "only if it takes longer than a second"},
                                               0},
                    .because = R"(A launch returns after some microseconds, whatever the
kernel takes. The CPU device runs the kernel inside the launch, but no program may rely
on that.)"});
    launch_and_look(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(A launch puts the kernel into a queue and returns after some
microseconds, whatever the kernel takes. Host and device then work at the same time,
until the host calls something that waits, such as cudaDeviceSynchronize or a blocking
cudaMemcpy.)"
            : R"(The CPU device runs the kernel inside the launch, so it has ended when
the launch returns. Do not rely on that. On a GPU, the launch only puts the kernel into
a queue and returns after some microseconds. The host goes on until it calls something
that waits, such as cudaDeviceSynchronize or a blocking cudaMemcpy.)");
}

}  // namespace basics_and_pi
