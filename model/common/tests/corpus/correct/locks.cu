// Locks: taking one acquires, giving it back releases. Whoever holds a lock is running, so waiting for it always ends.
#include <cuda/atomic>

#include <algorithm>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

using DeviceRef = cuda::atomic_ref<int, cuda::thread_scope_device>;

using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;

constexpr int kBlocks = 6;

/// The kernels add each block's number plus one to a plain sum, and count the additions beside it.
void check_sum(void (*kernel)(int*, int*)) {
    DeviceBuffer<int> d_lock(std::vector<int>(2, 0)), d_sum(std::vector<int>(2, 0));
    kernel<<<kBlocks, 32>>>(d_lock.data(), d_sum.data());
    check_finished();
    expect_equal(d_sum.download(), {kBlocks * (kBlocks + 1) / 2, kBlocks});
}

__device__ void add_to(int* sum) {
    sum[0] += static_cast<int>(blockIdx.x) + 1;
    sum[1] += 1;
}

__global__ void spin_by_compare_exchange(int* lock, int* sum) {
    if (threadIdx.x != 0) return;
    DeviceRef taken(*lock);
    int expected = 0;
    while (!taken.compare_exchange_weak(expected, 1, memory_order_acquire, memory_order_relaxed)) expected = 0;
    add_to(sum);
    taken.store(0, memory_order_release);
}

void spin_lock_of_compare_exchange() { check_sum(spin_by_compare_exchange); }

__global__ void spin_by_exchange(int* lock, int* sum) {
    if (threadIdx.x != 0) return;
    DeviceRef taken(*lock);
    while (taken.exchange(1, memory_order_acquire) != 0) {
    }
    add_to(sum);
    taken.store(0, memory_order_release);
}

void spin_lock_of_exchange() { check_sum(spin_by_exchange); }

/// Looks before it tries: the relaxed load need not acquire, the exchange behind it does.
__global__ void spin_with_a_look(int* lock, int* sum) {
    if (threadIdx.x != 0) return;
    DeviceRef taken(*lock);
    do {
        while (taken.load(memory_order_relaxed) != 0) {
        }
    } while (taken.exchange(1, memory_order_acquire) != 0);
    add_to(sum);
    taken.store(0, memory_order_release);
}

void spin_lock_that_looks_first() { check_sum(spin_with_a_look); }

__global__ void spin_by_atomic_cas(int* lock, int* sum) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    add_to(sum);
    __threadfence();
    atomicExch(lock, 0);
}

void spin_lock_with_two_fences() { check_sum(spin_by_atomic_cas); }

__global__ void volatile_unlock(int* lock, int* sum) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    add_to(sum);
    __threadfence();
    *static_cast<volatile int*>(lock) = 0;
}

void spin_lock_given_back_by_a_volatile_store() { check_sum(volatile_unlock); }

__global__ void ticket_lock(int* lock, int* sum) {
    if (threadIdx.x != 0) return;
    const int ticket = atomicAdd(&lock[0], 1);
    DeviceRef serving(lock[1]);
    while (serving.load(memory_order_acquire) != ticket) {
    }
    add_to(sum);
    serving.store(ticket + 1, memory_order_release);
}

void ticket_lock_by_ref() { check_sum(ticket_lock); }

__global__ void ticket_lock_with_fences(int* lock, int* sum) {
    if (threadIdx.x != 0) return;
    const int ticket = atomicAdd(&lock[0], 1);
    while (atomicAdd(&lock[1], 0) != ticket) {
    }
    __threadfence();
    add_to(sum);
    __threadfence();
    atomicAdd(&lock[1], 1);
}

void ticket_lock_by_fences() { check_sum(ticket_lock_with_fences); }

/// The whole block works under the lock that its first thread has taken.
__global__ void locked_by_the_first_thread(int* lock, int* values, int n) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = 3 * values[i] + 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}

void lock_for_a_whole_block() {
    DeviceBuffer<int> d_lock(std::vector<int>{0}), d_values(sequence<int>(100, [](int i) { return i; }));
    locked_by_the_first_thread<<<3, 32>>>(d_lock.data(), d_values.data(), 100);
    check_finished();
    expect_equal(d_values.download(), sequence<int>(100, [](int i) { return 27 * i + 13; }));
}

/// Every lane wants the lock. The one that has it gives it back in the same pass of the loop.
__global__ void every_lane_locks(int* lock, int* sum) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *sum += static_cast<int>(threadIdx.x);
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

void lock_that_every_lane_takes() {
    DeviceBuffer<int> d_lock(std::vector<int>{0}), d_sum(std::vector<int>{0});
    every_lane_locks<<<2, 64>>>(d_lock.data(), d_sum.data());
    check_finished();
    expect_equal(d_sum.download(), {64 * 63});
}

/// A lock in shared memory needs no more than the scope of the block.
__global__ void lock_on_chip(const int* in, int* out) {
    __shared__ int lock, smallest, place;
    if (threadIdx.x == 0) {
        lock = 0;
        smallest = 1 << 30;
        place = -1;
    }
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block> taken(lock);
    for (bool done = false; !done;) {
        if (taken.exchange(1, memory_order_acquire) == 0) {
            const int mine = in[threadIdx.x];
            if (mine < smallest || (mine == smallest && static_cast<int>(threadIdx.x) < place)) {
                smallest = mine;
                place = threadIdx.x;
            }
            taken.store(0, memory_order_release);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = place;
}

void lock_of_block_scope() {
    const std::vector<int> values = scrambled(96, 500);
    DeviceBuffer<int> d_in(values), d_out(1);
    lock_on_chip<<<1, 96>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), {static_cast<int>(std::min_element(values.begin(), values.end()) - values.begin())});
}

__global__ void lock_on_chip_with_block_fences(const int* in, int* out) {
    __shared__ int lock, count, sum;
    if (threadIdx.x == 0) lock = count = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS_block(&lock, 0, 1) != 0) {
        }
        __threadfence_block();
        ++count;
        sum += in[threadIdx.x];
        __threadfence_block();
        atomicExch_block(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = 1000 * count + sum;
}

void lock_with_fences_of_block_scope() {
    DeviceBuffer<int> d_in(sequence<int>(128, [](int i) { return i; })), d_out(1);
    lock_on_chip_with_block_fences<<<1, 128>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), {4000 + 32 + 64 + 96});
}

/// A lock for each bin: bins are lists whose nodes stand in an array.
__global__ void insert_into_lists(const int* keys, int n, int* locks, int* heads, int* next) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int bin = keys[i] % 8;
    DeviceRef lock(locks[bin]);
    for (bool done = false; !done;) {
        if (lock.exchange(1, memory_order_acquire) == 0) {
            next[i] = heads[bin];
            heads[bin] = i;
            lock.store(0, memory_order_release);
            done = true;
        }
    }
}

void lists_with_a_lock_each() {
    constexpr int n = 200;
    const std::vector<int> keys = scrambled(n, 1000);
    DeviceBuffer<int> d_keys(keys), d_locks(std::vector<int>(8, 0)), d_heads(std::vector<int>(8, -1)), d_next(n);
    insert_into_lists<<<4, 64>>>(d_keys.data(), n, d_locks.data(), d_heads.data(), d_next.data());
    check_finished();
    const std::vector<int> heads = d_heads.download(), next = d_next.download();
    std::vector<int> seen(n, 0);
    for (int bin = 0; bin < 8; ++bin) {
        for (int i = heads[bin]; i >= 0; i = next[i]) {
            expect_equal(keys[i] % 8, bin);
            ++seen[i];
        }
    }
    expect_equal(seen, std::vector<int>(n, 1));
}

/// The same without locks: a node is complete before the compare-and-swap shows it.
__global__ void push_without_locks(int* head, int* next, int* values) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = 2 * i;
    DeviceRef top(*head);
    int expected = top.load(memory_order_relaxed);
    do {
        next[i] = expected;
    } while (!top.compare_exchange_weak(expected, i, memory_order_release, memory_order_relaxed));
}

/// The last block walks over all nodes. Its one acquire is enough, because the pushes are a chain of updates.
__global__ void push_and_walk(int* head, int* next, int* values, unsigned* done, int* sum) {
    __shared__ bool is_last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = 2 * i;
    DeviceRef top(*head);
    int expected = top.load(memory_order_relaxed);
    do {
        next[i] = expected;
    } while (!top.compare_exchange_weak(expected, i, memory_order_release, memory_order_relaxed));
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(done, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last || threadIdx.x != 0) return;
    int total = 0;
    for (int node = top.load(memory_order_acquire); node >= 0; node = next[node]) total += values[node];
    *sum = total;
}

void stack_that_is_only_pushed() {
    DeviceBuffer<int> d_head(std::vector<int>{-1}), d_next(128), d_values(128);
    push_without_locks<<<2, 64>>>(d_head.data(), d_next.data(), d_values.data());
    check_finished();
    const std::vector<int> next = d_next.download();
    int nodes = 0;
    for (int node = d_head.download()[0]; node >= 0; node = next[node]) ++nodes;
    expect_equal(nodes, 128);
}

void stack_walked_by_the_last_block() {
    DeviceBuffer<int> d_head(std::vector<int>{-1}), d_next(128), d_values(128), d_sum(1);
    DeviceBuffer<unsigned> d_done(std::vector<unsigned>{0});
    push_and_walk<<<2, 64>>>(d_head.data(), d_next.data(), d_values.data(), d_done.data(), d_sum.data());
    check_finished();
    expect_equal(d_sum.download(), {128 * 127});
}

/// A failed compare-and-swap brings the new value: no lock, and no fence, because the sum is all there is.
__global__ void add_doubles_by_cas(double* sum, const double* values) {
    auto* const bits = reinterpret_cast<unsigned long long*>(sum);
    const double value = values[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned long long old = *static_cast<volatile unsigned long long*>(bits), assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed,
                        static_cast<unsigned long long>(__double_as_longlong(__longlong_as_double(assumed) + value)));
    } while (old != assumed);
}

void sum_of_doubles_by_compare_and_swap() {
    DeviceBuffer<double> d_sum(std::vector<double>{0}), d_values(sequence<double>(128, [](int i) { return i; }));
    add_doubles_by_cas<<<2, 64>>>(d_sum.data(), d_values.data());
    check_finished();
    expect_equal(d_sum.download(), {127.0 * 64});
}

/// Whoever finds an element free owns it from then on, and nobody else touches it.
__global__ void claim(int* owners, int* marks, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (atomicExch(&owners[i], 1) == 0) marks[i] += 7;
    }
}

void elements_claimed_by_exchange() {
    DeviceBuffer<int> d_owners(std::vector<int>(100, 0)), d_marks(std::vector<int>(100, 1));
    claim<<<5, 32>>>(d_owners.data(), d_marks.data(), 100);
    check_finished();
    expect_equal(d_marks.download(), std::vector<int>(100, 8));
}

}  // namespace

CaseList locks() {
    return {__FILE__,
            {
                {"spin_lock_of_compare_exchange", "acquire, then release", spin_lock_of_compare_exchange},
                {"spin_lock_of_exchange", "acquire, then release", spin_lock_of_exchange},
                {"spin_lock_that_looks_first", "relaxed load, then exchange", spin_lock_that_looks_first},
                {"spin_lock_with_two_fences", "atomicCAS and atomicExch", spin_lock_with_two_fences},
                {"spin_lock_given_back_by_a_volatile_store", "fence, then volatile store",
                 spin_lock_given_back_by_a_volatile_store},
                {"ticket_lock_by_ref", "acquire load, release store", ticket_lock_by_ref},
                {"ticket_lock_by_fences", "atomicAdd and fences", ticket_lock_by_fences},
                {"lock_for_a_whole_block", "barriers inside the lock", lock_for_a_whole_block},
                {"lock_that_every_lane_takes", "64 threads of 2 blocks", lock_that_every_lane_takes},
                {"lock_of_block_scope", "atomic_ref on shared memory", lock_of_block_scope},
                {"lock_with_fences_of_block_scope", "__threadfence_block", lock_with_fences_of_block_scope},
                {"lists_with_a_lock_each", "hash table of lists", lists_with_a_lock_each},
                {"stack_that_is_only_pushed", "compare_exchange with release", stack_that_is_only_pushed},
                {"stack_walked_by_the_last_block", "a chain of releases", stack_walked_by_the_last_block},
                {"sum_of_doubles_by_compare_and_swap", "no order needed", sum_of_doubles_by_compare_and_swap},
                {"elements_claimed_by_exchange", "the winner owns the element", elements_claimed_by_exchange},
            }};
}

}  // namespace corpus
