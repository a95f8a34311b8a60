// Atomic functions under contention: nothing is lost, and every old value is handed out once.
#include <cuda_runtime.h>

#include <cuda/atomic>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <vector>

#include "common/tests/device_or_skip.h"

namespace {

constexpr int blocks = 37;
constexpr int threads = 96;
constexpr int total = blocks * threads;

/// One object in device memory.
template <class T>
class OnDevice {
public:
    explicit OnDevice(const T& value) {
        device_or_skip();
        REQUIRE(cudaMalloc(&data_, sizeof(T)) == cudaSuccess);
        REQUIRE(cudaMemcpy(data_, &value, sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    }
    ~OnDevice() { cudaFree(data_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    T* get() const { return data_; }

    /// The object after all kernels launched so far.
    T value() const {
        REQUIRE(cudaGetLastError() == cudaSuccess);
        T result;
        REQUIRE(cudaMemcpy(&result, data_, sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
        return result;
    }

private:
    T* data_ = nullptr;
};

struct Sums {
    int signed_sum;
    unsigned int unsigned_sum;
    unsigned long long wide_sum;
    float float_sum;
    double double_sum;
    int difference;
    int block_sum;
    unsigned int system_sum;
};

__device__ int global_rank() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void add_everywhere(Sums* sums) {
    const int rank = global_rank();
    atomicAdd(&sums->signed_sum, -rank);
    atomicAdd(&sums->unsigned_sum, static_cast<unsigned int>(rank));
    atomicAdd(&sums->wide_sum, 1ull << 33);
    atomicAdd(&sums->float_sum, 0.5f);
    atomicAdd(&sums->double_sum, 0.25);
    atomicSub(&sums->difference, 2);
    atomicAdd_block(&sums->block_sum, 0);
    atomicAdd_system(&sums->system_sum, 3u);
}

__global__ void count_in_shared(int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, count);
}

struct Extremes {
    int smallest, largest;
    unsigned int unsigned_smallest, unsigned_largest;
    long long wide_smallest, wide_largest;
    unsigned long long unsigned_wide_largest;
};

__global__ void find_extremes(Extremes* e) {
    const int value = (global_rank() * 7919) % total - total / 2;
    atomicMin(&e->smallest, value);
    atomicMax(&e->largest, value);
    atomicMin(&e->unsigned_smallest, static_cast<unsigned int>(value));
    atomicMax(&e->unsigned_largest, static_cast<unsigned int>(value));
    atomicMin(&e->wide_smallest, value * 10000000000ll);
    atomicMax(&e->wide_largest, value * 10000000000ll);
    atomicMax(&e->unsigned_wide_largest, static_cast<unsigned long long>(value + total));
}

struct Bits {
    unsigned int all_of, any_of, parity;
    unsigned long long wide_any_of;
};

__global__ void combine_bits(Bits* bits) {
    const unsigned int bit = 1u << (global_rank() % 31);
    atomicAnd(&bits->all_of, ~bit);
    atomicOr(&bits->any_of, bit);
    atomicXor(&bits->parity, static_cast<unsigned int>(global_rank()));
    atomicOr(&bits->wide_any_of, 1ull << (global_rank() % 64));
}

__global__ void draw_tickets(unsigned int* next, int* drawn) { drawn[atomicAdd(next, 1u)] = global_rank(); }

struct Wrapped {
    unsigned int up, down;
    unsigned int old_up[8], old_down[8];
};

__global__ void wrap_around(Wrapped* w) {
    for (int i = 0; i < 8; ++i) {
        w->old_up[i] = atomicInc(&w->up, 2u);
        w->old_down[i] = atomicDec(&w->down, 2u);
    }
}

__global__ void increment_modulo(unsigned int* counter, unsigned int limit) { atomicInc(counter, limit); }

struct Exchanges {
    int number;
    float real;
    unsigned long long wide;
    unsigned short small;
    int old_number, failed_compare, good_compare;
    float old_real;
    unsigned long long old_wide;
    unsigned short old_small;
};

__global__ void exchange(Exchanges* e) {
    e->old_number = atomicExch(&e->number, 5);
    e->old_real = atomicExch(&e->real, 2.5f);
    e->old_wide = atomicCAS(&e->wide, 1ull << 40, 7ull);
    e->old_small = atomicCAS(&e->small, static_cast<unsigned short>(9), static_cast<unsigned short>(10));
    e->failed_compare = atomicCAS(&e->number, 4, 99);
    e->good_compare = atomicCAS(&e->number, 5, 6);
}

// A lock that is taken by one thread of a warp at a time, as on GPUs since Volta.
__global__ void count_under_lock(int* lock, volatile int* count) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *count = *count + 1;
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void count_under_exchange_lock(int* lock, volatile int* count) {
    while (atomicExch(lock, 1) != 0) __nanosleep(20);
    __threadfence();
    *count = *count + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Every thread waits for a value that the last one of its block writes.
__global__ void wait_for_last_thread(int* out) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) atomicExch(&flag, 3);
    while (atomicAdd(&flag, 0) == 0) {
    }
    atomicAdd(out, flag);
}

struct Published {
    int data;
    int flag;
    int largest;
};

// The last thread publishes a value; the others wait for the flag and then see the value.
__global__ void publish_and_wait(Published* published, int* sum) {
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(published->flag);
    cuda::atomic_ref<int, cuda::thread_scope_device> largest(published->largest);
    if (threadIdx.x == blockDim.x - 1) {
        published->data = 5;
        flag.store(1, cuda::memory_order_release);
    }
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    atomicAdd(sum, published->data);
    largest.fetch_max(static_cast<int>(threadIdx.x), cuda::memory_order_relaxed);
}

// The idiom of programs that also run where a GPU lacks an overload: they bring their own.
#if defined(__CPU_DEVICE__) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600)
__device__ double atomicAdd(double* address, double value) {
    auto* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed,
                        static_cast<unsigned long long>(__double_as_longlong(value + __longlong_as_double(assumed))));
    } while (assumed != old);
    return __longlong_as_double(old);
}
#endif

__device__ float atomicMax(float* address, float value) {
    int old = *reinterpret_cast<int*>(address);
    while (value > __int_as_float(old)) {
        const int assumed = old;
        old = atomicCAS(reinterpret_cast<int*>(address), assumed, __float_as_int(value));
        if (old == assumed) break;
    }
    return __int_as_float(old);
}

__global__ void use_own_overloads(double* sum, float* largest) {
    atomicAdd(sum, 0.125);
    atomicMax(largest, static_cast<float>(global_rank()));
}

#if defined(__CPU_DEVICE__) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__global__ void add_vectors(float2* pair, float4* four) {
    atomicAdd(pair, make_float2(1.0f, 2.0f));
    atomicAdd(four, make_float4(1.0f, 2.0f, 3.0f, 4.0f));
}
#else
__global__ void add_vectors(float2*, float4*) {}
#endif

}  // namespace

TEST_CASE("sums of all threads of all blocks are exact") {
    const OnDevice<Sums> sums(Sums{});
    add_everywhere<<<blocks, threads>>>(sums.get());
    const Sums result = sums.value();
    CHECK(result.signed_sum == -total * (total - 1) / 2);
    CHECK(result.unsigned_sum == total * (total - 1u) / 2);
    CHECK(result.wide_sum == total * (1ull << 33));
    CHECK(result.float_sum == total * 0.5f);
    CHECK(result.double_sum == total * 0.25);
    CHECK(result.difference == -2 * total);
    CHECK(result.block_sum == 0);
    CHECK(result.system_sum == 3u * total);
}

TEST_CASE("atomics count in shared memory") {
    const OnDevice<int> count(0);
    count_in_shared<<<blocks, threads>>>(count.get());
    CHECK(count.value() == total);
}

TEST_CASE("atomicMin and atomicMax respect the type's sign and width") {
    const OnDevice<Extremes> extremes(Extremes{0, 0, 100u, 0u, 0, 0, 0});
    find_extremes<<<blocks, threads>>>(extremes.get());
    const Extremes result = extremes.value();
    CHECK(result.smallest == -total / 2);
    CHECK(result.largest == total - 1 - total / 2);
    CHECK(result.unsigned_smallest == 0u);
    CHECK(result.unsigned_largest == 0xffffffffu);
    CHECK(result.wide_smallest == -total / 2 * 10000000000ll);
    CHECK(result.wide_largest == (total - 1 - total / 2) * 10000000000ll);
    CHECK(result.unsigned_wide_largest == static_cast<unsigned long long>(2 * total - 1 - total / 2));
}

TEST_CASE("bits of all threads are combined") {
    const OnDevice<Bits> bits(Bits{0xffffffffu, 0, 0, 0});
    combine_bits<<<blocks, threads>>>(bits.get());
    const Bits result = bits.value();
    unsigned int parity = 0;
    for (unsigned int rank = 0; rank < total; ++rank) parity ^= rank;
    CHECK(result.all_of == 0x80000000u);
    CHECK(result.any_of == 0x7fffffffu);
    CHECK(result.parity == parity);
    CHECK(result.wide_any_of == ~0ull);
}

TEST_CASE("every thread draws another ticket") {
    const OnDevice<unsigned int> next(0u);
    int* d_drawn = nullptr;
    std::vector<int> drawn(total);
    REQUIRE(cudaMalloc(&d_drawn, total * sizeof(int)) == cudaSuccess);
    draw_tickets<<<blocks, threads>>>(next.get(), d_drawn);
    CHECK(next.value() == static_cast<unsigned int>(total));
    REQUIRE(cudaMemcpy(drawn.data(), d_drawn, total * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
    cudaFree(d_drawn);
    std::vector<int> expected(total);
    std::iota(expected.begin(), expected.end(), 0);
    std::sort(drawn.begin(), drawn.end());
    CHECK(drawn == expected);
}

TEST_CASE("atomicInc wraps to 0 and atomicDec to the limit") {
    Wrapped start{};
    start.up = 1;
    start.down = 9;
    const OnDevice<Wrapped> wrapped(start);
    wrap_around<<<1, 1>>>(wrapped.get());
    const Wrapped result = wrapped.value();
    const std::vector<unsigned int> up(result.old_up, result.old_up + 8), down(result.old_down, result.old_down + 8);
    CHECK(up == std::vector<unsigned int>{1, 2, 0, 1, 2, 0, 1, 2});
    CHECK(down == std::vector<unsigned int>{9, 2, 1, 0, 2, 1, 0, 2});
    const OnDevice<unsigned int> counter(0u);
    increment_modulo<<<blocks, threads>>>(counter.get(), 99u);
    CHECK(counter.value() == total % 100u);
}

TEST_CASE("exchange and compare-and-swap return the old value") {
    const OnDevice<Exchanges> exchanges(Exchanges{1, 1.5f, 1ull << 40, 8, 0, 0, 0, 0, 0, 0});
    exchange<<<1, 1>>>(exchanges.get());
    const Exchanges result = exchanges.value();
    CHECK(result.old_number == 1);
    CHECK(result.failed_compare == 5);
    CHECK(result.good_compare == 5);
    CHECK(result.number == 6);
    CHECK(result.old_real == 1.5f);
    CHECK(result.real == 2.5f);
    CHECK(result.old_wide == 1ull << 40);
    CHECK(result.wide == 7);
    CHECK(result.old_small == 8);
    CHECK(result.small == 8);
}

TEST_CASE("threads that spin on a lock let its holder go on") {
    const OnDevice<int> lock(0), count(0);
    count_under_lock<<<8, 64>>>(lock.get(), count.get());
    CHECK(count.value() == 8 * 64);
    count_under_exchange_lock<<<8, 64>>>(lock.get(), count.get());
    CHECK(count.value() == 2 * 8 * 64);
}

TEST_CASE("threads that spin on an atomic read let the others of their block run") {
    const OnDevice<int> sum(0);
    wait_for_last_thread<<<4, 64>>>(sum.get());
    CHECK(sum.value() == 3 * 4 * 64);
}

TEST_CASE("cuda::atomic_ref publishes data between threads") {
    const OnDevice<Published> published(Published{0, 0, -1});
    const OnDevice<int> sum(0);
    publish_and_wait<<<1, 64>>>(published.get(), sum.get());
    CHECK(sum.value() == 5 * 64);
    CHECK(published.value().largest == 63);
}

TEST_CASE("a program may bring its own overloads") {
    const OnDevice<double> sum(0.0);
    const OnDevice<float> largest(-1.0f);
    use_own_overloads<<<blocks, threads>>>(sum.get(), largest.get());
    CHECK(sum.value() == total * 0.125);
    CHECK(largest.value() == static_cast<float>(total - 1));
}

TEST_CASE("vectors of floats are added by component") {
    device_or_skip();
    cudaDeviceProp properties;
    REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
    if (properties.major < 9) SKIP("needs compute capability 9.0");
    const OnDevice<float2> pair(make_float2(0, 0));
    const OnDevice<float4> four(make_float4(0, 0, 0, 0));
    add_vectors<<<blocks, threads>>>(pair.get(), four.get());
    const float2 two = pair.value();
    const float4 result = four.value();
    CHECK((two.x == total && two.y == 2.0f * total));
    CHECK((result.x == total && result.y == 2.0f * total && result.z == 3.0f * total && result.w == 4.0f * total));
}
