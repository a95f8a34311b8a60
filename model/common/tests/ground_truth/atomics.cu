// Atomic operations on global and shared memory: all lanes at their own addresses, at one, at a few, at random ones.
//
// Addresses come from a list, because nvcc adds up over the warp first where it can tell that all lanes have the same
// one.
#include <algorithm>

#include "common/tests/ground_truth/cases.h"
#include "common/tests/ground_truth/launch_and_check.cuh"

namespace ground_truth {

constexpr unsigned kBins = 256;

// ---- global memory, old value not used (RED) ----------------------------------------------------------------------

template <class T>
__device__ void add_to_listed(const unsigned* index, T* totals) {
    atomicAdd(&totals[index[thread_in_grid()]], T(1));
}

__global__ void global_add_int_own_address(const unsigned* index, int* totals) { add_to_listed(index, totals); }
__global__ void global_add_int_one_address(const unsigned* index, int* totals) { add_to_listed(index, totals); }
__global__ void global_add_int_four_addresses_per_warp(const unsigned* index, int* totals) {
    add_to_listed(index, totals);
}
__global__ void global_add_int_histogram(const unsigned* index, int* totals) { add_to_listed(index, totals); }
__global__ void global_add_int_scattered(const unsigned* index, int* totals) { add_to_listed(index, totals); }

__global__ void global_add_float_own_address(const unsigned* index, float* totals) { add_to_listed(index, totals); }
__global__ void global_add_float_one_address(const unsigned* index, float* totals) { add_to_listed(index, totals); }
__global__ void global_add_float_four_addresses_per_warp(const unsigned* index, float* totals) {
    add_to_listed(index, totals);
}
__global__ void global_add_float_histogram(const unsigned* index, float* totals) { add_to_listed(index, totals); }

__global__ void global_add_64_bit_own_address(const unsigned* index, unsigned long long* totals) {
    add_to_listed(index, totals);
}
__global__ void global_add_64_bit_histogram(const unsigned* index, unsigned long long* totals) {
    add_to_listed(index, totals);
}
__global__ void global_add_double_histogram(const unsigned* index, double* totals) { add_to_listed(index, totals); }

__global__ void global_add_half_warps(const unsigned* index, int* totals) {
    if (lane_in_warp() < 16) add_to_listed(index, totals);
}

__global__ void global_add_known_address(int* total) { atomicAdd(total, 1); }

__global__ void global_max_histogram(const unsigned* index, int* largest) {
    const unsigned i = thread_in_grid();
    atomicMax(&largest[index[i]], static_cast<int>(i));
}

// ---- global memory, old value used (ATOM) -------------------------------------------------------------------------

template <class T>
__device__ void add_and_keep_old(const unsigned* index, T* totals, T* old) {
    const unsigned i = thread_in_grid();
    old[i] = atomicAdd(&totals[index[i]], T(1));
}

__global__ void global_add_int_own_address_used(const unsigned* index, int* totals, int* old) {
    add_and_keep_old(index, totals, old);
}
__global__ void global_add_int_one_address_used(const unsigned* index, int* totals, int* old) {
    add_and_keep_old(index, totals, old);
}
__global__ void global_add_int_histogram_used(const unsigned* index, int* totals, int* old) {
    add_and_keep_old(index, totals, old);
}
__global__ void global_add_float_own_address_used(const unsigned* index, float* totals, float* old) {
    add_and_keep_old(index, totals, old);
}
__global__ void global_add_float_histogram_used(const unsigned* index, float* totals, float* old) {
    add_and_keep_old(index, totals, old);
}

/// The first thread that comes takes the place.
__device__ void take_place(const unsigned* index, unsigned* owners) {
    const unsigned i = thread_in_grid();
    atomicCAS(&owners[index[i]], 0u, i + 1);
}

__global__ void global_compare_and_swap_own_address(const unsigned* index, unsigned* owners) {
    take_place(index, owners);
}
__global__ void global_compare_and_swap_histogram(const unsigned* index, unsigned* owners) {
    take_place(index, owners);
}

// ---- shared memory ------------------------------------------------------------------------------------------------

constexpr unsigned kSharedBins = 1024;  // 32 in each bank

/// Counts in shared memory, then writes the block's counts to global memory.
template <class T>
__device__ void count_in_block(const unsigned* index, T* counts) {
    __shared__ T bins[kSharedBins];
#pragma unroll 1
    for (unsigned bin = threadIdx.x; bin < kSharedBins; bin += kThreads) bins[bin] = 0;
    __syncthreads();
    const unsigned i = thread_in_grid();
    atomicAdd(&bins[index[i]], T(1 + i % 3));
    __syncthreads();
#pragma unroll 1
    for (unsigned bin = threadIdx.x; bin < kSharedBins; bin += kThreads) {
        counts[blockIdx.x * kSharedBins + bin] = bins[bin];
    }
}

__global__ void shared_add_int_own_address(const unsigned* index, int* counts) { count_in_block(index, counts); }
__global__ void shared_add_int_one_address(const unsigned* index, int* counts) { count_in_block(index, counts); }
__global__ void shared_add_int_histogram(const unsigned* index, int* counts) { count_in_block(index, counts); }
__global__ void shared_add_int_same_bank(const unsigned* index, int* counts) { count_in_block(index, counts); }

__global__ void shared_add_unsigned_own_address(const unsigned* index, unsigned* counts) {
    count_in_block(index, counts);
}
__global__ void shared_add_unsigned_one_address(const unsigned* index, unsigned* counts) {
    count_in_block(index, counts);
}
__global__ void shared_add_unsigned_histogram(const unsigned* index, unsigned* counts) {
    count_in_block(index, counts);
}
__global__ void shared_add_unsigned_same_bank(const unsigned* index, unsigned* counts) {
    count_in_block(index, counts);
}

__global__ void shared_add_float_own_address(const unsigned* index, float* counts) { count_in_block(index, counts); }
__global__ void shared_add_float_one_address(const unsigned* index, float* counts) { count_in_block(index, counts); }
__global__ void shared_add_float_histogram(const unsigned* index, float* counts) { count_in_block(index, counts); }
__global__ void shared_add_float_same_bank(const unsigned* index, float* counts) { count_in_block(index, counts); }

__global__ void shared_add_64_bit_own_address(const unsigned* index, unsigned long long* counts) {
    count_in_block(index, counts);
}

/// The same, but the value is 1 for all: nvcc counts the lanes of each address instead of adding.
__global__ void shared_count_histogram(const unsigned* index, unsigned* counts) {
    __shared__ unsigned bins[kSharedBins];
#pragma unroll 1
    for (unsigned bin = threadIdx.x; bin < kSharedBins; bin += kThreads) bins[bin] = 0;
    __syncthreads();
    atomicAdd(&bins[index[thread_in_grid()]], 1u);
    __syncthreads();
#pragma unroll 1
    for (unsigned bin = threadIdx.x; bin < kSharedBins; bin += kThreads) {
        counts[blockIdx.x * kSharedBins + bin] = bins[bin];
    }
}

__global__ void shared_max_histogram(const unsigned* index, int* largest) {
    __shared__ int bins[kSharedBins];
#pragma unroll 1
    for (unsigned bin = threadIdx.x; bin < kSharedBins; bin += kThreads) bins[bin] = -1;
    __syncthreads();
    const unsigned i = thread_in_grid();
    atomicMax(&bins[index[i]], static_cast<int>(i));
    __syncthreads();
#pragma unroll 1
    for (unsigned bin = threadIdx.x; bin < kSharedBins; bin += kThreads) {
        largest[blockIdx.x * kSharedBins + bin] = bins[bin];
    }
}

__global__ void shared_compare_and_swap_own_address(const unsigned* index, unsigned* owners) {
    __shared__ unsigned bins[kThreads];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const unsigned i = thread_in_grid();
    atomicCAS(&bins[index[i]], 0u, i + 1);
    __syncthreads();
    owners[i] = bins[threadIdx.x];
}

// ---- what they have to compute --------------------------------------------------------------------------------------

namespace {

/// The address of each thread of the grid.
using Addresses = std::vector<unsigned> (*)();

std::vector<unsigned> one() { return std::vector<unsigned>(kCount, 0); }
std::vector<unsigned> histogram() { return random_indices(kCount, kBins); }
std::vector<unsigned> scattered() { return random_order(kCount); }

std::vector<unsigned> own() {
    std::vector<unsigned> index(kCount);
    for (unsigned i = 0; i < kCount; ++i) index[i] = i;
    return index;
}

std::vector<unsigned> four_per_warp() {
    std::vector<unsigned> index(kCount);
    for (unsigned i = 0; i < kCount; ++i) index[i] = i / kWarpSize * 4 + i % 4;
    return index;
}

/// Of its block.
std::vector<unsigned> own_in_block() {
    std::vector<unsigned> index(kCount);
    for (unsigned i = 0; i < kCount; ++i) index[i] = i % kThreads;
    return index;
}

std::vector<unsigned> same_bank() {
    std::vector<unsigned> index(kCount);
    for (unsigned i = 0; i < kCount; ++i) index[i] = i % kWarpSize * 32;
    return index;
}

/// Launches `kernel(index, totals, more...)` on totals of 0 and brings them back.
template <class T, class... Parameters, class... More>
std::vector<T> totals_of(void (*kernel)(const unsigned*, T*, Parameters...), const std::vector<unsigned>& index,
                         More... more) {
    const DeviceBuffer<unsigned> d_index(index);
    DeviceBuffer<T> d_totals(kCount);
    d_totals.fill_bytes(0);
    launch(kernel, {}, d_index.data(), d_totals.data(), more...);
    return d_totals.download();
}

template <class T>
void check_add(void (*kernel)(const unsigned*, T*), Addresses addresses, unsigned lanes = kWarpSize) {
    const std::vector<unsigned> index = addresses();
    std::vector<T> expected(kCount, 0);
    for (unsigned i = 0; i < kCount; ++i) {
        if (i % kWarpSize < lanes) expected[index[i]] += 1;
    }
    expect_equal(totals_of(kernel, index), expected);
}

void check_known_address() {
    DeviceBuffer<int> d_total(std::vector<int>{0});
    launch(global_add_known_address, {}, d_total.data());
    expect_equal(d_total.download(), {static_cast<int>(kCount)});
}

void check_global_max() {
    const std::vector<unsigned> index = histogram();
    std::vector<int> expected(kCount, 0);
    for (unsigned i = 0; i < kCount; ++i) expected[index[i]] = static_cast<int>(i);
    expect_equal(totals_of(global_max_histogram, index), expected);
}

/// Threads of one address see the old values 0, 1, 2 ... in any order.
template <class T>
void check_add_used(void (*kernel)(const unsigned*, T*, T*), Addresses addresses) {
    const std::vector<unsigned> index = addresses();
    DeviceBuffer<T> d_old(kCount);
    std::vector<T> expected(kCount, 0);
    for (unsigned i = 0; i < kCount; ++i) expected[index[i]] += 1;
    expect_equal(totals_of(kernel, index, d_old.data()), expected);
    const std::vector<T> old = d_old.download();
    std::vector<std::vector<T>> seen(kCount);
    for (unsigned i = 0; i < kCount; ++i) seen[index[i]].push_back(old[i]);
    for (std::vector<T>& values : seen) {
        std::sort(values.begin(), values.end());
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (values[k] != static_cast<T>(k)) throw std::runtime_error("an old value is missing or came twice");
        }
    }
}

void check_owners(void (*kernel)(const unsigned*, unsigned*), Addresses addresses) {
    const std::vector<unsigned> index = addresses();
    const std::vector<unsigned> owners = totals_of(kernel, index);
    std::vector<bool> wanted(kCount, false);
    for (const unsigned place : index) wanted[place] = true;
    for (unsigned place = 0; place < kCount; ++place) {
        const unsigned owner = owners[place];
        if (wanted[place] ? owner == 0 || owner > kCount || index[owner - 1] != place : owner != 0) {
            throw std::runtime_error("place " + std::to_string(place) + " has the wrong owner");
        }
    }
}

/// `combine(bin, i)`: what the atomic operation of thread i makes of its bin.
template <class T, class Combine>
void check_in_block(void (*kernel)(const unsigned*, T*), Addresses addresses, T start, Combine combine) {
    const std::vector<unsigned> index = addresses();
    std::vector<T> expected(kBlocks * kSharedBins, start);
    for (unsigned i = 0; i < kCount; ++i) combine(expected[i / kThreads * kSharedBins + index[i]], i);
    const DeviceBuffer<unsigned> d_index(index);
    run_and_compare(kernel, {}, expected, d_index.data());
}

template <class T>
void check_shared_add(void (*kernel)(const unsigned*, T*), Addresses addresses) {
    check_in_block(kernel, addresses, T(0), [](T& bin, unsigned i) { bin += T(1 + i % 3); });
}

void check_shared_count() {
    check_in_block(shared_count_histogram, histogram, 0u, [](unsigned& bin, unsigned) { ++bin; });
}

void check_shared_max() {
    check_in_block(shared_max_histogram, histogram, -1, [](int& bin, unsigned i) { bin = static_cast<int>(i); });
}

void check_shared_owners() {
    std::vector<unsigned> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = i + 1;
    const DeviceBuffer<unsigned> d_index(own_in_block());
    run_and_compare(shared_compare_and_swap_own_address, {}, expected, d_index.data());
}

}  // namespace

const std::vector<Case>& atomic_cases() {
    static const std::vector<Case> cases = {
        {"global_add_int_own_address", [] { check_add(global_add_int_own_address, own); }},
        {"global_add_int_one_address", [] { check_add(global_add_int_one_address, one); }},
        {"global_add_int_four_addresses_per_warp",
         [] { check_add(global_add_int_four_addresses_per_warp, four_per_warp); }},
        {"global_add_int_histogram", [] { check_add(global_add_int_histogram, histogram); }},
        {"global_add_int_scattered", [] { check_add(global_add_int_scattered, scattered); }},
        {"global_add_float_own_address", [] { check_add(global_add_float_own_address, own); }},
        {"global_add_float_one_address", [] { check_add(global_add_float_one_address, one); }},
        {"global_add_float_four_addresses_per_warp",
         [] { check_add(global_add_float_four_addresses_per_warp, four_per_warp); }},
        {"global_add_float_histogram", [] { check_add(global_add_float_histogram, histogram); }},
        {"global_add_64_bit_own_address", [] { check_add(global_add_64_bit_own_address, own); }},
        {"global_add_64_bit_histogram", [] { check_add(global_add_64_bit_histogram, histogram); }},
        {"global_add_double_histogram", [] { check_add(global_add_double_histogram, histogram); }},
        {"global_add_half_warps", [] { check_add(global_add_half_warps, own, 16); }},
        {"global_add_known_address", [] { check_known_address(); },
         "nvcc adds up over the warp first: one lane does the atomic operation"},
        {"global_max_histogram", [] { check_global_max(); }},
        {"global_add_int_own_address_used", [] { check_add_used(global_add_int_own_address_used, own); }},
        {"global_add_int_one_address_used", [] { check_add_used(global_add_int_one_address_used, one); }},
        {"global_add_int_histogram_used", [] { check_add_used(global_add_int_histogram_used, histogram); }},
        {"global_add_float_own_address_used", [] { check_add_used(global_add_float_own_address_used, own); }},
        {"global_add_float_histogram_used", [] { check_add_used(global_add_float_histogram_used, histogram); }},
        {"global_compare_and_swap_own_address", [] { check_owners(global_compare_and_swap_own_address, own); }},
        {"global_compare_and_swap_histogram", [] { check_owners(global_compare_and_swap_histogram, histogram); }},
        {"shared_add_int_own_address", [] { check_shared_add(shared_add_int_own_address, own_in_block); }},
        {"shared_add_int_one_address", [] { check_shared_add(shared_add_int_one_address, one); }},
        {"shared_add_int_histogram", [] { check_shared_add(shared_add_int_histogram, histogram); }},
        {"shared_add_int_same_bank", [] { check_shared_add(shared_add_int_same_bank, same_bank); }},
        {"shared_add_unsigned_own_address", [] { check_shared_add(shared_add_unsigned_own_address, own_in_block); }},
        {"shared_add_unsigned_one_address", [] { check_shared_add(shared_add_unsigned_one_address, one); }},
        {"shared_add_unsigned_histogram", [] { check_shared_add(shared_add_unsigned_histogram, histogram); }},
        {"shared_add_unsigned_same_bank", [] { check_shared_add(shared_add_unsigned_same_bank, same_bank); }},
        {"shared_add_float_own_address", [] { check_shared_add(shared_add_float_own_address, own_in_block); },
         "a GPU has no such instruction: a loop of loads, additions and compare-and-swaps"},
        {"shared_add_float_one_address", [] { check_shared_add(shared_add_float_one_address, one); },
         "a GPU has no such instruction: a loop of loads, additions and compare-and-swaps"},
        {"shared_add_float_histogram", [] { check_shared_add(shared_add_float_histogram, histogram); },
         "a GPU has no such instruction: a loop of loads, additions and compare-and-swaps"},
        {"shared_add_float_same_bank", [] { check_shared_add(shared_add_float_same_bank, same_bank); },
         "a GPU has no such instruction: a loop of loads, additions and compare-and-swaps"},
        {"shared_add_64_bit_own_address", [] { check_shared_add(shared_add_64_bit_own_address, own_in_block); }},
        {"shared_count_histogram", [] { check_shared_count(); }},
        {"shared_max_histogram", [] { check_shared_max(); }},
        {"shared_compare_and_swap_own_address", [] { check_shared_owners(); }},
    };
    return cases;
}

}  // namespace ground_truth
