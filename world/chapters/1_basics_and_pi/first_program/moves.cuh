// What the host does around the kernel: the five moves, and then the same function again
// and again with one mistake each, made on purpose. All of them are to write the squares of
// `count` numbers, and they return what the program learns about its errors. The last two
// show two ways to look for errors.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "chapters/1_basics_and_pi/first_program/kernels.cuh"

namespace basics_and_pi {
namespace {

// The right way. A call that fails leaves an error behind, and cudaGetLastError returns the
// last one.
cudaError_t all_five_moves(const float* numbers, float* squares, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaMalloc(&d_values, bytes);                                  // 1. allocate
    cudaMemcpy(d_values, numbers, bytes, cudaMemcpyHostToDevice);  // 2. copy in
    square<<<(count + 255) / 256, 256>>>(d_values, count);         // 3. launch
    cudaMemcpy(squares, d_values, bytes, cudaMemcpyDeviceToHost);  // 4. copy out
    cudaFree(d_values);                                            // 5. free
    return cudaGetLastError();
}

// No memory on the device: the kernel gets a pointer to memory of the host. Then nothing
// has to be copied or freed, either. The host only has to wait for the kernel.
cudaError_t without_allocation(const float* numbers, float* squares, int count) {
    std::copy_n(numbers, count, squares);
    square<<<(count + 255) / 256, 256>>>(squares, count);  // 3. launch
    cudaDeviceSynchronize();
    return cudaGetLastError();
}

// The kernel squares whatever was in the device's memory before.
cudaError_t without_copy_in(const float*, float* squares, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaMalloc(&d_values, bytes);                                  // 1. allocate
    square<<<(count + 255) / 256, 256>>>(d_values, count);         // 3. launch
    cudaMemcpy(squares, d_values, bytes, cudaMemcpyDeviceToHost);  // 4. copy out
    cudaFree(d_values);                                            // 5. free
    return cudaGetLastError();
}

// The numbers travel to the device and come back as they were.
cudaError_t without_launch(const float* numbers, float* squares, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaMalloc(&d_values, bytes);                                  // 1. allocate
    cudaMemcpy(d_values, numbers, bytes, cudaMemcpyHostToDevice);  // 2. copy in
    cudaMemcpy(squares, d_values, bytes, cudaMemcpyDeviceToHost);  // 4. copy out
    cudaFree(d_values);                                            // 5. free
    return cudaGetLastError();
}

// The squares are computed, and never leave the device.
cudaError_t without_copy_out(const float* numbers, float*, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaMalloc(&d_values, bytes);                                  // 1. allocate
    cudaMemcpy(d_values, numbers, bytes, cudaMemcpyHostToDevice);  // 2. copy in
    square<<<(count + 255) / 256, 256>>>(d_values, count);         // 3. launch
    cudaFree(d_values);                                            // 5. free
    return cudaGetLastError();
}

// The memory stays occupied until the program ends.
cudaError_t without_free(const float* numbers, float* squares, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaMalloc(&d_values, bytes);                                  // 1. allocate
    cudaMemcpy(d_values, numbers, bytes, cudaMemcpyHostToDevice);  // 2. copy in
    square<<<(count + 255) / 256, 256>>>(d_values, count);         // 3. launch
    cudaMemcpy(squares, d_values, bytes, cudaMemcpyDeviceToHost);  // 4. copy out
    return cudaGetLastError();
}

// 1000 / 256 is 3 in C++, and three blocks are only 768 threads.
cudaError_t without_rounding_up(const float* numbers, float* squares, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaMalloc(&d_values, bytes);                                  // 1. allocate
    cudaMemcpy(d_values, numbers, bytes, cudaMemcpyHostToDevice);  // 2. copy in
    square<<<count / 256, 256>>>(d_values, count);                 // 3. launch
    cudaMemcpy(squares, d_values, bytes, cudaMemcpyDeviceToHost);  // 4. copy out
    cudaFree(d_values);                                            // 5. free
    return cudaGetLastError();
}

// A launch that the device refuses, because a block may have 1024 threads at most. This
// function looks at the status, and so the caller learns of it.
cudaError_t block_too_large(const float* numbers, float* squares, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaMalloc(&d_values, bytes);                                  // 1. allocate
    cudaMemcpy(d_values, numbers, bytes, cudaMemcpyHostToDevice);  // 2. copy in
    square<<<1, 2048>>>(d_values, count);                          // 3. launch
    cudaMemcpy(squares, d_values, bytes, cudaMemcpyDeviceToHost);  // 4. copy out
    cudaFree(d_values);                                            // 5. free
    return cudaGetLastError();
}

// The same launch, and nobody looks at the status.
cudaError_t without_look_at_status(const float* numbers, float* squares, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaMalloc(&d_values, bytes);                                  // 1. allocate
    cudaMemcpy(d_values, numbers, bytes, cudaMemcpyHostToDevice);  // 2. copy in
    square<<<1, 2048>>>(d_values, count);                          // 3. launch
    cudaMemcpy(squares, d_values, bytes, cudaMemcpyDeviceToHost);  // 4. copy out
    cudaFree(d_values);                                            // 5. free
    return cudaSuccess;
}

// A million gigabytes, which no device has: the allocation fails, and d_values stays null.
// The program goes on, and each later move fails as well. In the end cudaGetLastError
// returns the last error, which is only a consequence of the first.
constexpr std::size_t kTooManyBytes = std::size_t{1} << 50;

cudaError_t asks_at_the_end(const float* numbers, float* squares, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaMalloc(&d_values, kTooManyBytes);                          // 1. allocate
    cudaMemcpy(d_values, numbers, bytes, cudaMemcpyHostToDevice);  // 2. copy in
    square<<<(count + 255) / 256, 256>>>(d_values, count);         // 3. launch
    cudaMemcpy(squares, d_values, bytes, cudaMemcpyDeviceToHost);  // 4. copy out
    cudaFree(d_values);                                            // 5. free
    return cudaGetLastError();
}

// The same moves, but `status` keeps the first error, and no move follows an error. Only
// the memory is freed in any case: cudaFree accepts a null pointer.
cudaError_t asks_every_time(const float* numbers, float* squares, int count) {
    const std::size_t bytes = count * sizeof(float);
    float* d_values = nullptr;
    cudaError_t status = cudaMalloc(&d_values, kTooManyBytes);  // 1. allocate
    if (status == cudaSuccess)                                  // 2. copy in
        status = cudaMemcpy(d_values, numbers, bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {  // 3. launch, which returns nothing: so ask
        square<<<(count + 255) / 256, 256>>>(d_values, count);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess)  // 4. copy out
        status = cudaMemcpy(squares, d_values, bytes, cudaMemcpyDeviceToHost);
    const cudaError_t freed = cudaFree(d_values);  // 5. free
    return status != cudaSuccess ? status : freed;
}

}  // namespace
}  // namespace basics_and_pi
