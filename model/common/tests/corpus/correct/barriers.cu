// Where barriers stand: as few as are enough, in loops and branches that all threads of a block take together, and none
// for threads that have left.
#include <algorithm>
#include <numeric>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

constexpr int kThreads = 128;

// ---- in loops ------------------------------------------------------------------------------------------------

/// Each step uses one half. It is written again two steps later, when another barrier has seen all readers done.
__global__ void smooth_double_buffered(float* values, int steps) {
    __shared__ float buffer[2][kThreads];
    const int thread = threadIdx.x;
    const int left = (thread + kThreads - 1) % kThreads, right = (thread + 1) % kThreads;
    float own = values[thread];
    for (int step = 0; step < steps; ++step) {
        buffer[step % 2][thread] = own;
        __syncthreads();
        own = buffer[step % 2][left] + buffer[step % 2][right];
    }
    values[thread] = own;
}

void double_buffer_with_one_barrier_per_step() {
    auto expected = scrambled<float>(kThreads, 10);
    DeviceBuffer<float> d_values(expected);
    smooth_double_buffered<<<1, kThreads>>>(d_values.data(), 7);
    check_finished();
    for (int step = 0; step < 7; ++step) {
        const std::vector<float> before = expected;
        for (int i = 0; i < kThreads; ++i) {
            expected[i] = before[(i + kThreads - 1) % kThreads] + before[(i + 1) % kThreads];
        }
    }
    expect_equal(d_values.download(), expected);
}

__global__ void scan_ping_pong(const int* in, int* out) {
    __shared__ int first[kThreads], second[kThreads];
    int *from = first, *to = second;
    const int thread = threadIdx.x;
    from[thread] = in[thread];
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        to[thread] = from[thread] + (thread >= distance ? from[thread - distance] : 0);
        __syncthreads();
        int* const read = from;
        from = to;
        to = read;
    }
    out[thread] = from[thread];
}

__global__ void scan_in_place(const int* in, int* out) {
    __shared__ int sums[kThreads];
    const int thread = threadIdx.x;
    sums[thread] = in[thread];
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        const int add = thread >= distance ? sums[thread - distance] : 0;
        __syncthreads();
        sums[thread] += add;
        __syncthreads();
    }
    out[thread] = sums[thread];
}

/// Blelloch's scan: up a tree and down again; the sums before each element.
__global__ void scan_on_a_tree(const int* in, int* out) {
    __shared__ int tree[2 * kThreads];
    const int thread = threadIdx.x;
    tree[2 * thread] = in[2 * thread];
    tree[2 * thread + 1] = in[2 * thread + 1];
    int stride = 1;
    for (int nodes = kThreads; nodes > 0; nodes /= 2) {
        __syncthreads();
        if (thread < nodes) tree[stride * (2 * thread + 2) - 1] += tree[stride * (2 * thread + 1) - 1];
        stride *= 2;
    }
    if (thread == 0) tree[2 * kThreads - 1] = 0;
    for (int nodes = 1; nodes <= kThreads; nodes *= 2) {
        stride /= 2;
        __syncthreads();
        if (thread < nodes) {
            const int left = stride * (2 * thread + 1) - 1, right = stride * (2 * thread + 2) - 1;
            const int sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }
    __syncthreads();
    out[2 * thread] = tree[2 * thread];
    out[2 * thread + 1] = tree[2 * thread + 1];
}

void check_inclusive_scan(void (*kernel)(const int*, int*)) {
    const std::vector<int> values = scrambled(kThreads, 100);
    std::vector<int> expected(kThreads);
    std::partial_sum(values.begin(), values.end(), expected.begin());
    DeviceBuffer<int> d_in(values), d_out(kThreads);
    kernel<<<1, kThreads>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), expected);
}

void scan_with_two_buffers() { check_inclusive_scan(scan_ping_pong); }
void scan_in_place_with_two_barriers() { check_inclusive_scan(scan_in_place); }

void scan_up_and_down_a_tree() {
    const std::vector<int> values = scrambled(2 * kThreads, 100);
    std::vector<int> expected(2 * kThreads);
    std::exclusive_scan(values.begin(), values.end(), expected.begin(), 0);
    DeviceBuffer<int> d_in(values), d_out(2 * kThreads);
    scan_on_a_tree<<<1, kThreads>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), expected);
}

__global__ void sort_bitonic(int* values) {
    __shared__ int shared_values[kThreads];
    const int thread = threadIdx.x;
    shared_values[thread] = values[thread];
    __syncthreads();
    for (int run = 2; run <= kThreads; run *= 2) {
        for (int distance = run / 2; distance > 0; distance /= 2) {
            const int partner = thread ^ distance;
            if (partner > thread) {
                const bool ascending = (thread & run) == 0;
                const int low = shared_values[thread], high = shared_values[partner];
                if ((low > high) == ascending) {
                    shared_values[thread] = high;
                    shared_values[partner] = low;
                }
            }
            __syncthreads();
        }
    }
    values[thread] = shared_values[thread];
}

__global__ void sort_odd_even(int* values) {
    __shared__ int shared_values[2 * kThreads];
    const int thread = threadIdx.x;
    for (int i = thread; i < 2 * kThreads; i += kThreads) shared_values[i] = i < kThreads ? values[i] : kThreads - i;
    __syncthreads();
    for (int round = 0; round < 2 * kThreads; ++round) {
        const int left = 2 * thread + round % 2;
        if (left + 1 < 2 * kThreads && shared_values[left] > shared_values[left + 1]) {
            const int larger = shared_values[left];
            shared_values[left] = shared_values[left + 1];
            shared_values[left + 1] = larger;
        }
        __syncthreads();
    }
    values[thread] = shared_values[kThreads + thread];
}

void check_sort(void (*kernel)(int*)) {
    std::vector<int> values = scrambled(kThreads, 1000);
    DeviceBuffer<int> d_values(values);
    kernel<<<1, kThreads>>>(d_values.data());
    check_finished();
    std::sort(values.begin(), values.end());
    expect_equal(d_values.download(), values);
}

void bitonic_sort_in_shared_memory() { check_sort(sort_bitonic); }
void odd_even_sort_in_shared_memory() { check_sort(sort_odd_even); }

__global__ void sum_a_block_at_a_time(const int* offsets, const int* values, int* sums) {
    __shared__ int chunk[32];
    const int thread = threadIdx.x;
    int sum = 0;
    for (int start = offsets[blockIdx.x]; start < offsets[blockIdx.x + 1]; start += 32) {
        const int i = start + thread;
        chunk[thread] = i < offsets[blockIdx.x + 1] ? values[i] : 0;
        __syncthreads();
        for (int other = 0; other < 32; ++other) sum += chunk[other];
        __syncthreads();
    }
    if (thread == 0) sums[blockIdx.x] = sum;
}

void blocks_loop_a_different_number_of_times() {
    DeviceBuffer<int> d_offsets(std::vector<int>{0, 0, 5, 37, 101}), d_values(std::vector<int>(101, 2)), d_sums(4);
    sum_a_block_at_a_time<<<4, 32>>>(d_offsets.data(), d_values.data(), d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), {0, 10, 64, 128});
}

/// The block takes numbers until it meets a zero. All threads read the shared number before anyone replaces it.
__global__ void take_until_zero(const int* numbers, int* out) {
    __shared__ int number;
    int sum = 0;
    for (int i = 0;; ++i) {
        if (threadIdx.x == 0) number = numbers[i];
        __syncthreads();
        const int taken = number;
        __syncthreads();
        if (taken == 0) break;
        sum += taken * threadIdx.x;
    }
    out[threadIdx.x] = sum;
}

void block_leaves_loop_by_shared_number() {
    DeviceBuffer<int> d_numbers(std::vector<int>{3, 1, 4, 1, 5, 0}), d_out(48);
    take_until_zero<<<1, 48>>>(d_numbers.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(48, [](int i) { return 14 * i; }));
}

// ---- barriers that count -------------------------------------------------------------------------------------

/// Lowers every value to its smaller neighbor's until no thread changes anything.
__global__ void spread_minimum(int* values, int* rounds) {
    __shared__ int spread[64];
    const int thread = threadIdx.x;
    spread[thread] = values[thread];
    int round = 0;
    bool changed;
    do {
        __syncthreads();
        const int left = thread > 0 ? spread[thread - 1] : spread[thread];
        const int lower = min(left, spread[thread]);
        changed = lower != spread[thread];
        __syncthreads();
        spread[thread] = lower;
        ++round;
    } while (__syncthreads_or(changed));
    values[thread] = spread[thread];
    if (thread == 0) *rounds = round;
}

void loop_until_no_thread_changes_anything() {
    DeviceBuffer<int> d_values(sequence<int>(64, [](int i) { return i == 20 ? -5 : i; })), d_rounds(1);
    spread_minimum<<<1, 64>>>(d_values.data(), d_rounds.data());
    check_finished();
    expect_equal(d_values.download(), sequence<int>(64, [](int i) { return i < 20 ? 0 : -5; }));
    expect_equal(d_rounds.download(), {44});
}

__global__ void count_and_agree(const int* values, int* counts, int* agree) {
    __shared__ int copies[96];
    copies[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
    const int positive = __syncthreads_count(copies[threadIdx.x] > 0);
    const int mirrored = copies[95 - threadIdx.x];  // the counting barrier is a barrier, too
    const bool same = __syncthreads_and(mirrored == copies[threadIdx.x]);
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = positive;
        agree[blockIdx.x] = same;
    }
}

void counting_barriers_order_memory() {
    DeviceBuffer<int> d_values(sequence<int>(192, [](int i) { return i < 96 ? 5 : i - 100; })), d_counts(2), d_agree(2);
    count_and_agree<<<2, 96>>>(d_values.data(), d_counts.data(), d_agree.data());
    check_finished();
    expect_equal(d_counts.download(), {96, 91});
    expect_equal(d_agree.download(), {1, 0});
}

// ---- in branches and functions -------------------------------------------------------------------------------

__global__ void reverse_in_some_blocks(int* values, int mode) {
    __shared__ int copies[64];
    const int thread = threadIdx.x;
    int* const own = values + 64 * blockIdx.x;
    if (blockIdx.x % 2 == 1) {
        copies[thread] = own[thread];
        __syncthreads();
        own[thread] = copies[63 - thread];
    } else if (mode == 1) {
        copies[63 - thread] = own[thread];
        __syncthreads();
        own[thread] = copies[thread];
    }
}

void barrier_in_branches_by_block_and_argument() {
    DeviceBuffer<int> d_values(sequence<int>(256, [](int i) { return i; }));
    reverse_in_some_blocks<<<4, 64>>>(d_values.data(), 1);
    reverse_in_some_blocks<<<4, 64>>>(d_values.data(), 2);
    check_finished();
    expect_equal(d_values.download(),
                 sequence<int>(256, [](int i) { return i / 64 % 2 == 1 ? i : i / 64 * 64 + 63 - i % 64; }));
}

__device__ int block_sum(int value, int* scratch) {
    const int thread = threadIdx.x;
    scratch[thread] = value;
    __syncthreads();
    for (int width = blockDim.x / 2; width > 0; width /= 2) {
        if (thread < width) scratch[thread] += scratch[thread + width];
        __syncthreads();
    }
    const int sum = scratch[0];
    __syncthreads();  // so that the next call may use the scratch memory
    return sum;
}

__global__ void center_values(int* values) {
    __shared__ int scratch[64];
    const int value = values[threadIdx.x];
    const int mean = block_sum(value, scratch) / 64;
    const int spread = block_sum(abs(value - mean), scratch);
    values[threadIdx.x] = 1000 * mean + spread;
}

void barrier_in_a_function_called_twice() {
    DeviceBuffer<int> d_values(sequence<int>(64, [](int i) { return i < 32 ? 10 : 20; }));
    center_values<<<1, 64>>>(d_values.data());
    check_finished();
    expect_equal(d_values.download(), std::vector<int>(64, 15320));
}

template <int Width>
__device__ void fold(int* values) {
    if (static_cast<int>(threadIdx.x) < Width) values[threadIdx.x] += values[threadIdx.x + Width];
    __syncthreads();
    if constexpr (Width > 1) fold<Width / 2>(values);
}

__global__ void sum_by_template(const int* in, int* out) {
    __shared__ int values[kThreads];
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    fold<kThreads / 2>(values);
    if (threadIdx.x == 0) *out = values[0];
}

void barriers_in_a_template_that_calls_itself() {
    DeviceBuffer<int> d_in(sequence<int>(kThreads, [](int i) { return i; })), d_out(1);
    sum_by_template<<<1, kThreads>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), {kThreads * (kThreads - 1) / 2});
}

// ---- threads that leave --------------------------------------------------------------------------------------

__global__ void shift_active_blocks(const int* active, int* values) {
    __shared__ int copies[64];
    if (active[blockIdx.x] == 0) return;  // the whole block
    const int thread = threadIdx.x;
    copies[thread] = values[64 * blockIdx.x + thread];
    __syncthreads();
    values[64 * blockIdx.x + thread] = copies[(thread + 1) % 64];
}

void whole_block_returns_before_barrier() {
    DeviceBuffer<int> d_active(std::vector<int>{1, 0, 1}), d_values(sequence<int>(192, [](int i) { return i; }));
    shift_active_blocks<<<3, 64>>>(d_active.data(), d_values.data());
    check_finished();
    expect_equal(d_values.download(),
                 sequence<int>(192, [](int i) { return i / 64 == 1 ? i : i / 64 * 64 + (i + 1) % 64; }));
}

__global__ void neighbors_differ(const int* values, int n, int* out) {
    __shared__ int copies[64];
    const int thread = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + thread;
    if (i < n) copies[thread] = values[i];
    __syncthreads();
    if (i >= n) return;  // no barrier follows
    const int last = min(63, static_cast<int>(n - 1 - blockIdx.x * blockDim.x));
    if (thread == last) {
        out[i] = 0;
        return;
    }
    out[i] = copies[thread + 1] - copies[thread];
}

void threads_leave_behind_the_last_barrier() {
    constexpr int n = 150;
    DeviceBuffer<int> d_values(sequence<int>(n, [](int i) { return i * i; })), d_out(n);
    neighbors_differ<<<3, 64>>>(d_values.data(), n, d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(n, [](int i) { return i == n - 1 || i % 64 == 63 ? 0 : 2 * i + 1; }));
}

// ---- warps that hand over ------------------------------------------------------------------------------------

/// The second warp fetches the next chunk while the first one adds the last one up.
__global__ void fetch_ahead(const int* in, int chunks, int* sums) {
    __shared__ int chunk[2][32];
    const int lane = threadIdx.x % 32;
    const bool fetches = threadIdx.x >= 32;
    if (fetches) chunk[0][lane] = in[lane];
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < chunks; ++i) {
        if (fetches) {
            if (i + 1 < chunks) chunk[(i + 1) % 2][lane] = in[32 * (i + 1) + lane];
        } else {
            sum += chunk[i % 2][31 - lane];
        }
        __syncthreads();
    }
    if (!fetches) sums[lane] = sum;
}

void one_warp_fetches_for_another() {
    DeviceBuffer<int> d_in(sequence<int>(160, [](int i) { return i; })), d_sums(32);
    fetch_ahead<<<1, 64>>>(d_in.data(), 5, d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), sequence<int>(32, [](int lane) { return 5 * (31 - lane) + 320; }));
}

// ---- threads that have exited are not waited for -------------------------------------------------------------

__global__ void maximum_of_those_who_stay(const float* in, float* out, int count) {
    __shared__ float values[64];
    const int t = threadIdx.x;
    if (t >= count) return;
    values[t] = in[t];
    __syncthreads();
    if (t == 0) {
        float largest = values[0];
        for (int i = 1; i < count; ++i) largest = values[i] > largest ? values[i] : largest;
        *out = largest;
    }
}

void threads_without_data_exit_before_a_barrier() {
    DeviceBuffer<float> d_in(sequence<float>(50, [](int i) { return i == 33 ? 99 : i; })), d_out(1);
    maximum_of_those_who_stay<<<1, 64>>>(d_in.data(), d_out.data(), 50);
    check_finished();
    expect_equal(d_out.download(), {99.0f});
}

__global__ void copy_by_tiles(const float* in, float* out, int count) {
    __shared__ float row[64];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    row[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = row[threadIdx.x];
}

void threads_of_the_last_block_exit_early() {
    const auto values = scrambled<float>(100, 1000);
    DeviceBuffer<float> d_in(values), d_out(100);
    copy_by_tiles<<<2, 64>>>(d_in.data(), d_out.data(), 100);
    check_finished();
    expect_equal(d_out.download(), values);
}

template <bool Check>
__global__ void fill_guarded_columns(float* matrix, int cols) {
    const int col = threadIdx.x, row = threadIdx.y;
    if (Check && col >= cols) return;
    matrix[row * cols + col] = 1;
    __syncthreads();
    if (row == 0) matrix[7 * cols + col] = 2;
}

void columns_without_data_exit_early() {
    DeviceBuffer<float> d_matrix(6 * 8);
    fill_guarded_columns<true><<<1, dim3(8, 8)>>>(d_matrix.data(), 6);
    check_finished();
    expect_equal(d_matrix.download(), sequence<float>(48, [](int i) { return i < 42 ? 1 : 2; }));
}

__global__ void all_but_one_exit(int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1);
    for (unsigned left = blockDim.x; left > 1; left /= 2) {
        if (threadIdx.x >= left / 2) return;
        __syncthreads();
    }
    __syncthreads();
    *out = sum;
}

void threads_exit_between_barriers_by_halves() {
    DeviceBuffer<int> d_out(1);
    all_but_one_exit<<<1, 256>>>(d_out.data());
    check_finished();
    expect_equal(d_out.download(), {256});
}

__global__ void barrier_of_those_who_work(const int* in, int* out) {
    __shared__ int values[64];
    if (threadIdx.x < 32) {
        values[threadIdx.x] = in[threadIdx.x];
        __syncthreads();  // the other warp runs to its end
        out[threadIdx.x] = values[31 - threadIdx.x];
    }
}

void other_warp_runs_to_its_end() {
    DeviceBuffer<int> d_in(sequence<int>(32, [](int i) { return i; })), d_out(32);
    barrier_of_those_who_work<<<1, 64>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(32, [](int i) { return 31 - i; }));
}

__global__ void rounds_as_needed(const int* rounds, int* out) {
    __shared__ int turns[64];
    turns[threadIdx.x] = 0;
    for (int round = 0; round < rounds[threadIdx.x]; ++round) {
        ++turns[threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = turns[threadIdx.x];
}

void threads_leave_a_loop_with_a_barrier_for_good() {
    const auto rounds = sequence<int>(64, [](int i) { return i % 7; });
    DeviceBuffer<int> d_rounds(rounds), d_out(64);
    rounds_as_needed<<<1, 64>>>(d_rounds.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), rounds);
}

__global__ void count_of_those_who_stay(const int* in, int* out, int count) {
    if (static_cast<int>(threadIdx.x) >= count) return;
    const int positive = __syncthreads_count(in[threadIdx.x] > 0);
    const int all = __syncthreads_and(in[threadIdx.x] > 0);
    if (threadIdx.x == 0) *out = all ? positive : -positive;
}

void counting_barrier_without_those_who_left() {
    DeviceBuffer<int> d_in(std::vector<int>(50, 3)), d_out(1);
    count_of_those_who_stay<<<1, 64>>>(d_in.data(), d_out.data(), 50);
    check_finished();
    expect_equal(d_out.download(), {50});
}

}  // namespace

CaseList barriers() {
    return {
        __FILE__,
        {
            {"double_buffer_with_one_barrier_per_step", "the half written now was read before the last barrier",
             double_buffer_with_one_barrier_per_step},
            {"scan_with_two_buffers", "ping-pong, one barrier a step", scan_with_two_buffers},
            {"scan_in_place_with_two_barriers", "read, barrier, write, barrier", scan_in_place_with_two_barriers},
            {"scan_up_and_down_a_tree", "the barrier stands at the start of each step", scan_up_and_down_a_tree},
            {"bitonic_sort_in_shared_memory", "each pair belongs to one thread", bitonic_sort_in_shared_memory},
            {"odd_even_sort_in_shared_memory", "pairs alternate between barriers", odd_even_sort_in_shared_memory},
            {"blocks_loop_a_different_number_of_times", "trip counts differ between blocks only",
             blocks_loop_a_different_number_of_times},
            {"block_leaves_loop_by_shared_number", "all leave together", block_leaves_loop_by_shared_number},
            {"loop_until_no_thread_changes_anything", "__syncthreads_or decides for all",
             loop_until_no_thread_changes_anything},
            {"counting_barriers_order_memory", "__syncthreads_count and _and are barriers",
             counting_barriers_order_memory},
            {"barrier_in_branches_by_block_and_argument", "the same branch for the whole block",
             barrier_in_branches_by_block_and_argument},
            {"barrier_in_a_function_called_twice", "a barrier before scratch memory is used again",
             barrier_in_a_function_called_twice},
            {"barriers_in_a_template_that_calls_itself", "every instantiation has its barrier",
             barriers_in_a_template_that_calls_itself},
            {"whole_block_returns_before_barrier", "no thread of the block waits", whole_block_returns_before_barrier},
            {"threads_leave_behind_the_last_barrier", "nobody waits for them any more",
             threads_leave_behind_the_last_barrier},
            {"threads_without_data_exit_before_a_barrier", "the barrier waits for those who stay",
             threads_without_data_exit_before_a_barrier},
            {"threads_of_the_last_block_exit_early", "each thread reads what it wrote",
             threads_of_the_last_block_exit_early},
            {"columns_without_data_exit_early", "in a block of two dimensions", columns_without_data_exit_early},
            {"threads_exit_between_barriers_by_halves", "fewer threads at each barrier",
             threads_exit_between_barriers_by_halves},
            {"other_warp_runs_to_its_end", "a barrier in a branch, and the others exit", other_warp_runs_to_its_end},
            {"threads_leave_a_loop_with_a_barrier_for_good", "whoever leaves the loop exits",
             threads_leave_a_loop_with_a_barrier_for_good},
            {"counting_barrier_without_those_who_left", "__syncthreads_count of those who stay",
             counting_barrier_without_those_who_left},
            {"one_warp_fetches_for_another", "two halves, a barrier a step", one_warp_fetches_for_another},
        }};
}

}  // namespace corpus
