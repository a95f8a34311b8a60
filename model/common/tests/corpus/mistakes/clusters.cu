// Thread block clusters: barriers of the cluster that are missing, in the wrong place, or not reached by all, and the
// ways into another block's shared memory that lead nowhere.
#include "common/helpers/this_cluster.cuh"

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;
using warpwise::launch_in_clusters;
using warpwise::this_cluster;

std::vector<int> ones(std::size_t count) { return std::vector<int>(count, 1); }

/// Each case has one cluster of two blocks of 64 threads.
template <class Kernel>
void run(Kernel kernel) {
    DeviceBuffer<int> d_in(ones(128)), d_out(128);
    check(launch_in_clusters(kernel, {.blocks = 2, .cluster = 2, .threads = 64}, d_in.data(), d_out.data()));
    check_finished();
}

__device__ int place() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void no_barrier_before_the_end(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    tile[threadIdx.x] = in[place()];
    cluster.sync();
    const int other = 1 - static_cast<int>(cluster.block_rank());
    out[place()] = cluster.map_shared_rank(tile, other)[63 - threadIdx.x];  // MISTAKE(use_after_free): may have ended
}

void neighbor_that_has_ended() {
    // HINT: put cluster.sync() after the last access
    run(no_barrier_before_the_end);
}

__global__ void adds_and_leaves(const int* in, int* out) {
    __shared__ int sum;
    const auto cluster = this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), in[place()]);  // MISTAKE(use_after_free): rank 0 does not wait
    out[place()] = 0;
}

void sum_in_a_block_that_ends() { run(adds_and_leaves); }

__global__ void no_barrier_at_the_start(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    const int other = 1 - static_cast<int>(cluster.block_rank());
    cluster.map_shared_rank(tile, other)[threadIdx.x] = in[place()];  // MISTAKE(illegal_access): may not have started
    cluster.sync();
    out[place()] = tile[threadIdx.x];
}

void neighbor_that_has_not_started() {
    // HINT: put cluster.sync() before the first access
    run(no_barrier_at_the_start);
}

__global__ void cleared_after_the_barrier(const int* in, int* out) {
    __shared__ int sums[64];
    const auto cluster = this_cluster();
    cluster.sync();
    sums[threadIdx.x] = 0;  // OTHER: nothing makes the other block wait for this
    __syncthreads();
    atomicAdd(&cluster.map_shared_rank(sums, 0)[threadIdx.x], in[place()]);  // MISTAKE(data_race): may come first
    cluster.sync();
    out[place()] = sums[threadIdx.x];
}

void counters_cleared_too_late() {
    // HINT: put cluster.sync() between the two accesses
    run(cleared_after_the_barrier);
}

__global__ void barrier_of_one_block(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    cluster.sync();
    tile[threadIdx.x] = in[place()];  // OTHER: by the other block
    __syncthreads();
    const int other = 1 - static_cast<int>(cluster.block_rank());
    out[place()] = cluster.map_shared_rank(tile, other)[63 - threadIdx.x];  // MISTAKE(data_race): may not be there
    cluster.sync();
}

void syncthreads_for_the_cluster() {
    // HINT: __syncthreads() waits for the threads of one block only
    run(barrier_of_one_block);
}

__global__ void no_barrier_between_rounds(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    const int other = 1 - static_cast<int>(cluster.block_rank());
    int sum = 0;
    for (int round = 0; round < 3; ++round) {
        tile[threadIdx.x] = in[place()] + round;  // MISTAKE(data_race): the neighbor may still read the last round's
        cluster.sync();
        sum += cluster.map_shared_rank(tile, other)[threadIdx.x];  // OTHER: nobody waits for this
    }
    out[place()] = sum;
    cluster.sync();
}

void next_round_overwrites_the_tile() { run(no_barrier_between_rounds); }

__global__ void reads_before_the_wait(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    cluster.sync();
    tile[threadIdx.x] = in[place()];  // OTHER: before the arrival
    cluster.barrier_arrive();
    const int other = 1 - static_cast<int>(cluster.block_rank());
    out[place()] = cluster.map_shared_rank(tile, other)[threadIdx.x];  // MISTAKE(data_race): has arrived, not waited
    cluster.barrier_wait();
    cluster.sync();
}

void read_between_arrive_and_wait() { run(reads_before_the_wait); }

__global__ void writes_after_the_arrival(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    cluster.sync();
    cluster.barrier_arrive();
    tile[threadIdx.x] = in[place()];  // OTHER: too late for this phase
    cluster.barrier_wait();
    const int other = 1 - static_cast<int>(cluster.block_rank());
    out[place()] = cluster.map_shared_rank(tile, other)[threadIdx.x];  // MISTAKE(data_race): may not be there
    cluster.sync();
}

void write_between_arrive_and_wait() { run(writes_after_the_arrival); }

__global__ void results_in_global_memory(const int* in, int* out) {
    const auto cluster = this_cluster();
    if (cluster.block_rank() == 0) out[threadIdx.x] = 2 * in[threadIdx.x];  // OTHER: the first block
    __syncthreads();
    if (cluster.block_rank() == 1) out[64 + threadIdx.x] = out[threadIdx.x];  // MISTAKE(data_race): does not wait
}

void blocks_of_a_cluster_without_its_barrier() {
    // HINT: put cluster.sync() between the two accesses
    run(results_in_global_memory);
}

__global__ void waits_without_arriving(const int* in, int* out) {
    const auto cluster = this_cluster();
    out[place()] = in[place()];
    cluster.barrier_wait();  // MISTAKE(barrier_misuse): nobody has arrived
}

void cluster_wait_without_arrive() { run(waits_without_arriving); }

__global__ void arrives_twice(const int* in, int* out) {
    const auto cluster = this_cluster();
    cluster.barrier_arrive();
    out[place()] = in[place()];
    cluster.barrier_arrive();  // MISTAKE(barrier_misuse): the wait is missing
    cluster.barrier_wait();
}

void cluster_arrive_without_wait() { run(arrives_twice); }

__global__ void half_of_the_threads(const int* in, int* out) {
    const auto cluster = this_cluster();
    out[place()] = in[place()];
    if (threadIdx.x < 32) cluster.sync();  // MISTAKE(divergent_barrier): the second warp never comes
    __syncthreads();
}

void cluster_barrier_in_a_branch() { run(half_of_the_threads); }

__global__ void one_block_stays_away(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    tile[threadIdx.x] = in[place()];
    if (cluster.block_rank() == 0) cluster.sync();  // MISTAKE(divergent_barrier): the other block waits elsewhere
    if (cluster.block_rank() == 1 && threadIdx.x < 32) cluster.sync();
    __syncthreads();
    out[place()] = tile[threadIdx.x];
}

void cluster_barrier_in_one_block() { run(one_block_stays_away); }

__global__ void rank_is_too_large(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    tile[threadIdx.x] = in[place()];
    cluster.sync();
    const int next = static_cast<int>(cluster.block_rank()) + 1;
    out[place()] = cluster.map_shared_rank(tile, next)[threadIdx.x];  // MISTAKE(illegal_access): 2 of 2 blocks
    cluster.sync();
}

void neighbor_of_the_last_block() {
    // HINT: ranks go from 0 to cluster.num_blocks() - 1
    run(rank_is_too_large);
}

__global__ void address_in_global_memory(const int* in, int* out) {
    const auto cluster = this_cluster();
    cluster.sync();
    out[place()] = *cluster.map_shared_rank(in, 1);  // MISTAKE(illegal_access): not in shared memory
    cluster.sync();
}

void map_of_a_global_address() { run(address_in_global_memory); }

__global__ void past_the_neighbors_array(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    tile[threadIdx.x] = in[place()];
    cluster.sync();
    const int other = 1 - static_cast<int>(cluster.block_rank());
    out[place()] = cluster.map_shared_rank(tile, other)[threadIdx.x + 1];  // MISTAKE(out_of_bounds): index 64
    cluster.sync();
}

void one_past_the_neighbors_array() { run(past_the_neighbors_array); }

__global__ void nobody_writes_the_second_tile(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    if (cluster.block_rank() == 0) tile[threadIdx.x] = in[place()];
    cluster.sync();
    out[place()] = *cluster.map_shared_rank(&tile[threadIdx.x], 1);  // MISTAKE(uninitialized_read): rank 1 wrote none
    cluster.sync();
}

void tile_of_the_other_block_never_written() { run(nobody_writes_the_second_tile); }

}  // namespace

namespace corpus {

CaseList cluster_mistakes() {
    return {__FILE__,
            {{"neighbor_that_has_ended", "no cluster.sync() after the last remote read", neighbor_that_has_ended},
             {"sum_in_a_block_that_ends", "no cluster.sync() after remote atomics", sum_in_a_block_that_ends},
             {"neighbor_that_has_not_started", "remote write without a barrier before", neighbor_that_has_not_started},
             {"counters_cleared_too_late", "cleared after the cluster's barrier", counters_cleared_too_late},
             {"syncthreads_for_the_cluster", "__syncthreads() between two blocks", syncthreads_for_the_cluster},
             {"next_round_overwrites_the_tile", "one barrier per round, one tile", next_round_overwrites_the_tile},
             {"read_between_arrive_and_wait", "remote read before barrier_wait()", read_between_arrive_and_wait},
             {"write_between_arrive_and_wait", "written after barrier_arrive()", write_between_arrive_and_wait},
             {"blocks_of_a_cluster_without_its_barrier", "global memory, and no cluster.sync()",
              blocks_of_a_cluster_without_its_barrier},
             {"cluster_wait_without_arrive", "barrier_wait() alone", cluster_wait_without_arrive, true},
             {"cluster_arrive_without_wait", "barrier_arrive() twice", cluster_arrive_without_wait, true},
             {"cluster_barrier_in_a_branch", "half of the threads", cluster_barrier_in_a_branch, true},
             {"cluster_barrier_in_one_block", "one block waits elsewhere", cluster_barrier_in_one_block, true},
             {"neighbor_of_the_last_block", "rank 2 of 2", neighbor_of_the_last_block},
             {"map_of_a_global_address", "map_shared_rank of a global address", map_of_a_global_address},
             {"one_past_the_neighbors_array", "index 64 of 64, in another block", one_past_the_neighbors_array},
             {"tile_of_the_other_block_never_written", "only rank 0 writes its tile",
              tile_of_the_other_block_never_written}}};
}

}  // namespace corpus
