// Problem: how long does it take? Every claim of this chapter rests on a clock, so the clocks come first.
//
// A clock is good for a question if it counts the right thing, is fine enough, and is read at the right moment. Here
// five clocks of the host and the events of CUDA are measured themselves: the smallest step that each shows, and what
// it costs to look. Then come the mistakes, the worst one first: to stop the host's clock while the device is still
// working. It makes a program look hundreds of times as fast as it is, and nothing warns.
#include <cuda_runtime.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "chapters/3_optimization/lessons.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/helpers/watch.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;
using warpwise::DeviceTimer;
using warpwise::HostTimer;
using warpwise::text_of;

// NaN: not measurable.
std::string text_or_dash(const char* format, double value) { return std::isnan(value) ? "-" : text_of(format, value); }

std::string microseconds(double seconds) { return text_of(seconds < 1e-4 ? "%.1f" : "%.0f", seconds * 1e6); }
std::string nanoseconds(double seconds) { return text_or_dash(seconds < 1e-8 ? "%.2g" : "%.0f", seconds * 1e9); }

double median(std::vector<double> samples) { return warpwise::timing_of(std::move(samples)).median; }

// ---- the clocks of a host program -------------------------------------------------------------------------

// Each is read as a whole number of its own units: a double that holds seconds since 1970 has no digits left for
// nanoseconds.
using Ticks = std::int64_t;

// Processor time of the whole program, all of its threads added up. The oldest of all, and no clock on the wall.
Ticks read_clock() { return std::clock(); }

// Date and time. Whoever sets the computer's clock makes it jump.
Ticks read_gettimeofday() {
    timeval now{};
    gettimeofday(&now, nullptr);
    return Ticks{now.tv_sec} * 1'000'000 + now.tv_usec;
}

// Time since some moment, usually the start of the machine. Never set, only slowed down or sped up a little.
Ticks read_clock_gettime() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return Ticks{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The same in C++, for every operating system: here the library asks CLOCK_MONOTONIC.
Ticks read_steady_clock() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// A register of the processor that counts at a fixed rate, whatever the clock of the cores is. One instruction: the
// other clocks are made of it, and add its calibration. It may be read early or late: the processor reorders it with
// its neighbors.
Ticks read_time_stamp_counter() {
#if defined(__x86_64__)
    return static_cast<Ticks>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
    Ticks ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return read_steady_clock();  // stands in on other processors
#endif
}

// The counter's rate is written down nowhere for a program to read, so it is measured against a clock that knows.
double time_stamp_period() {
    std::vector<double> periods;
    for (int attempt = 0; attempt < 5; ++attempt) {
        const Ticks first = read_time_stamp_counter();
        const HostTimer timer;
        while (timer.seconds() < 4e-3) {
        }
        const Ticks last = read_time_stamp_counter();
        periods.push_back(timer.seconds() / static_cast<double>(last - first));
    }
    return median(periods);
}

struct Clock {
    const char* name;
    Ticks (*read)();
    double period;  // of a tick, in seconds
    const char* counts;
    const char* jumps;
    const char* wraps;
    const char* use;
};

std::vector<Clock> host_clocks() {
    using SteadyPeriod = std::chrono::steady_clock::period;
    constexpr double steady = static_cast<double>(SteadyPeriod::num) / SteadyPeriod::den;
    return {
        {"clock()", read_clock, 1.0 / CLOCKS_PER_SEC, "processor time of all threads",
         "stands still while the program waits", "where it has 32 bits, after 36 minutes",
         "how much work, never how long"},
        {"gettimeofday", read_gettimeofday, 1e-6, "time of day", "when the date is set", "no", "the date in a log"},
        {"clock_gettime(MONOTONIC)", read_clock_gettime, 1e-9, "time since some moment", "never", "no", "time in C"},
        {"std::chrono::steady_clock", read_steady_clock, steady, "time since some moment", "never", "no",
         "time in C++: the first choice"},
        {"time-stamp counter", read_time_stamp_counter, time_stamp_period(), "ticks at a fixed rate",
         "on old machines, from core to core", "after centuries", "stretches below 100 ns"}};
}

// The smallest step above zero between one reading and the next: the clock's own fineness, or, if a reading takes
// longer than that, the time of a reading. The median of many.
double step_of(const Clock& clock) {
    std::vector<double> steps;
    const HostTimer limit;  // some systems count processor time in hundredths of a second
    while (steps.size() < 301 && (steps.empty() || limit.seconds() < 0.1)) {
        const Ticks before = clock.read();
        Ticks after = before;
        while (after == before) after = clock.read();
        steps.push_back(static_cast<double>(after - before) * clock.period);
    }
    return median(steps);
}

// What a reading costs: many of them, between two of the steady clock. One of them alone could not be told from
// nothing.
double cost_of(const Clock& clock) {
    constexpr int calls = 500;
    std::vector<double> costs;
    for (int batch = 0; batch < 31; ++batch) {
        const HostTimer timer;
        for (int i = 0; i < calls; ++i) (void)clock.read();
        costs.push_back(timer.seconds() / calls);
    }
    return median(costs);
}

bool never_goes_back(const Clock& clock) {
    Ticks before = clock.read();
    for (int i = 0; i < 10000; ++i) {
        const Ticks now = clock.read();
        if (now < before) return false;
        before = now;
    }
    return true;
}

// Pairs of events with nothing between them.
double step_of_events() {
    DeviceTimer timer;
    std::vector<double> steps;
    for (int i = 0; i < 301; ++i) {
        timer.start();
        timer.stop();
        const double seconds = timer.seconds();
        if (seconds > 0) steps.push_back(seconds);
    }
    return steps.empty() ? std::nan("") : median(steps);
}

double cost_of_event() {
    DeviceTimer events;
    std::vector<double> costs;
    for (int batch = 0; batch < 31; ++batch) {
        constexpr int calls = 100;
        const HostTimer timer;
        for (int i = 0; i < calls; ++i) events.start();
        costs.push_back(timer.seconds() / calls);
        warpwise::check_finished();
    }
    return median(costs);
}

void show_clocks(warpwise::Lesson& lesson, const std::vector<Clock>& clocks) {
    std::vector<std::vector<std::string>> measured, properties;
    for (const Clock& clock : clocks) {
        measured.push_back({clock.name, clock.counts, nanoseconds(clock.period), nanoseconds(step_of(clock)),
                            nanoseconds(cost_of(clock))});
        properties.push_back({clock.name, clock.jumps, clock.wraps, clock.use});
        if (clock.read == read_clock_gettime || clock.read == read_steady_clock) {
            lesson.expect(never_goes_back(clock), std::string(clock.name) + ": never goes back");
        }
    }
    const bool on_gpu = warpwise::Lesson::on_gpu();
    const bool with_events = lesson.measures() || !on_gpu;
    measured.push_back({"CUDA events", on_gpu ? "the device passes by" : "the steady clock, here", "-",
                        with_events ? nanoseconds(step_of_events()) : "-",
                        with_events ? nanoseconds(cost_of_event()) : "-"});
    // cudaEventElapsedTime gives milliseconds as a float, of which the digits run out.
    const double digits = std::nextafter(1000.0f, 2000.0f) - 1000.0f;
    properties.push_back({"CUDA events", "never", text_of("no; but 1 s has steps of %.0f ns", digits * 1e6),
                          "what the device does, and nothing else"});
    lesson.table("The clocks of this machine", {"clock", "counts", "tick, ns", "step, ns", "call, ns"}, measured);
    lesson.table("And what they are good for", {"clock", "jumps or stands still", "wraps", "use it for"}, properties);
}

// ---- what they count --------------------------------------------------------------------------------------

double processor_seconds_of_this_thread() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Keeps a processor busy for so long, not counting the time in which the thread had none.
void work_for(double seconds) {
    const double begin = processor_seconds_of_this_thread();
    while (processor_seconds_of_this_thread() - begin < seconds) {
    }
}

// How many seconds of each clock go by while `body` runs.
std::vector<double> elapsed(const std::vector<Clock>& clocks, const std::function<void()>& body) {
    std::vector<Ticks> before, after;
    for (const Clock& clock : clocks) before.push_back(clock.read());
    body();
    for (const Clock& clock : clocks) after.push_back(clock.read());
    std::vector<double> seconds;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
        seconds.push_back(static_cast<double>(after[i] - before[i]) * clocks[i].period);
    }
    return seconds;
}

void show_what_they_count(warpwise::Lesson& lesson, const std::vector<Clock>& clocks) {
    static constexpr double stretch = 20e-3;
    const std::vector<double> asleep =
        elapsed(clocks, [] { std::this_thread::sleep_for(std::chrono::duration<double>(stretch)); });
    const std::vector<double> two_threads = elapsed(clocks, [] {
        std::thread other(work_for, stretch);
        work_for(stretch);
        other.join();
    });
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
        rows.push_back({clocks[i].name, text_of("%.2f", asleep[i] * 1e3), text_of("%.2f", two_threads[i] * 1e3)});
        const std::string name = clocks[i].name;
        if (clocks[i].read == read_clock) {
            lesson.expect(two_threads[i] >= 1.9 * stretch, name + ": two threads that work count twice");
        }
        if (clocks[i].read == read_clock_gettime || clocks[i].read == read_steady_clock) {
            lesson.expect(asleep[i] >= 0.999 * stretch, name + ": goes on while the program sleeps");
        }
    }
    lesson.table("How many milliseconds go by", {"clock", "asleep for 20 ms", "two threads work 20 ms each"}, rows);
}

// ---- the classic mistake ----------------------------------------------------------------------------------

// Twice as many turns take twice as long, on any processor: each waits for the one before it. It ends at 2.
__host__ __device__ inline float turn(float x) { return 0.5f * x + 1.0f; }

__global__ void chain(float* out, int turns) {
    float x = 0;
    for (int i = 0; i < turns; ++i) x = turn(x);
    out[threadIdx.x] = x;
}

float chain_on_host(int turns) {
    float x = 0;
    for (int i = 0; i < turns; ++i) x = turn(x);
    return x;
}

struct Measured {
    double stopped_at_once;
    double stopped_after_waiting;
};

constexpr std::array<int, 4> kWork = {1, 8, 64, 512};

// On a GPU: a launch returns, and the kernel runs on.
Measured time_kernel(warpwise::Lesson& lesson, int work) {
    DeviceBuffer<float> d_out(32);
    const int turns = 4096 * work;
    chain<<<1, 32>>>(d_out.data(), turns);  // the first one also loads the kernel's code
    warpwise::check_launch();
    d_out.fill_bytes(0xFF);
    warpwise::check_finished();

    const HostTimer timer;
    chain<<<1, 32>>>(d_out.data(), turns);
    const double wrong = timer.seconds();  // WRONG: the kernel has only been asked for
    warpwise::check_launch();
    warpwise::check_finished();
    const double right = timer.seconds();
    lesson.expect(d_out.download() == std::vector<float>(32, 2.0f), "chain: right after the host has waited for it");
    return {wrong, right};
}

// Without one: another thread of the host takes the order and works on its own, as a device does.
Measured time_stand_in(warpwise::Lesson& lesson, int work) {
    const HostTimer timer;
    std::future<float> result = std::async(std::launch::async, chain_on_host, 8192 * work);
    const double wrong = timer.seconds();  // WRONG: the thread has only been started
    result.wait();
    const double right = timer.seconds();
    lesson.expect(result.get() == 2.0f, "chain_on_host: right after the host has waited for it");
    return {wrong, right};
}

constexpr const char* kMistakeTable = "A kernel, timed in both ways";

void show_classic_mistake(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    std::vector<std::string> header = {"work", "stopped at once, us", "after waiting, us", "wrong by"};
    const warpwise::Record& recorded = lesson.recorded();
    if (recorded) header.emplace_back("on an H200 wrong by");
    std::vector<std::vector<std::string>> rows;
    for (const int work : kWork) {
        std::vector<double> at_once, after_waiting;
        for (int sample = 0; sample < 5; ++sample) {
            const Measured measured = on_gpu ? time_kernel(lesson, work) : time_stand_in(lesson, work);
            at_once.push_back(measured.stopped_at_once);
            after_waiting.push_back(measured.stopped_after_waiting);
        }
        const double wrong = median(at_once), right = median(after_waiting);
        const std::string name = std::to_string(work) + " x";
        rows.push_back({name, microseconds(wrong), microseconds(right), text_of("%.1f", right / wrong)});
        if (recorded) rows.back().push_back(recorded.cell(kMistakeTable, {name}, "wrong by"));
        lesson.expect(wrong <= right, name + ": waiting takes no less");
    }
    lesson.table(std::string(on_gpu ? kMistakeTable : "A thread that works for another one, timed in both ways") +
                     ", median of 5",
                 header, rows);
}

// Instead of that on a GPU with --once.
void show_recorded_mistake(warpwise::Lesson& lesson) {
    const warpwise::Record& recorded = lesson.recorded();
    std::vector<std::vector<std::string>> rows;
    for (const int work : kWork) {
        (void)time_kernel(lesson, work);  // for its check
        const std::string name = std::to_string(work) + " x";
        rows.push_back({name, recorded.cell(kMistakeTable, {name}, "wrong by")});
    }
    if (recorded) lesson.table(kMistakeTable + (", " + recorded.where()), {"work", "wrong by"}, rows);
}

// What a launch does on the CPU device, by asking the question that a program would ask on a GPU.
void show_launch_on_cpu_device(warpwise::Lesson& lesson) {
    DeviceBuffer<float> d_out(32);
    chain<<<1, 32>>>(d_out.data(), 4096);
    warpwise::check_launch();
    lesson.expect(cudaStreamQuery(nullptr) == cudaSuccess, "the kernel has ended when its launch returns");
    lesson.expect(d_out.download() == std::vector<float>(32, 2.0f), "chain: right");
}

// ---- small kernels ----------------------------------------------------------------------------------------

__global__ void nothing() {}

void launch(int launches) {
    for (int i = 0; i < launches; ++i) nothing<<<1, 32>>>();
    warpwise::check_launch();
}

double by_host_clock(int launches) {
    warpwise::check_finished();
    const HostTimer timer;
    launch(launches);
    warpwise::check_finished();
    return timer.seconds();
}

double by_events(int launches) {
    DeviceTimer timer;
    timer.start();
    launch(launches);
    timer.stop();
    return timer.seconds();
}

void show_small_kernels(warpwise::Lesson& lesson) {
    struct Way {
        const char* name;
        double (*measure)(int);
        int launches;
    };
    constexpr std::array<Way, 4> ways = {{{"host clock, one launch, one wait", by_host_clock, 1},
                                          {"host clock, 1000 launches, one wait", by_host_clock, 1000},
                                          {"events around one launch", by_events, 1},
                                          {"events around 1000 launches", by_events, 1000}}};
    const bool measures = lesson.measures();
    std::vector<std::vector<std::string>> rows;
    for (const Way& way : ways) {
        std::vector<double> seconds;
        for (int sample = 0; sample < (measures ? 31 : 1); ++sample) seconds.push_back(way.measure(way.launches));
        rows.push_back({way.name, text_of("%.2f", median(seconds) / way.launches * 1e6)});
    }
    const std::string title = "Microseconds for each launch of a kernel that does nothing";
    if (measures) {
        lesson.table(title, {"way", "us a launch"}, rows);
    } else {
        lesson.show_recorded(title);
    }
}

// ---- one measurement, and many ----------------------------------------------------------------------------

// Nobody has launched this one before.
__global__ void write_number(float* out, float number) { out[threadIdx.x] = number; }

std::vector<std::string> row_of(const char* what, const std::vector<double>& seconds) {
    const warpwise::Timing timing = warpwise::timing_of({seconds.begin() + 1, seconds.end()});
    return {what,
            microseconds(seconds.front()),
            microseconds(timing.minimum),
            microseconds(timing.median),
            microseconds(timing.maximum),
            text_of("%.0f %%", 100 * timing.spread())};
}

void show_samples(warpwise::Lesson& lesson) {
    constexpr int samples = 41;
    constexpr std::size_t bytes = std::size_t{40} << 20;  // so much that it comes fresh from the system
    std::vector<std::vector<std::string>> rows;

    std::vector<double> seconds;
    const std::unique_ptr<unsigned char[]> memory(new unsigned char[bytes]);
    for (int sample = 1; sample <= samples; ++sample) {
        const HostTimer timer;
        std::memset(memory.get(), sample, bytes);
        seconds.push_back(timer.seconds());
    }
    lesson.expect(memory[0] == samples && memory[bytes - 1] == samples, "the last pass has written all of it");
    rows.push_back(row_of("host: write 40 MiB of new memory", seconds));

    if (warpwise::Lesson::on_gpu()) {
        seconds.clear();
        DeviceBuffer<float> d_out(32);
        for (int sample = 1; sample <= samples; ++sample) {
            warpwise::check_finished();
            const HostTimer timer;
            write_number<<<1, 32>>>(d_out.data(), sample);
            warpwise::check_launch();
            warpwise::check_finished();
            seconds.push_back(timer.seconds());
        }
        lesson.expect(d_out.download() == std::vector<float>(32, samples), "the last launch has written all of it");
        if (lesson.measures()) rows.push_back(row_of("device: launch a kernel and wait", seconds));
    }
    lesson.table("41 measurements of the same thing, in microseconds",
                 {"what", "the first", "minimum", "median", "maximum", "middle 80 %"}, rows);
}

}  // namespace

void timers(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    const std::vector<Clock> clocks = host_clocks();
    lesson.text(
        R"(Six ways to ask for the time, and one mistake that costs more than all their differences together.

What you will see: how fine each clock is and what a look at it costs, what each of them counts, and then a
measurement that is wrong by a large factor, because somebody looked too early.

Predict: steady_clock goes through the system, and the time-stamp counter is a single instruction. Does the first
take twice as long, or a hundred times? And which of the clocks stands still while the program sleeps?)");
    show_clocks(lesson, clocks);
    lesson.text(
        R"(A step is the smallest difference above zero between two readings in a row. Where it is as long as a
tick, the clock shows no more; where it is about as long as a call, the clock is finer than anybody can ask.
steady_clock and clock_gettime are the same clock. On most machines their call does not enter the kernel: it reads
the time-stamp counter and scales it, and so takes some two or three times as long as that. clock() has to ask the
kernel, and costs the most of the five.)");
    lesson.text(
        R"(Events are different: the host only puts a mark into the stream (that is the price of a call), and the
device writes down the time when it passes there. NVIDIA states a resolution of about half a microsecond. That is not
what two marks cost: with nothing between them they are 1.3 us apart on an H200.)");
    if (lesson.measures()) lesson.text("The step in the table is that of two marks with nothing between them.");
    if (!on_gpu) lesson.text("On the CPU device there are events, too, but what they show is the host's own clock.");
    if (warpwise::can_watch()) {
        lesson.text(
            R"(This program was compiled for watching, so its own loops are slower than usual; calls of the system
are not. Without that:

    optimization timers --no-counters)");
    }
    show_what_they_count(lesson, clocks);
    lesson.text(
        R"(clock() counts work, not time. While the program sleeps it stands still, and when two threads work for 20
ms each it shows 40, however long that took. The others show how long: 20 ms where two processors were free, more
where other programs wanted them. Around a kernel clock() is wrong in both ways: if the host sleeps while it waits
it shows nothing, and with OpenMP on the host it shows the time of all threads together.)");

    lesson.text(
        R"(Now the mistake. A launch only puts the kernel into a queue. A clock that is stopped right after it has
measured the queueing. The same work, 8, 64 and 512 times of it, timed once without waiting and once with: how do
the two columns grow?)");
    if (!on_gpu) {
        show_launch_on_cpu_device(lesson);
        lesson.text(
            R"(The CPU device cannot show it: it runs the kernel inside of the launch, which is over when the kernel
is, so both ways give the same here. Do not rely on it. In its place a thread of the host works for another one,
started with std::async and waited for with wait(): the same two moments, and the same mistake.)");
    }
    if (lesson.measures() || !on_gpu) {
        show_classic_mistake(lesson);
    } else {
        show_recorded_mistake(lesson);
    }
    lesson.text(
        R"(The right time grows with the work. The wrong one hardly does: it is the price of handing the work over,
whatever the work is. On an H200 512 times the work took the right one from 20 us to 4.7 ms, and the wrong one from 6
to 21 us. (That it grew at all is probably the host's doing: it had waited longer before, and needs longer to get going
again.) So it is wrong by any factor you like, and the more there is to do, the better the program looks. That is also
how to find out: double the work, and see whether the time doubles, once it is much longer than a launch. A bandwidth
above that of the memory says the same.

There are two right ways. Wait, and then stop the host's clock, which also counts the launch and the wait:

    cudaDeviceSynchronize();            // nothing is left of what came before
    start = steady_clock::now();
    kernel<<<grid, block>>>(...);
    cudaDeviceSynchronize();            // the kernel has ended
    stop = steady_clock::now();

Or let the device keep the time, between two marks in the same stream:

    cudaEventRecord(begin);
    kernel<<<grid, block>>>(...);
    cudaEventRecord(end);
    cudaEventSynchronize(end);          // cudaEventElapsedTime does not wait itself
    cudaEventElapsedTime(&milliseconds, begin, end);)");

    lesson.text(
        R"(For a small kernel even that is not enough, because then a launch and a wait are what is measured.
Predict: one launch and one wait by the host's clock, or a thousand launches and one wait, divided by a thousand.
Which figure is the price of a launch? And what do events around a single launch show that those around a thousand
do not?)");
    show_small_kernels(lesson);
    if (!on_gpu) lesson.text("Recorded, not measured here: a launch of the CPU device is no launch of a GPU.");
    lesson.text(
        R"(A single launch with its wait contains the way to the device and back. In a row of a thousand, launches
overlap with the kernels before them, and what is left is the time from one to the next, on an H200 4.2 us of 9.7. Two
events around one launch measure the marks as well. The difference, worked out from the table, is 1.6 us, about as much
as two marks without a launch. So repeat short things in a loop, and divide; and say which of the figures it is.)");

    lesson.text(
        "One measurement is an anecdote. Here is the same thing forty times, and the very first time beside it:");
    show_samples(lesson);
    lesson.text(
        R"(The first time is another thing than the others: new memory gets its pages at the first touch, caches are
empty, the first launch of a kernel loads its code, the first call of CUDA in a program sets up the device, and the
chip has not left its idle clocks. Do it once or more before the clock starts, and leave it out.

Of the rest take the median: half of them were faster, half were slower, and one that was interrupted changes
nothing. The mean is pulled up by the slowest. The minimum tells what is possible, and repeats best on a machine
with other work to do. Say how far they spread; a gain smaller than the spread is none. And measure the versions to
be compared in turn, not one after the other, or the one that comes second runs on a warmer chip. That is how the
tables of this book are made.)");
    lesson.text(
        R"(Mistakes to avoid: stopping the host's clock without waiting; not waiting before it starts; clock() for
anything with threads or waits; timing the first launch; events in another stream than the kernel's; a copy or an
allocation between the two readings; printf inside of them; timing under a profiler or with --check.

Try next: take the wait out of time_kernel or time_stand_in. The exercise stop_the_clock has a benchmark to
repair.

    optimization timers --no-counters
    optimization strategy_and_amdahl)");
}

}  // namespace optimization
