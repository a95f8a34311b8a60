// Blocks of one launch that hand values to each other: through fences and atomic counters, flags, or a barrier of the
// whole grid. A block never waits for one that may not have started: blocks take their numbers from an atomic counter.
#include <cooperative_groups.h>

#include <numeric>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

constexpr int kThreads = 64;

// ---- the last block ------------------------------------------------------------------------------------------

/// Adds up `values` of the block; the sum is returned to thread 0 only.
__device__ int sum_of_block(int value) {
    __shared__ int values[kThreads];
    const int thread = threadIdx.x;
    values[thread] = value;
    __syncthreads();
    for (int width = kThreads / 2; width > 0; width /= 2) {
        if (thread < width) values[thread] += values[thread + width];
        __syncthreads();
    }
    return thread == 0 ? values[0] : 0;
}

/// One thread of each block writes: it alone needs a fence before it counts its block as done.
__global__ void last_block_sums(const int* in, int* partial, unsigned* done, int* out) {
    __shared__ bool is_last;
    const int sum = sum_of_block(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(done, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) return;
    int total = 0;
    for (int block = threadIdx.x; block < static_cast<int>(gridDim.x); block += kThreads) total += partial[block];
    total = sum_of_block(total);
    if (threadIdx.x == 0) {
        *out = total;
        *done = 0;  // ready for the next launch
    }
}

void last_block_adds_up_what_first_threads_wrote() {
    DeviceBuffer<int> d_in(sequence<int>(6 * kThreads, [](int i) { return i; })), d_partial(6), d_out(1);
    DeviceBuffer<unsigned> d_done(std::vector<unsigned>{0});
    for (int launch = 0; launch < 3; ++launch) {
        last_block_sums<<<6, kThreads>>>(d_in.data(), d_partial.data(), d_done.data(), d_out.data());
        check_finished();
        expect_equal(d_out.download(), {6 * kThreads * (6 * kThreads - 1) / 2});
    }
}

/// All threads write, and each fences its own writes before the barrier.
__global__ void last_block_adds_columns_fenced_by_all(const int* in, int* partial, unsigned* done, int* out) {
    __shared__ bool is_last;
    const int thread = threadIdx.x;
    partial[blockIdx.x * kThreads + thread] = 2 * in[blockIdx.x * kThreads + thread];
    __threadfence();
    __syncthreads();
    if (thread == 0) is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    int sum = 0;
    for (int block = 0; block < static_cast<int>(gridDim.x); ++block) sum += partial[block * kThreads + thread];
    out[thread] = sum;
}

/// All threads write; behind the barrier one thread fences for all of them.
__global__ void last_block_adds_columns_fenced_by_one(const int* in, int* partial, unsigned* done, int* out) {
    __shared__ bool is_last;
    const int thread = threadIdx.x;
    partial[blockIdx.x * kThreads + thread] = 2 * in[blockIdx.x * kThreads + thread];
    __syncthreads();
    if (thread == 0) {
        __threadfence();
        is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) return;
    int sum = 0;
    for (int block = 0; block < static_cast<int>(gridDim.x); ++block) sum += partial[block * kThreads + thread];
    out[thread] = sum;
}

void check_last_block(void (*kernel)(const int*, int*, unsigned*, int*)) {
    DeviceBuffer<int> d_in(sequence<int>(5 * kThreads, [](int i) { return i; })), d_partial(5 * kThreads);
    DeviceBuffer<int> d_out(kThreads);
    DeviceBuffer<unsigned> d_done(std::vector<unsigned>{0});
    for (int launch = 0; launch < 2; ++launch) {
        kernel<<<5, kThreads>>>(d_in.data(), d_partial.data(), d_done.data(), d_out.data());
        check_finished();
        expect_equal(d_out.download(), sequence<int>(kThreads, [](int i) { return 2 * (5 * i + 10 * kThreads); }));
    }
}

void last_block_behind_fences_of_all_threads() { check_last_block(last_block_adds_columns_fenced_by_all); }
void last_block_behind_a_fence_of_one_thread() { check_last_block(last_block_adds_columns_fenced_by_one); }

// ---- each block waits for the one before ---------------------------------------------------------------------

/// Number of the block in the order in which blocks start: whoever waits for a smaller one waits for a running block.
__device__ int take_number(int* counter) {
    __shared__ int number;
    if (threadIdx.x == 0) number = atomicAdd(counter, 1);
    __syncthreads();
    return number;
}

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

/// The sum of all blocks before travels from block to block beside a flag that is polled with an atomic.
__global__ void chained_scan(const int* in, int* out, int* counter, int* sums, int* flags) {
    __shared__ int scratch[kThreads];
    __shared__ int before;
    const int block = take_number(counter);
    const int own = scan_of_block(in[block * kThreads + threadIdx.x], scratch);
    if (threadIdx.x == 0) {
        before = 0;
        if (block > 0) {
            while (atomicAdd(&flags[block - 1], 0) == 0) {
            }
            __threadfence();
            before = sums[block - 1];
        }
        sums[block] = before + scratch[kThreads - 1];
        __threadfence();
        atomicExch(&flags[block], 1);
    }
    __syncthreads();
    out[block * kThreads + threadIdx.x] = before + own;
}

/// A block publishes its own sum first and the sum of all up to it as soon as it is known; the next blocks look back
/// over as many blocks as they need to. Sum and state travel in one 64-bit word, so that no fence is needed.
__global__ void scan_looking_back(const int* in, int* out, int* counter, unsigned long long* states) {
    constexpr unsigned long long own_sum = 1ull << 32, sum_so_far = 2ull << 32;
    __shared__ int scratch[kThreads];
    __shared__ int before;
    const int block = take_number(counter);
    const int own = scan_of_block(in[block * kThreads + threadIdx.x], scratch);
    if (threadIdx.x == 0) {
        const int sum = scratch[kThreads - 1];
        atomicExch(&states[block], own_sum | static_cast<unsigned>(sum));
        before = 0;
        for (int other = block - 1; other >= 0;) {
            const unsigned long long state = atomicAdd(&states[other], 0ull);
            if (state == 0) continue;
            before += static_cast<int>(state & 0xFFFFFFFFu);
            if ((state & sum_so_far) != 0) break;
            --other;
        }
        atomicExch(&states[block], sum_so_far | static_cast<unsigned>(before + sum));
    }
    __syncthreads();
    out[block * kThreads + threadIdx.x] = before + own;
}

/// As chained_scan; the flags are volatile instead of atomic.
__global__ void chained_scan_volatile(const int* in, int* out, int* counter, volatile int* sums, volatile int* flags) {
    __shared__ int scratch[kThreads];
    __shared__ int before;
    const int block = take_number(counter);
    const int own = scan_of_block(in[block * kThreads + threadIdx.x], scratch);
    if (threadIdx.x == 0) {
        before = 0;
        if (block > 0) {
            while (flags[block - 1] == 0) {
            }
            __threadfence();
            before = sums[block - 1];
        }
        sums[block] = before + scratch[kThreads - 1];
        __threadfence();
        flags[block] = 1;
    }
    __syncthreads();
    out[block * kThreads + threadIdx.x] = before + own;
}

struct ScanData {
    static constexpr int blocks = 7;
    std::vector<int> values = scrambled(blocks * kThreads, 100), expected = std::vector<int>(values.size());
    DeviceBuffer<int> d_in{values}, d_out{values.size()}, d_counter{std::vector<int>{0}};

    ScanData() { std::partial_sum(values.begin(), values.end(), expected.begin()); }
    void check_result() {
        check_finished();
        expect_equal(d_out.download(), expected);
    }
};

void flags_polled_with_atomics() {
    ScanData data;
    DeviceBuffer<int> d_sums(ScanData::blocks), d_flags(std::vector<int>(ScanData::blocks, 0));
    chained_scan<<<ScanData::blocks, kThreads>>>(data.d_in.data(), data.d_out.data(), data.d_counter.data(),
                                                 d_sums.data(), d_flags.data());
    data.check_result();
}

void flags_that_are_volatile() {
    ScanData data;
    DeviceBuffer<int> d_sums(ScanData::blocks), d_flags(std::vector<int>(ScanData::blocks, 0));
    chained_scan_volatile<<<ScanData::blocks, kThreads>>>(data.d_in.data(), data.d_out.data(), data.d_counter.data(),
                                                          d_sums.data(), d_flags.data());
    data.check_result();
}

void look_back_with_state_and_sum_in_one_word() {
    ScanData data;
    DeviceBuffer<unsigned long long> d_states(std::vector<unsigned long long>(ScanData::blocks, 0));
    scan_looking_back<<<ScanData::blocks, kThreads>>>(data.d_in.data(), data.d_out.data(), data.d_counter.data(),
                                                      d_states.data());
    data.check_result();
}

/// Blocks append in order to one text: each waits for its turn, then all its threads write behind what is there.
__global__ void append_in_order(const int* lengths, int* counter, int* turn, int* end, int* text) {
    __shared__ int start;
    const int block = take_number(counter);
    if (threadIdx.x == 0) {
        while (atomicAdd(turn, 0) != block) {
        }
        __threadfence();
        start = *end;
    }
    __syncthreads();
    const int thread = threadIdx.x;
    if (thread < lengths[block]) text[start + thread] = (start > 0 ? text[start - 1] : 0) + 1;
    __syncthreads();
    if (thread == 0) {
        *end = start + lengths[block];
        __threadfence();
        atomicAdd(turn, 1);
    }
}

void blocks_append_when_it_is_their_turn() {
    const std::vector<int> lengths = {3, 1, 7, 2, 5};
    DeviceBuffer<int> d_lengths(lengths), d_counter(std::vector<int>{0}), d_turn(std::vector<int>{0});
    DeviceBuffer<int> d_end(std::vector<int>{0}), d_text(18);
    append_in_order<<<5, kThreads>>>(d_lengths.data(), d_counter.data(), d_turn.data(), d_end.data(), d_text.data());
    check_finished();
    expect_equal(d_text.download(), {1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5, 5, 5});
}

/// Blocks take tiles until none is left; each tile is written by whoever took it.
__global__ void tiles_on_demand(int* next_tile, int tiles, int* out) {
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(next_tile, 1);
        __syncthreads();
        if (tile >= tiles) return;
        out[tile * blockDim.x + threadIdx.x] = tile;
        __syncthreads();
    }
}

void persistent_blocks_take_tiles() {
    DeviceBuffer<int> d_next(std::vector<int>{0}), d_out(13 * 32);
    tiles_on_demand<<<3, 32>>>(d_next.data(), 13, d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(13 * 32, [](int i) { return i / 32; }));
}

// ---- a barrier of the grid -----------------------------------------------------------------------------------

__global__ void reverse_behind_grid_barrier(const int* in, int* copy, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) copy[i] = in[i] + 1;
    cooperative_groups::this_grid().sync();
    if (i < n) out[i] = copy[n - 1 - i];
}

template <class... Parameters, class... Arguments>
void launch_cooperatively(void (*kernel)(Parameters...), int blocks, int threads, Arguments... arguments) {
    void* addresses[] = {&arguments...};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads), addresses, 0,
                                      nullptr));
    check_finished();
}

void grid_barrier_between_write_and_read() {
    constexpr int n = 250;
    DeviceBuffer<int> d_in(sequence<int>(n, [](int i) { return i; })), d_copy(n), d_out(n);
    launch_cooperatively(reverse_behind_grid_barrier, 4, kThreads, d_in.data(), d_copy.data(), d_out.data(), n);
    expect_equal(d_out.download(), sequence<int>(n, [](int i) { return n - i; }));
}

/// Jacobi's iteration: a step reads one array and writes the other.
__global__ void smooth_on_grid(float* first, float* second, int n, int steps) {
    const auto grid = cooperative_groups::this_grid();
    const int i = grid.thread_rank();
    float *from = first, *to = second;
    for (int step = 0; step < steps; ++step) {
        if (i < n) to[i] = from[i == 0 ? n - 1 : i - 1] + from[i == n - 1 ? 0 : i + 1];
        grid.sync();
        float* const read = from;
        from = to;
        to = read;
    }
}

void grid_barrier_in_a_loop() {
    constexpr int n = 150;
    auto expected = scrambled<float>(n, 5);
    DeviceBuffer<float> d_first(expected), d_second(n);
    launch_cooperatively(smooth_on_grid, 3, kThreads, d_first.data(), d_second.data(), n, 4);
    for (int step = 0; step < 4; ++step) {
        const std::vector<float> before = expected;
        for (int i = 0; i < n; ++i) expected[i] = before[(i + n - 1) % n] + before[(i + 1) % n];
    }
    expect_equal(d_first.download(), expected);
}

/// Every block adds up all partial sums by itself once they are there.
__global__ void normalize(float* values, float* partial) {
    const auto grid = cooperative_groups::this_grid();
    const auto block = cooperative_groups::this_thread_block();
    __shared__ float sum;
    if (block.thread_rank() == 0) sum = 0;
    block.sync();
    atomicAdd(&sum, values[grid.thread_rank()]);
    block.sync();
    if (block.thread_rank() == 0) partial[blockIdx.x] = sum;
    grid.sync();
    float total = 0;
    for (unsigned other = 0; other < gridDim.x; ++other) total += partial[other];
    values[grid.thread_rank()] /= total;
}

void partial_sums_read_by_all_blocks() {
    DeviceBuffer<float> d_values(std::vector<float>(4 * kThreads, 2)), d_partial(4);
    launch_cooperatively(normalize, 4, kThreads, d_values.data(), d_partial.data());
    expect_equal(d_values.download(), std::vector<float>(4 * kThreads, 1.0f / (4 * kThreads)));
}

}  // namespace

CaseList between_blocks() {
    return {__FILE__,
            {
                {"last_block_adds_up_what_first_threads_wrote", "the writer fences, then counts its block",
                 last_block_adds_up_what_first_threads_wrote},
                {"last_block_behind_fences_of_all_threads", "all fence, barrier, one counts",
                 last_block_behind_fences_of_all_threads},
                {"last_block_behind_a_fence_of_one_thread", "barrier, one fences and counts",
                 last_block_behind_a_fence_of_one_thread},
                {"flags_polled_with_atomics", "each block waits for one that runs already", flags_polled_with_atomics},
                {"flags_that_are_volatile", "volatile flags between fences", flags_that_are_volatile},
                {"look_back_with_state_and_sum_in_one_word", "the atomic word carries its own value",
                 look_back_with_state_and_sum_in_one_word},
                {"blocks_append_when_it_is_their_turn", "a turn ends with barrier, fence and atomic",
                 blocks_append_when_it_is_their_turn},
                {"persistent_blocks_take_tiles", "no tile is taken twice", persistent_blocks_take_tiles},
                {"grid_barrier_between_write_and_read", "grid.sync() in a cooperative launch",
                 grid_barrier_between_write_and_read},
                {"grid_barrier_in_a_loop", "all blocks loop alike", grid_barrier_in_a_loop},
                {"partial_sums_read_by_all_blocks", "written before grid.sync(), read behind it",
                 partial_sums_read_by_all_blocks},
            }};
}

}  // namespace corpus
