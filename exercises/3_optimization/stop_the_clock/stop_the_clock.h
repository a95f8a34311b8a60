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

/// Measures the kernel's bandwidth in GB/s (1e9 bytes a second, each float read once and written once in each
/// launch), and leaves the result in `out`. Works in the default stream.
///
/// Reads the clock twice. At the first reading the input is on the device, the kernel has run at least once, and the
/// device has nothing left to do. At the second one `repeats` launches have ended. Nothing else happens in between.
double gigabytes_per_second(const Job& job);
