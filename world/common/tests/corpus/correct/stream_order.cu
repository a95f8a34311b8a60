// Memory of cudaMallocAsync and managed memory in several streams, ordered in all the ways that there are.
#include <array>

#include "common/tests/corpus/correct/expect.h"

namespace {

using namespace corpus;

constexpr int n = 64;
constexpr std::size_t bytes = n * sizeof(int);

/// Two streams and an event.
struct TwoStreams {
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t event = nullptr;

    explicit TwoStreams(unsigned flags = cudaStreamNonBlocking) {
        check(cudaStreamCreateWithFlags(&first, flags));
        check(cudaStreamCreateWithFlags(&second, flags));
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    ~TwoStreams() {
        (void)cudaEventDestroy(event);
        (void)cudaStreamDestroy(second);
        (void)cudaStreamDestroy(first);
    }
    TwoStreams(const TwoStreams&) = delete;
    TwoStreams& operator=(const TwoStreams&) = delete;

    void order(cudaStream_t earlier, cudaStream_t later) const {
        check(cudaEventRecord(event, earlier));
        check(cudaStreamWaitEvent(later, event));
    }
};

int* allocate(cudaStream_t stream) {
    int* memory = nullptr;
    check(cudaMallocAsync(&memory, bytes, stream));
    return memory;
}

__global__ void set(int* out, int value) { out[threadIdx.x] = value; }

__global__ void add(int* sum, const int* in) { sum[threadIdx.x] += in[threadIdx.x]; }

void pool_memory_handed_over_by_events() {
    const TwoStreams streams;
    DeviceBuffer<int> d_sum(std::vector<int>(n, 0));
    for (int round = 0; round < 3; ++round) {
        int* d_scratch = allocate(streams.first);
        set<<<1, n, 0, streams.first>>>(d_scratch, round);
        streams.order(streams.first, streams.second);
        add<<<1, n, 0, streams.second>>>(d_sum.data(), d_scratch);
        streams.order(streams.second, streams.first);
        check(cudaFreeAsync(d_scratch, streams.first));
    }
    check(cudaStreamSynchronize(streams.first));
    expect_equal(d_sum.download(), std::vector<int>(n, 3));
}

void pool_memory_freed_in_the_stream_that_uses_it_last() {
    const TwoStreams streams;
    DeviceBuffer<int> d_sum(std::vector<int>(n, 0));
    int* d_scratch = allocate(streams.first);
    set<<<1, n, 0, streams.first>>>(d_scratch, 5);
    streams.order(streams.first, streams.second);
    add<<<1, n, 0, streams.second>>>(d_sum.data(), d_scratch);
    check(cudaFreeAsync(d_scratch, streams.second));
    check(cudaStreamSynchronize(streams.second));
    expect_equal(d_sum.download(), std::vector<int>(n, 5));
}

void pool_memory_handed_over_by_the_host() {
    const TwoStreams streams;
    DeviceBuffer<int> d_sum(std::vector<int>(n, 0));
    int* d_scratch = allocate(streams.first);
    check(cudaStreamSynchronize(streams.first));
    set<<<1, n, 0, streams.second>>>(d_scratch, 6);
    add<<<1, n, 0, streams.second>>>(d_sum.data(), d_scratch);
    check_finished();
    check(cudaFreeAsync(d_scratch, streams.first));
    expect_equal(d_sum.download(), std::vector<int>(n, 6));
}

// A third stream passes on what it has been told.
void pool_memory_ordered_through_a_third_stream() {
    const TwoStreams streams, others;
    int* d_scratch = allocate(streams.first);
    streams.order(streams.first, others.first);
    others.order(others.first, streams.second);
    set<<<1, n, 0, streams.second>>>(d_scratch, 7);
    std::vector<int> result(n);
    check(cudaMemcpyAsync(result.data(), d_scratch, bytes, cudaMemcpyDeviceToHost, streams.second));
    check(cudaStreamSynchronize(streams.second));
    check(cudaFreeAsync(d_scratch, others.second));
    check_finished();
    expect_equal(result, std::vector<int>(n, 7));
}

// Streams without cudaStreamNonBlocking and the default stream wait for each other.
void pool_memory_of_the_default_stream_in_a_blocking_stream() {
    const TwoStreams streams(cudaStreamDefault);
    DeviceBuffer<int> d_sum(std::vector<int>(n, 0));
    int* d_scratch = allocate(nullptr);
    set<<<1, n, 0, streams.first>>>(d_scratch, 8);
    add<<<1, n>>>(d_sum.data(), d_scratch);
    check(cudaFreeAsync(d_scratch, streams.second));
    check_finished();
    expect_equal(d_sum.download(), std::vector<int>(n, 8));
}

void pool_memory_freed_by_cuda_free_after_waiting() {
    const TwoStreams streams;
    int* d_scratch = allocate(streams.first);
    set<<<1, n, 0, streams.first>>>(d_scratch, 9);
    check(cudaEventRecord(streams.event, streams.first));
    check(cudaEventSynchronize(streams.event));
    check(cudaFree(d_scratch));
}

void pool_of_its_own() {
    const TwoStreams streams;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &properties));
    int* d_scratch = nullptr;
    check(cudaMallocFromPoolAsync(&d_scratch, bytes, pool, streams.first));
    check(cudaMemsetAsync(d_scratch, 0, bytes, streams.first));
    set<<<1, n / 2, 0, streams.first>>>(d_scratch, 1);
    std::vector<int> result(n);
    check(cudaMemcpyAsync(result.data(), d_scratch, bytes, cudaMemcpyDeviceToHost, streams.first));
    check(cudaFreeAsync(d_scratch, streams.first));
    check(cudaStreamSynchronize(streams.first));
    check(cudaMemPoolDestroy(pool));
    expect_equal(result, sequence<int>(n, [](int i) { return i < n / 2 ? 1 : 0; }));
}

// The same allocation and free, thousands of times: nothing is forgotten, and nothing confused.
void pool_memory_allocated_in_a_long_loop() {
    const TwoStreams streams;
    DeviceBuffer<int> d_sum(std::vector<int>(n, 0));
    for (int round = 0; round < 300; ++round) {
        const cudaStream_t stream = round % 2 == 0 ? streams.first : streams.second;
        int* d_scratch = allocate(stream);
        set<<<1, n, 0, stream>>>(d_scratch, 1);
        if (stream == streams.first) add<<<1, n, 0, stream>>>(d_sum.data(), d_scratch);
        check(cudaFreeAsync(d_scratch, stream));
    }
    check_finished();
    expect_equal(d_sum.download(), std::vector<int>(n, 150));
}

// ---- managed memory and the host -----------------------------------------------------------------------------

int* managed() {
    int* memory = nullptr;
    check(cudaMallocManaged(&memory, bytes));
    return memory;
}

void managed_memory_after_every_kind_of_waiting() {
    const TwoStreams streams;
    int* values = managed();
    set<<<1, n>>>(values, 1);
    check(cudaDeviceSynchronize());
    expect_equal(values[0], 1);
    values[0] = 0;
    set<<<1, n, 0, streams.first>>>(values, 2);
    check(cudaStreamSynchronize(streams.first));
    expect_equal(values[n - 1], 2);
    set<<<1, n, 0, streams.second>>>(values, 3);
    check(cudaEventRecord(streams.event, streams.second));
    check(cudaEventSynchronize(streams.event));
    expect_equal(values[1], 3);
    set<<<1, n, 0, streams.second>>>(values, 4);
    while (cudaStreamQuery(streams.second) == cudaErrorNotReady) {
    }
    expect_equal(values[2], 4);
    check(cudaFree(values));
}

__global__ void set_half(int* out) { out[threadIdx.x] = 1; }

// Host and device may use one allocation at the same time (concurrentManagedAccess), but not the same bytes.
void managed_memory_of_which_each_uses_a_half() {
    int* values = managed();
    for (int i = 0; i < n; ++i) values[i] = 0;
    set_half<<<1, n / 2>>>(values);
    for (int i = n / 2; i < n; ++i) values[i] = 2;
    check_finished();
    expect_equal(std::vector<int>(values, values + n), sequence<int>(n, [](int i) { return i < n / 2 ? 1 : 2; }));
    check(cudaFree(values));
}

void managed_memory_that_both_only_read() {
    int *in = managed(), *sum = managed();
    for (int i = 0; i < n; ++i) in[i] = sum[i] = 1;
    add<<<1, n>>>(sum, in);
    int on_host = 0;
    for (int i = 0; i < n; ++i) on_host += in[i];
    check_finished();
    expect_equal(on_host, n);
    expect_equal(sum[0], 2);
    check(cudaFree(in));
    check(cudaFree(sum));
}

// A copy that waits for the default stream waits for the kernel, too.
void managed_memory_after_a_copy() {
    int* values = managed();
    set<<<1, n>>>(values, 4);
    std::array<int, n> copied{};
    check(cudaMemcpy(copied.data(), values, bytes, cudaMemcpyDefault));
    expect_equal(values[0], 4);
    expect_equal(copied[n - 1], 4);
    check(cudaFree(values));
}

struct Seen {
    const int* values = nullptr;
    int sum = 0;
};

void add_up(void* data) {
    Seen& seen = *static_cast<Seen*>(data);
    for (int i = 0; i < n; ++i) seen.sum += seen.values[i];
}

void managed_memory_in_a_host_function() {
    const TwoStreams streams;
    int* values = managed();
    Seen seen{values, 0};
    set<<<1, n, 0, streams.first>>>(values, 5);
    check(cudaLaunchHostFunc(streams.first, add_up, &seen));
    check(cudaStreamSynchronize(streams.first));
    expect_equal(seen.sum, 5 * n);
    check(cudaFree(values));
}

}  // namespace

namespace corpus {

CaseList stream_order_kept() {
    return {__FILE__,
            {{"pool_memory_handed_over_by_events", "there and back", pool_memory_handed_over_by_events},
             {"pool_memory_freed_in_the_stream_that_uses_it_last", "not that of its allocation",
              pool_memory_freed_in_the_stream_that_uses_it_last},
             {"pool_memory_handed_over_by_the_host", "which waits in between", pool_memory_handed_over_by_the_host},
             {"pool_memory_ordered_through_a_third_stream", "two events in a row",
              pool_memory_ordered_through_a_third_stream},
             {"pool_memory_of_the_default_stream_in_a_blocking_stream", "they wait for each other",
              pool_memory_of_the_default_stream_in_a_blocking_stream},
             {"pool_memory_freed_by_cuda_free_after_waiting", "cudaFree after cudaEventSynchronize",
              pool_memory_freed_by_cuda_free_after_waiting},
             {"pool_of_its_own", "cudaMemPoolCreate", pool_of_its_own},
             {"pool_memory_allocated_in_a_long_loop", "two streams in turn", pool_memory_allocated_in_a_long_loop},
             {"managed_memory_after_every_kind_of_waiting", "device, stream, event, query",
              managed_memory_after_every_kind_of_waiting},
             {"managed_memory_of_which_each_uses_a_half", "at the same time", managed_memory_of_which_each_uses_a_half},
             {"managed_memory_that_both_only_read", "at the same time", managed_memory_that_both_only_read},
             {"managed_memory_after_a_copy", "cudaMemcpy waits", managed_memory_after_a_copy},
             {"managed_memory_in_a_host_function", "cudaLaunchHostFunc", managed_memory_in_a_host_function}}};
}

}  // namespace corpus
