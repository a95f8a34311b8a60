// Races whose report has to say more than that there is one: which update needs an atomic, which access belongs to an
// earlier iteration, and from where a function was called.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 64;

std::vector<int> up_to(int count) {
    std::vector<int> values;
    for (int i = 0; i < count; ++i) values.push_back(i);
    return values;
}

__global__ void count_in_one_line(const int* keys, int* counts) {
    counts[keys[threadIdx.x] % 4]++;  // MISTAKE(data_race): needs atomicAdd
    // HINT: two threads update the same element
    // NO HINT: __syncwarp
    // NO HINT: __syncthreads
}

void counters_without_atomics() {
    DeviceBuffer<int> d_keys(up_to(threads)), d_counts(std::vector<int>(4, 0));
    count_in_one_line<<<1, threads>>>(d_keys.data(), d_counts.data());
    check_finished();
}

__global__ void count_in_two_lines(const int* keys, int* counts) {
    const int key = keys[threadIdx.x] % 4;
    const int before = counts[key];  // MISTAKE(data_race): read by several threads
    counts[key] = before + 1;        // OTHER: and written
    // HINT: two threads update the same element
    // NO HINT: __syncwarp
}

void counters_read_then_written() {
    DeviceBuffer<int> d_keys(up_to(threads)), d_counts(std::vector<int>(4, 0));
    count_in_two_lines<<<1, threads>>>(d_keys.data(), d_counts.data());
    check_finished();
}

__global__ void count_between_blocks(const int* keys, int* counts) {
    if (threadIdx.x == 0) counts[keys[blockIdx.x] % 2] += 3;  // MISTAKE(data_race): needs atomicAdd
    // HINT: two threads update the same element
    // NO HINT: another kernel
}

void counters_of_several_blocks() {
    DeviceBuffer<int> d_keys(up_to(threads)), d_counts(std::vector<int>(2, 0));
    count_between_blocks<<<6, 32>>>(d_keys.data(), d_counts.data());
    check_finished();
}

__device__ __forceinline__ void raise(int* counts, int place) {
    counts[place] += 1;  // MISTAKE(data_race): called with one place by several threads
    // HINT: two threads update the same element
}

__global__ void count_by_a_function(const int* keys, int* counts) {
    const int key = keys[threadIdx.x];
    raise(counts, key / 8);  // CALLED FROM: the report names this line
}

void counters_raised_by_a_function() {
    DeviceBuffer<int> d_keys(up_to(threads)), d_counts(std::vector<int>(8, 0));
    count_by_a_function<<<1, threads>>>(d_keys.data(), d_counts.data());
    check_finished();
}

__global__ void sum_tiles(const int* in, int* out, int tiles) {
    __shared__ int tile[threads];
    int sum = 0;
    for (int t = 0; t < tiles; ++t) {
        tile[threadIdx.x] = in[t * threads + static_cast<int>(threadIdx.x)];  // OTHER: for the next round
        __syncthreads();
        for (int i = 0; i < threads; ++i) sum += tile[i];  // MISTAKE(data_race): a barrier is missing behind the loop
        // HINT: belongs to an earlier iteration
        // HINT: at the end of the loop body
    }
    out[threadIdx.x] = sum;
}

void tile_overwritten_in_the_next_round() {
    DeviceBuffer<int> d_in(up_to(4 * threads)), d_out(threads);
    sum_tiles<<<1, threads>>>(d_in.data(), d_out.data(), 4);
    check_finished();
}

__global__ void rotate_rounds(int* values, int rounds) {
    __shared__ int ring[32];
    const unsigned lane = threadIdx.x;
    int value = values[lane];
    for (int round = 0; round < rounds; ++round) {
        ring[lane] = value;  // OTHER: for the next round
        __syncwarp();
        value = ring[(lane + 1) % 32] + 1;  // MISTAKE(data_race): __syncwarp is missing at the end of the loop
        // HINT: belongs to an earlier iteration
        // HINT: put another __syncwarp()
    }
    values[lane] = value;
}

void ring_overwritten_in_the_next_round() {
    DeviceBuffer<int> d_values(up_to(32));
    rotate_rounds<<<1, 32>>>(d_values.data(), 3);
    check_finished();
}

__global__ void move_left(int* data, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i + 1 < count) data[i] = data[i + 1] + 1;  // MISTAKE(data_race): thread i + 1 overwrites what thread i reads
    // HINT: read into a local variable
    // NO HINT: update the same element
    // NO HINT: __syncwarp
}

void moved_in_one_line() {
    DeviceBuffer<int> d_data(up_to(threads));
    move_left<<<1, threads>>>(d_data.data(), threads);
    check_finished();
}

__global__ void write_the_same_element(const int* in, int* out) {
    out[threadIdx.x / 2] = in[threadIdx.x];  // MISTAKE(data_race): two threads for each element
    // HINT: two threads write the same element
    // NO HINT: __syncwarp
}

void element_written_twice() {
    DeviceBuffer<int> d_in(up_to(threads)), d_out(threads);
    write_the_same_element<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void halve_without_barriers(const int* in, int* out) {
    __shared__ int part[threads];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];  // MISTAKE(data_race): no barrier
        // HINT: at the beginning of each round
        // HINT: no barrier between rounds helps
        // HINT: not inside a branch
        // NO HINT: atomic
    }
    if (threadIdx.x == 0) *out = part[0];
}

void tree_without_barriers() {
    DeviceBuffer<int> d_in(up_to(threads)), d_out(1);
    halve_without_barriers<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void halve_with_a_branch(const int* in, int* out) {
    __shared__ int part[32];
    part[threadIdx.x] = in[threadIdx.x];  // OTHER: a lane that does not meet the others in the branch
    if (threadIdx.x < 16) {
        __syncwarp(0xFFFF);
        part[threadIdx.x] += part[threadIdx.x + 16];  // MISTAKE(data_race): by a lane above the branch
        // HINT: did not take part in the __syncwarp()
        // HINT: move it out of the branch
    }
    if (threadIdx.x == 0) *out = part[0];
}

void tree_with_a_barrier_in_the_branch() {
    DeviceBuffer<int> d_in(up_to(32)), d_out(1);
    halve_with_a_branch<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void reverse_with_a_branch(const int* in, int* out) {
    __shared__ int tile[threads];
    tile[threadIdx.x] = in[threadIdx.x];  // OTHER: the second warp does not wait for the first one
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 0;
        __syncthreads();
    }
    out[threadIdx.x] = tile[threads - 1 - threadIdx.x];  // MISTAKE(data_race): in another warp
    // HINT: move the barrier in line 180 out of the branch of line 178
    // HINT: a thread that does not take the branch does not wait there
}

void reversed_behind_a_barrier_in_a_branch() {
    DeviceBuffer<int> d_in(up_to(threads)), d_out(threads);
    reverse_with_a_branch<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void reverse_with_a_short_branch(const int* in, int* out) {
    __shared__ int tile[threads];
    tile[threadIdx.x] = in[threadIdx.x];  // OTHER: the second warp does not wait for the first one
    if (threadIdx.x < 32) __syncthreads();
    if (out == nullptr) return;
    out[threadIdx.x] = tile[threads - 1 - threadIdx.x];  // MISTAKE(data_race): in another warp
    // HINT: move the barrier in line 196 out of the branch of line 196
}

void reversed_behind_a_short_branch() {
    DeviceBuffer<int> d_in(up_to(threads)), d_out(threads);
    reverse_with_a_short_branch<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void add_right_neighbor(const int* in, int* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < count) out[i] = in[i + 1] + 1;  // MISTAKE(data_race): in and out are one array
    // HINT: write to another array
    // NO HINT: put __syncthreads
}

void moved_in_place_by_two_blocks() {
    DeviceBuffer<int> d_data(up_to(2 * threads));
    add_right_neighbor<<<2, threads>>>(d_data.data(), d_data.data(), 2 * threads);
    check_finished();
}

__global__ void square_elements(const int* in, int* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    out[i] = in[i] * in[i];  // MISTAKE(out_of_bounds): the count is that of bytes
    // HINT: compares an index already
    // HINT: elements (not bytes)
    // NO HINT: let only threads
}

void count_of_bytes() {
    DeviceBuffer<int> d_in(up_to(threads)), d_out(threads);
    square_elements<<<4, threads>>>(d_in.data(), d_out.data(), 4 * threads);
    check_finished();
}

__global__ void add_neighbors(const int* in, int* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int sum = 0;
    for (int k = 0; k < 4; ++k) {
        sum += in[i + k];  // MISTAKE(out_of_bounds): the last threads have fewer neighbors
        // HINT: let only threads whose index is inside
        // NO HINT: compares an index already
    }
    if (i < count) out[i] = sum;
}

void neighbors_of_the_last_elements() {
    DeviceBuffer<int> d_in(up_to(threads)), d_out(threads);
    add_neighbors<<<1, threads>>>(d_in.data(), d_out.data(), threads);
    check_finished();
}

}  // namespace

namespace corpus {

CaseList race_hints() {
    return {
        __FILE__,
        {{"counters_without_atomics", "++ on few counters", counters_without_atomics},
         {"counters_read_then_written", "the same in two lines", counters_read_then_written},
         {"counters_of_several_blocks", "+= from several blocks", counters_of_several_blocks},
         {"counters_raised_by_a_function", "+= in a function", counters_raised_by_a_function},
         {"tile_overwritten_in_the_next_round", "barrier missing at the end of a loop",
          tile_overwritten_in_the_next_round},
         {"ring_overwritten_in_the_next_round", "__syncwarp missing at the end of a loop",
          ring_overwritten_in_the_next_round},
         {"moved_in_one_line", "elements moved in one line", moved_in_one_line},
         {"element_written_twice", "two threads store to each element", element_written_twice},
         {"tree_without_barriers", "rounds of a tree without a barrier", tree_without_barriers},
         {"tree_with_a_barrier_in_the_branch", "__syncwarp where some lanes do not come by",
          tree_with_a_barrier_in_the_branch},
         {"reversed_behind_a_barrier_in_a_branch", "a barrier in a branch that some threads take",
          reversed_behind_a_barrier_in_a_branch},
         {"reversed_behind_a_short_branch", "the same in one line", reversed_behind_a_short_branch},
         {"moved_in_place_by_two_blocks", "one array is read and written", moved_in_place_by_two_blocks},
         {"count_of_bytes", "a guard with too large a bound", count_of_bytes},
         {"neighbors_of_the_last_elements", "a loop over neighbors without a guard", neighbors_of_the_last_elements}}};
}

}  // namespace corpus
