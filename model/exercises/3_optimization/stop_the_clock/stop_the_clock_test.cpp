#include "exercises/3_optimization/stop_the_clock/stop_the_clock.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/activity_log.h"
#else
#include <chrono>
#include <thread>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/timer.h"
#endif

const grading::Exercise grading::exercise{"3_optimization", "stop_the_clock"};

namespace {

constexpr float untouched =
    -7;  // what the grader writes where nothing is to be; neither an input nor a result
constexpr float marked_input = -5;
constexpr float marked_result = -9;

/// All the memory that a job works on. The device's is allocated without guards: some tests
/// reset the device.
class Memory {
public:
    explicit Memory(std::size_t count)
        : in(grading::random_floats(count)), out(count, untouched) {
        REQUIRE_THAT(cudaMalloc(&d_in, bytes()), grading::Succeeds());
        REQUIRE_THAT(cudaMalloc(&d_out, bytes()), grading::Succeeds());
        fill(d_in, untouched);
        fill(d_out, untouched);
    }
    ~Memory() {
        (void)cudaFree(d_in);
        (void)cudaFree(d_out);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::size_t bytes() const { return in.size() * sizeof(float); }

    std::vector<double> result() const {
        std::vector<double> values;
        for (const float value : in) values.push_back(2 * value + 1);
        return values;
    }

    Job job(int repeats, std::function<double()> seconds) {
        return {
            in.data(), out.data(), static_cast<float*>(d_in), static_cast<float*>(d_out),
            in.size(), repeats,    std::move(seconds)};
    }

    void fill(void* d_values, float value) {
        const std::vector<float> values(in.size(), value);
        REQUIRE_THAT(cudaMemcpy(d_values, values.data(), bytes(), cudaMemcpyHostToDevice),
                     grading::Succeeds());
    }

    std::vector<float> download(const void* d_values) const {
        std::vector<float> values(in.size());
        REQUIRE_THAT(cudaMemcpy(values.data(), d_values, bytes(), cudaMemcpyDeviceToHost),
                     grading::Succeeds());
        return values;
    }

    std::vector<float> in, out;
    void* d_in = nullptr;
    void* d_out = nullptr;
};

/// A clock for the answer: it shows what the grader wants, and the grader looks around
/// whenever somebody reads it.
class Clock {
public:
    explicit Clock(double step, std::function<void(int)> at_reading = nullptr)
        : step_(step), at_reading_(std::move(at_reading)) {}

    double read() {
        ++readings_;
        if (at_reading_) at_reading_(readings_);
        return 100 + step_ * (readings_ - 1);
    }
    std::function<double()> reader() {
        return [this] { return read(); };
    }
    int readings() const { return readings_; }

private:
    double step_;
    std::function<void(int)> at_reading_;
    int readings_ = 0;
};

void require_two_readings(const Clock& clock) {
    if (clock.readings() == 2) return;
    FAIL(
        "The clock is to be read twice: once when the timed launches begin, once when all "
        "of them have ended.\nHere it was read "
        << grading::counted(clock.readings(), "time")
        << ".\nWhich two moments does your answer need the time of?");
}

void check_figure(double reported, std::size_t count, int repeats, double seconds) {
    const double bytes = 2.0 * static_cast<double>(count * sizeof(float)) * repeats;
    const double expected = bytes / seconds / 1e9;
    INFO(grading::counted(count, "float") << ", " << grading::counted(repeats, "launch")
                                          << ", " << seconds << " s between the readings:");
    if (std::abs(reported - expected) <= 1e-9 * expected) return;
    FAIL_CHECK("The answer reported "
               << reported << " GB/s, should be " << expected
               << ".\n4 bytes are read and 4 are written for each float in each launch, "
               << bytes
               << " bytes in all.\nWhich bytes, which launches, and which seconds does "
                  "your formula count?");
}

bool all_equal(const std::vector<float>& values, float value) {
    return std::all_of(values.begin(), values.end(),
                       [value](float each) { return each == value; });
}

/// What the device was doing when somebody read the clock.
enum class Device { never_launched, working, idle };

#ifdef __CPU_DEVICE__

// A launch returns here when its kernel has ended, so that nobody ever sees a kernel run.
// But a kernel that has died tells whether somebody has waited: its error comes to light at
// the first call that waits for the device.

void die() { __trap(); }

void keep_busy() {
    REQUIRE_THAT(cudaLaunchKernel(die, dim3(1), dim3(1), nullptr), grading::Succeeds());
}

/// After a kernel that died, whether nobody has waited for it yet.
bool is_busy() {
    unsigned flags = 0;
    return cudaStreamGetFlags(nullptr, &flags) ==
           cudaSuccess;  // this one does not wait itself
}

/// An answer may look at errors and give up. Whatever it does then: the error has come to
/// light.
void call_although_kernels_die(const Job& job) {
    try {
        (void)gigabytes_per_second(job);
    } catch (const std::exception&) {
    }
}

/// Gives back a device that works, all memory freed, and nothing found.
void revive(Memory& memory) {
    REQUIRE_THAT(cudaDeviceReset(), grading::Succeeds());
    memory.d_in = nullptr;
    memory.d_out = nullptr;
    (void)cudaGetLastError();
    grading::forget_diagnostics();
}

// All launches of the answer write to a null pointer: the first one dies.
Device device_at_start() {
    Memory memory(1000);
    Device device = Device::idle;
    Clock clock(1, [&](int reading) {
        if (reading != 1) return;
        const bool nobody_waited = is_busy();
        const bool launched = cudaDeviceSynchronize() != cudaSuccess;
        device = !launched       ? Device::never_launched
                 : nobody_waited ? Device::working
                                 : Device::idle;
    });
    Job job = memory.job(2, clock.reader());
    REQUIRE_THAT(cudaFree(memory.d_out), grading::Succeeds());
    job.d_out = nullptr;
    call_although_kernels_die(job);
    revive(memory);
    return device;
}

Device device_at_stop() {
    Memory memory(1000);
    Device device = Device::idle;
    Clock clock(1, [&](int reading) {
        if (reading == 1) keep_busy();
        if (reading == 2 && is_busy()) device = Device::working;
    });
    call_although_kernels_die(memory.job(2, clock.reader()));
    revive(memory);
    return device;
}

#else

bool is_busy() {
    const bool busy = cudaStreamQuery(nullptr) == cudaErrorNotReady;
    if (busy)
        (void)cudaGetLastError();  // that was the answer, and no error to be found later
    return busy;
}

/// The default stream has something to do for a tenth of a second, and only then goes on to
/// what comes after it.
void keep_busy() {
    const auto sleep = [](void*) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    };
    REQUIRE_THAT(cudaLaunchHostFunc(nullptr, sleep, nullptr), grading::Succeeds());
}

// So many floats that a launch takes far longer than the way from it to the clock.
Device device_at_start() {
    Memory memory(std::size_t{1} << 26);
    Device device = Device::idle;
    Clock clock(1, [&](int reading) {
        if (reading == 1 && is_busy()) device = Device::working;
    });
    (void)gigabytes_per_second(memory.job(2, clock.reader()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    return device;
}

Device device_at_stop() {
    Memory memory(1000);
    Device device = Device::idle;
    Clock clock(1, [&](int reading) {
        if (reading == 1) keep_busy();
        if (reading == 2 && is_busy()) device = Device::working;
    });
    (void)gigabytes_per_second(memory.job(2, clock.reader()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    return device;
}

#endif

/// What had been done when somebody read the clock: calls of the runtime API, and accesses
/// to both arrays.
struct Moment {
    std::size_t calls = 0;
    std::vector<warpwise::WordActivity> in, out;
};

Moment moment_of([[maybe_unused]] const Memory& memory) {
#ifdef __CPU_DEVICE__
    return {cpu_device::logged_calls().size(),
            warpwise::activity_of(memory.d_in, memory.bytes()),
            warpwise::activity_of(memory.d_out, memory.bytes())};
#else
    return {};
#endif
}

/// What the answer did between two moments. Only the CPU device knows.
struct Timed {
    std::vector<warpwise::ApiCall> calls;
    std::vector<warpwise::LaunchCounts> launches_before, launches;
};

Timed timed_part(const grading::Instrumented& instrumented, const Moment& start,
                 const Moment& stop) {
    Timed timed;
    for (std::size_t i = 0; i < std::min(stop.calls, instrumented.calls.size()); ++i) {
        const warpwise::ApiCall& call = instrumented.calls[i];
        if (i >= start.calls) timed.calls.push_back(call);
        if (call.launch < 1 ||
            static_cast<std::size_t>(call.launch) > instrumented.launches.size())
            continue;
        const warpwise::LaunchCounts& launch =
            instrumented.launches[static_cast<std::size_t>(call.launch) - 1];
        (i < start.calls ? timed.launches_before : timed.launches).push_back(launch);
    }
    return timed;
}

bool is_wait(const std::string& function) {
    constexpr std::array waits = {"cudaDeviceSynchronize", "cudaStreamSynchronize",
                                  "cudaEventSynchronize", "cudaStreamQuery",
                                  "cudaEventQuery"};
    return std::find(waits.begin(), waits.end(), function) != waits.end();
}

/// Launches, waits, events, and questions: all that an answer may call while the clock
/// runs.
bool may_be_timed(const warpwise::ApiCall& call) {
    if (call.launch > 0 || is_wait(call.function)) return true;
    constexpr std::array beginnings = {
        "launch_function", "cudaLaunchKernel",   "cudaEvent",     "cudaGet",
        "cudaPeek",        "cudaDeviceGet",      "cudaStreamGet", "cudaFuncGet",
        "cudaOccupancy",   "cudaStreamWaitEvent"};
    return std::any_of(beginnings.begin(), beginnings.end(), [&](const char* beginning) {
        return std::string_view(call.function)
                   .substr(0, std::string_view(beginning).size()) == beginning;
    });
}

/// The lines at which a launch stores: they tell kernels apart, however the launch was
/// written.
std::set<int> storing_lines(const warpwise::LaunchCounts& launch) {
    std::set<int> lines;
    for (const warpwise::LineCounts& line : launch.lines) {
        if (line.counts.global_store.requests > 0) lines.insert(line.line);
    }
    return lines;
}

void check_calls(const Timed& timed) {
    std::size_t last_launch = 0;
    for (std::size_t i = 0; i < timed.calls.size(); ++i) {
        const warpwise::ApiCall& call = timed.calls[i];
        if (!may_be_timed(call)) {
            FAIL("Between the two readings the answer called "
                 << call.function
                 << ".\nIts time is not the kernel's. Only launches and, after the last "
                    "one, a wait belong there.\nCan this call stand before the first "
                    "reading, or after the second one?");
        }
        if (call.launch > 0) last_launch = i;
    }
    for (std::size_t i = 0; i < last_launch; ++i) {
        if (!is_wait(timed.calls[i].function)) continue;
        FAIL("The answer called "
             << timed.calls[i].function
             << " before the last launch.\nA launch after a wait finds an idle device, so "
                "the time between the two is timed as well.\nAfter which launch does the "
                "host have to wait?");
    }
}

void check_launches(const Timed& timed, std::size_t repeats, std::size_t bytes) {
    REQUIRE_THAT(
        grading::figure("Launches between the two readings",
                        static_cast<double>(timed.launches.size())),
        grading::Between(static_cast<double>(repeats), static_cast<double>(repeats),
                         "Which launches stand between the two readings, and how "
                         "often does the loop around them run?"));
    const std::set<int> lines = storing_lines(timed.launches.front());
    for (std::size_t i = 0; i < repeats; ++i) {
        const warpwise::LaunchCounts& launch = timed.launches[i];
        if (launch.total.global_load.bytes != static_cast<double>(bytes) ||
            launch.total.global_store.bytes != static_cast<double>(bytes)) {
            FAIL("Launch " << i + 1 << " of the " << repeats << " that were timed, of "
                           << launch.kernel << ", read " << launch.total.global_load.bytes
                           << " bytes and wrote " << launch.total.global_store.bytes
                           << " bytes.\nEach launch has to read and write the whole array, "
                           << bytes
                           << " bytes.\nHow many threads does this launch have, and which "
                              "elements do they take?");
        }
        if (storing_lines(launch) != lines) {
            FAIL("Launch " << i + 1 << " of the " << repeats << " that were timed, of "
                           << launch.kernel
                           << ", runs other code than the first one of them.\nWhich kernel "
                              "is the one whose bandwidth is asked for?");
        }
    }
    if (std::none_of(timed.launches_before.begin(), timed.launches_before.end(),
                     [&](const warpwise::LaunchCounts& launch) {
                         return storing_lines(launch) == lines;
                     })) {
        FAIL_CHECK(
            "The kernel that is timed had not been launched before the clock started. "
            "Another kernel does not load its code.\nWhich kernel does the launch before "
            "the clock warm up?");
    }
}

/// Each timed launch reads and writes each float once.
void check_accesses(const Moment& start, const Moment& stop, std::size_t repeats) {
    std::vector<std::size_t> not_read, not_written;
    for (std::size_t i = 0; i < stop.out.size(); ++i) {
        if (stop.in[i].reads - start.in[i].reads != repeats) not_read.push_back(i);
        if (stop.out[i].writes - start.out[i].writes != repeats) not_written.push_back(i);
    }
    if (not_read.empty() && not_written.empty()) return;
    const std::string read =
        not_read.empty() ? ""
                         : "\nread less or more often: " + grading::name_elements(not_read);
    const std::string written =
        not_written.empty()
            ? ""
            : "\nwritten less or more often: " + grading::name_elements(not_written);
    FAIL_CHECK("Launches that were timed: "
               << repeats
               << ". Each of them has to read each float once and to write each float once."
               << read << written
               << "\nWhich thread of a launch should handle the first one of them?");
}

}  // namespace

TEST_CASE("leaves the right result on the host") {
    for (const std::size_t count :
         grading::sizes({1, 31, 32, 33, 255, 257, 1009, 100'003}, 4, 100'000)) {
        CAPTURE(count);
        Memory memory(count);
        grading::Guarded<float> d_in(count), d_out(count);
        Clock clock(0.5);
        Job job = memory.job(3, clock.reader());
        job.d_in = d_in.data();
        job.d_out = d_out.data();
        (void)gigabytes_per_second(job);
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        CHECK_THAT(memory.out, grading::EqualTo(memory.result())
                                   .when(grading::equal(untouched),
                                         "Which line copies the result to the host?"));
        CHECK_THAT(d_in, grading::StaysInside());
        CHECK_THAT(d_out, grading::StaysInside());
    }
}

TEST_CASE("turns the time into the bandwidth of all launches together") {
    struct Case {
        std::size_t count;
        int repeats;
        double seconds;
    };
    std::vector<Case> cases = {
        {1000, 1, 0.5}, {1000, 7, 0.5}, {4096, 20, 0.001}, {1, 3, 2}};
    for (std::uint64_t i = 0; i < 3; ++i) {
        cases.push_back(
            {grading::random_size(1, 5000, i),
             static_cast<int>(grading::random_size(1, 30, 10 + i)),
             static_cast<double>(grading::random_size(1, 1000, 20 + i)) * 1e-5});
    }
    for (const Case& one : cases) {
        Memory memory(one.count);
        Clock clock(one.seconds);
        const double reported =
            gigabytes_per_second(memory.job(one.repeats, clock.reader()));
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        require_two_readings(clock);
        check_figure(reported, one.count, one.repeats, one.seconds);
    }
}

TEST_CASE("gives the right figure for more bytes than an int counts") {
    constexpr std::size_t count = 2'000'003;
    constexpr int repeats = 150;
    Memory memory(count);
#ifdef __CPU_DEVICE__
    // On a device that a kernel has broken every launch returns at once, so that so many
    // cost nothing. An answer may look at the errors and give up: then there is no figure
    // to be judged.
    Clock clock(0.25, [](int reading) {
        if (reading == 1) keep_busy();
    });
    double reported = 0;
    try {
        reported = gigabytes_per_second(memory.job(repeats, clock.reader()));
    } catch (const std::exception&) {
    }
    revive(memory);
    if (clock.readings() == 2 && reported != 0 && !std::isnan(reported)) {
        check_figure(reported, count, repeats, 0.25);
    }
#else
    Clock clock(0.25);
    const double reported = gigabytes_per_second(memory.job(repeats, clock.reader()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_figure(reported, count, repeats, 0.25);
#endif
}

TEST_CASE("starts the clock when the input is there and the kernel has run once") {
    Memory memory(1009);
    bool input_is_there = false;
    std::size_t not_run = memory.in.size();
    Clock clock(1, [&](int reading) {
        if (reading != 1) return;
        input_is_there = memory.download(memory.d_in) == memory.in;
        const std::vector<float> out = memory.download(memory.d_out);
        not_run = static_cast<std::size_t>(std::count(out.begin(), out.end(), untouched));
    });
    (void)gigabytes_per_second(memory.job(4, clock.reader()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    require_two_readings(clock);
    if (!input_is_there) {
        FAIL_CHECK(
            "When the clock started the input was not on the device: its copy is timed "
            "with the kernel.\nWhich line copies the input, and when does the clock "
            "start?");
    }
    if (not_run > 0) {
        FAIL_CHECK(
            "When the clock started the kernel had never run on "
            << not_run
            << " of the 1009 floats.\nThe first launch of a kernel also loads its code and "
               "takes longer than the others.\nWhat could the host do before it starts the "
               "clock, so that this launch is not timed?");
    }
}

TEST_CASE("starts the clock when the device has nothing left to do") {
    for (int attempt = 0; attempt < 3; ++attempt) {
        const Device device = device_at_start();
        if (device == Device::working) {
            FAIL_CHECK(
                "When the clock started the device was still working: a launch returns at "
                "once, and its kernel runs on.\nSo a part of the launch that warms up is "
                "timed as well.\nIs there a wait between the launch that warms up and the "
                "clock?");
        }
        if (device == Device::never_launched) {
            FAIL(
                "No kernel had been launched when the clock started.\nWhat does the first "
                "launch of a kernel do that later ones need not do?");
        }
    }
}

TEST_CASE("stops the clock when all launches have ended") {
    for (int attempt = 0; attempt < 3; ++attempt) {
        if (device_at_stop() != Device::working) continue;
        FAIL_CHECK(
            "When the clock was stopped nobody had waited for the device, and the kernels "
            "were still running.\nWhat was measured is how long launching them takes. A "
            "wait after the clock has stopped is too late.\nWhich call returns only when "
            "all launches have ended, and where does it have to stand?");
    }
}

TEST_CASE("times the launches and nothing else") {
    const std::size_t repeats = grading::random_size(3, 9, 30);
    Memory memory(grading::random_size(1000, 3000, 31));
    bool copied_in = false, copied_out = false, computed = false;
    Moment start, stop;
    Clock clock(1, [&](int reading) {
        if (reading == 1) {
            memory.fill(memory.d_in, marked_input);
            memory.fill(memory.d_out, untouched);
            std::fill(memory.out.begin(), memory.out.end(), untouched);
            start = moment_of(memory);
        } else if (reading == 2) {
            stop = moment_of(memory);
            copied_in = !all_equal(memory.download(memory.d_in), marked_input);
            computed = all_equal(memory.download(memory.d_out), marked_result);
            copied_out = !all_equal(memory.out, untouched);
        }
    });
    const grading::Instrumented instrumented = grading::instrument([&] {
        (void)gigabytes_per_second(memory.job(static_cast<int>(repeats), clock.reader()));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    require_two_readings(clock);
    if (copied_in) {
        FAIL(
            "While the clock ran the input was copied to the device: that is a time of the "
            "bus, not of the kernel.\nWhich line copies the input, and when does the clock "
            "start?");
    }
    if (copied_out) {
        FAIL(
            "While the clock ran the result was copied to the host: that is a time of the "
            "bus, not of the kernel.\nThe copy does wait for the kernels, but takes longer "
            "than they do.\nWhich call only waits?");
    }
    if (warpwise::can_log()) {
        const Timed timed = timed_part(instrumented, start, stop);
        check_calls(timed);
        check_launches(timed, repeats, memory.bytes());
        check_accesses(start, stop, repeats);
    }
    if (!computed) {
        FAIL(
            "Between the two readings no launch has computed all results: the kernel has "
            "to run there, too, and not only to warm up.\nWhich launches stand between the "
            "two readings?");
    }
    if (!all_equal(memory.out, marked_result)) {
        FAIL_CHECK(
            "The host's array does not hold what the timed launches computed.\nWhich line "
            "copies the result, and does it stand after the second reading?");
    }
}

TEST_CASE("works in the default stream and destroys what it creates") {
    Memory memory(1009);
    Clock clock(1);
    const grading::Instrumented instrumented = grading::instrument(
        [&] { (void)gigabytes_per_second(memory.job(4, clock.reader())); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(instrumented,
               grading::CallsNot({"cudaStreamCreate", "cudaStreamCreateWithFlags",
                                  "cudaStreamCreateWithPriority"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
}

#ifndef __CPU_DEVICE__
TEST_CASE("reports what the memory can do by a real clock") {
    Memory memory(std::size_t{1} << 26);
    const warpwise::HostTimer timer;
    const double reported =
        gigabytes_per_second(memory.job(20, [&] { return timer.seconds(); }));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const auto copy = [&] {
        warpwise::check(cudaMemcpyAsync(memory.d_out, memory.d_in, memory.bytes(),
                                        cudaMemcpyDeviceToDevice));
    };
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn({{copy, false}});
    const double copied =
        2.0 * static_cast<double>(memory.bytes()) / timings[0].median / 1e9;
    const grading::Figure share = grading::figure(
        "reported bandwidth, as a multiple of that of a copy", reported / copied,
        {.lines = "reported: " + std::to_string(reported) +
                  " GB/s; a copy on this device, timed by events: " +
                  std::to_string(copied) + " GB/s"});
    CHECK_THAT(share, grading::AtMost(1.2,
                                      "Nothing is faster than a copy by more than a few "
                                      "percent. Is the clock stopped too early?"));
    CHECK_THAT(share, grading::AtLeast(0.4,
                                       "This kernel is not much slower than a copy. What "
                                       "else was timed?"));
}
#endif
