// Threads of one warp that exchange values: through shared memory ordered by __syncwarp, or by warp-wide functions
// alone.
#include <algorithm>
#include <iterator>
#include <numeric>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

constexpr unsigned kAllLanes = 0xFFFFFFFFu;

// ---- shared memory and __syncwarp ----------------------------------------------------------------------------

__global__ void sum_with_warp_tail(const int* in, int* out) {
    __shared__ int values[256];
    const int thread = threadIdx.x;
    values[thread] = in[256 * blockIdx.x + thread];
    __syncthreads();
    for (int width = 128; width >= 32; width /= 2) {
        if (thread < width) values[thread] += values[thread + width];
        __syncthreads();
    }
    if (thread < 32) {
        for (int width = 16; width > 0; width /= 2) {
            if (thread < width) values[thread] += values[thread + width];
            __syncwarp();
        }
    }
    if (thread == 0) out[blockIdx.x] = values[0];
}

void tail_of_a_reduction_in_one_warp() {
    DeviceBuffer<int> d_in(sequence<int>(512, [](int i) { return i; })), d_out(2);
    sum_with_warp_tail<<<2, 256>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), {255 * 128, 255 * 128 + 256 * 256});
}

/// All lanes read, then all lanes write: the lanes whose sums nobody needs do no harm.
__global__ void sum_without_guards(const int* in, int* out) {
    __shared__ int values[64];
    const int lane = threadIdx.x;
    values[lane] = in[lane];
    values[lane + 32] = 0;
    __syncwarp();
    int sum = values[lane];
    for (int width = 16; width > 0; width /= 2) {
        sum += values[lane + width];
        __syncwarp();
        values[lane] = sum;
        __syncwarp();
    }
    if (lane == 0) *out = values[0];
}

void all_lanes_read_then_all_lanes_write() {
    DeviceBuffer<int> d_in(sequence<int>(32, [](int i) { return i * i; })), d_out(1);
    sum_without_guards<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), {31 * 32 * 63 / 6});
}

/// Each warp scans its own row; warps never look at each other's.
__global__ void scan_rows(int* values) {
    __shared__ int rows[4][32];
    const int lane = threadIdx.x % 32;
    int* const row = rows[threadIdx.x / 32];
    row[lane] = values[threadIdx.x];
    __syncwarp();
    for (int distance = 1; distance < 32; distance *= 2) {
        const int add = lane >= distance ? row[lane - distance] : 0;
        __syncwarp();
        row[lane] += add;
        __syncwarp();
    }
    values[threadIdx.x] = row[lane];
}

void warps_scan_rows_of_their_own() {
    std::vector<int> values = scrambled(128, 50);
    DeviceBuffer<int> d_values(values);
    scan_rows<<<1, 128>>>(d_values.data());
    check_finished();
    for (int warp = 0; warp < 4; ++warp) {
        std::partial_sum(values.begin() + 32 * warp, values.begin() + 32 * warp + 32, values.begin() + 32 * warp);
    }
    expect_equal(d_values.download(), values);
}

__global__ void transpose_by_one_warp(const int* in, int* out) {
    __shared__ int tile[32][33];
    const int lane = threadIdx.x;
    for (int row = 0; row < 32; ++row) tile[row][lane] = in[32 * row + lane];
    __syncwarp();
    for (int row = 0; row < 32; ++row) out[32 * row + lane] = tile[lane][row];
}

void tile_turned_by_one_warp() {
    DeviceBuffer<int> d_in(sequence<int>(1024, [](int i) { return i; })), d_out(1024);
    transpose_by_one_warp<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(1024, [](int i) { return i % 32 * 32 + i / 32; }));
}

/// The halves of a warp part, and each orders its own lanes only.
__global__ void reverse_halves(int* values) {
    __shared__ int copies[32];
    const int lane = threadIdx.x;
    if (lane < 16) {
        copies[lane] = values[lane];
        __syncwarp(0x0000FFFFu);
        values[lane] = copies[15 - lane];
    } else {
        copies[lane] = 10 * values[lane];
        __syncwarp(0xFFFF0000u);
        values[lane] = copies[47 - lane];
    }
}

void halves_of_a_warp_with_masks_of_their_own() {
    DeviceBuffer<int> d_values(sequence<int>(32, [](int i) { return i; }));
    reverse_halves<<<1, 32>>>(d_values.data());
    check_finished();
    expect_equal(d_values.download(), sequence<int>(32, [](int i) { return i < 16 ? 15 - i : 10 * (47 - i); }));
}

/// The lowest lane of each warp takes the next row and tells the others through shared memory.
__global__ void rows_on_demand(int* next_row, int rows, int* out) {
    __shared__ int taken[4];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (;;) {
        if (lane == 0) taken[warp] = atomicAdd(next_row, 1);
        __syncwarp();
        const int row = taken[warp];
        __syncwarp();
        if (row >= rows) break;
        out[32 * row + lane] = row + lane;
    }
}

void leader_tells_its_warp_through_shared_memory() {
    DeviceBuffer<int> d_next(std::vector<int>{0}), d_out(32 * 20);
    rows_on_demand<<<2, 128>>>(d_next.data(), 20, d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(32 * 20, [](int i) { return i / 32 + i % 32; }));
    expect_equal(d_next.download(), {28});
}

__global__ void rotate_double_buffered(int* values, int steps) {
    __shared__ int buffer[2][32];
    const int lane = threadIdx.x;
    int own = values[lane];
    for (int step = 0; step < steps; ++step) {
        buffer[step & 1][lane] = own;
        __syncwarp();
        own = buffer[step & 1][(lane + 1) % 32] + 1;
    }
    values[lane] = own;
}

void one_syncwarp_per_step_with_two_buffers() {
    DeviceBuffer<int> d_values(sequence<int>(32, [](int i) { return 100 * i; }));
    rotate_double_buffered<<<1, 32>>>(d_values.data(), 9);
    check_finished();
    expect_equal(d_values.download(), sequence<int>(32, [](int i) { return 100 * ((i + 9) % 32) + 9; }));
}

/// The last warp of the block has eight lanes: its mask names no others.
__global__ void reverse_in_ragged_warps(int* values) {
    __shared__ int copies[72];
    const int thread = threadIdx.x, first = thread / 32 * 32;
    const int lanes = min(32, static_cast<int>(blockDim.x) - first);
    const unsigned mask = lanes == 32 ? kAllLanes : (1u << lanes) - 1;
    copies[thread] = values[thread];
    __syncwarp(mask);
    values[thread] = copies[first + lanes - 1 - (thread - first)];
}

void last_warp_is_not_full() {
    DeviceBuffer<int> d_values(sequence<int>(72, [](int i) { return i; }));
    reverse_in_ragged_warps<<<1, 72>>>(d_values.data());
    check_finished();
    expect_equal(d_values.download(),
                 sequence<int>(72, [](int i) { return i < 64 ? i / 32 * 32 + 31 - i % 32 : 64 + 71 - i; }));
}

// ---- shuffles and votes --------------------------------------------------------------------------------------

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(kAllLanes, value, distance);
    return value;
}

__global__ void sum_in_two_stages(const float* in, int n, float* out) {
    __shared__ float partial[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    sum = warp_sum(sum);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp != 0) return;
    sum = warp_sum(lane < static_cast<int>(blockDim.x) / 32 ? partial[lane] : 0);
    if (lane == 0) atomicAdd(out, sum);
}

void second_stage_of_a_sum_in_one_warp() {
    constexpr int n = 3000;
    DeviceBuffer<float> d_in(sequence<float>(n, [](int i) { return i % 7; })), d_out(std::vector<float>{0});
    sum_in_two_stages<<<3, 192>>>(d_in.data(), n, d_out.data());
    check_finished();
    float expected = 0;
    for (int i = 0; i < n; ++i) expected += static_cast<float>(i % 7);
    expect_equal(d_out.download(), {expected});
}

__global__ void keep_positive(const int* in, int n, int* kept, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const int value = i < n ? in[i] : 0;
    const unsigned keepers = __ballot_sync(kAllLanes, value > 0);
    int start = 0;
    if (lane == 0) start = atomicAdd(count, __popc(keepers));
    start = __shfl_sync(kAllLanes, start, 0);
    if (value > 0) kept[start + __popc(keepers & ((1u << lane) - 1))] = value;
}

void compaction_by_ballot() {
    constexpr int n = 500;
    const auto values = sequence<int>(n, [](int i) { return i % 3 == 0 ? -i : i; });
    DeviceBuffer<int> d_in(values), d_kept(std::vector<int>(n, 0)), d_count(std::vector<int>{0});
    keep_positive<<<4, 128>>>(d_in.data(), n, d_kept.data(), d_count.data());
    check_finished();
    std::vector<int> expected, kept = d_kept.download();
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected), [](int value) { return value > 0; });
    kept.resize(d_count.download()[0]);
    std::sort(kept.begin(), kept.end());
    expect_equal(kept, expected);
}

/// Lanes with the same bin elect one of them, which adds for all.
__global__ void histogram_by_match(const int* values, int* bins) {
    const int lane = threadIdx.x % 32;
    const int bin = values[blockIdx.x * blockDim.x + threadIdx.x];
    const unsigned peers = __match_any_sync(kAllLanes, bin);
    if (lane == __ffs(peers) - 1) atomicAdd(&bins[bin], __popc(peers));
}

void lanes_with_equal_keys_add_once() {
    const std::vector<int> values = scrambled(512, 10);
    std::vector<int> expected(10, 0);
    for (const int value : values) ++expected[value];
    DeviceBuffer<int> d_values(values), d_bins(std::vector<int>(10, 0));
    histogram_by_match<<<4, 128>>>(d_values.data(), d_bins.data());
    check_finished();
    expect_equal(d_bins.download(), expected);
}

/// The branch is the same for all lanes, because all see the same votes.
__global__ void halve_until_small(int* values, int* steps) {
    int value = values[threadIdx.x], count = 0;
    while (__any_sync(kAllLanes, value > 10)) {
        if (!__all_sync(kAllLanes, value > 10)) ++count;
        if (value > 10) value /= 2;
    }
    values[threadIdx.x] = value;
    if (threadIdx.x % 32 == 0) steps[threadIdx.x / 32] = count;
}

void votes_decide_for_the_whole_warp() {
    DeviceBuffer<int> d_values(sequence<int>(64, [](int i) { return i < 32 ? 16 : 1 << (i % 32 / 4); })), d_steps(2);
    halve_until_small<<<1, 64>>>(d_values.data(), d_steps.data());
    check_finished();
    expect_equal(d_values.download(),
                 sequence<int>(64, [](int i) { return i < 32 ? 8 : std::min(8, 1 << (i % 32 / 4)); }));
    expect_equal(d_steps.download(), {0, 4});
}

/// The guard comes first: the vote tells who takes part in what follows.
__global__ void largest_of_ragged_rows(const int* values, int n, int* largest, int* first) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned inside = __ballot_sync(kAllLanes, i < n);
    if (i >= n) return;
    const int maximum = __reduce_max_sync(inside, values[i]);
    const int leader = __shfl_sync(inside, values[i], 0);
    largest[i] = maximum;
    first[i] = leader;
}

void lanes_beyond_the_end_leave_before_the_shuffle() {
    constexpr int n = 75;
    const std::vector<int> values = scrambled(n, 1000);
    DeviceBuffer<int> d_values(values), d_largest(n), d_first(n);
    largest_of_ragged_rows<<<2, 64>>>(d_values.data(), n, d_largest.data(), d_first.data());
    check_finished();
    expect_equal(d_largest.download(), sequence<int>(n, [&](int i) {
                     const auto row = values.begin() + i / 32 * 32;
                     return *std::max_element(row, std::min(row + 32, values.end()));
                 }));
    expect_equal(d_first.download(), sequence<int>(n, [&](int i) { return values[i / 32 * 32]; }));
}

__global__ void sort_across_lanes(int* values) {
    const int lane = threadIdx.x % 32;
    int value = values[threadIdx.x];
    for (int run = 2; run <= 32; run *= 2) {
        for (int distance = run / 2; distance > 0; distance /= 2) {
            const int other = __shfl_xor_sync(kAllLanes, value, distance);
            const bool keep_smaller = ((lane & distance) == 0) == ((lane & run) == 0);
            value = keep_smaller ? min(value, other) : max(value, other);
        }
    }
    values[threadIdx.x] = value;
}

void sort_in_registers_by_shuffles() {
    std::vector<int> values = scrambled(64, 1000);
    DeviceBuffer<int> d_values(values);
    sort_across_lanes<<<1, 64>>>(d_values.data());
    check_finished();
    std::sort(values.begin(), values.begin() + 32);
    std::sort(values.begin() + 32, values.end());
    expect_equal(d_values.download(), values);
}

/// Sums up to the next head of a segment, eight lanes a row.
__global__ void sums_of_segments(const double* values, const int* heads, double* sums) {
    const int rank = threadIdx.x % 8;
    double sum = values[threadIdx.x];
    int head = heads[threadIdx.x];
    for (int distance = 1; distance < 8; distance *= 2) {
        const double before = __shfl_up_sync(kAllLanes, sum, distance, 8);
        const int head_before = __shfl_up_sync(kAllLanes, head, distance, 8);
        if (rank >= distance && head == 0) {
            sum += before;
            head |= head_before;
        }
    }
    sums[threadIdx.x] = sum;
}

void segments_summed_by_narrow_shuffles() {
    const auto heads = sequence<int>(64, [](int i) { return i % 8 == 0 || i % 5 == 0; });
    const auto values = scrambled<double>(64, 20);
    std::vector<double> expected = values;
    for (int i = 0; i < 64; ++i) {
        if (heads[i] == 0) expected[i] += expected[i - 1];
    }
    DeviceBuffer<int> d_heads(heads);
    DeviceBuffer<double> d_values(values), d_sums(64);
    sums_of_segments<<<1, 64>>>(d_values.data(), d_heads.data(), d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), expected);
}

/// Odd and even lanes go separate ways, each with a mask that names exactly them.
__global__ void odd_and_even_sums(int* values) {
    const int lane = threadIdx.x;
    const int value = values[lane];
    int sum;
    if (lane % 2 == 0) {
        sum = __reduce_add_sync(0x55555555u, value);
    } else {
        sum = -__reduce_add_sync(0xAAAAAAAAu, value);
    }
    values[lane] = sum;
}

void branches_with_masks_of_their_lanes() {
    DeviceBuffer<int> d_values(sequence<int>(32, [](int i) { return i; }));
    odd_and_even_sums<<<1, 32>>>(d_values.data());
    check_finished();
    expect_equal(d_values.download(), sequence<int>(32, [](int i) { return i % 2 == 0 ? 240 : -256; }));
}

// ---- lanes that have exited, and values that nobody uses -----------------------------------------------------

__global__ void swap_neighbors_of_31(const int* in, int* out) {
    __shared__ int row[32];
    if (threadIdx.x == 31) return;
    row[threadIdx.x] = in[threadIdx.x];
    __syncwarp();  // of all lanes, of which one has exited
    out[threadIdx.x] = row[threadIdx.x ^ (threadIdx.x < 30 ? 1 : 0)];
}

void full_mask_after_a_lane_has_exited() {
    DeviceBuffer<int> d_in(sequence<int>(32, [](int i) { return i; })), d_out(31);
    swap_neighbors_of_31<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(31, [](int i) { return i < 30 ? i ^ 1 : i; }));
}

__global__ void count_and_share(const int* in, int* out, int count) {
    const int i = threadIdx.x;
    if (i >= count) return;
    const int positive = __popc(__ballot_sync(kAllLanes, in[i] > 0));
    const int largest = __reduce_max_sync(kAllLanes, in[i]);
    const int first = __shfl_sync(kAllLanes, in[i], 0);
    const int before = __shfl_up_sync(kAllLanes, in[i], 1);
    out[i] = positive + largest + first + before;
}

void votes_and_shuffles_of_the_lanes_that_stay() {
    DeviceBuffer<int> d_in(sequence<int>(20, [](int i) { return i; })), d_out(20);
    count_and_share<<<1, 32>>>(d_in.data(), d_out.data(), 20);
    check_finished();
    expect_equal(d_out.download(), sequence<int>(20, [](int i) { return 19 + 19 + 0 + (i == 0 ? 0 : i - 1); }));
}

__global__ void guarded_sum(const int* in, int* out, int count) {
    const int i = threadIdx.x;
    if (i >= count) return;
    int sum = in[i];
    for (int step = 16; step > 0; step /= 2) {
        const int other = __shfl_down_sync(kAllLanes, sum, step);
        if (i + step < count) sum += other;  // what exited lanes seem to bring is not used
    }
    if (i == 0) *out = sum;
}

void sum_that_uses_no_value_of_an_exited_lane() {
    for (const int count : {1, 10, 20, 31, 32}) {
        DeviceBuffer<int> d_in(sequence<int>(count, [](int i) { return i + 1; })), d_out(1);
        guarded_sum<<<1, 32>>>(d_in.data(), d_out.data(), count);
        check_finished();
        expect_equal(d_out.download(), {count * (count + 1) / 2});
    }
}

__global__ void guarded_sum_of_active(const float* in, float* out, int count) {
    const int i = threadIdx.x;
    const unsigned active = __ballot_sync(kAllLanes, i < count);
    if (i < count) {
        float sum = in[i];
        for (int step = 16; step > 0; step /= 2) {
            const float other = __shfl_down_sync(active, sum, step);
            if ((active >> i >> step & 1) != 0) sum += other;
        }
        if (i == 0) *out = sum;
    }
}

void sum_that_uses_no_value_from_outside_the_mask() {
    DeviceBuffer<float> d_in(sequence<float>(20, [](int i) { return i; })), d_out(1);
    guarded_sum_of_active<<<1, 32>>>(d_in.data(), d_out.data(), 20);
    check_finished();
    expect_equal(d_out.download(), {190.0f});
}

__global__ void sum_by_selection(const int* in, int* out, int count) {
    const int i = threadIdx.x;
    if (i >= count) return;
    int sum = in[i];
    for (int step = 16; step > 0; step /= 2) {
        const int other = __shfl_down_sync(kAllLanes, sum, step);
        sum += i + step < count ? other : 0;
    }
    if (i == 0) *out = sum;
}

__global__ void differences_to_next(const float* in, float* out, int count) {
    const int i = threadIdx.x;
    if (i >= count) return;
    float next = __shfl_down_sync(kAllLanes, in[i], 1);
    if (i == count - 1) next = in[0];
    out[i] = next - in[i];
}

__global__ void maximum_by_selection(const float* in, float* out, int count) {
    const int i = threadIdx.x;
    if (i >= count) return;
    float largest = in[i];
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_down_sync(kAllLanes, largest, step);
        largest = fmaxf(largest, i + step < count ? other : largest);
    }
    if (i == 0) *out = largest;
}

void values_of_exited_lanes_are_replaced() {
    DeviceBuffer<int> d_in(sequence<int>(20, [](int i) { return i; })), d_out(1);
    sum_by_selection<<<1, 32>>>(d_in.data(), d_out.data(), 20);
    DeviceBuffer<float> d_values(sequence<float>(20, [](int i) { return i * i; })), d_differences(20), d_largest(1);
    differences_to_next<<<1, 32>>>(d_values.data(), d_differences.data(), 20);
    maximum_by_selection<<<1, 32>>>(d_values.data(), d_largest.data(), 20);
    check_finished();
    expect_equal(d_out.download(), {190});
    expect_equal(d_differences.download(), sequence<float>(20, [](int i) { return i == 19 ? -361 : 2 * i + 1; }));
    expect_equal(d_largest.download(), {361.0f});
}

__global__ void vote_in_branch_while_others_end(const int* in, int* out) {
    if (in[threadIdx.x] > 0) out[threadIdx.x] = __popc(__ballot_sync(kAllLanes, 1));
}

void vote_of_a_branch_whose_others_run_to_the_end() {
    DeviceBuffer<int> d_in(sequence<int>(32, [](int i) { return i % 2; })), d_out(std::vector<int>(32, 0));
    vote_in_branch_while_others_end<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(32, [](int i) { return i % 2 == 0 ? 0 : 16; }));
}

}  // namespace

CaseList warps() {
    return {
        __FILE__,
        {
            {"tail_of_a_reduction_in_one_warp", "__syncwarp behind every step", tail_of_a_reduction_in_one_warp},
            {"all_lanes_read_then_all_lanes_write", "__syncwarp between the two", all_lanes_read_then_all_lanes_write},
            {"warps_scan_rows_of_their_own", "no warp touches another's row", warps_scan_rows_of_their_own},
            {"tile_turned_by_one_warp", "written by rows, __syncwarp, read by columns", tile_turned_by_one_warp},
            {"halves_of_a_warp_with_masks_of_their_own", "each half exchanges inside itself",
             halves_of_a_warp_with_masks_of_their_own},
            {"leader_tells_its_warp_through_shared_memory", "__syncwarp before and behind the read",
             leader_tells_its_warp_through_shared_memory},
            {"one_syncwarp_per_step_with_two_buffers", "the half written now was read before the last __syncwarp",
             one_syncwarp_per_step_with_two_buffers},
            {"last_warp_is_not_full", "its mask names the lanes that exist", last_warp_is_not_full},
            {"second_stage_of_a_sum_in_one_warp", "the other warps have left", second_stage_of_a_sum_in_one_warp},
            {"compaction_by_ballot", "every keeper has a rank of its own", compaction_by_ballot},
            {"lanes_with_equal_keys_add_once", "__match_any_sync elects one", lanes_with_equal_keys_add_once},
            {"votes_decide_for_the_whole_warp", "all lanes loop alike", votes_decide_for_the_whole_warp},
            {"lanes_beyond_the_end_leave_before_the_shuffle", "the mask names those who stay",
             lanes_beyond_the_end_leave_before_the_shuffle},
            {"full_mask_after_a_lane_has_exited", "__syncwarp does not wait for it", full_mask_after_a_lane_has_exited},
            {"votes_and_shuffles_of_the_lanes_that_stay", "no value of an exited lane is taken",
             votes_and_shuffles_of_the_lanes_that_stay},
            {"sum_that_uses_no_value_of_an_exited_lane", "the shuffle's result is guarded",
             sum_that_uses_no_value_of_an_exited_lane},
            {"sum_that_uses_no_value_from_outside_the_mask", "the same with a mask of the active lanes",
             sum_that_uses_no_value_from_outside_the_mask},
            {"values_of_exited_lanes_are_replaced", "by ?: or by an assignment, which need no branch",
             values_of_exited_lanes_are_replaced},
            {"vote_of_a_branch_whose_others_run_to_the_end", "the mask names lanes that exit meanwhile",
             vote_of_a_branch_whose_others_run_to_the_end},
            {"sort_in_registers_by_shuffles", "no memory in between", sort_in_registers_by_shuffles},
            {"segments_summed_by_narrow_shuffles", "shuffles of width 8", segments_summed_by_narrow_shuffles},
            {"branches_with_masks_of_their_lanes", "either branch names exactly its lanes",
             branches_with_masks_of_their_lanes},
        }};
}

}  // namespace corpus
