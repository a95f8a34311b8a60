// Streams, events and host functions.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>
#include <vector>

#ifdef __CPU_DEVICE__
#include "cpu_device/diagnostics.h"
#endif

namespace {

__global__ void add_one(int* number) { *number += 1; }

__global__ void store(int* target, int value) { *target = value; }

struct Seen {
    int calls = 0;
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaErrorUnknown;
};

}  // namespace

TEST_CASE("work in one stream is done in order") {
    cudaStream_t stream = nullptr;
    int *number = nullptr, *host = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    REQUIRE(cudaMalloc(&number, sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMallocHost(&host, sizeof(int)) == cudaSuccess);
    CHECK(cudaMemsetAsync(number, 0, sizeof(int), stream) == cudaSuccess);
    for (int i = 0; i < 10; ++i) add_one<<<1, 1, 0, stream>>>(number);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMemcpyAsync(host, number, sizeof(int), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(*host == 10);
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaFree(number) == cudaSuccess);
    CHECK(cudaFreeHost(host) == cudaSuccess);
}

TEST_CASE("an event makes one stream wait for another") {
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t done = nullptr;
    int* numbers = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&done, cudaEventDisableTiming) == cudaSuccess);
    REQUIRE(cudaMalloc(&numbers, 2 * sizeof(int)) == cudaSuccess);
    store<<<1, 1, 0, first>>>(numbers, 41);
    CHECK(cudaEventRecord(done, first) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(second, done, 0) == cudaSuccess);
    add_one<<<1, 1, 0, second>>>(numbers);
    CHECK(cudaStreamSynchronize(second) == cudaSuccess);
    int result = 0;
    CHECK(cudaMemcpy(&result, numbers, sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(result == 42);
    CHECK(cudaEventDestroy(done) == cudaSuccess);
    CHECK(cudaStreamDestroy(first) == cudaSuccess);
    CHECK(cudaStreamDestroy(second) == cudaSuccess);
    CHECK(cudaFree(numbers) == cudaSuccess);
}

TEST_CASE("the default streams need no creation and cannot be destroyed") {
    for (cudaStream_t stream : {static_cast<cudaStream_t>(nullptr), cudaStreamLegacy, cudaStreamPerThread}) {
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
        CHECK(cudaStreamQuery(stream) == cudaSuccess);
    }
    CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamDestroy(cudaStreamPerThread) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

TEST_CASE("a stream keeps its flags, and a priority within the range") {
    int least = 1, greatest = 1, priority = 99;
    unsigned flags = 99;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
    CHECK(greatest <= least);
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 100) == cudaSuccess);
    CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
    CHECK(priority == greatest);
    CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
    CHECK(flags == cudaStreamNonBlocking);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaStreamCreate(nullptr) == cudaErrorInvalidValue);
    CHECK(cudaStreamCreateWithFlags(&stream, 5) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("host functions run in their stream's order") {
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    Seen function, callback;
    CHECK(cudaLaunchHostFunc(
              stream, [](void* data) { ++static_cast<Seen*>(data)->calls; }, &function) == cudaSuccess);
    CHECK(cudaStreamAddCallback(
              stream,
              [](cudaStream_t from, cudaError_t status, void* data) {
                  auto* seen = static_cast<Seen*>(data);
                  ++seen->calls;
                  seen->stream = from;
                  seen->status = status;
              },
              &callback, 0) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(function.calls == 1);
    CHECK(callback.calls == 1);
    CHECK(callback.stream == stream);
    CHECK(callback.status == cudaSuccess);
    CHECK(cudaLaunchHostFunc(stream, nullptr, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaStreamAddCallback(stream, nullptr, nullptr, 0) == cudaErrorInvalidValue);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("events measure milliseconds") {
    cudaEvent_t start = nullptr, stop = nullptr;
    REQUIRE(cudaEventCreate(&start) == cudaSuccess);
    REQUIRE(cudaEventCreate(&stop) == cudaSuccess);
    CHECK(cudaEventRecord(start) == cudaSuccess);
    CHECK(cudaEventSynchronize(start) == cudaSuccess);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(cudaEventRecord(stop) == cudaSuccess);
    CHECK(cudaEventSynchronize(stop) == cudaSuccess);
    CHECK(cudaEventQuery(stop) == cudaSuccess);
    float forward = -1, backward = 1, same = -1;
    CHECK(cudaEventElapsedTime(&forward, start, stop) == cudaSuccess);
    CHECK(forward >= 18);
    CHECK(cudaEventElapsedTime(&backward, stop, start) == cudaSuccess);
    CHECK(backward <= -18);
    CHECK(cudaEventElapsedTime(&same, start, start) == cudaSuccess);
    CHECK(same == 0);
    CHECK(cudaEventDestroy(start) == cudaSuccess);
    CHECK(cudaEventDestroy(stop) == cudaSuccess);
}

TEST_CASE("only events that were recorded and keep times have a distance") {
    cudaEvent_t recorded = nullptr, fresh = nullptr, timeless = nullptr;
    REQUIRE(cudaEventCreate(&recorded) == cudaSuccess);
    REQUIRE(cudaEventCreate(&fresh) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&timeless, cudaEventDisableTiming) == cudaSuccess);
    CHECK(cudaEventRecord(recorded) == cudaSuccess);
    CHECK(cudaEventRecord(timeless) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, recorded, fresh) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventElapsedTime(&milliseconds, recorded, timeless) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventElapsedTime(&milliseconds, nullptr, recorded) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventElapsedTime(nullptr, recorded, recorded) == cudaErrorInvalidValue);
    // An event that was never recorded is one that nobody has to wait for.
    CHECK(cudaEventQuery(fresh) == cudaSuccess);
    CHECK(cudaEventSynchronize(fresh) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(nullptr, fresh, 0) == cudaSuccess);
    for (cudaEvent_t event : {recorded, fresh, timeless}) CHECK(cudaEventDestroy(event) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("wrong events are refused") {
    cudaEvent_t event = nullptr;
    CHECK(cudaEventCreate(nullptr) == cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(&event, 0x80) == cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess) == cudaErrorInvalidValue);
    CHECK(cudaEventRecord(nullptr) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventSynchronize(nullptr) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventQuery(nullptr) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventDestroy(nullptr) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamWaitEvent(nullptr, nullptr, 0) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

#ifdef __CPU_DEVICE__

// On a GPU, using a destroyed handle may end the process.
TEST_CASE("destroyed handles are recognized") {
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaEventDestroy(event) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaMemsetAsync(nullptr, 0, 0, stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(nullptr, stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(event) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
    cudaStream_t another = nullptr;
    REQUIRE(cudaStreamCreate(&another) == cudaSuccess);
    CHECK(another != stream);
    CHECK(cudaStreamDestroy(another) == cudaSuccess);
    cudaGetLastError();
}

#endif
