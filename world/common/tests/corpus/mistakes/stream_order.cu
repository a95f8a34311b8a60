// Memory of cudaMallocAsync and managed memory, used where nothing orders the use with the allocation, the free, or the
// host.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int n = 64;
constexpr std::size_t bytes = n * sizeof(float);

/// Two streams that do not wait for the default stream, and an event.
struct TwoStreams {
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t event = nullptr;

    TwoStreams() {
        check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
        check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    ~TwoStreams() {
        (void)cudaEventDestroy(event);
        (void)cudaStreamDestroy(second);
        (void)cudaStreamDestroy(first);
    }
    TwoStreams(const TwoStreams&) = delete;
    TwoStreams& operator=(const TwoStreams&) = delete;

    /// What `later` is given from now on waits for what `earlier` was given so far.
    void order(cudaStream_t earlier, cudaStream_t later) const {
        check(cudaEventRecord(event, earlier));
        check(cudaStreamWaitEvent(later, event));
    }
};

float* allocate(cudaStream_t stream) {
    float* memory = nullptr;
    check(cudaMallocAsync(&memory, bytes, stream));
    return memory;
}

__global__ void set_in_another_stream(float* out) {
    out[threadIdx.x] = 1;  // MISTAKE(missing_order): the memory may not be there yet
    // HINT: cudaStreamWaitEvent
}

void used_in_another_stream_than_allocated() {
    const TwoStreams streams;
    float* d_out = allocate(streams.first);
    set_in_another_stream<<<1, n, 0, streams.second>>>(d_out);
    check_finished();
    check(cudaFreeAsync(d_out, streams.first));
    check_finished();
}

void copied_in_another_stream_than_allocated() {
    const TwoStreams streams;
    const std::vector<float> values(n, 1.0f);
    float* d_in = allocate(streams.first);
    const cudaStream_t other = streams.second;
    const cudaMemcpyKind kind = cudaMemcpyDefault;
    check(cudaMemcpyAsync(d_in, values.data(), bytes, kind, other));  // MISTAKE(missing_order): not ordered
    check_finished();
    check(cudaFreeAsync(d_in, streams.first));
    check_finished();
}

__global__ void set_after_an_early_event(float* out) {
    out[threadIdx.x] = 1;  // MISTAKE(missing_order): the event was recorded before the allocation
}

void event_recorded_before_the_allocation() {
    const TwoStreams streams;
    check(cudaEventRecord(streams.event, streams.first));
    float* d_out = allocate(streams.first);
    check(cudaStreamWaitEvent(streams.second, streams.event));
    set_after_an_early_event<<<1, n, 0, streams.second>>>(d_out);
    check_finished();
    check(cudaFreeAsync(d_out, streams.first));
    check_finished();
}

__global__ void set(float* out) { out[threadIdx.x] = 1; }

__global__ void add(const float* in, float* sum) { sum[threadIdx.x] += in[threadIdx.x]; }

void freed_while_another_stream_uses_it() {
    const TwoStreams streams;
    float* d_out = allocate(streams.first);
    streams.order(streams.first, streams.second);
    set<<<1, n, 0, streams.second>>>(d_out);
    // HINT: record an event behind the last use
    check(cudaFreeAsync(d_out, streams.first));  // MISTAKE(missing_order): the first stream does not wait for `set`
    check_finished();
}

void freed_after_the_wrong_event() {
    const TwoStreams streams;
    float* d_out = allocate(streams.first);
    streams.order(streams.first, streams.second);
    set<<<1, n, 0, streams.second>>>(d_out);
    streams.order(streams.second, streams.first);
    set<<<1, n, 0, streams.second>>>(d_out);     // after the event
    check(cudaFreeAsync(d_out, streams.first));  // MISTAKE(missing_order): the second `set` may still run
    check_finished();
}

void freed_in_a_stream_that_knows_nothing_of_it() {
    const TwoStreams streams;
    float* d_out = allocate(streams.first);
    check(cudaFreeAsync(d_out, streams.second));  // MISTAKE(missing_order): perhaps it is not allocated yet
    check_finished();
}

void cuda_free_without_waiting() {
    const TwoStreams streams;
    float* d_out = allocate(streams.first);
    set<<<1, n, 0, streams.first>>>(d_out);
    // HINT: cudaFree does not wait
    check(cudaFree(d_out));  // MISTAKE(missing_order): unlike other memory, that of a pool is freed at once
    check_finished();
}

void cuda_free_after_waiting_for_another_stream() {
    const TwoStreams streams;
    float* d_out = allocate(streams.first);
    set<<<1, n, 0, streams.first>>>(d_out);
    check(cudaStreamSynchronize(streams.second));
    check(cudaFree(d_out));  // MISTAKE(missing_order): the host has waited for the wrong stream
    check_finished();
}

__global__ void set_what_was_freed(float* out) {
    out[threadIdx.x] = 1;  // MISTAKE(use_after_free): freed before the launch, whatever the streams do
    // HINT: behind the last launch
}

void freed_before_another_stream_waits() {
    const TwoStreams streams;
    float* d_out = allocate(streams.first);
    check(cudaFreeAsync(d_out, streams.first));
    streams.order(streams.first, streams.second);
    set_what_was_freed<<<1, n, 0, streams.second>>>(d_out);
    check_finished();
}

void freed_twice_in_stream_order() {
    const TwoStreams streams;
    float* d_out = allocate(streams.first);
    check(cudaFreeAsync(d_out, streams.first));
    check(cudaFreeAsync(d_out, streams.first));  // MISTAKE(invalid_free): freed already
}

void never_freed_in_stream_order() {
    float* d_out = nullptr;
    // HINT: cudaFreeAsync
    check(cudaMallocAsync(&d_out, bytes, nullptr));  // MISTAKE(memory_leak): never freed
    check_finished();
}

void pool_never_destroyed() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &properties));  // MISTAKE(memory_leak): no cudaMemPoolDestroy
}

// ---- managed memory and the host -----------------------------------------------------------------------------

float* managed() {
    float* memory = nullptr;
    check(cudaMallocManaged(&memory, bytes));
    return memory;
}

void managed_result_read_without_waiting() {
    float* result = managed();
    set<<<1, n>>>(result);
    const float first = result[0];  // MISTAKE(missing_order): the kernel may still run
    // HINT: cudaDeviceSynchronize
    check_finished();
    check(first == 1 ? cudaFree(result) : cudaErrorUnknown);
}

void managed_input_overwritten_without_waiting() {
    float *in = managed(), *sum = managed();
    for (int i = 0; i < n; ++i) in[i] = sum[i] = 1;
    add<<<1, n>>>(in, sum);
    in[0] = 2;  // MISTAKE(missing_order): the kernel may not have read it yet
    check_finished();
    check(cudaFree(in));
    check(cudaFree(sum));
}

void managed_result_read_after_the_wrong_stream() {
    const TwoStreams streams;
    float* result = managed();
    set<<<1, n, 0, streams.first>>>(result);
    check(cudaStreamSynchronize(streams.second));
    const float first = result[0];  // MISTAKE(missing_order): the first stream's kernel may still run
    check_finished();
    check(first == 1 ? cudaFree(result) : cudaErrorUnknown);
}

void managed_result_read_after_an_early_event() {
    const TwoStreams streams;
    float* result = managed();
    check(cudaEventRecord(streams.event, streams.first));
    set<<<1, n, 0, streams.first>>>(result);
    check(cudaEventSynchronize(streams.event));
    const float first = result[0];  // MISTAKE(missing_order): the event was recorded before the launch
    check_finished();
    check(first == 1 ? cudaFree(result) : cudaErrorUnknown);
}

}  // namespace

namespace corpus {

CaseList stream_order() {
    return {
        __FILE__,
        {{"used_in_another_stream_than_allocated", "no event after cudaMallocAsync",
          used_in_another_stream_than_allocated},
         {"copied_in_another_stream_than_allocated", "the same with a copy", copied_in_another_stream_than_allocated},
         {"event_recorded_before_the_allocation", "the other stream waits for too little",
          event_recorded_before_the_allocation},
         {"freed_while_another_stream_uses_it", "no event before cudaFreeAsync", freed_while_another_stream_uses_it},
         {"freed_after_the_wrong_event", "the event is older than the last launch", freed_after_the_wrong_event},
         {"freed_in_a_stream_that_knows_nothing_of_it", "another stream's cudaFreeAsync",
          freed_in_a_stream_that_knows_nothing_of_it},
         {"cuda_free_without_waiting", "cudaFree of a pool's memory", cuda_free_without_waiting},
         {"cuda_free_after_waiting_for_another_stream", "cudaFree after the wrong cudaStreamSynchronize",
          cuda_free_after_waiting_for_another_stream},
         {"freed_before_another_stream_waits", "an event after cudaFreeAsync", freed_before_another_stream_waits},
         {"freed_twice_in_stream_order", "cudaFreeAsync twice", freed_twice_in_stream_order},
         {"never_freed_in_stream_order", "no cudaFreeAsync", never_freed_in_stream_order},
         {"pool_never_destroyed", "no cudaMemPoolDestroy", pool_never_destroyed},
         {"managed_result_read_without_waiting", "no cudaDeviceSynchronize", managed_result_read_without_waiting},
         {"managed_input_overwritten_without_waiting", "written while a kernel reads it",
          managed_input_overwritten_without_waiting},
         {"managed_result_read_after_the_wrong_stream", "another stream is waited for",
          managed_result_read_after_the_wrong_stream},
         {"managed_result_read_after_an_early_event", "the event is older than the launch",
          managed_result_read_after_an_early_event}}};
}

}  // namespace corpus
