// Values handed from block to block with everything that CUDA's memory model asks for: the writer releases, the reader
// acquires. A block never waits for one that may not have started: blocks take their numbers from an atomic counter.
#include <cuda/atomic>

#include <algorithm>
#include <numeric>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

constexpr int kThreads = 64;

template <class T>
using DeviceRef = cuda::atomic_ref<T, cuda::thread_scope_device>;

using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;

__device__ int take_number(int* counter) {
    __shared__ int number;
    if (threadIdx.x == 0) number = atomicAdd(counter, 1);
    __syncthreads();
    return number;
}

/// What most of these programs work on: a counter of blocks, data, and flags, all zero.
struct Mail {
    DeviceBuffer<int> d_counter{std::vector<int>(1, 0)}, d_data{std::vector<int>(kThreads, 0)};
    DeviceBuffer<int> d_flags{std::vector<int>(kThreads, 0)}, d_out{std::vector<int>(kThreads, 0)};

    void send(void (*kernel)(int*, int*, int*, int*), int blocks, int add) {
        kernel<<<blocks, kThreads>>>(d_counter.data(), d_data.data(), d_flags.data(), d_out.data());
        check_finished();
        expect_equal(d_out.download(), sequence<int>(kThreads, [&](int i) { return i + add; }));
    }
};

// ---- from one block to the next ------------------------------------------------------------------------------

__global__ void by_ref(int* counter, int* data, int* flag, int* out) {
    const int thread = threadIdx.x;
    if (take_number(counter) == 0) {
        data[thread] = thread + 5;
        __syncthreads();
        if (thread == 0) DeviceRef<int>(*flag).store(1, memory_order_release);
    } else {
        if (thread == 0) {
            while (DeviceRef<int>(*flag).load(memory_order_acquire) == 0) {
            }
        }
        __syncthreads();
        out[thread] = data[kThreads - 1 - thread] + 2 * thread - kThreads + 1;
    }
}

void release_store_and_acquire_load() { Mail().send(by_ref, 2, 5); }

__global__ void by_fences_of_cuda_cpp(int* counter, int* data, int* flag, int* out) {
    const int thread = threadIdx.x;
    if (take_number(counter) == 0) {
        data[thread] = thread + 6;
        __syncthreads();
        if (thread == 0) {
            cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
            DeviceRef<int>(*flag).store(1, memory_order_relaxed);
        }
    } else {
        if (thread == 0) {
            while (DeviceRef<int>(*flag).load(memory_order_relaxed) == 0) {
            }
            cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
        }
        __syncthreads();
        out[thread] = data[thread];
    }
}

void fences_around_a_relaxed_flag() { Mail().send(by_fences_of_cuda_cpp, 2, 6); }

__global__ void by_threadfence(int* counter, int* data, int* flag, int* out) {
    const int thread = threadIdx.x;
    if (take_number(counter) == 0) {
        data[thread] = thread + 7;
        __syncthreads();
        if (thread == 0) {
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (thread == 0) {
            while (atomicAdd(flag, 0) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        out[thread] = data[thread];
    }
}

void threadfence_on_both_sides() { Mail().send(by_threadfence, 2, 7); }

__global__ void by_mixed_means(int* counter, int* data, int* flag, int* out) {
    const int thread = threadIdx.x;
    if (take_number(counter) == 0) {
        data[thread] = thread + 8;
        __syncthreads();
        if (thread == 0) {
            __threadfence();
            *static_cast<volatile int*>(flag) = 1;
        }
    } else {
        if (thread == 0) {
            while (DeviceRef<int>(*flag).load(memory_order_acquire) == 0) {
            }
        }
        __syncthreads();
        out[thread] = data[thread];
    }
}

void fence_and_volatile_store_for_an_acquire_load() { Mail().send(by_mixed_means, 2, 8); }

/// Each thread waits for its own flag: no barrier at all.
__global__ void thread_to_thread(int* counter, int* data, int* flags, int* out) {
    const int thread = threadIdx.x;
    if (take_number(counter) == 0) {
        data[thread] = thread + 9;
        DeviceRef<int>(flags[thread]).store(1, memory_order_release);
    } else {
        while (DeviceRef<int>(flags[thread]).load(memory_order_acquire) == 0) {
        }
        out[thread] = data[thread];
    }
}

void a_flag_for_each_thread() { Mail().send(thread_to_thread, 2, 9); }

/// All threads poll and fence for themselves.
__global__ void polled_by_all(int* counter, int* data, int* flag, int* out) {
    const int thread = threadIdx.x;
    if (take_number(counter) == 0) {
        data[thread] = thread + 10;
        __threadfence();
        __syncthreads();
        if (thread == 0) {
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
        out[thread] = data[kThreads - 1 - thread] + 2 * thread - kThreads + 1;
    }
}

void flag_polled_by_every_thread() { Mail().send(polled_by_all, 2, 10); }

__global__ void for_the_system(int* counter, int* data, int* flag, int* out) {
    const int thread = threadIdx.x;
    if (take_number(counter) == 0) {
        data[thread] = thread + 11;
        __threadfence_system();
        __syncthreads();
        if (thread == 0) cuda::atomic_ref<int>(*flag).store(1);  // sequentially consistent, of system scope
    } else {
        if (thread == 0) {
            while (cuda::atomic_ref<int>(*flag).load() == 0) {
            }
        }
        __syncthreads();
        out[thread] = data[thread];
    }
}

void sequentially_consistent_flag_of_system_scope() { Mail().send(for_the_system, 2, 11); }

__global__ void by_wait(int* counter, int* data, int* flag, int* out) {
    const int thread = threadIdx.x;
    DeviceRef<int> ready(*flag);
    if (take_number(counter) == 0) {
        data[thread] = thread + 12;
        __syncthreads();
        if (thread == 0) {
            ready.store(1, memory_order_release);
            ready.notify_all();
        }
    } else {
        if (thread == 0) ready.wait(0, memory_order_acquire);
        __syncthreads();
        out[thread] = data[thread];
    }
}

void wait_and_notify() { Mail().send(by_wait, 2, 12); }

__device__ cuda::atomic<int, cuda::thread_scope_device> object_ready;

__global__ void by_object(int* counter, int* data, int*, int* out) {
    const int thread = threadIdx.x;
    if (take_number(counter) == 0) {
        if (thread == 0) {
            for (int i = 0; i < kThreads; ++i) data[i] = i + 13;
            object_ready.fetch_add(1, memory_order_release);
        }
    } else {
        if (thread == 0) {
            while (object_ready.load(memory_order_acquire) == 0) {
            }
        }
        __syncthreads();
        out[thread] = data[thread];
    }
}

void atomic_object_in_device_memory() { Mail().send(by_object, 2, 13); }

// ---- through several hands -----------------------------------------------------------------------------------

/// Block 2 has never looked at block 0's flag: what block 1 had learned, it tells with its own.
__global__ void through_a_third_block(int* counter, int* data, int* flags, int* out) {
    const int block = take_number(counter), thread = threadIdx.x;
    if (block == 0) data[thread] = thread + 14;
    __syncthreads();
    if (thread == 0) {
        if (block > 0) {
            while (DeviceRef<int>(flags[block - 1]).load(memory_order_acquire) == 0) {
            }
        }
        DeviceRef<int>(flags[block]).store(1, memory_order_release);
    }
    __syncthreads();
    if (block == 2) out[thread] = data[thread];
}

void told_by_a_block_that_was_told() { Mail().send(through_a_third_block, 3, 14); }

/// One fence between the read of a flag and the write of the next one serves both.
__global__ void one_fence_for_two(int* counter, int* data, int* flags, int* out) {
    const int block = take_number(counter), thread = threadIdx.x;
    if (block == 0) data[thread] = thread + 15;
    __syncthreads();
    if (thread == 0) {
        if (block > 0) {
            while (atomicAdd(&flags[block - 1], 0) == 0) {
            }
        }
        __threadfence();
        atomicExch(&flags[block], 1);
    }
    __syncthreads();
    if (block == 3) out[thread] = data[thread];
}

void one_fence_acquires_and_releases() { Mail().send(one_fence_for_two, 4, 15); }

/// A relaxed update of the flag carries on what was released there before it.
__global__ void release_sequence(int* counter, int* data, int* flag, int* out) {
    const int block = take_number(counter), thread = threadIdx.x;
    DeviceRef<int> state(*flag);
    if (block == 0) data[thread] = thread + 16;
    __syncthreads();
    if (thread == 0) {
        if (block == 0) {
            state.store(1, memory_order_release);
        } else if (block == 1) {
            while (state.load(memory_order_relaxed) != 1) {
            }
            state.fetch_add(1, memory_order_relaxed);
        } else {
            while (state.load(memory_order_acquire) != 2) {
            }
        }
    }
    __syncthreads();
    if (block == 2) out[thread] = data[thread];
}

void relaxed_update_behind_a_release() { Mail().send(release_sequence, 3, 16); }

/// The last of several producers is not special: whoever reads the full count has read from all of them.
__global__ void counted_producers(int* counter, int* data, int* arrived, int* out) {
    const int block = take_number(counter), thread = threadIdx.x, share = kThreads / 4;
    DeviceRef<int> count(*arrived);
    if (block < 4) {
        if (thread < share) data[block * share + thread] = block * share + thread + 17;
        __syncthreads();
        if (thread == 0) count.fetch_add(1, memory_order_release);
    } else {
        if (thread == 0) {
            while (count.load(memory_order_acquire) != 4) {
            }
        }
        __syncthreads();
        out[thread] = data[thread];
    }
}

void consumer_that_counts_producers() { Mail().send(counted_producers, 5, 17); }

/// Two blocks hand one buffer to each other, ten times.
__global__ void ping_pong(int* counter, int* data, int* turn, int* out) {
    const int block = take_number(counter), thread = threadIdx.x;
    DeviceRef<int> whose(*turn);
    for (int round = 0; round < 10; ++round) {
        if (thread == 0) {
            while (whose.load(memory_order_acquire) != 2 * round + block) {
            }
        }
        __syncthreads();
        data[thread] = data[thread] + (block == 0 ? 1 : 2);
        __syncthreads();
        if (thread == 0) whose.store(2 * round + block + 1, memory_order_release);
    }
    if (block == 1) out[thread] = data[thread] + thread;
}

void two_blocks_take_turns() { Mail().send(ping_pong, 2, 30); }

/// Values go through a ring of four slots; the producer waits until the consumer has emptied one.
__global__ void through_a_ring(int* counter, int* ring, int* heads, int* out) {
    const int block = take_number(counter);
    if (threadIdx.x != 0) return;
    DeviceRef<int> filled(heads[0]), emptied(heads[1]);
    for (int i = 0; i < kThreads; ++i) {
        if (block == 0) {
            while (i - emptied.load(memory_order_acquire) >= 4) {
            }
            ring[i % 4] = i + 18;
            filled.store(i + 1, memory_order_release);
        } else {
            while (filled.load(memory_order_acquire) <= i) {
            }
            out[i] = ring[i % 4];
            emptied.store(i + 1, memory_order_release);
        }
    }
}

void ring_between_two_blocks() { Mail().send(through_a_ring, 2, 18); }

/// The first block to come computes the table; whoever comes later waits until it is complete.
__global__ void table_made_once(int*, int* table, int* state, int* out) {
    const int thread = threadIdx.x;
    __shared__ bool is_first;
    DeviceRef<int> progress(*state);
    if (thread == 0) {
        int expected = 0;
        is_first = progress.compare_exchange_strong(expected, 1, memory_order_relaxed);
    }
    __syncthreads();
    if (is_first) table[thread] = thread + 19;
    __syncthreads();
    if (thread == 0) {
        if (is_first) progress.store(2, memory_order_release);
        while (progress.load(memory_order_acquire) != 2) {
        }
    }
    __syncthreads();
    if (blockIdx.x == 3) out[thread] = table[thread];
}

void table_that_the_first_block_makes() { Mail().send(table_made_once, 4, 19); }

/// Every block puts one item into the queue and takes one out, perhaps of another block.
__global__ void one_item_each(int* tails, int* items, int* ready, int* out) {
    if (threadIdx.x != 0) return;
    const int put = atomicAdd(&tails[0], 1);
    items[put] = put + 20;
    DeviceRef<int>(ready[put]).store(1, memory_order_release);
    const int taken = atomicAdd(&ready[kThreads - 1], 1);
    while (DeviceRef<int>(ready[taken]).load(memory_order_acquire) == 0) {
    }
    out[taken] = items[taken];
}

void queue_with_a_flag_for_each_item() {
    Mail mail;
    one_item_each<<<kThreads - 1, 32>>>(mail.d_counter.data(), mail.d_data.data(), mail.d_flags.data(),
                                        mail.d_out.data());
    check_finished();
    expect_equal(mail.d_out.download(), sequence<int>(kThreads, [](int i) { return i < kThreads - 1 ? i + 20 : 0; }));
}

/// A table of sums: the block of a row waits for each column until the row above has passed it.
__global__ void wavefront(int* counter, int* table, int* progress, int columns) {
    const int row = take_number(counter);
    if (threadIdx.x != 0) return;
    for (int column = 0; column < columns; ++column) {
        int sum = column > 0 ? table[row * columns + column - 1] : 1;
        if (row > 0) {
            while (DeviceRef<int>(progress[row - 1]).load(memory_order_acquire) <= column) {
            }
            sum += table[(row - 1) * columns + column];
        }
        table[row * columns + column] = sum;
        DeviceRef<int>(progress[row]).store(column + 1, memory_order_release);
    }
}

void rows_that_follow_each_other() {
    constexpr int rows = 5, columns = 7;
    DeviceBuffer<int> d_counter(std::vector<int>{0}), d_table(rows * columns), d_progress(std::vector<int>(rows, 0));
    wavefront<<<rows, 32>>>(d_counter.data(), d_table.data(), d_progress.data(), columns);
    check_finished();
    std::vector<int> expected(rows * columns);
    for (int i = 0; i < rows * columns; ++i) {
        expected[i] = (i % columns > 0 ? expected[i - 1] : 1) + (i >= columns ? expected[i - columns] : 0);
    }
    expect_equal(d_table.download(), expected);
}

// ---- scans that look back ------------------------------------------------------------------------------------

__device__ int scan_of_block(int value, int* scratch) {
    const int thread = threadIdx.x;
    scratch[thread] = value;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        const int add = thread >= distance ? scratch[thread - distance] : 0;
        __syncthreads();
        scratch[thread] += add;
        __syncthreads();
    }
    return scratch[thread];
}

/// Sums stand in two arrays beside a status; the status is read with acquire and written with release.
__global__ void look_back_with_status(const int* in, int* out, int* counter, int* own_sums, int* sums, int* status) {
    __shared__ int scratch[kThreads], before;
    const int block = take_number(counter);
    const int own = scan_of_block(in[block * kThreads + threadIdx.x], scratch);
    if (threadIdx.x == 0) {
        const int sum = scratch[kThreads - 1];
        own_sums[block] = sum;
        DeviceRef<int>(status[block]).store(1, memory_order_release);
        int total = 0;
        for (int other = block - 1; other >= 0;) {
            const int state = DeviceRef<int>(status[other]).load(memory_order_acquire);
            if (state == 0) continue;
            total += state == 1 ? own_sums[other] : sums[other];
            if (state == 2) break;
            --other;
        }
        sums[block] = total + sum;
        DeviceRef<int>(status[block]).store(2, memory_order_release);
        before = total;
    }
    __syncthreads();
    out[block * kThreads + threadIdx.x] = before + own;
}

/// Sum and status in one word of 64 bits, relaxed: the word is all that travels.
__global__ void look_back_in_one_word(const int* in, int* out, int* counter, unsigned long long* states) {
    using Word = unsigned long long;
    __shared__ int scratch[kThreads], before;
    const int block = take_number(counter);
    const int own = scan_of_block(in[block * kThreads + threadIdx.x], scratch);
    if (threadIdx.x == 0) {
        const auto sum = static_cast<unsigned>(scratch[kThreads - 1]);
        DeviceRef<Word>(states[block]).store(Word{1} << 32 | sum, memory_order_relaxed);
        unsigned total = 0;
        for (int other = block - 1; other >= 0;) {
            const Word state = DeviceRef<Word>(states[other]).load(memory_order_relaxed);
            if (state == 0) continue;
            total += static_cast<unsigned>(state);
            if (state >> 32 == 2) break;
            --other;
        }
        DeviceRef<Word>(states[block]).store(Word{2} << 32 | (total + sum), memory_order_relaxed);
        before = static_cast<int>(total);
    }
    __syncthreads();
    out[block * kThreads + threadIdx.x] = before + own;
}

/// The lanes of a warp look back at 32 blocks at a time and add up what they found by shuffles.
__global__ void look_back_by_a_warp(const int* in, int* out, int* counter, unsigned long long* states) {
    using Word = unsigned long long;
    __shared__ int scratch[kThreads], before;
    const int block = take_number(counter), lane = threadIdx.x;
    const int own = scan_of_block(in[block * kThreads + threadIdx.x], scratch);
    const auto sum = static_cast<unsigned>(scratch[kThreads - 1]);
    if (threadIdx.x == 0) DeviceRef<Word>(states[block]).store(Word{1} << 32 | sum, memory_order_relaxed);
    if (threadIdx.x < 32) {
        unsigned total = 0;
        for (int last = block - 1; last >= 0; last -= 32) {
            const int other = last - lane;
            Word state = Word{2} << 32;
            if (other >= 0) {
                do {
                    state = DeviceRef<Word>(states[other]).load(memory_order_relaxed);
                } while (state == 0);
            }
            __syncwarp();
            const unsigned complete = __ballot_sync(0xFFFFFFFFu, state >> 32 == 2);
            const int nearest = complete == 0 ? 31 : __ffs(static_cast<int>(complete)) - 1;
            unsigned part = lane <= nearest ? static_cast<unsigned>(state) : 0;
            for (int step = 16; step > 0; step /= 2) part += __shfl_xor_sync(0xFFFFFFFFu, part, step);
            total += part;
            if (complete != 0) break;
        }
        if (lane == 0) {
            DeviceRef<Word>(states[block]).store(Word{2} << 32 | (total + sum), memory_order_relaxed);
            before = static_cast<int>(total);
        }
    }
    __syncthreads();
    out[block * kThreads + threadIdx.x] = before + own;
}

struct Scan {
    static constexpr int blocks = 9;
    std::vector<int> values = scrambled(blocks * kThreads, 100), expected = std::vector<int>(values.size());
    DeviceBuffer<int> d_in{values}, d_out{values.size()}, d_counter{std::vector<int>{0}};

    Scan() { std::partial_sum(values.begin(), values.end(), expected.begin()); }
    void check_result() {
        check_finished();
        expect_equal(d_out.download(), expected);
    }
};

void look_back_with_sums_beside_a_status() {
    Scan scan;
    DeviceBuffer<int> d_own(Scan::blocks), d_sums(Scan::blocks), d_status(std::vector<int>(Scan::blocks, 0));
    look_back_with_status<<<Scan::blocks, kThreads>>>(scan.d_in.data(), scan.d_out.data(), scan.d_counter.data(),
                                                      d_own.data(), d_sums.data(), d_status.data());
    scan.check_result();
}

void look_back_with_relaxed_words() {
    Scan scan;
    DeviceBuffer<unsigned long long> d_states(std::vector<unsigned long long>(Scan::blocks, 0));
    look_back_in_one_word<<<Scan::blocks, kThreads>>>(scan.d_in.data(), scan.d_out.data(), scan.d_counter.data(),
                                                      d_states.data());
    scan.check_result();
}

void look_back_by_32_lanes() {
    Scan scan;
    DeviceBuffer<unsigned long long> d_states(std::vector<unsigned long long>(Scan::blocks, 0));
    look_back_by_a_warp<<<Scan::blocks, kThreads>>>(scan.d_in.data(), scan.d_out.data(), scan.d_counter.data(),
                                                    d_states.data());
    scan.check_result();
}

// ---- values that are atomic themselves -----------------------------------------------------------------------

/// A writer changes two numbers again and again; readers take them only if no write came in between. The numbers are
/// read and written by relaxed atomics: nothing races, and the fences keep numbers and version in step.
__global__ void versioned_pair(int* counter, int* numbers, int* version, int* out) {
    const int block = take_number(counter);
    if (threadIdx.x != 0) return;
    DeviceRef<int> first(numbers[0]), second(numbers[1]), stamp(*version);
    if (block == 0) {
        for (int round = 1; round <= 20; ++round) {
            stamp.store(2 * round - 1, memory_order_relaxed);
            cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
            first.store(round, memory_order_relaxed);
            second.store(-round, memory_order_relaxed);
            stamp.store(2 * round, memory_order_release);
        }
    } else {
        for (;;) {
            const int before = stamp.load(memory_order_acquire);
            const int one = first.load(memory_order_relaxed), two = second.load(memory_order_relaxed);
            cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
            if (before % 2 != 0 || stamp.load(memory_order_relaxed) != before) continue;
            if (one + two != 0) out[block] = 1;
            if (before == 40) break;
        }
    }
}

void numbers_guarded_by_a_version() {
    Mail mail;
    versioned_pair<<<3, 32>>>(mail.d_counter.data(), mail.d_data.data(), mail.d_flags.data(), mail.d_out.data());
    check_finished();
    expect_equal(mail.d_out.download(), std::vector<int>(kThreads, 0));
}

/// Blocks skip what cannot beat the best value so far. They may see an old one: then they only work in vain.
__global__ void smallest_with_a_bound(const int* values, int n, int* best) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (values[i] >= DeviceRef<int>(*best).load(memory_order_relaxed)) continue;
        DeviceRef<int>(*best).fetch_min(values[i], memory_order_relaxed);
    }
}

void bound_read_while_others_lower_it() {
    const std::vector<int> values = scrambled(1000, 5000);
    DeviceBuffer<int> d_values(values), d_best(std::vector<int>{1 << 30});
    smallest_with_a_bound<<<4, kThreads>>>(d_values.data(), 1000, d_best.data());
    check_finished();
    int expected = 1 << 30;
    for (const int value : values) expected = std::min(expected, value);
    expect_equal(d_best.download(), {expected});
}

}  // namespace

CaseList handovers() {
    return {__FILE__,
            {
                {"release_store_and_acquire_load", "atomic_ref of device scope", release_store_and_acquire_load},
                {"fences_around_a_relaxed_flag", "atomic_thread_fence on both sides", fences_around_a_relaxed_flag},
                {"threadfence_on_both_sides", "__threadfence and atomics", threadfence_on_both_sides},
                {"fence_and_volatile_store_for_an_acquire_load", "the two sides need not look alike",
                 fence_and_volatile_store_for_an_acquire_load},
                {"a_flag_for_each_thread", "64 flags, no barrier", a_flag_for_each_thread},
                {"flag_polled_by_every_thread", "every thread fences for itself", flag_polled_by_every_thread},
                {"sequentially_consistent_flag_of_system_scope", "the default of atomic_ref",
                 sequentially_consistent_flag_of_system_scope},
                {"wait_and_notify", "atomic_ref::wait with acquire", wait_and_notify},
                {"atomic_object_in_device_memory", "a cuda::atomic variable", atomic_object_in_device_memory},
                {"told_by_a_block_that_was_told", "order is passed on", told_by_a_block_that_was_told},
                {"one_fence_acquires_and_releases", "between two flags", one_fence_acquires_and_releases},
                {"relaxed_update_behind_a_release", "a release sequence", relaxed_update_behind_a_release},
                {"consumer_that_counts_producers", "fetch_add with release", consumer_that_counts_producers},
                {"two_blocks_take_turns", "ten rounds", two_blocks_take_turns},
                {"ring_between_two_blocks", "producer and consumer", ring_between_two_blocks},
                {"table_that_the_first_block_makes", "compare_exchange, then a flag", table_that_the_first_block_makes},
                {"queue_with_a_flag_for_each_item", "slots drawn by atomicAdd", queue_with_a_flag_for_each_item},
                {"rows_that_follow_each_other", "progress of the row above", rows_that_follow_each_other},
                {"look_back_with_sums_beside_a_status", "decoupled look-back, release and acquire",
                 look_back_with_sums_beside_a_status},
                {"look_back_with_relaxed_words", "decoupled look-back, all in one word", look_back_with_relaxed_words},
                {"look_back_by_32_lanes", "decoupled look-back by a warp", look_back_by_32_lanes},
                {"numbers_guarded_by_a_version", "a sequence lock on relaxed numbers", numbers_guarded_by_a_version},
                {"bound_read_while_others_lower_it", "relaxed loads of an atomic minimum",
                 bound_read_while_others_lower_it},
            }};
}

}  // namespace corpus
