// Warp-wide operations whose mask names the wrong lanes: lanes that still run and wait somewhere else; and values that
// are taken from lanes that are not there. (A mask may name lanes that have exited: correct/warps.cu.)
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
    __syncwarp();  // where they wait
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
        sum += __shfl_down_sync(full_warp, sum, step);  // MISTAKE(undefined_shuffle): lanes 20 to 31 have exited
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
    __syncwarp();
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

__global__ void count_zeros(const int* in, int* out, int count) {
    int zeros = 0;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += 32) {
        zeros += __popc(__ballot_sync(full_warp, in[i] == 0));  // MISTAKE(missing_lane): 18 lanes in the last round
    }
    zeros = __shfl_sync(full_warp, zeros, 0);  // where the other 14 lanes wait
    if (threadIdx.x == 0) *out = zeros;
}

void ballot_in_ragged_loop() {
    DeviceBuffer<int> d_in(ones(50)), d_out(1);
    count_zeros<<<1, 32>>>(d_in.data(), d_out.data(), 50);
    check_finished();
}

template <class T>
__device__ T broadcast_first(T value) {
    return __shfl_sync(full_warp, value, 0);  // MISTAKE(undefined_shuffle): called by odd lanes only
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
    __syncwarp();
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
    tile.sync();
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

__global__ void sum_of_small_block(const int* in, int* out) {
    int sum = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(full_warp, sum, step);  // MISTAKE(undefined_shuffle): the block has 20 threads
    }
    if (threadIdx.x == 0) *out = sum;
}

void shuffle_in_a_block_of_20() {
    DeviceBuffer<int> d_in(ones(20)), d_out(1);
    sum_of_small_block<<<1, 20>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_of_active(const int* in, int* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    const unsigned active = __ballot_sync(full_warp, i < count);
    if (i < count) {
        int sum = in[i];
        for (int step = 16; step > 0; step /= 2) {
            sum += __shfl_down_sync(active, sum, step);  // MISTAKE(undefined_shuffle): the mask leaves lane 20 out
        }
        if (i == 0) *out = sum;
    }
}

void shuffle_from_a_lane_outside_the_mask() {
    DeviceBuffer<int> d_in(ones(20)), d_out(1);
    sum_of_active<<<1, 32>>>(d_in.data(), d_out.data(), 20);
    check_finished();
}

__global__ void largest_of_few(const float* in, float* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= count) return;
    float largest = in[i];
    for (int bit = 1; bit < 32; bit *= 2) {
        const float other = __shfl_xor_sync(full_warp, largest, bit);  // MISTAKE(undefined_shuffle): lanes 5 to 31
        largest = other > largest ? other : largest;
    }
    out[i] = largest;
}

void butterfly_with_exited_lanes() {
    DeviceBuffer<float> d_in(std::vector<float>(5, 1.0f)), d_out(5);
    largest_of_few<<<1, 32>>>(d_in.data(), d_out.data(), 5);
    check_finished();
}

__global__ void difference_to_next(const float* in, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const float value = in[i];
    const float next = __shfl_down_sync(full_warp, value, 1);  // MISTAKE(undefined_shuffle): of lane 4, in block 3
    out[i] = next - value;
}

void next_of_the_last_element() {
    DeviceBuffer<float> d_in(std::vector<float>(100, 1.0f)), d_out(100);
    difference_to_next<<<4, 32>>>(d_in.data(), d_out.data(), 100);
    check_finished();
}

__global__ void leader_waits_for_its_warp(int* out) {
    if (threadIdx.x % 32 == 0) {
        out[threadIdx.x / 32] = __popc(__ballot_sync(full_warp, 1));  // MISTAKE(missing_lane): the others do not vote
    }
    __syncthreads();  // where they wait
}

void vote_by_the_leader_alone() {
    DeviceBuffer<int> d_out(2);
    leader_waits_for_its_warp<<<1, 64>>>(d_out.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList missing_lanes() {
    return {
        __FILE__,
        {{"shuffle_in_branch", "shuffle of the full warp in a branch", shuffle_in_branch},
         {"shuffle_after_early_return", "sum takes the values of lanes that have exited", shuffle_after_early_return},
         {"shuffle_in_a_block_of_20", "sum over a warp of which the block has 20 lanes", shuffle_in_a_block_of_20},
         {"shuffle_from_a_lane_outside_the_mask", "sum over the mask of active lanes, by halves of 32",
          shuffle_from_a_lane_outside_the_mask},
         {"butterfly_with_exited_lanes", "maximum by a butterfly in which lanes are missing",
          butterfly_with_exited_lanes},
         {"next_of_the_last_element", "the last element's next one belongs to an exited lane",
          next_of_the_last_element},
         {"vote_by_the_leader_alone", "vote by one lane while the others wait at the barrier",
          vote_by_the_leader_alone},
         {"reduce_in_data_dependent_branch", "reduction by the lanes with positive values",
          reduce_in_data_dependent_branch},
         {"mask_of_lower_half", "mask leaves its callers out", mask_of_lower_half},
         {"ballot_in_ragged_loop", "ballot in a loop that lanes leave early", ballot_in_ragged_loop},
         {"shuffle_in_template", "template function called by odd lanes", shuffle_in_template},
         {"vote_with_a_lane_outside", "vote while one lane stays outside", vote_with_a_lane_outside},
         {"tile_shuffle_in_branch", "tile.shfl_xor in a branch", tile_shuffle_in_branch},
         {"match_by_lanes_without_data", "match called by lanes its mask leaves out", match_by_lanes_without_data}}};
}

}  // namespace corpus
