// The function that the grader calls.
#pragma once

#include <cuda_runtime.h>

/// What a device has: `rows` rows of a matrix with `devices * width` columns; its own part
/// of the vector, `width` floats; room for the whole vector; `rows` results; two streams.
struct Share {
    const float* d_a;
    const float* d_own_x;
    float* d_x;
    float* d_y;
    cudaStream_t products;
    cudaStream_t copies;
};

/// Adds to each device's d_y the product of its rows with the whole vector, of which device
/// p has the elements from p * width on. shares[d] belongs to device d. Queues the work in
/// the streams and returns; the caller waits for all streams. The same device is current
/// afterwards. There is at least one row and one column per device.
void multiply_parts(int devices, const Share* shares, unsigned rows, unsigned width);
