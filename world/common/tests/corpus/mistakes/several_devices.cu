// Memory, streams, and events of one device, used where another device is at work. Each case needs two devices.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int n = 64;
constexpr std::size_t bytes = n * sizeof(float);

int devices() {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    return count;
}

/// The current device, until the end of a case.
struct On {
    explicit On(int device) { check(cudaSetDevice(device)); }
    ~On() { (void)cudaSetDevice(0); }
    On(const On&) = delete;
    On& operator=(const On&) = delete;
};

/// Zeros on that device.
struct Array {
    float* data = nullptr;
    explicit Array(int device) {
        const On current(device);
        check(cudaMalloc(&data, bytes));
        check(cudaMemset(data, 0, bytes));
    }
    ~Array() { (void)cudaFree(data); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
};

void wait_for_all() {
    for (int device = 1; device >= 0; --device) {
        check(cudaSetDevice(device));
        check_finished();
    }
}

__global__ void read_from_peer(float* out, const float* in) {
    out[threadIdx.x] = in[threadIdx.x];  // MISTAKE(illegal_access): nobody has enabled the access
    // HINT: cudaDeviceEnablePeerAccess(1, 0)
}

void reads_a_peer_without_access() {
    if (devices() < 2) return;
    const Array mine(0), other(1);
    read_from_peer<<<1, n>>>(mine.data, other.data);
    wait_for_all();
}

__global__ void write_to_peer(float* out) {
    out[threadIdx.x] = 1;  // MISTAKE(illegal_access): the same for a store
}

void writes_to_a_peer_without_access() {
    if (devices() < 2) return;
    const Array other(0);
    const On current(1);
    write_to_peer<<<1, n>>>(other.data);
    check_finished();
}

__global__ void read_the_other_way(float* out, const float* in) {
    out[threadIdx.x] = in[threadIdx.x];  // MISTAKE(illegal_access): device 1 has access to device 0, not the reverse
}

void access_enabled_the_wrong_way_round() {
    if (devices() < 2) return;
    const Array mine(0), other(1);
    {
        const On current(1);
        check(cudaDeviceEnablePeerAccess(0, 0));
    }
    read_the_other_way<<<1, n>>>(mine.data, other.data);
    check_finished();
}

__global__ void read_too_late(float* out, const float* in) {
    out[threadIdx.x] = in[threadIdx.x];  // MISTAKE(illegal_access): the access was ended before the launch
}

void access_that_has_ended() {
    if (devices() < 2) return;
    const Array mine(0), other(1);
    check(cudaDeviceEnablePeerAccess(1, 0));
    check(cudaDeviceDisablePeerAccess(1));
    read_too_late<<<1, n>>>(mine.data, other.data);
    check_finished();
}

__global__ void read_from_pool(float* out, const float* in) {
    out[threadIdx.x] = in[threadIdx.x];  // MISTAKE(illegal_access): a pool has an access list of its own
    // HINT: cudaMemPoolSetAccess
}

void memory_of_a_pool_of_a_peer() {
    if (devices() < 2) return;
    const Array mine(0);
    float* other = nullptr;
    {
        const On current(1);
        check(cudaMallocAsync(&other, bytes, nullptr));
        check(cudaMemsetAsync(other, 0, bytes, nullptr));
        check_finished();
    }
    check(cudaDeviceEnablePeerAccess(1, 0));
    read_from_pool<<<1, n>>>(mine.data, other);
    check_finished();
    check(cudaFree(other));
}

__global__ void set_to_one(float* out) { out[threadIdx.x] = 1; }

void launch_into_a_stream_of_another_device() {
    if (devices() < 2) return;
    const Array other(1);
    cudaStream_t stream = nullptr;
    {
        const On current(1);
        check(cudaStreamCreate(&stream));
    }
    set_to_one<<<1, n, 0, stream>>>(other.data);  // MISTAKE(wrong_device): the current device is 0
    (void)cudaGetLastError();
    check(cudaStreamDestroy(stream));
}

void event_recorded_in_a_stream_of_another_device() {
    if (devices() < 2) return;
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event));
    {
        const On current(1);
        (void)cudaEventRecord(event);  // MISTAKE(wrong_device): the event is one of device 0
    }
    check(cudaEventDestroy(event));
}

void time_between_events_of_two_devices() {
    if (devices() < 2) return;
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin));
    check(cudaEventRecord(begin));
    {
        const On current(1);
        check(cudaEventCreate(&end));
        check(cudaEventRecord(end));
    }
    wait_for_all();
    float milliseconds = 0;
    (void)cudaEventElapsedTime(&milliseconds, begin, end);  // MISTAKE(wrong_device): no common clock
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
}

void devices_of_a_peer_copy_swapped() {
    if (devices() < 2) return;
    const Array to(0), from(1);
    (void)cudaMemcpyPeer(to.data, 1, from.data, 0, bytes);  // MISTAKE(wrong_device): `to` lies on device 0
    (void)cudaGetLastError();
    wait_for_all();
}

__global__ void wait_for_peer(unsigned* flag) {
    while (atomicAdd_system(flag, 0u) == 0) {  // MISTAKE(endless_kernel): nobody sets it
    }
}

void kernel_that_waits_for_another_device_in_vain() {
    if (devices() < 2) return;
    const Array mine(0), other(1);
    wait_for_peer<<<1, 1>>>(reinterpret_cast<unsigned*>(mine.data));
    {
        const On current(1);
        set_to_one<<<1, n>>>(other.data);  // the wrong array
        check_finished();
    }
    check_finished();
}

}  // namespace

namespace corpus {

CaseList mistakes_with_several_devices() {
    return {
        __FILE__,
        {{"reads_a_peer_without_access", "access was never enabled", reads_a_peer_without_access},
         {"writes_to_a_peer_without_access", "the same for a store", writes_to_a_peer_without_access},
         {"access_enabled_the_wrong_way_round", "the owner was given access", access_enabled_the_wrong_way_round},
         {"access_that_has_ended", "disabled before the launch", access_that_has_ended},
         {"memory_of_a_pool_of_a_peer", "peer access says nothing of pools", memory_of_a_pool_of_a_peer},
         {"launch_into_a_stream_of_another_device", "cudaSetDevice is missing", launch_into_a_stream_of_another_device},
         {"event_recorded_in_a_stream_of_another_device", "made on another device",
          event_recorded_in_a_stream_of_another_device},
         {"time_between_events_of_two_devices", "no common clock", time_between_events_of_two_devices},
         {"devices_of_a_peer_copy_swapped", "cudaMemcpyPeer with the numbers swapped", devices_of_a_peer_copy_swapped},
         {"kernel_that_waits_for_another_device_in_vain", "the flag is set in the wrong array",
          kernel_that_waits_for_another_device_in_vain, true}}};
}

}  // namespace corpus
