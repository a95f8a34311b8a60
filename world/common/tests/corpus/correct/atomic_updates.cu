// Threads that update one place: with atomics, under a lock, or after an atomic has given each a place of its own.
#include <algorithm>
#include <numeric>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

// ---- counting ------------------------------------------------------------------------------------------------

__global__ void histogram_of_block(const int* values, int n, int* bins) {
    __shared__ int counts[16];
    const int thread = threadIdx.x;
    if (thread < 16) counts[thread] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + thread; i < n; i += gridDim.x * blockDim.x) atomicAdd(&counts[values[i]], 1);
    __syncthreads();
    if (thread < 16 && counts[thread] > 0) atomicAdd(&bins[thread], counts[thread]);
}

void shared_histogram_is_added_to_global() {
    const std::vector<int> values = scrambled(777, 16);
    std::vector<int> expected(16, 0);
    for (const int value : values) ++expected[value];
    DeviceBuffer<int> d_values(values), d_bins(std::vector<int>(16, 0));
    histogram_of_block<<<3, 96>>>(d_values.data(), 777, d_bins.data());
    check_finished();
    expect_equal(d_bins.download(), expected);
}

__global__ void extremes(const float* values, int n, int* largest_bits, int* smallest) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMax(largest_bits, __float_as_int(values[i]));  // bits of positive floats are ordered like the floats
    atomicMin(smallest, static_cast<int>(values[i]));
}

void float_maximum_by_its_bits() {
    const auto values = sequence<float>(300, [](int i) { return 0.5f + i * 37 % 300; });
    DeviceBuffer<float> d_values(values);
    DeviceBuffer<int> d_largest(std::vector<int>{0}), d_smallest(std::vector<int>{1000});
    extremes<<<4, 96>>>(d_values.data(), 300, d_largest.data(), d_smallest.data());
    check_finished();
    DeviceBuffer<float> d_result(1);
    check(cudaMemcpy(d_result.data(), d_largest.data(), sizeof(float), cudaMemcpyDeviceToDevice));
    expect_equal(d_result.download(), {299.5f});
    expect_equal(d_smallest.download(), {0});
}

/// The loop ends for the thread whose guess was right; a volatile read makes the first guess.
__device__ void atomic_multiply(double* address, double factor) {
    auto* const bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long seen = *static_cast<volatile unsigned long long*>(bits), guess;
    do {
        guess = seen;
        seen = atomicCAS(bits, guess, __double_as_longlong(__longlong_as_double(guess) * factor));
    } while (seen != guess);
}

__global__ void product(double* out) { atomic_multiply(out, threadIdx.x % 16 == blockIdx.x ? 2 : 1); }

void multiplication_by_compare_and_swap() {
    DeviceBuffer<double> d_out(std::vector<double>{3});
    product<<<4, 64>>>(d_out.data());
    check_finished();
    expect_equal(d_out.download(), {3.0 * 65536});
}

__global__ void deal_round(unsigned* next, int* hands) {
    const unsigned hand = atomicInc(next, 4);  // 0 to 4, over and over
    atomicAdd(&hands[hand], 1);
}

void ring_counter_deals_evenly() {
    DeviceBuffer<unsigned> d_next(std::vector<unsigned>{0});
    DeviceBuffer<int> d_hands(std::vector<int>(5, 0));
    deal_round<<<5, 40>>>(d_next.data(), d_hands.data());
    check_finished();
    expect_equal(d_hands.download(), std::vector<int>(5, 40));
}

__global__ void count_short_pairs(const int* values, unsigned short* counts) {
    unsigned short* const count = &counts[values[threadIdx.x]];
    unsigned short seen = 0, guess;
    do {
        guess = seen;
        seen = atomicCAS(count, guess, static_cast<unsigned short>(guess + 1));
    } while (seen != guess);
}

void neighboring_shorts_by_compare_and_swap() {
    const std::vector<int> values = scrambled(128, 6);
    std::vector<unsigned short> expected(6, 0);
    for (const int value : values) ++expected[value];
    DeviceBuffer<int> d_values(values);
    DeviceBuffer<unsigned short> d_counts(std::vector<unsigned short>(6, 0));
    count_short_pairs<<<1, 128>>>(d_values.data(), d_counts.data());
    check_finished();
    expect_equal(d_counts.download(), expected);
}

/// A plain read of what atomics have changed: the barrier lies between them.
__global__ void share_of_even(const int* values, float* shares) {
    __shared__ int evens;
    if (threadIdx.x == 0) evens = 0;
    __syncthreads();
    if (values[blockIdx.x * blockDim.x + threadIdx.x] % 2 == 0) atomicAdd(&evens, 1);
    __syncthreads();
    shares[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(evens) / static_cast<float>(blockDim.x);
}

void atomic_counter_is_read_plainly_behind_a_barrier() {
    DeviceBuffer<int> d_values(sequence<int>(128, [](int i) { return i < 64 ? i : 2 * i; }));
    DeviceBuffer<float> d_shares(128);
    share_of_even<<<2, 64>>>(d_values.data(), d_shares.data());
    check_finished();
    expect_equal(d_shares.download(), sequence<float>(128, [](int i) { return i < 64 ? 0.5f : 1.0f; }));
}

// ---- a place for each ----------------------------------------------------------------------------------------

__global__ void append_large(const int* values, int n, int* queue, int* length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] >= 50) queue[atomicAdd(length, 1)] = values[i];
}

__global__ void sum_queue(const int* queue, const int* length, int* sum) {
    for (int i = threadIdx.x; i < *length; i += blockDim.x) atomicAdd(sum, queue[i]);
}

void queue_is_filled_by_one_kernel_and_read_by_the_next() {
    const std::vector<int> values = scrambled(400, 100);
    int expected = 0;
    for (const int value : values) expected += value >= 50 ? value : 0;
    DeviceBuffer<int> d_values(values), d_queue(400), d_length(std::vector<int>{0}), d_sum(std::vector<int>{0});
    append_large<<<4, 128>>>(d_values.data(), 400, d_queue.data(), d_length.data());
    sum_queue<<<1, 64>>>(d_queue.data(), d_length.data(), d_sum.data());
    check_finished();
    expect_equal(d_sum.download(), {expected});
}

/// Threads count inside the block first; one thread then asks for as many places as the block needs.
__global__ void append_in_two_levels(const int* values, int n, int* queue, int* length) {
    __shared__ int count, start;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool keep = i < n && values[i] % 4 == 0;
    int place = 0;
    if (keep) place = atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) start = atomicAdd(length, count);
    __syncthreads();
    if (keep) queue[start + place] = values[i];
}

void places_are_asked_for_in_two_levels() {
    constexpr int n = 350;
    DeviceBuffer<int> d_values(sequence<int>(n, [](int i) { return i; })), d_queue(std::vector<int>(n, -1));
    DeviceBuffer<int> d_length(std::vector<int>{0});
    append_in_two_levels<<<4, 96>>>(d_values.data(), n, d_queue.data(), d_length.data());
    check_finished();
    expect_equal(d_length.download(), {88});
    std::vector<int> queue = d_queue.download();
    queue.resize(88);
    std::sort(queue.begin(), queue.end());
    expect_equal(queue, sequence<int>(88, [](int i) { return 4 * i; }));
}

__global__ void push_on_lists(const int* keys, int n, int* heads, int* next) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) next[i] = atomicExch(&heads[keys[i]], i);
}

__global__ void lengths_of_lists(const int* heads, const int* next, int* lengths) {
    int length = 0;
    for (int i = heads[threadIdx.x]; i >= 0; i = next[i]) ++length;
    lengths[threadIdx.x] = length;
}

void lists_grow_by_atomic_exchange() {
    const std::vector<int> keys = scrambled(200, 8);
    std::vector<int> expected(8, 0);
    for (const int key : keys) ++expected[key];
    DeviceBuffer<int> d_keys(keys), d_heads(std::vector<int>(8, -1)), d_next(200), d_lengths(8);
    push_on_lists<<<2, 128>>>(d_keys.data(), 200, d_heads.data(), d_next.data());
    lengths_of_lists<<<1, 8>>>(d_heads.data(), d_next.data(), d_lengths.data());
    check_finished();
    expect_equal(d_lengths.download(), expected);
}

/// Open addressing: a slot belongs to the first key that is swapped in.
__global__ void count_words(const unsigned* words, int n, unsigned* keys, int* counts, unsigned slots) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned word = words[i];
    for (unsigned slot = word * 2654435761u % slots;; slot = (slot + 1) % slots) {
        const unsigned owner = atomicCAS(&keys[slot], 0u, word);
        if (owner != 0 && owner != word) continue;
        atomicAdd(&counts[slot], 1);
        return;
    }
}

void hash_table_with_open_addressing() {
    constexpr int slots = 64;
    const auto words = sequence<unsigned>(300, [](int i) { return 1 + 7 * (i * i % 31); });
    DeviceBuffer<unsigned> d_words(words), d_keys(std::vector<unsigned>(slots, 0));
    DeviceBuffer<int> d_counts(std::vector<int>(slots, 0));
    count_words<<<3, 128>>>(d_words.data(), 300, d_keys.data(), d_counts.data(), slots);
    check_finished();
    const std::vector<unsigned> keys = d_keys.download();
    const std::vector<int> counts = d_counts.download();
    for (int slot = 0; slot < slots; ++slot) {
        if (keys[slot] == 0) continue;
        expect_equal(counts[slot], static_cast<int>(std::count(words.begin(), words.end(), keys[slot])));
    }
    expect_equal(std::accumulate(counts.begin(), counts.end(), 0), 300);
}

/// Whoever swaps first writes; nobody else does.
__global__ void first_to_claim(const int* places, int* claims, int* winners) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int place = places[i];
    if (atomicCAS(&claims[place], 0, 1) == 0) winners[place] = i;
}

void only_the_winner_of_a_swap_writes() {
    const std::vector<int> places = scrambled(256, 12);
    DeviceBuffer<int> d_places(places), d_claims(std::vector<int>(12, 0)), d_winners(std::vector<int>(12, -1));
    first_to_claim<<<4, 64>>>(d_places.data(), d_claims.data(), d_winners.data());
    check_finished();
    const std::vector<int> winners = d_winners.download();
    for (int place = 0; place < 12; ++place) expect_equal(places.at(winners[place]), place);
}

// ---- locks and flags -----------------------------------------------------------------------------------------

struct Statistics {
    int count;
    int sum;
    int largest;
};

__global__ void update_under_lock(const int* values, int* lock, Statistics* statistics) {
    if (threadIdx.x != 0) return;
    const int value = values[blockIdx.x];
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    statistics->count += 1;
    statistics->sum += value;
    if (value > statistics->largest) statistics->largest = value;
    __threadfence();
    atomicExch(lock, 0);
}

void one_thread_per_block_takes_a_lock() {
    const std::vector<int> values = scrambled(40, 1000);
    DeviceBuffer<int> d_values(values), d_lock(std::vector<int>{0});
    DeviceBuffer<Statistics> d_statistics(std::vector<Statistics>(1));
    update_under_lock<<<40, 32>>>(d_values.data(), d_lock.data(), d_statistics.data());
    check_finished();
    const Statistics statistics = d_statistics.download()[0];
    expect_equal(statistics.count, 40);
    expect_equal(statistics.sum, std::accumulate(values.begin(), values.end(), 0));
    expect_equal(statistics.largest, *std::max_element(values.begin(), values.end()));
}

__global__ void leaders_take_a_shared_lock(int* out) {
    __shared__ int lock, sum, turns;
    if (threadIdx.x == 0) lock = sum = turns = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence_block();
        sum += threadIdx.x;
        ++turns;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = 1000 * turns + sum;
}

void one_lane_per_warp_takes_a_shared_lock() {
    DeviceBuffer<int> d_out(2);
    leaders_take_a_shared_lock<<<2, 256>>>(d_out.data());
    check_finished();
    expect_equal(d_out.download(), std::vector<int>(2, 8000 + 32 * 28));
}

/// The first warp fills shared memory and raises a flag; the second one polls it. No barrier.
__global__ void flag_between_warps(const int* in, int* out) {
    __shared__ int data[32];
    __shared__ int ready;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[lane] = in[lane] + 1;
        __syncwarp();
        if (lane == 0) {
            __threadfence_block();
            atomicExch(&ready, 1);
        }
    } else {
        if (lane == 0) {
            while (atomicAdd(&ready, 0) == 0) {
            }
            __threadfence_block();
        }
        __syncwarp();
        out[lane] = data[31 - lane];
    }
}

void shared_flag_polled_by_another_warp() {
    DeviceBuffer<int> d_in(sequence<int>(32, [](int i) { return 3 * i; })), d_out(32);
    flag_between_warps<<<1, 64>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(32, [](int i) { return 3 * (31 - i) + 1; }));
}

/// Two warps take turns with one buffer: even turns fill it, odd turns empty it.
__global__ void buffer_passed_to_and_fro(int rounds, int* sums) {
    __shared__ int buffer[32];
    __shared__ int turn;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        if (lane == 0) {
            while (atomicAdd(&turn, 0) != 2 * round + warp) {
            }
            __threadfence_block();
        }
        __syncwarp();
        if (warp == 0) {
            buffer[lane] = round * lane;
        } else {
            sum += buffer[lane ^ 1];
        }
        __syncwarp();
        if (lane == 0) {
            __threadfence_block();
            atomicAdd(&turn, 1);
        }
    }
    if (warp == 1) sums[lane] = sum;
}

void two_warps_take_turns_with_one_buffer() {
    DeviceBuffer<int> d_sums(32);
    buffer_passed_to_and_fro<<<1, 64>>>(6, d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), sequence<int>(32, [](int i) { return 15 * (i ^ 1); }));
}

}  // namespace

CaseList atomic_updates() {
    return {__FILE__,
            {
                {"shared_histogram_is_added_to_global", "cleared, counted, added: a barrier between each",
                 shared_histogram_is_added_to_global},
                {"float_maximum_by_its_bits", "atomicMax on the bits of floats", float_maximum_by_its_bits},
                {"multiplication_by_compare_and_swap", "a wrong guess is repeated", multiplication_by_compare_and_swap},
                {"ring_counter_deals_evenly", "atomicInc wraps around", ring_counter_deals_evenly},
                {"neighboring_shorts_by_compare_and_swap", "atomics of 2 bytes side by side",
                 neighboring_shorts_by_compare_and_swap},
                {"atomic_counter_is_read_plainly_behind_a_barrier", "atomics before, reads behind the barrier",
                 atomic_counter_is_read_plainly_behind_a_barrier},
                {"queue_is_filled_by_one_kernel_and_read_by_the_next", "a place for each by atomicAdd",
                 queue_is_filled_by_one_kernel_and_read_by_the_next},
                {"places_are_asked_for_in_two_levels", "shared count, then one global atomicAdd a block",
                 places_are_asked_for_in_two_levels},
                {"lists_grow_by_atomic_exchange", "each thread writes its own link", lists_grow_by_atomic_exchange},
                {"hash_table_with_open_addressing", "keys by atomicCAS, counts by atomicAdd",
                 hash_table_with_open_addressing},
                {"only_the_winner_of_a_swap_writes", "one winner for each place", only_the_winner_of_a_swap_writes},
                {"one_thread_per_block_takes_a_lock", "plain updates between fences under a lock",
                 one_thread_per_block_takes_a_lock},
                {"one_lane_per_warp_takes_a_shared_lock", "the same in shared memory",
                 one_lane_per_warp_takes_a_shared_lock},
                {"shared_flag_polled_by_another_warp", "fence, atomic flag, fence", shared_flag_polled_by_another_warp},
                {"two_warps_take_turns_with_one_buffer", "a turn ends with a fence and an atomic",
                 two_warps_take_turns_with_one_buffer},
            }};
}

}  // namespace corpus
