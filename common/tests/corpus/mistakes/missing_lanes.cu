// Warp-wide operations whose mask names the wrong lanes.
#include <cooperative_groups.h>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

namespace cg = cooperative_groups;
using namespace corpus;

constexpr unsigned full_warp = 0xFFFFFFFFu;

std::vector<int> ones(int count) { return std::vector<int>(static_cast<std::size_t>(count), 1); }

__global__ void exchange_in_branch(const int* in, int* out) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 16) {
        value += __shfl_xor_sync(full_warp, value, 1);  // MISTAKE(missing_lane): lanes 16 to 31 skip the branch
    }
    out[threadIdx.x] = value;
}

void shuffle_in_branch() {
    DeviceBuffer<int> d_in(ones(32)), d_out(32);
    exchange_in_branch<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_of_tail(const int* in, int* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= count) return;
    int sum = in[i];
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(full_warp, sum, step);  // MISTAKE(missing_lane): lanes 20 to 31 have returned
    }
    if (i == 0) *out = sum;
}

void shuffle_after_early_return() {
    DeviceBuffer<int> d_in(ones(20)), d_out(1);
    sum_of_tail<<<1, 32>>>(d_in.data(), d_out.data(), 20);
    check_finished();
}

__global__ void sum_of_positive(const int* in, int* out) {
    const int value = in[threadIdx.x];
    if (value > 0) {
        const int sum = __reduce_add_sync(full_warp, value);  // MISTAKE(missing_lane): lanes with 0 stay outside
        out[threadIdx.x] = sum;
    }
}

void reduce_in_data_dependent_branch() {
    std::vector<int> values = ones(32);
    values[9] = values[21] = 0;
    DeviceBuffer<int> d_in(values), d_out(32);
    sum_of_positive<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void lower_half_mask(const int* in, int* out) {
    out[threadIdx.x] = __shfl_sync(0x0000FFFFu, in[threadIdx.x], 0);  // MISTAKE(mask_without_caller): 32 lanes call
}

void mask_of_lower_half() {
    DeviceBuffer<int> d_in(ones(32)), d_out(32);
    lower_half_mask<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void add_neighbor_through_shared(const int* in, int* out) {
    __shared__ int row[32];
    if (threadIdx.x == 31) return;
    row[threadIdx.x] = in[threadIdx.x];
    __syncwarp();  // MISTAKE(missing_lane): lane 31 has returned
    out[threadIdx.x] = row[threadIdx.x ^ (threadIdx.x < 30 ? 1 : 0)];
}

void syncwarp_after_early_return() {
    DeviceBuffer<int> d_in(ones(32)), d_out(31);
    add_neighbor_through_shared<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void count_zeros(const int* in, int* out, int count) {
    int zeros = 0;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += 32) {
        zeros += __popc(__ballot_sync(full_warp, in[i] == 0));  // MISTAKE(missing_lane): 18 lanes in the last round
    }
    if (threadIdx.x == 0) *out = zeros;
}

void ballot_in_ragged_loop() {
    DeviceBuffer<int> d_in(ones(50)), d_out(1);
    count_zeros<<<1, 32>>>(d_in.data(), d_out.data(), 50);
    check_finished();
}

template <class T>
__device__ T broadcast_first(T value) {
    return __shfl_sync(full_warp, value, 0);  // MISTAKE(missing_lane): called by odd lanes only
}

__global__ void broadcast_to_odd_lanes(const int* in, int* out) {
    int value = in[threadIdx.x];
    if (threadIdx.x % 2 == 1) value = broadcast_first(value);
    out[threadIdx.x] = value;
}

void shuffle_in_template() {
    DeviceBuffer<int> d_in(ones(32)), d_out(32);
    broadcast_to_odd_lanes<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void any_negative(const int* in, int* out) {
    if (in[threadIdx.x] > 0 && threadIdx.x != 5) {
        out[threadIdx.x] = __any_sync(full_warp, in[threadIdx.x] < 0);  // MISTAKE(missing_lane): lane 5 stays outside
    }
}

void vote_with_a_lane_outside() {
    DeviceBuffer<int> d_in(ones(32)), d_out(32);
    any_negative<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void tile_sum_in_branch(const int* in, int* out) {
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int sum = in[threadIdx.x];
    if (tile.thread_rank() < 8) {
        sum += tile.shfl_xor(sum, 1);  // MISTAKE(missing_lane): the tile has 32 threads, 8 come here
    }
    out[threadIdx.x] = sum;
}

void tile_shuffle_in_branch() {
    DeviceBuffer<int> d_in(ones(32)), d_out(32);
    tile_sum_in_branch<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void equal_values(const int* in, unsigned* out) {
    const unsigned active = (1u << 20) - 1;  // lanes with data
    const int value = in[threadIdx.x % 20];
    out[threadIdx.x] = __match_any_sync(active, value);  // MISTAKE(mask_without_caller): lanes 20 to 31
}

void match_by_lanes_without_data() {
    DeviceBuffer<int> d_in(ones(20));
    DeviceBuffer<unsigned> d_out(32);
    equal_values<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList missing_lanes() {
    return {
        __FILE__,
        {{"shuffle_in_branch", "shuffle of the full warp in a branch", shuffle_in_branch},
         {"shuffle_after_early_return", "shuffle names lanes that returned", shuffle_after_early_return},
         {"reduce_in_data_dependent_branch", "reduction by the lanes with positive values",
          reduce_in_data_dependent_branch},
         {"mask_of_lower_half", "mask leaves its callers out", mask_of_lower_half},
         {"syncwarp_after_early_return", "__syncwarp names a lane that returned", syncwarp_after_early_return},
         {"ballot_in_ragged_loop", "ballot in a loop that lanes leave early", ballot_in_ragged_loop},
         {"shuffle_in_template", "template function called by odd lanes", shuffle_in_template},
         {"vote_with_a_lane_outside", "vote while one lane stays outside", vote_with_a_lane_outside},
         {"tile_shuffle_in_branch", "tile.shfl_xor in a branch", tile_shuffle_in_branch},
         {"match_by_lanes_without_data", "match called by lanes its mask leaves out", match_by_lanes_without_data}}};
}

}  // namespace corpus
