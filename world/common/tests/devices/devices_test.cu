// Several devices: memories, current device, streams and events, access to peers, and kernels of several devices that
// wait for each other. Runs with however many devices there are.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "common/tests/devices/all_devices.h"

namespace {

using tests::device_count;
using tests::kSizes;

__device__ int per_device = 7;
__constant__ float factors[3] = {1, 2, 3};
__managed__ int for_all = 5;

__global__ void add_to(float* data, int n, float value) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] += value;
}

__global__ void copy_from(const float* in, float* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = in[i];
}

__global__ void read_variables(float* out) {
    out[0] = static_cast<float>(per_device);
    out[1] = factors[1];
}

__global__ void change_variable(int by) { per_device += by; }
__global__ void change_managed() { for_all += 1; }

unsigned blocks_of(int n) { return static_cast<unsigned>(n + 127) / 128; }

std::vector<float> numbers(int n, int from) {
    std::vector<float> all(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = static_cast<float>(from + i % 1000);
    return all;
}

std::vector<float> on_host(const float* memory, int n) {
    std::vector<float> all(static_cast<std::size_t>(n), -1.0f);
    REQUIRE(cudaMemcpy(all.data(), memory, all.size() * sizeof(float), cudaMemcpyDefault) == cudaSuccess);
    return all;
}

float* device_copy(const std::vector<float>& data) {
    float* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, data.size() * sizeof(float) + 1) == cudaSuccess);
    REQUIRE(cudaMemcpy(memory, data.data(), data.size() * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
    return memory;
}

struct BackToFirst {
    ~BackToFirst() {
        (void)cudaSetDevice(0);
        (void)cudaGetLastError();
    }
};

}  // namespace

TEST_CASE("devices are numbered, and each thread has its own current one") {
    const BackToFirst after;
    const int count = device_count();
    int device = -1;
    CHECK(cudaGetDevice(&device) == cudaSuccess);
    CHECK(device == 0);
    CHECK(cudaSetDevice(count) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    REQUIRE(cudaSetDevice(count - 1) == cudaSuccess);
    int other = -1;
    std::thread([&] { (void)cudaGetDevice(&other); }).join();
    CHECK(other == 0);
    CHECK(cudaGetDevice(&device) == cudaSuccess);
    CHECK(device == count - 1);
}

TEST_CASE("devices have properties of their own") {
    char first[32] = "", last[32] = "";
    const int count = device_count();
    REQUIRE(cudaDeviceGetPCIBusId(first, sizeof first, 0) == cudaSuccess);
    REQUIRE(cudaDeviceGetPCIBusId(last, sizeof last, count - 1) == cudaSuccess);
    CHECK((std::string(first) == last) == (count == 1));
    int found = -1;
    CHECK(cudaDeviceGetByPCIBusId(&found, last) == cudaSuccess);
    CHECK(found == count - 1);
    cudaDeviceProp properties{};
    CHECK(cudaGetDeviceProperties(&properties, count - 1) == cudaSuccess);
    CHECK(cudaGetDeviceProperties(&properties, count) == cudaErrorInvalidDevice);
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrPciBusId, count - 1) == cudaSuccess);
    CHECK(value == properties.pciBusID);
}

TEST_CASE("each device has its own memory") {
    const BackToFirst after;
    for (int device = 0; device < device_count(); ++device) {
        REQUIRE(cudaSetDevice(device) == cudaSuccess);
        std::vector<std::size_t> before(static_cast<std::size_t>(device_count()));
        const auto free_bytes = [](int of) {
            std::size_t bytes = 0, total = 0;
            (void)cudaSetDevice(of);
            REQUIRE(cudaMemGetInfo(&bytes, &total) == cudaSuccess);
            return bytes;
        };
        for (int other = 0; other < device_count(); ++other)
            before[static_cast<std::size_t>(other)] = free_bytes(other);
        (void)cudaSetDevice(device);
        void* memory = nullptr;
        constexpr std::size_t bytes = std::size_t{64} << 20;
        REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
        cudaPointerAttributes attributes{};
        CHECK(cudaPointerGetAttributes(&attributes, memory) == cudaSuccess);
        CHECK(attributes.device == device);
        CHECK(attributes.type == cudaMemoryTypeDevice);
        for (int other = 0; other < device_count(); ++other) {
            const std::size_t taken = before[static_cast<std::size_t>(other)] - free_bytes(other);
            CHECK(taken == (other == device ? bytes : 0));
        }
        // From whichever device.
        (void)cudaSetDevice(0);
        CHECK(cudaFree(memory) == cudaSuccess);
        CHECK(free_bytes(device) == before[static_cast<std::size_t>(device)]);
    }
    // One that is full leaves the others as they are.
    std::size_t free = 0, total = 0;
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, total + 1) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE("copies between devices") {
    const BackToFirst after;
    const int count = device_count();
    for (const int n : kSizes) {
        for (int from = 0; from < count; ++from) {
            const int to = (from + 1) % count;
            const std::vector<float> data = numbers(n, from);
            const std::size_t bytes = data.size() * sizeof(float);
            REQUIRE(cudaSetDevice(from) == cudaSuccess);
            float* source = device_copy(data);
            REQUIRE(cudaSetDevice(to) == cudaSuccess);
            float* target = device_copy(numbers(n, 5000));
            REQUIRE(cudaMemcpyPeer(target, to, source, from, bytes) == cudaSuccess);
            CHECK(on_host(target, n) == data);
            REQUIRE(cudaMemset(target, 0xFF, bytes) == cudaSuccess);
            REQUIRE(cudaMemcpyPeerAsync(target, to, source, from, bytes, nullptr) == cudaSuccess);
            REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
            CHECK(on_host(target, n) == data);
            REQUIRE(cudaMemset(target, 0xFF, bytes) == cudaSuccess);
            REQUIRE(cudaMemcpy(target, source, bytes, cudaMemcpyDefault) == cudaSuccess);
            CHECK(on_host(target, n) == data);
            REQUIRE(cudaFree(source) == cudaSuccess);
            REQUIRE(cudaFree(target) == cudaSuccess);
        }
    }
    float* memory = device_copy({1.0f});
    CHECK(cudaMemcpyPeer(memory, count, memory, 0, 4) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("access to peers is enabled and disabled once") {
    const BackToFirst after;
    const int count = device_count();
    int can = -1;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 0) == cudaSuccess);
    CHECK(can == 0);
    CHECK(cudaDeviceCanAccessPeer(&can, 0, count) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceEnablePeerAccess(count, 0) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) != cudaSuccess);
    CHECK(cudaDeviceDisablePeerAccess(0) != cudaSuccess);
    for (int device = 1; device < count; ++device) {
        REQUIRE(cudaSetDevice(device) == cudaSuccess);
        CHECK(cudaDeviceCanAccessPeer(&can, device, 0) == cudaSuccess);
        CHECK(can == 1);
        CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
        CHECK(cudaDeviceEnablePeerAccess(0, 1) == cudaErrorInvalidValue);
        CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess);
        CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
        CHECK(cudaDeviceDisablePeerAccess(0) == cudaSuccess);
        CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
        int value = -1;
        CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, device, 0) == cudaSuccess);
        CHECK(value == 1);
        CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, device, device) ==
              cudaErrorInvalidDevice);
        (void)cudaGetLastError();
    }
}

TEST_CASE("kernels read memory of peers") {
    const BackToFirst after;
    const int count = device_count();
    for (const int n : kSizes) {
        if (n == 0) continue;
        for (int device = 0; device < count; ++device) {
            const int peer = (device + count - 1) % count;
            const std::vector<float> data = numbers(n, peer);
            REQUIRE(cudaSetDevice(peer) == cudaSuccess);
            float* source = device_copy(data);
            REQUIRE(cudaSetDevice(device) == cudaSuccess);
            float* target = device_copy(numbers(n, 5000));
            if (peer != device) REQUIRE(cudaDeviceEnablePeerAccess(peer, 0) == cudaSuccess);
            copy_from<<<blocks_of(n), 128>>>(source, target, n);
            REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
            CHECK(on_host(target, n) == data);
            if (peer != device) REQUIRE(cudaDeviceDisablePeerAccess(peer) == cudaSuccess);
            REQUIRE(cudaFree(source) == cudaSuccess);
            REQUIRE(cudaFree(target) == cudaSuccess);
        }
    }
}

TEST_CASE("each device has its own variables, and all have the managed ones") {
    const BackToFirst after;
    const int count = device_count();
    for (int device = 0; device < count; ++device) {
        REQUIRE(cudaSetDevice(device) == cudaSuccess);
        const float values[3] = {10.0f * static_cast<float>(device), 20.0f * static_cast<float>(device), 0};
        REQUIRE(cudaMemcpyToSymbol(factors, values, sizeof values) == cudaSuccess);
        change_variable<<<1, 1>>>(device);
        change_managed<<<1, 1>>>();
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    for (int device = count - 1; device >= 0; --device) {
        REQUIRE(cudaSetDevice(device) == cudaSuccess);
        float* out = device_copy({0, 0});
        read_variables<<<1, 1>>>(out);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(on_host(out, 2) ==
              std::vector<float>{7.0f + static_cast<float>(device), 20.0f * static_cast<float>(device)});
        int value = -1;
        REQUIRE(cudaMemcpyFromSymbol(&value, per_device, sizeof value) == cudaSuccess);
        CHECK(value == 7 + device);
        value = 7;
        REQUIRE(cudaMemcpyToSymbol(per_device, &value, sizeof value) == cudaSuccess);
        CHECK(cudaFree(out) == cudaSuccess);
    }
    CHECK(for_all == 5 + count);
    for_all = 5;
}

TEST_CASE("streams and events belong to a device") {
    const BackToFirst after;
    const int count = device_count();
    if (count == 1) return;
    cudaStream_t stream = nullptr;
    cudaEvent_t mine = nullptr, other = nullptr;
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    REQUIRE(cudaEventCreate(&mine) == cudaSuccess);
    float* memory = device_copy({1.0f});
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    REQUIRE(cudaEventCreate(&other) == cudaSuccess);
    add_to<<<1, 1, 0, stream>>>(memory, 1, 1.0f);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(other, stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(mine, stream) == cudaSuccess);
    CHECK(cudaEventRecord(other) == cudaSuccess);
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, other, mine) == cudaErrorInvalidResourceHandle);
    (void)cudaGetLastError();
    // What is allowed from another device.
    CHECK(cudaMemsetAsync(memory, 0, 4, stream) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(stream, other, 0) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(nullptr, mine, 0) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(cudaEventSynchronize(mine) == cudaSuccess);
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    CHECK(on_host(memory, 1)[0] == 0.0f);
    CHECK(cudaEventDestroy(mine) == cudaSuccess);
    CHECK(cudaEventDestroy(other) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaFree(memory) == cudaSuccess);
}

// ---- kernels that wait for each other ------------------------------------------------------------------------------

namespace {

using Flag = unsigned;

__device__ void set_flag(Flag* flag, Flag value) {
    __threadfence_system();
    atomicExch_system(flag, value);
}

__device__ void wait_for_flag(Flag* flag, Flag value) {
    while (atomicAdd_system(flag, 0) < value) {
    }
    __threadfence_system();
}

/// Each device adds its number and hands the array on, twice round: the first one begins.
__global__ void pass_round(float* mine, float* next, Flag* my_flag, Flag* next_flag, int n, int rank, int count) {
    for (int round = 0; round < 2; ++round) {
        const Flag turn = static_cast<Flag>(round + 1);
        if (rank > 0 || round > 0) {
            if (threadIdx.x == 0) wait_for_flag(my_flag, rank == 0 ? turn - 1 : turn);
            __syncthreads();
        }
        const bool is_last = rank == count - 1 && round == 1;
        for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
            const float sum = mine[i] + static_cast<float>(rank + 1);
            (is_last ? mine : next)[i] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0 && !is_last) set_flag(next_flag, turn);
        __syncthreads();
    }
}

struct Ring {
    int n;
    std::vector<float*> data;
    std::vector<Flag*> flags;

    explicit Ring(int size) : n(size) {
        const int count = device_count();
        for (int device = 0; device < count; ++device) {
            (void)cudaSetDevice(device);
            if (count > 1) {
                const cudaError_t error = cudaDeviceEnablePeerAccess((device + 1) % count, 0);
                REQUIRE((error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled));
            }
            data.push_back(device_copy(std::vector<float>(static_cast<std::size_t>(n), device == 0 ? 0.0f : NAN)));
            Flag* flag = nullptr;
            REQUIRE(cudaMalloc(&flag, sizeof(Flag)) == cudaSuccess);
            REQUIRE(cudaMemset(flag, 0, sizeof(Flag)) == cudaSuccess);
            REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // other devices set it
            flags.push_back(flag);
        }
        (void)cudaGetLastError();
    }
    ~Ring() {
        for (std::size_t i = 0; i < data.size(); ++i) {
            (void)cudaFree(data[i]);
            (void)cudaFree(flags[i]);
            (void)cudaSetDevice(static_cast<int>(i));
            if (data.size() > 1) (void)cudaDeviceDisablePeerAccess(static_cast<int>((i + 1) % data.size()));
        }
        (void)cudaSetDevice(0);
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    void launch(int device, cudaStream_t stream = nullptr) const {
        (void)cudaSetDevice(device);
        const auto at = static_cast<std::size_t>(device);
        const std::size_t next = (at + 1) % data.size();
        pass_round<<<1, 64, 0, stream>>>(data[at], data[next], flags[at], flags[next], n, device, device_count());
        REQUIRE(cudaGetLastError() == cudaSuccess);
    }
    void check() const {
        const int count = device_count();
        const float expected = 2.0f * static_cast<float>(count * (count + 1) / 2);
        const std::vector<float> found = on_host(data.back(), n);
        for (const float value : found) REQUIRE(value == expected);
    }
};

}  // namespace

TEST_CASE("kernels of all devices pass data round, launched by one thread in any order") {
    const BackToFirst after;
    for (const int n : {1, 31, 33, 1009}) {
        const Ring forwards(n), backwards(n);
        for (int device = 0; device < device_count(); ++device) forwards.launch(device);
        for (int device = 0; device < device_count(); ++device) {
            (void)cudaSetDevice(device);
            REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        }
        forwards.check();
        for (int device = device_count() - 1; device >= 0; --device) backwards.launch(device);
        for (int device = 0; device < device_count(); ++device) {
            (void)cudaSetDevice(device);
            REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
        }
        backwards.check();
    }
}

TEST_CASE("kernels of all devices pass data round, launched by one thread each") {
    const BackToFirst after;
    const Ring ring(257);
    std::vector<std::thread> threads;
    std::atomic<int> failed = 0;
    for (int device = 0; device < device_count(); ++device) {
        threads.emplace_back([&, device] {
            ring.launch(device);
            if (cudaDeviceSynchronize() != cudaSuccess) ++failed;
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(failed == 0);
    ring.check();
}

TEST_CASE("what a stream is given behind a waiting kernel waits with it") {
    const BackToFirst after;
    if (device_count() == 1) return;
    const Ring ring(100);
    std::vector<cudaStream_t> streams;
    std::vector<cudaEvent_t> events;
    for (int device = 0; device < device_count(); ++device) {
        (void)cudaSetDevice(device);
        streams.emplace_back();
        events.emplace_back();
        REQUIRE(cudaStreamCreateWithFlags(&streams.back(), cudaStreamNonBlocking) == cudaSuccess);
        REQUIRE(cudaEventCreate(&events.back()) == cudaSuccess);
    }
    const int last = device_count() - 1;
    const auto of = [](int device) { return static_cast<std::size_t>(device); };
    float* pinned = nullptr;
    REQUIRE(cudaMallocHost(&pinned, 100 * sizeof(float)) == cudaSuccess);
    pinned[99] = -1;
    static int calls;
    calls = 0;
    // The last device's kernel waits for the one before it, which is not launched yet.
    ring.launch(last, streams[of(last)]);
    add_to<<<1, 128, 0, streams[of(last)]>>>(ring.data[of(last)], 100, 1000.0f);
    REQUIRE(cudaMemcpyAsync(pinned, ring.data[of(last)], 400, cudaMemcpyDeviceToHost, streams[of(last)]) ==
            cudaSuccess);
    REQUIRE(cudaLaunchHostFunc(
                streams[of(last)], [](void*) { ++calls; }, nullptr) == cudaSuccess);
    REQUIRE(cudaEventRecord(events[of(last)], streams[of(last)]) == cudaSuccess);
    CHECK(cudaEventQuery(events[of(last)]) == cudaErrorNotReady);
    CHECK(cudaStreamQuery(streams[of(last)]) == cudaErrorNotReady);
    CHECK(cudaGetLastError() == cudaErrorNotReady);
    CHECK(calls == 0);
    CHECK(pinned[99] == -1);
    // Another device's stream waits for the event.
    (void)cudaSetDevice(0);
    float* after_event = device_copy(std::vector<float>(100, 0.0f));
    cudaStream_t other = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(other, events[of(last)], 0) == cudaSuccess);
    REQUIRE(cudaMemcpyPeerAsync(after_event, 0, ring.data[of(last)], last, 400, other) == cudaSuccess);
    CHECK(cudaStreamQuery(other) == cudaErrorNotReady);
    (void)cudaGetLastError();
    for (int device = 0; device < last; ++device) ring.launch(device, streams[of(device)]);
    (void)cudaSetDevice(0);
    REQUIRE(cudaStreamSynchronize(other) == cudaSuccess);
    CHECK(cudaEventQuery(events[of(last)]) == cudaSuccess);
    const int count = device_count();
    const float expected = 2.0f * static_cast<float>(count * (count + 1) / 2) + 1000.0f;
    CHECK(pinned[99] == expected);
    CHECK(on_host(after_event, 100)[57] == expected);
    CHECK(calls == 1);
    for (int device = 0; device < device_count(); ++device) {
        (void)cudaSetDevice(device);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(cudaStreamDestroy(streams[of(device)]) == cudaSuccess);
        CHECK(cudaEventDestroy(events[of(device)]) == cudaSuccess);
    }
    CHECK(cudaStreamDestroy(other) == cudaSuccess);
    CHECK(cudaFree(after_event) == cudaSuccess);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("pools belong to devices") {
    const BackToFirst after;
    for (int device = 0; device < device_count(); ++device) {
        REQUIRE(cudaSetDevice(device) == cudaSuccess);
        cudaMemPool_t pool = nullptr;
        REQUIRE(cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess);
        float* memory = nullptr;
        REQUIRE(cudaMallocAsync(&memory, 400, nullptr) == cudaSuccess);
        cudaPointerAttributes attributes{};
        CHECK(cudaPointerGetAttributes(&attributes, memory) == cudaSuccess);
        CHECK(attributes.device == device);
        const int peer = (device + 1) % device_count();
        cudaMemLocation location{cudaMemLocationTypeDevice, peer};
        cudaMemAccessFlags flags{};
        CHECK(cudaMemPoolGetAccess(&flags, pool, &location) == cudaSuccess);
        CHECK(flags == (peer == device ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone));
        const cudaMemAccessDesc access{location, cudaMemAccessFlagsProtReadWrite};
        CHECK(cudaMemPoolSetAccess(pool, &access, 1) == cudaSuccess);
        CHECK(cudaMemPoolGetAccess(&flags, pool, &location) == cudaSuccess);
        CHECK(flags == cudaMemAccessFlagsProtReadWrite);
        CHECK(cudaFreeAsync(memory, nullptr) == cudaSuccess);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
    }
}
