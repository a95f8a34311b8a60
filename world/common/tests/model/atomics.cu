// Atomic operations of all kinds: on one address, on one per warp, spread, with and without a result, in global and in
// shared memory.
#include <algorithm>

#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace atomics_kernels {

// ---- addresses
// --------------------------------------------------------------------------------------------------------------

/// Where thread `i` adds: `i / sharing % places * apart`.
struct Places {
    unsigned sharing;  ///< so many consecutive threads add to one place
    unsigned places;
    unsigned apart;  ///< elements between one place and the next
    __host__ __device__ unsigned of(unsigned i) const { return i / sharing % places * apart; }
};

/// The result of the operation is not used: nvcc makes a reduction of it.
template <class T>
__global__ void add_to_places(Places places, T value, T* out) {
    atomicAdd(out + places.of(thread_in_grid()), value);
}

template <class T>
Prepared added(unsigned n, Places places, T value = 1) {
    const Array<T> out = output<T>(std::size_t{places.places} * places.apart, 0);
    std::vector<T> sums(out.size);
    for (unsigned i = 0; i < n; ++i) sums[places.of(i)] += value;
    return prepared(
        add_to_places<T>, {n / 256, 256}, out, [sums](std::size_t i) { return sums[i]; }, 0, places, value, out);
}

/// Places that look random; each thread adds `each` times.
__global__ void add_to_random_places(const unsigned* places, unsigned each, unsigned* out) {
    for (unsigned k = 0; k < each; ++k) {
        atomicAdd(out + places[k * gridDim.x * blockDim.x + thread_in_grid()], 1u);
    }
}

Prepared added_at_random(unsigned blocks, unsigned each, unsigned size) {
    const std::size_t n = std::size_t{blocks} * 256 * each;
    const Array<unsigned> places = input_of<unsigned>(n, [size](std::size_t i) { return hash(i) % size; });
    const Array<unsigned> out = output<unsigned>(size, 0);
    std::vector<unsigned> sums(size);
    for (std::size_t i = 0; i < n; ++i) ++sums[hash(i) % size];
    return prepared(
        add_to_random_places, {blocks, 256}, out, [sums](std::size_t i) { return sums[i]; }, 0, places, each, out);
}

// ---- operations
// -------------------------------------------------------------------------------------------------------------

/// Takes numbers from a counter. Every number below the number of threads occurs once per launch, modulo this number.
__global__ void take_numbers(unsigned mask, unsigned* counter, unsigned* out) {
    const unsigned number = atomicAdd(counter, 1u);
    out[number & mask] = 1;
}

/// One lane takes 32 numbers for its whole warp.
__global__ void take_numbers_per_warp(unsigned mask, unsigned* counter, unsigned* out) {
    unsigned first = 0;
    if (threadIdx.x % 32 == 0) first = atomicAdd(counter, 32u);
    first = __shfl_sync(0xFFFFFFFFu, first, 0);
    out[(first + threadIdx.x % 32) & mask] = 1;
}

/// `n` is a power of two.
Prepared numbers(void (*kernel)(unsigned, unsigned*, unsigned*), unsigned n) {
    const Array<unsigned> counter = output<unsigned>(1, 0);
    const Array<unsigned> out = output<unsigned>(n, 0);
    return prepared(
        kernel, {n / 256, 256}, out, [](std::size_t) { return 1u; }, 0, n - 1, counter, out);
}

/// Adds floats by compare and swap until it succeeds.
__global__ void add_floats_by_cas(const float* in, unsigned places, unsigned* out) {
    const unsigned i = thread_in_grid();
    const float value = in[i];
    unsigned* const place = out + i % places;
    unsigned old = *place, assumed;
    do {
        assumed = old;
        old = atomicCAS(place, assumed, __float_as_uint(__uint_as_float(assumed) + value));
    } while (old != assumed);
}

Prepared float_sums_by_cas(unsigned n, unsigned places) {
    const Array<float> in = input<float>(n);
    const Array<unsigned> out = output<unsigned>(places, 0);
    std::vector<float> sums(places);
    for (unsigned i = 0; i < n; ++i) sums[i % places] += element<float>(i);
    const auto expected = [sums](std::size_t place) { return sums[place]; };
    return prepared(add_floats_by_cas, {n / 256, 256}, out.as<float>(), expected, 0, in, places, out);
}

/// Adds by compare and swap until it succeeds.
__global__ void add_by_cas(unsigned places, unsigned* out) {
    unsigned* const place = out + thread_in_grid() % places;
    unsigned old = *place, assumed;
    do {
        assumed = old;
        old = atomicCAS(place, assumed, assumed + 1);
    } while (old != assumed);
}

Prepared sums_by_cas(unsigned n, unsigned places) {
    const Array<unsigned> out = output<unsigned>(places, 0);
    return prepared(
        add_by_cas, {n / 256, 256}, out, [n, places](std::size_t) { return n / places; }, 0, places, out);
}

__global__ void exchange_places(unsigned* out, unsigned* old) {
    const unsigned i = thread_in_grid();
    old[i] = atomicExch(out + i, i);
}

Prepared exchanges(unsigned n) {
    const Array<unsigned> out = output<unsigned>(n, 0);
    const Array<unsigned> old = output<unsigned>(n);
    return prepared(
        exchange_places, {n / 256, 256}, old, [](std::size_t) { return 0u; }, 0, out, old);
}

__global__ void bits_of_flags(const unsigned* in, unsigned* out) {
    const unsigned i = thread_in_grid();
    if (in[i] % 3 == 0) atomicOr(out + i / 32, 1u << i % 32);
}

Prepared flags(unsigned n) {
    const Array<unsigned> in = input<unsigned>(n);
    const Array<unsigned> out = output<unsigned>(n / 32, 0);
    const auto expected = [](std::size_t word) {
        unsigned bits = 0;
        for (std::size_t bit = 0; bit < 32; ++bit) bits |= (element<unsigned>(word * 32 + bit) % 3 == 0) << bit;
        return bits;
    };
    return prepared(bits_of_flags, {n / 256, 256}, out, expected, 0, in, out);
}

__global__ void extremes(const int* in, int* out) {
    const int value = in[thread_in_grid()];
    atomicMax(out + blockIdx.x, value);
}

Prepared block_extremes(unsigned n) {
    const Array<int> in = input<int>(n);
    const Array<int> out = output<int>(n / 256, 0);
    const auto expected = [](std::size_t block) {
        int largest = 0;
        for (std::size_t k = 0; k < 256; ++k) largest = std::max(largest, element<int>(block * 256 + k));
        return largest;
    };
    return prepared(extremes, {n / 256, 256}, out, expected, 0, in, out);
}

std::vector<Case> global_atomics() {
    return {
        {"atomic_one_address",
         [] {
             return added<unsigned>(kMi / 2, {1, 1, 1});
         }},
        {"atomic_one_address_float",
         [] {
             return added<float>(kMi / 4, {1, 1, 1});
         }},
        {"atomic_one_address_double",
         [] {
             return added<double>(kMi / 8, {1, 1, 1});
         }},
        {"atomic_one_address_per_warp",
         [] {
             return added<unsigned>(2 * kMi, {32, kMi / 16, 1});
         }},
        {"atomic_one_address_per_block",
         [] {
             return added<unsigned>(2 * kMi, {256, kMi / 128, 1});
         }},
        {"atomic_spread",
         [] {
             return added<unsigned>(4 * kMi, {1, 4 * kMi, 1});
         }},
        {"atomic_spread_float",
         [] {
             return added<float>(4 * kMi, {1, 4 * kMi, 1});
         }},
        {"atomic_spread_double",
         [] {
             return added<double>(2 * kMi, {1, 2 * kMi, 1});
         }},
        {"atomic_spread_64_bits",
         [] {
             return added<unsigned long long>(2 * kMi, {1, 2 * kMi, 1});
         }},
        {"atomic_spread_8_apart",
         [] {
             return added<unsigned>(kMi, {1, kMi, 8});
         }},
        {"atomic_spread_32_apart",
         [] {
             return added<unsigned>(kMi / 2, {1, kMi / 2, 32});
         }},
        {"atomic_32_places",
         [] {
             return added<unsigned>(kMi, {1, 32, 1});
         }},
        {"atomic_32_places_32_apart",
         [] {
             return added<unsigned>(kMi, {1, 32, 32});
         }},
        {"atomic_1024_places",
         [] {
             return added<unsigned>(2 * kMi, {1, 1024, 1});
         }},
        {"atomic_2_per_warp",
         [] {
             return added<unsigned>(2 * kMi, {16, kMi / 8, 1});
         }},
        {"atomic_random_1024", [] { return added_at_random(1056, 4, kKi); }},
        {"atomic_random_4_mib", [] { return added_at_random(1056, 4, kMi); }},
        {"atomic_random_128_mib", [] { return added_at_random(1056, 4, 32 * kMi); }},
        {"atomic_numbers", [] { return numbers(take_numbers, kMi / 4); }},
        {"atomic_numbers_per_warp", [] { return numbers(take_numbers_per_warp, kMi); }},
        {"atomic_float_sum_by_cas_1024", [] { return float_sums_by_cas(kMi / 16, 1024); }},
        {"atomic_float_sum_by_cas_65536", [] { return float_sums_by_cas(kMi / 2, 65536); }},
        {"atomic_sum_by_cas_256", [] { return sums_by_cas(32 * kKi, 256); }},
        {"atomic_sum_by_cas_65536", [] { return sums_by_cas(kMi / 2, 65536); }},
        {"atomic_exchange", [] { return exchanges(2 * kMi); }},
        {"atomic_bits", [] { return flags(4 * kMi); }},
        {"atomic_maximum_per_block", [] { return block_extremes(2 * kMi); }},
        {"atomic_one_address_small",
         [] {
             return added<unsigned>(kKi, {1, 1, 1});
         }},
    };
}

// ---- shared memory
// ----------------------------------------------------------------------------------------------------------

/// Every thread adds `rounds` times to place `thread / sharing * apart`.
template <class T>
__global__ void add_in_shared(unsigned sharing, unsigned apart, unsigned rounds, T* out) {
    __shared__ T sums[1024];
    for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) sums[k] = 0;
    __syncthreads();
    T* const place = sums + threadIdx.x / sharing * apart % 1024;
    for (unsigned r = 0; r < rounds; ++r) atomicAdd(place, static_cast<T>(1));
    __syncthreads();
    out[thread_in_grid()] = *place;
}

template <class T>
Prepared added_in_shared(unsigned blocks, unsigned sharing, unsigned apart, unsigned rounds) {
    std::vector<T> sums(1024);
    for (unsigned thread = 0; thread < 256; ++thread) sums[thread / sharing * apart % 1024] += static_cast<T>(rounds);
    const Array<T> out = output<T>(std::size_t{blocks} * 256);
    const auto expected = [=](std::size_t i) { return sums[i % 256 / sharing * apart % 1024]; };
    return prepared(add_in_shared<T>, {blocks, 256}, out, expected, 0, sharing, apart, rounds, out);
}

std::vector<Case> shared_atomics() {
    return {
        {"atomic_shared_one_address", [] { return added_in_shared<unsigned>(264, 256, 1, 32); }},
        {"atomic_shared_one_per_warp", [] { return added_in_shared<unsigned>(528, 32, 1, 32); }},
        {"atomic_shared_spread", [] { return added_in_shared<unsigned>(528, 1, 1, 64); }},
        {"atomic_shared_2_way_conflicts", [] { return added_in_shared<unsigned>(528, 1, 2, 64); }},
        {"atomic_shared_4_per_warp", [] { return added_in_shared<unsigned>(528, 8, 1, 32); }},
        {"atomic_shared_32_way_conflicts", [] { return added_in_shared<unsigned>(264, 1, 32, 32); }},
        {"atomic_shared_float_spread", [] { return added_in_shared<float>(264, 1, 1, 32); }},
        {"atomic_shared_float_one_per_warp", [] { return added_in_shared<float>(264, 32, 1, 8); }},
        {"atomic_shared_double_spread", [] { return added_in_shared<double>(264, 1, 1, 32); }},
        {"atomic_shared_64_bits_spread", [] { return added_in_shared<unsigned long long>(264, 1, 1, 32); }},
    };
}

}  // namespace atomics_kernels

std::vector<Family> atomic_families() {
    return {{"global_atomics", atomics_kernels::global_atomics()},
            {"shared_atomics", atomics_kernels::shared_atomics()}};
}

}  // namespace model_kernels
