// Values handed from block to block, or from warp to warp, with a part of the handover missing: the writer has to
// release (a fence before its flag), the reader to acquire (a fence behind the flag), both in a scope that reaches the
// other.
#include <cuda/atomic>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 32;
constexpr int blocks = 4;

using DeviceRef = cuda::atomic_ref<int, cuda::thread_scope_device>;
using BlockRef = cuda::atomic_ref<int, cuda::thread_scope_block>;

std::vector<int> zeros(int count) { return std::vector<int>(static_cast<std::size_t>(count), 0); }

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

/// Number of the block in the order in which blocks start: whoever waits for a smaller one waits for a running block.
__device__ int take_number(int* counter) { return atomicAdd(counter, 1); }

/// Two blocks of one thread; the kernel gets a counter, data, and flags, all zero.
void run_pair(void (*kernel)(int*, int*, int*, int*)) {
    DeviceBuffer<int> d_counter(zeros(1)), d_data(zeros(4)), d_flags(zeros(4)), d_out(zeros(4));
    kernel<<<2, 1>>>(d_counter.data(), d_data.data(), d_flags.data(), d_out.data());
    check_finished();
}

void run_sum(void (*kernel)(const float*, float*, unsigned*, float*)) {
    DeviceBuffer<float> d_in(ones(blocks * threads)), d_partial(blocks), d_total(1);
    DeviceBuffer<unsigned> d_done(std::vector<unsigned>(1, 0));
    kernel<<<blocks, threads>>>(d_in.data(), d_partial.data(), d_done.data(), d_total.data());
    check_finished();
}

// ---- the reader does not acquire -------------------------------------------------------------------------------

__global__ void last_block_reads_at_once(const float* in, float* partial, unsigned* done, float* total) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < threads; ++i) sum += in[blockIdx.x * threads + static_cast<unsigned>(i)];
        partial[blockIdx.x] = sum;  // OTHER: released by the fence that follows
        __threadfence();
        is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x != 0) return;
    float sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) {
        sum += partial[block];  // MISTAKE(data_race): no fence behind the ticket
    }
    *total = sum;
}

void last_block_without_acquire() { run_sum(last_block_reads_at_once); }

__global__ void poll_without_fence(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: released by the fence
        __threadfence();
        atomicExch(flags, 1);
    } else {
        while (atomicAdd(flags, 0) == 0) {
        }
        *out = *data;  // MISTAKE(data_race): the fence behind the loop is missing
        // HINT: did not acquire
    }
}

void flag_polled_without_fence() { run_pair(poll_without_fence); }

__global__ void relaxed_load(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: released by the store
        DeviceRef(*flags).store(1, cuda::memory_order_release);
    } else {
        while (DeviceRef(*flags).load(cuda::memory_order_relaxed) == 0) {
        }
        *out = *data;  // MISTAKE(data_race): the load should acquire
        // HINT: did not acquire
    }
}

void release_store_relaxed_load() { run_pair(relaxed_load); }

__global__ void volatile_poll_without_fence(int* counter, int* data, int* flags, int* out) {
    volatile int* const flag = flags;
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: released by the fence
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        *out = *data;  // MISTAKE(data_race): the fence behind the loop is missing
        // HINT: did not acquire
    }
}

void volatile_flag_without_acquire() { run_pair(volatile_poll_without_fence); }

__global__ void read_before_acquire(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: released by the store
        DeviceRef(*flags).store(1, cuda::memory_order_release);
    } else {
        while (DeviceRef(*flags).load(cuda::memory_order_relaxed) == 0) {
        }
        const int value = *data;  // MISTAKE(data_race): read before the load that acquires
        *out = value + DeviceRef(*flags).load(cuda::memory_order_acquire);
    }
}

void data_read_before_the_acquire() { run_pair(read_before_acquire); }

__global__ void lock_taken_without_fence(int* lock, int* total) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *total += 1;  // MISTAKE(data_race): the fence behind the compare-and-swap is missing
    __threadfence();
    atomicExch(lock, 0);
}

void lock_without_acquire() {
    DeviceBuffer<int> d_lock(zeros(1)), d_total(zeros(1));
    lock_taken_without_fence<<<blocks, threads>>>(d_lock.data(), d_total.data());
    check_finished();
}

// ---- the writer does not release -------------------------------------------------------------------------------

__global__ void set_without_fence(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: the fence behind it is missing
        atomicExch(flags, 1);
    } else {
        while (atomicAdd(flags, 0) == 0) {
        }
        __threadfence();
        *out = *data;  // MISTAKE(data_race): seen before the data, perhaps
        // HINT: did not release
    }
}

void flag_set_without_fence() { run_pair(set_without_fence); }

__global__ void relaxed_store(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: not released
        DeviceRef(*flags).store(1, cuda::memory_order_relaxed);
    } else {
        while (DeviceRef(*flags).load(cuda::memory_order_acquire) == 0) {
        }
        *out = *data;  // MISTAKE(data_race): the store should release
        // HINT: did not release
    }
}

void relaxed_store_acquire_load() { run_pair(relaxed_store); }

__global__ void fence_too_early(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        __threadfence();
        *data = 42;  // OTHER: behind the fence instead of before it
        atomicExch(flags, 1);
    } else {
        while (atomicAdd(flags, 0) == 0) {
        }
        __threadfence();
        *out = *data;  // MISTAKE(data_race): the fence covers what stands before it
    }
}

void data_written_behind_the_fence() { run_pair(fence_too_early); }

__global__ void data_too_late(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        DeviceRef(*flags).store(1, cuda::memory_order_release);
        *data = 42;  // OTHER: behind the store that releases
    } else {
        while (DeviceRef(*flags).load(cuda::memory_order_acquire) == 0) {
        }
        *out = *data;  // MISTAKE(data_race): flag and data in the wrong order
    }
}

void data_written_behind_the_release() { run_pair(data_too_late); }

__global__ void acquire_fence_on_both_sides(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: not released
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        DeviceRef(*flags).store(1, cuda::memory_order_relaxed);
    } else {
        while (DeviceRef(*flags).load(cuda::memory_order_relaxed) == 0) {
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        *out = *data;  // MISTAKE(data_race): the writer's fence has to release
    }
}

void writer_with_an_acquire_fence() { run_pair(acquire_fence_on_both_sides); }

__global__ void lock_given_back_without_fence(int* lock, int* total) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *total += 1;  // MISTAKE(data_race): the fence before the lock is given back is missing
    atomicExch(lock, 0);
}

void lock_without_release() {
    DeviceBuffer<int> d_lock(zeros(1)), d_total(zeros(1));
    lock_given_back_without_fence<<<blocks, threads>>>(d_lock.data(), d_total.data());
    check_finished();
}

// ---- neither ---------------------------------------------------------------------------------------------------

__global__ void relaxed_refs(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: not released
        DeviceRef(*flags).store(1, cuda::memory_order_relaxed);
    } else {
        while (DeviceRef(*flags).load(cuda::memory_order_relaxed) == 0) {
        }
        *out = *data;  // MISTAKE(data_race): relaxed on both sides
        // HINT: a flag orders no other memory by itself
    }
}

void relaxed_flag() { run_pair(relaxed_refs); }

__global__ void volatile_flag(int* counter, int* data, int* flags, int* out) {
    volatile int* const flag = flags;
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: volatile orders nothing else
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        *out = *data;  // MISTAKE(data_race): no fence on either side
        // HINT: a flag orders no other memory by itself
    }
}

void volatile_flag_without_fences() { run_pair(volatile_flag); }

__global__ void lock_alone(int* lock, int* total) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *total += 1;  // MISTAKE(data_race): atomics are relaxed
    atomicExch(lock, 0);
}

void lock_without_fences() {
    DeviceBuffer<int> d_lock(zeros(1)), d_total(zeros(1));
    lock_alone<<<blocks, threads>>>(d_lock.data(), d_total.data());
    check_finished();
}

__global__ void relaxed_ticket_lock(int* next, int* serving, int* total) {
    if (threadIdx.x != 0) return;
    const int ticket = atomicAdd(next, 1);
    while (DeviceRef(*serving).load(cuda::memory_order_relaxed) != ticket) {
    }
    *total += 1;  // MISTAKE(data_race): relaxed load and relaxed store
    DeviceRef(*serving).store(ticket + 1, cuda::memory_order_relaxed);
}

void ticket_lock_that_is_relaxed() {
    DeviceBuffer<int> d_next(zeros(1)), d_serving(zeros(1)), d_total(zeros(1));
    relaxed_ticket_lock<<<blocks, threads>>>(d_next.data(), d_serving.data(), d_total.data());
    check_finished();
}

__global__ void relaxed_ring(int* counter, int* slots, int* filled, int* out) {
    if (take_number(counter) == 0) {
        for (int i = 0; i < 4; ++i) {
            slots[i] = i + 1;  // OTHER: not released
            DeviceRef(*filled).fetch_add(1, cuda::memory_order_relaxed);
        }
    } else {
        for (int i = 0; i < 4; ++i) {
            while (DeviceRef(*filled).load(cuda::memory_order_relaxed) <= i) {
            }
            out[i] = slots[i];  // MISTAKE(data_race): the number of filled slots tells nothing of what is in them
        }
    }
}

void queue_with_relaxed_count() { run_pair(relaxed_ring); }

// ---- scopes ----------------------------------------------------------------------------------------------------

__global__ void block_scope_refs(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: released to its own block
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
        DeviceRef(*flags).store(1, cuda::memory_order_relaxed);
    } else {
        while (DeviceRef(*flags).load(cuda::memory_order_acquire) == 0) {
        }
        *out = *data;  // MISTAKE(data_race): the fence has block scope
        // HINT: has block scope
    }
}

void release_fence_of_block_scope() { run_pair(block_scope_refs); }

__global__ void block_scope_acquire(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;  // OTHER: released to the device
        __threadfence();
        atomicExch(flags, 1);
    } else {
        while (atomicAdd(flags, 0) == 0) {
        }
        __threadfence_block();
        *out = *data;  // MISTAKE(data_race): the reader's fence has block scope
        // HINT: has block scope
    }
}

void acquire_fence_of_block_scope() { run_pair(block_scope_acquire); }

__global__ void flag_of_block_scope(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        *data = 42;                                             // OTHER: released to its own block
        BlockRef(*flags).store(1, cuda::memory_order_release);  // OTHER: atomic for its own block
    } else {
        while (BlockRef(*flags).load(cuda::memory_order_acquire) == 0) {  // MISTAKE(data_race): block scope
        }
        *out = *data;  // MISTAKE(data_race): block scope between blocks
    }
}

void atomic_ref_of_block_scope() { run_pair(flag_of_block_scope); }

__global__ void count_with_block_atomics(const int* in, int* count) {
    if (in[blockIdx.x * blockDim.x + threadIdx.x] % 2 == 0) {
        atomicAdd_block(count, 1);  // MISTAKE(data_race): atomic among the threads of one block only
        // HINT: atomics of block scope
    }
}

void block_atomics_between_blocks() {
    DeviceBuffer<int> d_in(zeros(blocks * threads)), d_count(zeros(1));
    count_with_block_atomics<<<blocks, threads>>>(d_in.data(), d_count.data());
    check_finished();
}

// ---- the handover goes another way ---------------------------------------------------------------------------------

__global__ void two_flags(int* counter, int* data, int* flags, int* out) {
    if (take_number(counter) == 0) {
        DeviceRef(flags[1]).store(1, cuda::memory_order_release);
        *data = 42;  // OTHER: told by the other flag
        DeviceRef(flags[0]).store(1, cuda::memory_order_release);
    } else {
        while (DeviceRef(flags[1]).load(cuda::memory_order_acquire) == 0) {
        }
        *out = *data;  // MISTAKE(data_race): this flag says nothing of the data
    }
}

void flag_that_tells_something_else() { run_pair(two_flags); }

__global__ void store_over_the_flag(int* counter, int* data, int* flags, int* out) {
    const int block = take_number(counter);
    if (block == 0) {
        *data = 42;  // OTHER: released by a store that nobody reads
        DeviceRef(*flags).store(1, cuda::memory_order_release);
    } else if (block == 1) {
        while (DeviceRef(*flags).load(cuda::memory_order_relaxed) != 1) {
        }
        DeviceRef(*flags).store(2, cuda::memory_order_relaxed);  // a fetch_add would carry the release on
    } else {
        while (DeviceRef(*flags).load(cuda::memory_order_acquire) != 2) {
        }
        *out = *data;  // MISTAKE(data_race): the store that was read has released nothing
    }
}

void release_replaced_by_a_relaxed_store() {
    DeviceBuffer<int> d_counter(zeros(1)), d_data(zeros(1)), d_flags(zeros(1)), d_out(zeros(1));
    store_over_the_flag<<<3, 1>>>(d_counter.data(), d_data.data(), d_flags.data(), d_out.data());
    check_finished();
}

__global__ void warps_without_fences(const int* in, int* out) {
    __shared__ int value, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = in[0] + 5;  // OTHER: by the first warp
        atomicExch_block(&ready, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd_block(&ready, 0) == 0) {
        }
        *out = value;  // MISTAKE(data_race): relaxed atomics between the warps of a block
    }
}

void warps_with_a_relaxed_flag() {
    DeviceBuffer<int> d_in(zeros(1)), d_out(zeros(1));
    warps_without_fences<<<1, 64>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_over_the_last_warp(const int* in, int* out) {
    __shared__ int partial[4];
    __shared__ unsigned done;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    int sum = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, step);
    if (lane != 0) return;
    partial[warp] = sum;  // OTHER: released by the fence
    __threadfence_block();
    if (atomicAdd_block(&done, 1u) != 3) return;
    for (unsigned other = 0; other < 3; ++other)
        sum += partial[(warp + 1 + other) % 4];  // MISTAKE(data_race): no fence
    *out = sum;
}

void last_warp_without_acquire() {
    DeviceBuffer<int> d_in(zeros(128)), d_out(zeros(1));
    sum_over_the_last_warp<<<1, 128>>>(d_in.data(), d_out.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList handover_races() {
    return {
        __FILE__,
        {{"last_block_without_acquire", "last-block sum without the fence behind the ticket",
          last_block_without_acquire},
         {"flag_polled_without_fence", "message passing without the reader's fence", flag_polled_without_fence},
         {"release_store_relaxed_load", "atomic_ref: release store, relaxed load", release_store_relaxed_load},
         {"volatile_flag_without_acquire", "volatile flag, fence of the writer only", volatile_flag_without_acquire},
         {"data_read_before_the_acquire", "data read before the load that acquires", data_read_before_the_acquire},
         {"lock_without_acquire", "spin lock without the fence behind atomicCAS", lock_without_acquire},
         {"flag_set_without_fence", "message passing without the writer's fence", flag_set_without_fence},
         {"relaxed_store_acquire_load", "atomic_ref: relaxed store, acquire load", relaxed_store_acquire_load},
         {"data_written_behind_the_fence", "fence before the data instead of behind it", data_written_behind_the_fence},
         {"data_written_behind_the_release", "flag set before the data is written", data_written_behind_the_release},
         {"writer_with_an_acquire_fence", "acquire fence where a release fence is needed",
          writer_with_an_acquire_fence},
         {"lock_without_release", "spin lock without the fence before atomicExch", lock_without_release},
         {"relaxed_flag", "atomic_ref relaxed on both sides", relaxed_flag},
         {"volatile_flag_without_fences", "volatile flag without fences", volatile_flag_without_fences},
         {"lock_without_fences", "spin lock of atomicCAS and atomicExch alone", lock_without_fences},
         {"ticket_lock_that_is_relaxed", "ticket lock with relaxed accesses", ticket_lock_that_is_relaxed},
         {"queue_with_relaxed_count", "queue whose count of filled slots is relaxed", queue_with_relaxed_count},
         {"release_fence_of_block_scope", "release fence of block scope between blocks", release_fence_of_block_scope},
         {"acquire_fence_of_block_scope", "__threadfence_block on the reader's side", acquire_fence_of_block_scope},
         {"atomic_ref_of_block_scope", "atomic_ref of block scope between blocks", atomic_ref_of_block_scope},
         {"block_atomics_between_blocks", "atomicAdd_block from several blocks", block_atomics_between_blocks},
         {"flag_that_tells_something_else", "reader waits for a flag that was set before the data",
          flag_that_tells_something_else},
         {"release_replaced_by_a_relaxed_store", "a relaxed store ends the release sequence",
          release_replaced_by_a_relaxed_store},
         {"warps_with_a_relaxed_flag", "flag in shared memory without fences", warps_with_a_relaxed_flag},
         {"last_warp_without_acquire", "last warp of a block without the fence behind its ticket",
          last_warp_without_acquire}}};
}

}  // namespace corpus
