// Problem: how long does it take? Every claim of this chapter rests on a clock, so the
// clocks come first.
//
// A clock is right for a question if it counts the right thing, is fine enough, and is read
// at the right moment. Here five clocks of the host and CUDA events are measured
// themselves: the smallest step that each of them shows, and what a reading costs. Then
// come the mistakes, the worst one first: to stop the host's clock while the device is
// still working. This makes a program look hundreds of times as fast as it is, and nothing
// warns.
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

#include "chapters/3_optimization/timers/kernels.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;
using warpwise::DeviceTimer;
using warpwise::HostTimer;
using warpwise::text_of;

// NaN: not measurable.
std::string text_or_dash(const char* format, double value) {
    return std::isnan(value) ? "-" : text_of(format, value);
}

std::string microseconds(double seconds) {
    return text_of(seconds < 1e-4 ? "%.1f" : "%.0f", seconds * 1e6);
}
std::string nanoseconds(double seconds) {
    return text_or_dash(seconds < 1e-8 ? "%.2g" : "%.0f", seconds * 1e9);
}

double median(std::vector<double> samples) {
    return warpwise::timing_of(std::move(samples)).median;
}

// ---- the clocks of a host program -------------------------------------------------------

// Each is read as a whole number of its own units: a double that holds seconds since 1970
// has no digits left for nanoseconds.
using Ticks = std::int64_t;

// Processor time of the whole program, all of its threads added up. The oldest clock of
// all, and no wall clock.
Ticks read_clock() { return std::clock(); }

// Date and time. Whoever sets the computer's clock makes it jump.
Ticks read_gettimeofday() {
    timeval now{};
    gettimeofday(&now, nullptr);
    return Ticks{now.tv_sec} * 1'000'000 + now.tv_usec;
}

// Time since some moment, usually the start of the machine. Never set, only slowed down or
// sped up a little.
Ticks read_clock_gettime() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return Ticks{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The same in C++, for every operating system: here the library asks CLOCK_MONOTONIC.
Ticks read_steady_clock() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

// A register of the processor that counts at a fixed rate, whatever the clock of the cores
// is. One instruction: the other clocks are made of it, and add its calibration. It may be
// read early or late: the processor reorders it with neighboring instructions.
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

// A program can read the counter's rate nowhere, so it is measured against a clock that
// knows.
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
    return {{"clock()", read_clock, 1.0 / CLOCKS_PER_SEC, "processor time of all threads",
             "stands still while the program waits",
             "where it has 32 bits, after 36 minutes", "how much work, never how long"},
            {"gettimeofday", read_gettimeofday, 1e-6, "time of day", "when the date is set",
             "no", "the date in a log"},
            {"clock_gettime(MONOTONIC)", read_clock_gettime, 1e-9, "time since some moment",
             "never", "no", "time in C"},
            {"std::chrono::steady_clock", read_steady_clock, steady,
             "time since some moment", "never", "no", "time in C++: the first choice"},
            {"time-stamp counter", read_time_stamp_counter, time_stamp_period(),
             "ticks at a fixed rate", "on old machines, from core to core",
             "after centuries", "stretches below 100 ns"}};
}

// The smallest step above zero between one reading and the next: the clock's own fineness,
// or, if a reading takes longer than that, the time of a reading. The median of many.
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

// What a reading costs: many of them, between two of the steady clock. One of them alone
// could not be told from nothing.
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
        measured.push_back({clock.name, clock.counts, nanoseconds(clock.period),
                            nanoseconds(step_of(clock)), nanoseconds(cost_of(clock))});
        properties.push_back({clock.name, clock.jumps, clock.wraps, clock.use});
        if (clock.read == read_clock_gettime || clock.read == read_steady_clock) {
            lesson.expect(never_goes_back(clock),
                          std::string(clock.name) + ": never goes back");
        }
    }
    const bool on_gpu = warpwise::Lesson::on_gpu();
    const bool with_events = lesson.measures() || !on_gpu;
    measured.push_back({"CUDA events",
                        on_gpu ? "the device passes by" : "the steady clock, here", "-",
                        with_events ? nanoseconds(step_of_events()) : "-",
                        with_events ? nanoseconds(cost_of_event()) : "-"});
    // cudaEventElapsedTime gives milliseconds as a float, of which the digits run out.
    const double digits = std::nextafter(1000.0f, 2000.0f) - 1000.0f;
    properties.push_back({"CUDA events", "never",
                          text_of("no; but 1 s has steps of %.0f ns", digits * 1e6),
                          "what the device does, and nothing else"});
    lesson.table({"clocks", "The clocks of this machine"},
                 {"clock", "counts", "tick, ns", "step, ns", "call, ns"}, measured);
    lesson.table({"uses", "And what they are good for"},
                 {"clock", "jumps or stands still", "wraps", "use it for"}, properties);
}

// ---- what they count --------------------------------------------------------------------

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
std::vector<double> elapsed(const std::vector<Clock>& clocks,
                            const std::function<void()>& body) {
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
    const std::vector<double> asleep = elapsed(clocks, [] {
        std::this_thread::sleep_for(std::chrono::duration<double>(stretch));
    });
    const std::vector<double> two_threads = elapsed(clocks, [] {
        std::thread other(work_for, stretch);
        work_for(stretch);
        other.join();
    });
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
        rows.push_back({clocks[i].name, text_of("%.2f", asleep[i] * 1e3),
                        text_of("%.2f", two_threads[i] * 1e3)});
        const std::string name = clocks[i].name;
        if (clocks[i].read == read_clock) {
            lesson.expect(two_threads[i] >= 1.9 * stretch,
                          name + ": two threads that work count twice");
        }
        if (clocks[i].read == read_clock_gettime || clocks[i].read == read_steady_clock) {
            lesson.expect(asleep[i] >= 0.999 * stretch,
                          name + ": goes on while the program sleeps");
        }
    }
    lesson.table({"counted_time", "How many milliseconds go by"},
                 {"clock", "asleep for 20 ms", "two threads work 20 ms each"}, rows);
}

// ---- the classic mistake ----------------------------------------------------------------

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
    lesson.expect(d_out.download() == std::vector<float>(32, 2.0f),
                  "chain: right after the host has waited for it");
    return {wrong, right};
}

// Without one: another thread of the host takes the order and works on its own, as a device
// does.
Measured time_stand_in(warpwise::Lesson& lesson, int work) {
    const HostTimer timer;
    std::future<float> result = std::async(std::launch::async, chain_on_host, 8192 * work);
    const double wrong = timer.seconds();  // WRONG: the thread has only been started
    result.wait();
    const double right = timer.seconds();
    lesson.expect(result.get() == 2.0f,
                  "chain_on_host: right after the host has waited for it");
    return {wrong, right};
}

constexpr const char* kMistakeTable = "mistake";

void show_classic_mistake(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    std::vector<std::string> header = {"work", "stopped at once, us", "after waiting, us",
                                       "wrong by"};
    const warpwise::Record& recorded = lesson.recorded();
    if (recorded) header.push_back(recorded.label() + ", wrong by");
    std::vector<std::vector<std::string>> rows;
    for (const int work : kWork) {
        std::vector<double> at_once, after_waiting;
        for (int sample = 0; sample < 5; ++sample) {
            const Measured measured =
                on_gpu ? time_kernel(lesson, work) : time_stand_in(lesson, work);
            at_once.push_back(measured.stopped_at_once);
            after_waiting.push_back(measured.stopped_after_waiting);
        }
        const double wrong = median(at_once), right = median(after_waiting);
        const std::string name = std::to_string(work) + " x";
        rows.push_back({name, microseconds(wrong), microseconds(right),
                        text_of("%.1f", right / wrong)});
        if (recorded)
            rows.back().push_back(recorded.cell(kMistakeTable, {name}, "wrong by"));
        lesson.expect(wrong <= right, name + ": waiting takes no less");
    }
    lesson.table({kMistakeTable,
                  std::string(on_gpu ? "A kernel" : "A thread that works for another one") +
                      ", timed in both ways, median of 5"},
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
    if (recorded)
        lesson.table({kMistakeTable, "A kernel, timed in both ways", recorded.where()},
                     {"work", "wrong by"}, rows);
}

// On the CPU device a kernel has ended when its launch returns: asked as a program would
// ask on a GPU.
void show_launch_on_cpu_device(warpwise::Lesson& lesson) {
    DeviceBuffer<float> d_out(32);
    chain<<<1, 32>>>(d_out.data(), 4096);
    warpwise::check_launch();
    lesson.expect(cudaStreamQuery(nullptr) == cudaSuccess,
                  "the kernel has ended when its launch returns");
    lesson.expect(d_out.download() == std::vector<float>(32, 2.0f), "chain: right");
}

// ---- small kernels ----------------------------------------------------------------------

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
    constexpr std::array<Way, 4> ways = {
        {{"host clock, one launch, one wait", by_host_clock, 1},
         {"host clock, 1000 launches, one wait", by_host_clock, 1000},
         {"events around one launch", by_events, 1},
         {"events around 1000 launches", by_events, 1000}}};
    const bool measures = lesson.measures();
    std::vector<std::vector<std::string>> rows;
    for (const Way& way : ways) {
        std::vector<double> seconds;
        for (int sample = 0; sample < (measures ? 31 : 1); ++sample)
            seconds.push_back(way.measure(way.launches));
        rows.push_back({way.name, text_of("%.2f", median(seconds) / way.launches * 1e6)});
    }
    if (measures) {
        lesson.table(
            {"launches", "Microseconds for each launch of a kernel that does nothing"},
            {"way", "us per launch"}, rows);
    } else {
        lesson.show_recorded("launches");
    }
}

// ---- one measurement, and many ----------------------------------------------------------

std::vector<std::string> row_of(const char* what, const std::vector<double>& seconds) {
    const warpwise::Timing timing =
        warpwise::timing_of({seconds.begin() + 1, seconds.end()});
    return {what,
            microseconds(seconds.front()),
            microseconds(timing.minimum),
            microseconds(timing.median),
            microseconds(timing.maximum),
            text_of("%.0f %%", 100 * timing.spread())};
}

void show_samples(warpwise::Lesson& lesson) {
    constexpr int samples = 41;
    constexpr std::size_t bytes = std::size_t{40}
                                  << 20;  // so much that it comes fresh from the system
    std::vector<std::vector<std::string>> rows;

    std::vector<double> seconds;
    const std::unique_ptr<unsigned char[]> memory(new unsigned char[bytes]);
    for (int sample = 1; sample <= samples; ++sample) {
        const HostTimer timer;
        std::memset(memory.get(), sample, bytes);
        seconds.push_back(timer.seconds());
    }
    lesson.expect(memory[0] == samples && memory[bytes - 1] == samples,
                  "the last pass has written all of it");
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
        lesson.expect(d_out.download() == std::vector<float>(32, samples),
                      "the last launch has written all of it");
        if (lesson.measures())
            rows.push_back(row_of("device: launch a kernel and wait", seconds));
    }
    lesson.table({"samples", "41 measurements of the same thing, in microseconds"},
                 {"what", "the first", "minimum", "median", "maximum", "middle 80 %"},
                 rows);
}

}  // namespace

void timers(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    const std::vector<Clock> clocks = host_clocks();
    lesson.question(
        R"(Every claim about speed rests on a clock. A clock is right for a question if it
counts the right thing, is fine enough, and is read at the right moment. These are five
clocks of the host, and CUDA events. How fine is each, and what does a reading cost?)");
    lesson.predict(
        {.question = R"(Which of these clocks stands still while the program sleeps?)",
         .answer =
             warpwise::Choice{
                 {"clock()", "std::chrono::steady_clock", "the time-stamp counter"}, 0},
         .because = R"(clock() counts the processor time of all threads. It
measures work, not time, and two threads add up.)"});
    show_clocks(lesson, clocks);
    show_what_they_count(lesson, clocks);
    lesson.conclusion(
        R"(On most machines, a call of steady_clock takes two or three times as long as
reading the time-stamp counter: it does not enter the operating system's kernel, but reads
this counter and scales it. clock() stands still while the program sleeps, and adds up two
threads: it counts work, not time. CUDA events are different: the device writes down the
time when it reaches them in its stream.)");

    lesson.question(
        R"(A launch only puts the kernel into a queue, and returns. A clock that is stopped
right after the launch has measured the queueing. (The CPU device runs a kernel inside its
launch. There, a second thread of the host stands in for the device: it is started, and then
works on its own.))");
    lesson.predict(
        {.question = R"(The same work is done 1, 8, 64, and 512 times on a device,
and timed without waiting for its end. How does the time grow that this shows?)",
         .answer =
             warpwise::Choice{{"in proportion to the work", "hardly", "it is always 0"}, 1},
         .because = R"(It is the time to hand the work over. So the more there is
to do, the better such a program looks.)"});
    if (!on_gpu) show_launch_on_cpu_device(lesson);
    if (lesson.measures() || !on_gpu) {
        show_classic_mistake(lesson);
    } else {
        show_recorded_mistake(lesson);
    }
    lesson.conclusion(
        R"(The right time grows with the work. The wrong time is the price of handing the
work over and hardly grows, so the more there is to do, the better the program looks. To
find the mistake, double the work: the time has to double, once it is much longer than a
launch. Either wait before you stop the host's clock, or let the device keep the time with
two events.)");

    lesson.question(
        R"(For a small kernel even that is not enough, because most of what is measured then
is the launch and the wait.)");
    lesson.predict(
        {.question = R"(A launch with one wait takes some microseconds. How many
times as long is that as the thousandth part of a thousand launches with one wait, on a
GPU?)",
         .answer =
             warpwise::Measured{
                 .by =
                     warpwise::CellRatio{
                         warpwise::TableCell{"launches",
                                             {"host clock, one launch, one wait"},
                                             "us per launch"},
                         warpwise::TableCell{"launches",
                                             {"host clock, 1000 launches, one wait"},
                                             "us per launch"}},
                 .unit = "times",
                 .factor = 1.5},
         .because = R"(The single launch contains the way to the device and back.
In a row of a thousand, launches overlap with the kernels before them.)"});
    show_small_kernels(lesson);
    lesson.conclusion(
        R"(The single launch is longer: it contains the way to the device and back. In a row
of a thousand, launches overlap with the kernels before them, and what is left is the time
from one to the next. Two events around one launch measure themselves as well. So repeat
short things in a loop, divide, and say which of the figures it is.)");

    lesson.question(
        R"(One measurement is an anecdote. Here are forty measurements of the same thing,
and the very first one beside them.)");
    lesson.predict(
        {.question = R"(Some of 41 measurements were interrupted by other programs.
Which figure do a few such interruptions hardly change?)",
         .answer = warpwise::Choice{{"the mean", "the median", "the maximum"}, 1},
         .because = R"(The median is the one in the middle, however slow the
slowest are. The first measurement is left out anyway.)"});
    show_samples(lesson);
    lesson.conclusion(
        R"(The first one measures something else: new memory gets its pages, caches are
empty, and a kernel's code is loaded. Run it once before the clock starts, and leave it out.
Report the median of the others, which a single interrupted run does not change, and the
spread: a gain that is smaller than the spread is none.)");
}

}  // namespace optimization
