// Races between lanes of one warp across functions that exchange values. Shuffles, votes, matches, and reductions order
// no memory: __syncwarp does.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

namespace cg = cooperative_groups;
using namespace corpus;

constexpr unsigned all_lanes = 0xFFFFFFFFu;

std::vector<int> up_to(int count) {
    std::vector<int> values;
    for (int i = 0; i < count; ++i) values.push_back(i);
    return values;
}

void run_warp(void (*kernel)(const int*, int*)) {
    DeviceBuffer<int> d_in(up_to(32)), d_out(32);
    kernel<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void rotate_behind_shuffle(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    const int first = __shfl_sync(all_lanes, in[lane], 0);
    out[lane] = first + values[(lane + 1) % 32];  // MISTAKE(data_race): a shuffle orders no memory
    // HINT: a shuffle stands between the two accesses
}

void neighbor_behind_shuffle() { run_warp(rotate_behind_shuffle); }

__global__ void rotate_behind_ballot(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    const unsigned odd = __ballot_sync(all_lanes, in[lane] % 2);
    out[lane] = static_cast<int>(odd) + values[31 - lane];  // MISTAKE(data_race): a vote orders no memory
    // HINT: a vote stands between the two accesses
}

void neighbor_behind_ballot() { run_warp(rotate_behind_ballot); }

__global__ void rotate_behind_any_and_all(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    if (__any_sync(all_lanes, in[lane] > 30) && __all_sync(all_lanes, in[lane] < 100)) {
        out[lane] = values[lane ^ 1];  // MISTAKE(data_race): nor do two votes
    }
}

void neighbor_behind_any_and_all() { run_warp(rotate_behind_any_and_all); }

__global__ void rotate_behind_match(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    const unsigned peers = __match_any_sync(all_lanes, in[lane] / 4);
    const int leader = __ffs(static_cast<int>(peers)) - 1;
    out[lane] = values[leader];  // MISTAKE(data_race): the leader's value, without __syncwarp
    // HINT: a match stands between
}

void leaders_value_behind_match() { run_warp(rotate_behind_match); }

__global__ void rotate_behind_reduction(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    const int sum = __reduce_add_sync(all_lanes, in[lane]);
    out[lane] = sum - values[(lane + 16) % 32];  // MISTAKE(data_race): a reduction orders no memory
    // HINT: a warp reduction stands between
}

void neighbor_behind_reduction() { run_warp(rotate_behind_reduction); }

__global__ void rotate_behind_activemask(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    const unsigned here = __activemask();
    out[lane] = static_cast<int>(here) + values[31 - lane];  // MISTAKE(data_race): it only tells who is here
}

void neighbor_behind_activemask() { run_warp(rotate_behind_activemask); }

__global__ void sum_with_votes_for_barriers(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    __ballot_sync(all_lanes, 1);
    for (unsigned width = 16; width > 0; width /= 2) {
        int sum = 0;
        if (lane < width) sum = values[lane] + values[lane + width];  // MISTAKE(data_race): in the first round or later
        __ballot_sync(all_lanes, 1);
        if (lane < width) values[lane] = sum;  // OTHER: written for the next round
        __ballot_sync(all_lanes, 1);
    }
    if (lane == 0) *out = values[0];
}

void votes_in_place_of_syncwarp() { run_warp(sum_with_votes_for_barriers); }

__global__ void rotate_behind_tile_shuffle(const int* in, int* out) {
    __shared__ int values[32];
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    const int before = tile.shfl_up(in[lane], 1);
    out[lane] = before + values[lane ^ 1];  // MISTAKE(data_race): tile.sync() is missing
    // HINT: a shuffle stands between
}

void neighbor_behind_tile_shuffle() { run_warp(rotate_behind_tile_shuffle); }

__global__ void rotate_behind_tile_vote(const int* in, int* out) {
    __shared__ int values[32];
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    if (tile.any(in[lane] >= 0)) {
        out[lane] = values[lane ^ 7];  // MISTAKE(data_race): any() of a tile orders no memory
    }
}

void neighbor_behind_tile_vote() { run_warp(rotate_behind_tile_vote); }

__global__ void rotate_behind_group_reduction(const int* in, int* out) {
    __shared__ int values[32];
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    const int sum = cg::reduce(tile, in[lane], cg::plus<int>());
    out[lane] = sum + values[(lane + 5) % 32];  // MISTAKE(data_race): nor does cg::reduce
    // HINT: a warp reduction stands between
}

void neighbor_behind_group_reduction() { run_warp(rotate_behind_group_reduction); }

__global__ void rotate_behind_coalesced_shuffle(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    const auto group = cg::coalesced_threads();
    const int first = group.shfl(in[lane], 0);
    out[lane] = first + values[(lane + 1) % 32];  // MISTAKE(data_race): group.sync() is missing
}

void neighbor_behind_coalesced_shuffle() { run_warp(rotate_behind_coalesced_shuffle); }

__global__ void rotate_behind_partition(const int* in, int* out) {
    __shared__ int values[32];
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];  // OTHER: stored here
    const auto half = cg::binary_partition(tile, in[lane] % 2 == 0);
    out[lane] = static_cast<int>(half.size()) + values[lane ^ 2];  // MISTAKE(data_race): cutting a group is no barrier
}

void neighbor_behind_partition() { run_warp(rotate_behind_partition); }

__global__ void rotate_in_global_memory(const int* in, int* scratch, int* out) {
    const unsigned lane = threadIdx.x;
    scratch[lane] = 3 * in[lane];  // OTHER: stored here
    const int first = __shfl_sync(all_lanes, in[lane], 0);
    out[lane] = first + scratch[31 - lane];  // MISTAKE(data_race): the same in global memory
}

void global_neighbor_behind_shuffle() {
    DeviceBuffer<int> d_in(up_to(32)), d_scratch(up_to(32)), d_out(32);
    rotate_in_global_memory<<<1, 32>>>(d_in.data(), d_scratch.data(), d_out.data());
    check_finished();
}

__global__ void leader_reserves(const int* in, int* out) {
    __shared__ int start;
    const unsigned lane = threadIdx.x;
    const unsigned keep = __ballot_sync(all_lanes, in[lane] % 3 == 0);
    if (lane == 0) start = 100 + __popc(keep);  // OTHER: by the leader alone
    __shfl_sync(all_lanes, in[lane], 0);
    out[lane] = start + in[lane];  // MISTAKE(data_race): shuffle the number itself, or use __syncwarp
}

void leaders_number_in_shared_memory() { run_warp(leader_reserves); }

__global__ void shift_behind_vote(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = in[lane];
    __syncwarp();
    const int next = values[(lane + 1) % 32];  // OTHER: read here
    if (__all_sync(all_lanes, next >= 0)) {
        values[lane] = next;  // MISTAKE(data_race): the lane before may still have to read
    }
    __syncwarp();
    out[lane] = values[lane];
}

void overwritten_behind_vote() { run_warp(shift_behind_vote); }

__global__ void rotate_in_two_halves(const int* in, int* out) {
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    const unsigned half = lane < 16 ? 0x0000FFFFu : 0xFFFF0000u;
    values[lane] = in[lane];  // OTHER: stored here
    __syncwarp(half);
    const int sum = __shfl_xor_sync(all_lanes, values[lane], 16);
    out[lane] = sum + values[lane ^ 16];  // MISTAKE(data_race): the halves met at the shuffle only
}

void other_half_behind_shuffle() { run_warp(rotate_in_two_halves); }

}  // namespace

namespace corpus {

CaseList exchange_races() {
    return {__FILE__,
            {{"neighbor_behind_shuffle", "store, __shfl_sync, neighbor's word", neighbor_behind_shuffle},
             {"neighbor_behind_ballot", "store, __ballot_sync, neighbor's word", neighbor_behind_ballot},
             {"neighbor_behind_any_and_all", "store, two votes, neighbor's word", neighbor_behind_any_and_all},
             {"leaders_value_behind_match", "store, __match_any_sync, leader's word", leaders_value_behind_match},
             {"neighbor_behind_reduction", "store, __reduce_add_sync, neighbor's word", neighbor_behind_reduction},
             {"neighbor_behind_activemask", "store, __activemask, neighbor's word", neighbor_behind_activemask},
             {"votes_in_place_of_syncwarp", "sum in shared memory with votes for barriers", votes_in_place_of_syncwarp},
             {"neighbor_behind_tile_shuffle", "store, tile.shfl_up, neighbor's word", neighbor_behind_tile_shuffle},
             {"neighbor_behind_tile_vote", "store, tile.any, neighbor's word", neighbor_behind_tile_vote},
             {"neighbor_behind_group_reduction", "store, cg::reduce, neighbor's word", neighbor_behind_group_reduction},
             {"neighbor_behind_coalesced_shuffle", "store, shuffle of a coalesced group, neighbor's word",
              neighbor_behind_coalesced_shuffle},
             {"neighbor_behind_partition", "store, binary_partition, neighbor's word", neighbor_behind_partition},
             {"global_neighbor_behind_shuffle", "store to global memory, shuffle, neighbor's word",
              global_neighbor_behind_shuffle},
             {"leaders_number_in_shared_memory", "leader stores, shuffle, all read", leaders_number_in_shared_memory},
             {"overwritten_behind_vote", "read of the neighbor, vote, store", overwritten_behind_vote},
             {"other_half_behind_shuffle", "__syncwarp of half warps, shuffle of all", other_half_behind_shuffle}}};
}

}  // namespace corpus
