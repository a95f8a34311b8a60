// Two devices that use each other's memory in all the ways that are allowed. Each case needs two devices.
#include <thread>

#include "common/tests/corpus/correct/expect.h"

namespace {

using namespace corpus;

constexpr int n = 200;
constexpr std::size_t bytes = n * sizeof(int);

bool has_two() {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    return count >= 2;
}

struct On {
    explicit On(int device) { check(cudaSetDevice(device)); }
    ~On() { (void)cudaSetDevice(0); }
    On(const On&) = delete;
    On& operator=(const On&) = delete;
};

/// Both devices have access to each other.
struct Peers {
    Peers() {
        both([](int peer) { check(cudaDeviceEnablePeerAccess(peer, 0)); });
    }
    ~Peers() {
        both([](int peer) { (void)cudaDeviceDisablePeerAccess(peer); });
    }
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    template <class Function>
    static void both(const Function& function) {
        for (int device = 0; device < 2; ++device) {
            const On current(device);
            function(1 - device);
        }
    }
};

struct Array {
    int* data = nullptr;
    Array(int device, int value) {
        const On current(device);
        check(cudaMalloc(&data, bytes));
        const std::vector<int> values(n, value);
        check(cudaMemcpy(data, values.data(), bytes, cudaMemcpyHostToDevice));
    }
    ~Array() { (void)cudaFree(data); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    void expect(int value) const {
        std::vector<int> values(n);
        check(cudaMemcpy(values.data(), data, bytes, cudaMemcpyDefault));
        expect_equal(values, std::vector<int>(n, value));
    }
};

void wait_for_both() {
    for (int device = 1; device >= 0; --device) {
        check(cudaSetDevice(device));
        check_finished();
    }
}

__global__ void add(int* sum, const int* in) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) sum[i] += in[i];
}

void peers_read_and_write_each_other() {
    if (!has_two()) return;
    const Peers peers;
    const Array first(0, 1), second(1, 2);
    add<<<4, 64>>>(first.data, second.data);
    check_finished();
    {
        const On current(1);
        add<<<4, 64>>>(first.data, second.data);
        check_finished();
    }
    first.expect(5);
}

void copies_need_no_access() {
    if (!has_two()) return;
    const Array first(0, 1), second(1, 2);
    check(cudaMemcpyPeer(first.data, 0, second.data, 1, bytes));
    first.expect(2);
    check(cudaMemcpy(second.data, first.data, bytes, cudaMemcpyDefault));
    check(cudaMemcpyPeerAsync(second.data, 1, first.data, 0, bytes, nullptr));
    check_finished();
    second.expect(2);
}

void events_order_streams_of_two_devices() {
    if (!has_two()) return;
    const Peers peers;
    const Array first(0, 1), second(1, 2);
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    {
        const On current(1);
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        add<<<4, 64, 0, stream>>>(second.data, second.data);
        check(cudaEventRecord(event, stream));
    }
    check(cudaStreamWaitEvent(nullptr, event));
    add<<<4, 64>>>(first.data, second.data);
    check_finished();
    first.expect(5);
    check(cudaEventDestroy(event));
    check(cudaStreamDestroy(stream));
}

/// Waits until the peer has said that it is ready, adds, and says so.
__global__ void take_turns(int* data, unsigned* mine, unsigned* others, bool begins) {
    for (unsigned turn = 1; turn <= 3; ++turn) {
        if (threadIdx.x == 0 && (turn > 1 || !begins)) {
            const unsigned wanted = begins ? turn - 1 : turn;
            while (atomicAdd_system(mine, 0u) < wanted) {
            }
            __threadfence_system();
        }
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) data[i] += 1;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence_system();
            atomicExch_system(others, turn);
        }
    }
}

void kernels_of_two_devices_take_turns() {
    if (!has_two()) return;
    const Peers peers;
    const Array data(0, 0), flags(0, 0), other_flags(1, 0);
    auto* const first = reinterpret_cast<unsigned*>(flags.data);
    auto* const second = reinterpret_cast<unsigned*>(other_flags.data);
    take_turns<<<1, 64>>>(data.data, first, second, true);
    {
        const On current(1);
        take_turns<<<1, 64>>>(data.data, second, first, false);
    }
    wait_for_both();
    data.expect(6);
}

void kernels_launched_in_the_other_order() {
    if (!has_two()) return;
    const Peers peers;
    const Array data(0, 0), flags(0, 0), other_flags(1, 0);
    auto* const first = reinterpret_cast<unsigned*>(flags.data);
    auto* const second = reinterpret_cast<unsigned*>(other_flags.data);
    {
        const On current(1);
        take_turns<<<1, 64>>>(data.data, second, first, false);  // waits for the one that is launched next
    }
    take_turns<<<1, 64>>>(data.data, first, second, true);
    wait_for_both();
    data.expect(6);
}

__device__ int counter;
__constant__ int step;

__global__ void count() { counter += step; }

void variables_of_each_device() {
    if (!has_two()) return;
    for (int device = 0; device < 2; ++device) {
        const On current(device);
        const int value = 10 * device + 1, zero = 0;
        check(cudaMemcpyToSymbol(step, &value, sizeof value));
        check(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
        count<<<1, 1>>>();
        check_finished();
    }
    for (int device = 0; device < 2; ++device) {
        const On current(device);
        count<<<1, 1>>>();
        int found = 0;
        check(cudaMemcpyFromSymbol(&found, counter, sizeof found));
        expect_equal(found, 2 * (10 * device + 1));
    }
}

void memory_of_a_pool_with_access() {
    if (!has_two()) return;
    const Array first(0, 1);
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, 1));
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = 0;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    check(cudaMemPoolSetAccess(pool, &access, 1));
    int* other = nullptr;
    {
        const On current(1);
        check(cudaMallocAsync(&other, bytes, nullptr));
        check(cudaMemsetAsync(other, 0, bytes, nullptr));
        check_finished();
    }
    add<<<4, 64>>>(first.data, other);
    check_finished();
    first.expect(1);
    const On current(1);
    check(cudaFreeAsync(other, nullptr));
    check_finished();
}

void one_host_thread_for_each_device() {
    if (!has_two()) return;
    const Array first(0, 1), second(1, 2);
    const auto work = [](int device, int* data) {
        check(cudaSetDevice(device));
        for (int i = 0; i < 4; ++i) add<<<4, 64>>>(data, data);
        check_finished();
    };
    std::thread other(work, 1, second.data);
    work(0, first.data);
    other.join();
    first.expect(16);
    second.expect(32);
}

}  // namespace

namespace corpus {

CaseList several_devices() {
    return {__FILE__,
            {{"peers_read_and_write_each_other", "with access in both directions", peers_read_and_write_each_other},
             {"copies_need_no_access", "cudaMemcpyPeer and cudaMemcpyDefault", copies_need_no_access},
             {"events_order_streams_of_two_devices", "an event of one, a wait of the other",
              events_order_streams_of_two_devices},
             {"kernels_of_two_devices_take_turns", "flags in memory of the peer", kernels_of_two_devices_take_turns},
             {"kernels_launched_in_the_other_order", "the first one waits for the second",
              kernels_launched_in_the_other_order},
             {"variables_of_each_device", "__device__ and __constant__", variables_of_each_device},
             {"memory_of_a_pool_with_access", "cudaMemPoolSetAccess", memory_of_a_pool_with_access},
             {"one_host_thread_for_each_device", "each with its current device", one_host_thread_for_each_device}}};
}

}  // namespace corpus
