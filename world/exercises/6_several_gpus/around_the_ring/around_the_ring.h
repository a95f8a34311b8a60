// The function that the grader calls.
#pragma once

#include <cuda_runtime.h>

/// What a device has: `devices` parts of numbers, room for as many that arrive, and a
/// stream.
struct RingArray {
    int* d_values;
    int* d_arrived;
    cudaStream_t stream;
};

/// Adds up the arrays of all devices; each of them gets the sum in its `d_values`. Each
/// array has `devices` parts of `part` numbers. arrays[d] belongs to device d. A device
/// sends to the next one only, and the last device to device 0. Queues the work in the
/// streams and returns; the caller waits for all streams. The same device is current
/// afterwards. `part` is at least 1.
void add_up_in_a_ring(int devices, const RingArray* arrays, unsigned part);
