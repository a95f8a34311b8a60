#include "exercises/3_optimization/stop_the_clock/stop_the_clock.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/helpers/watch.h"

#ifndef __CPU_DEVICE__
#include <chrono>
#include <thread>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/timer.h"
#endif

const grading::Exercise grading::exercise{"3_optimization", "stop_the_clock"};

namespace {

constexpr float untouched = -7;  // what the grader writes where nothing is to be; neither an input nor a result
constexpr float marked_input = -5;
constexpr float marked_result = -9;

float input(std::size_t i) { return static_cast<float>(i % 1000 + 1); }
float result(std::size_t i) { return 2 * input(i) + 1; }

/// All the memory that a job works on. The device's is allocated without guards: some tests reset the device.
class Memory {
public:
    explicit Memory(std::size_t count) : in(count), out(count, untouched) {
        for (std::size_t i = 0; i < count; ++i) in[i] = input(i);
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

    Job job(int repeats, std::function<double()> seconds) {
        return {in.data(), out.data(), static_cast<float*>(d_in), static_cast<float*>(d_out),
                in.size(), repeats,    std::move(seconds)};
    }

    void fill(void* d_values, float value) {
        const std::vector<float> values(in.size(), value);
        REQUIRE_THAT(cudaMemcpy(d_values, values.data(), bytes(), cudaMemcpyHostToDevice), grading::Succeeds());
    }

    std::vector<float> download(const void* d_values) const {
        std::vector<float> values(in.size());
        REQUIRE_THAT(cudaMemcpy(values.data(), d_values, bytes(), cudaMemcpyDeviceToHost), grading::Succeeds());
        return values;
    }

    std::vector<float> in, out;
    void* d_in = nullptr;
    void* d_out = nullptr;
};

/// A clock for the answer: it shows what the grader wants, and the grader looks around whenever somebody reads it.
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
    INFO("The clock is to be read twice: once when the timed launches begin, once when all of them have ended.");
    REQUIRE(clock.readings() == 2);
}

bool all_equal(const std::vector<float>& values, float value) {
    return std::all_of(values.begin(), values.end(), [value](float each) { return each == value; });
}

/// What the device was doing when somebody read the clock.
enum class Device { never_launched, working, idle };

#ifdef __CPU_DEVICE__

// A launch returns here when its kernel has ended, so that nobody ever sees a kernel run. But a kernel that has died
// tells whether somebody has waited: its error comes to light at the first call that waits for the device.

void die() { __trap(); }

void keep_busy() { REQUIRE_THAT(cudaLaunchKernel(die, dim3(1), dim3(1), nullptr), grading::Succeeds()); }

/// After a kernel that died, whether nobody has waited for it yet.
bool is_busy() {
    unsigned flags = 0;
    return cudaStreamGetFlags(nullptr, &flags) == cudaSuccess;  // this one does not wait itself
}

/// An answer may look at errors and give up. Whatever it does then: the error has come to light.
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
    grading::forget_findings();
}

// All launches of the answer write to a null pointer: the first one dies.
Device device_at_start() {
    Memory memory(1000);
    Device device = Device::idle;
    Clock clock(1, [&](int reading) {
        if (reading != 1) return;
        const bool nobody_waited = is_busy();
        const bool launched = cudaDeviceSynchronize() != cudaSuccess;
        device = !launched ? Device::never_launched : nobody_waited ? Device::working : Device::idle;
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
    if (busy) (void)cudaGetLastError();  // that was the answer, and no error to be found later
    return busy;
}

/// The default stream has something to do for a tenth of a second, and only then goes on to what comes after it.
void keep_busy() {
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
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

/// Where it can be seen, how many kernels have been launched since the last call.
std::size_t launches() { return warpwise::take_counts(false).size(); }

}  // namespace

TEST_CASE("leaves the right result on the host") {
    for (const std::size_t count : {1, 31, 32, 33, 255, 257, 1009, 100003}) {
        CAPTURE(count);
        Memory memory(count);
        grading::Guarded<float> d_in(count), d_out(count);
        Clock clock(0.5);
        Job job = memory.job(3, clock.reader());
        job.d_in = d_in.data();
        job.d_out = d_out.data();
        (void)gigabytes_per_second(job);
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        std::vector<std::size_t> wrong;
        for (std::size_t i = 0; i < count; ++i) {
            if (memory.out[i] != result(i)) wrong.push_back(i);
        }
        INFO("wrong on the host: " << grading::name_elements(wrong));
        CHECK(wrong.empty());
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
    for (const Case& one : {Case{1000, 1, 0.5}, Case{1000, 7, 0.5}, Case{4096, 20, 0.001}, Case{1, 3, 2}}) {
        Memory memory(one.count);
        Clock clock(one.seconds);
        const double reported = gigabytes_per_second(memory.job(one.repeats, clock.reader()));
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        require_two_readings(clock);
        const double bytes = 2.0 * static_cast<double>(memory.bytes()) * one.repeats;
        const double expected = bytes / one.seconds / 1e9;
        INFO(one.count << " floats, " << one.repeats << " launches, " << one.seconds << " s between the readings:");
        INFO("4 bytes are read and 4 are written for each float in each launch, " << bytes << " bytes in all.");
        INFO("reported " << reported << " GB/s, should be " << expected);
        CHECK(std::abs(reported - expected) <= 1e-9 * expected);
    }
}

TEST_CASE("starts the clock when the input is there and the kernel has run once") {
    Memory memory(1009);
    bool input_is_there = false, has_run = false;
    Clock clock(1, [&](int reading) {
        if (reading != 1) return;
        input_is_there = memory.download(memory.d_in) == memory.in;
        has_run = !all_equal(memory.download(memory.d_out), untouched);
    });
    (void)gigabytes_per_second(memory.job(4, clock.reader()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    require_two_readings(clock);
    {
        INFO("When the clock started the input was not on the device: its copy is timed with the kernel.");
        CHECK(input_is_there);
    }
    INFO("When the clock started the kernel had never run: the first launch of a kernel also loads its code, and is");
    INFO("no picture of the others. Launch it once before the clock starts.");
    CHECK(has_run);
}

TEST_CASE("starts the clock when the device has nothing left to do") {
    for (int attempt = 0; attempt < 3; ++attempt) {
        const Device device = device_at_start();
        INFO("A launch returns at once, and its kernel runs on. Is there a wait between the launch that warms up");
        INFO("and the clock? Otherwise a part of that launch is timed as well.");
        CHECK(device != Device::working);
        if (device == Device::never_launched) FAIL("no kernel had been launched when the clock started");
    }
}

TEST_CASE("stops the clock when all launches have ended") {
    for (int attempt = 0; attempt < 3; ++attempt) {
        INFO("When the clock was stopped nobody had waited for the device, and the kernels were still running.");
        INFO("What was measured is how long launching them takes. A wait after the clock has stopped is too late.");
        CHECK(device_at_stop() != Device::working);
    }
}

TEST_CASE("times the launches and nothing else") {
    constexpr int repeats = 5;
    Memory memory(1009);
    bool copied_in = false, copied_out = false, computed = false;
    std::size_t launched = 0;
    {
        const warpwise::Watching watching({.counters = true, .mistakes = true});
        Clock clock(1, [&](int reading) {
            if (reading == 1) {
                memory.fill(memory.d_in, marked_input);
                memory.fill(memory.d_out, untouched);
                std::fill(memory.out.begin(), memory.out.end(), untouched);
                (void)launches();
            } else if (reading == 2) {
                launched = launches();
                copied_in = !all_equal(memory.download(memory.d_in), marked_input);
                computed = all_equal(memory.download(memory.d_out), marked_result);
                copied_out = !all_equal(memory.out, untouched);
            }
        });
        (void)gigabytes_per_second(memory.job(repeats, clock.reader()));
        (void)launches();
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        require_two_readings(clock);
    }
    {
        INFO("While the clock ran the input was copied to the device: that is a time of the bus, not of the kernel.");
        REQUIRE_FALSE(copied_in);
    }
    {
        INFO("While the clock ran the result was copied to the host: that is a time of the bus, not of the kernel.");
        INFO("The copy does wait for the kernels, but takes longer than they do. Is there a call that only waits?");
        REQUIRE_FALSE(copied_out);
    }
    {
        INFO("The kernel has to run between the two readings, too, and not only to warm up.");
        REQUIRE(computed);
    }
    if (warpwise::can_watch()) {
        INFO("Launches between the two readings: " << launched << ", should be " << repeats);
        CHECK(launched == repeats);
    }
}

#ifndef __CPU_DEVICE__
TEST_CASE("reports what the memory can do by a real clock") {
    Memory memory(std::size_t{1} << 26);
    const warpwise::HostTimer timer;
    const double reported = gigabytes_per_second(memory.job(20, [&] { return timer.seconds(); }));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const auto copy = [&] {
        warpwise::check(cudaMemcpyAsync(memory.d_out, memory.d_in, memory.bytes(), cudaMemcpyDeviceToDevice));
    };
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn({{copy, false}});
    const double roof = 2.0 * static_cast<double>(memory.bytes()) / timings[0].median / 1e9;
    INFO("reported " << reported << " GB/s; a copy on this device, timed by events: " << roof << " GB/s");
    INFO("Nothing is faster than a copy by more than a few percent. A figure above it is a clock stopped too early.");
    CHECK(reported <= 1.2 * roof);
    INFO("And this kernel is not much slower than a copy. What else was timed?");
    CHECK(reported >= 0.4 * roof);
}
#endif
