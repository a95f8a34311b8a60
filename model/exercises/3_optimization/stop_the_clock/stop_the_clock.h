// The function that the grader calls.
#pragma once

#include <cstddef>
#include <functional>

/// What is to be measured: a kernel that computes out[i] = 2 * in[i] + 1.
struct Job {
    const float* in;    ///< on the host
    float* out;         ///< on the host, room for `count` floats
    float* d_in;        ///< on the device, room for `count` floats
    float* d_out;       ///< on the device, room for `count` floats
    std::size_t count;  ///< at least 1
    int repeats;        ///< how many launches are to be timed, at least 1

    /// The time on the host's clock, in seconds since some moment in the past.
    std::function<double()> seconds;
};

/// Measures the kernel's bandwidth in GB/s: 1e9 bytes per second, where each launch reads
/// each float once and writes each float once. Leaves in `out` what the timed launches
/// computed. Works in the default stream.
///
/// Reads the clock twice. At the first reading the input is on the device, the kernel has
/// run at least once on the whole array, and the device has nothing left to do. At the
/// second one `repeats` further launches have ended. Between the two there are only these
/// launches and a wait for the last of them.
double gigabytes_per_second(const Job& job);
