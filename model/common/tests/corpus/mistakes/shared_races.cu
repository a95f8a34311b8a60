// Races on shared memory: two threads of a block, one of them writing, and no barrier between them.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 64;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

std::vector<int> up_to(int count) {
    std::vector<int> values;
    for (int i = 0; i < count; ++i) values.push_back(i);
    return values;
}

__global__ void reverse(const int* in, int* out) {
    __shared__ int row[threads];
    row[threadIdx.x] = in[threadIdx.x];                 // OTHER: stored here
    out[threadIdx.x] = row[threads - 1 - threadIdx.x];  // MISTAKE(data_race): no barrier behind the store
}

void load_without_barrier() {
    DeviceBuffer<int> d_in(up_to(threads)), d_out(threads);
    reverse<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_of_tiles(const int* in, int* out, int tiles) {
    __shared__ int tile[threads];
    const unsigned t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < tiles; ++k) {
        tile[t] = in[k * threads + static_cast<int>(t)];  // MISTAKE(data_race): others still read the tile before
        __syncthreads();
        sum += tile[(t + 1) % threads];  // OTHER: read here
    }
    out[t] = sum;
}

void overwrite_without_barrier() {
    DeviceBuffer<int> d_in(up_to(4 * threads)), d_out(threads);
    sum_of_tiles<<<1, threads>>>(d_in.data(), d_out.data(), 4);
    check_finished();
}

__global__ void transpose_tile(const float* in, float* out) {
    __shared__ float tile[16][17];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];   // OTHER: stored here
    out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // MISTAKE(data_race): no barrier
}

void transpose_without_barrier() {
    DeviceBuffer<float> d_in(ones(256)), d_out(256);
    transpose_tile<<<1, dim3(16, 16)>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void last_thread_wins(int* out) {
    __shared__ unsigned winner;
    winner = threadIdx.x;  // MISTAKE(data_race): every thread writes another value
    __syncthreads();
    if (threadIdx.x == 0) *out = static_cast<int>(winner);
}

void different_values_to_one_variable() {
    DeviceBuffer<int> d_out(1);
    last_thread_wins<<<1, threads>>>(d_out.data());
    check_finished();
}

__global__ void count_with_increment(const int* values, int* result) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[values[threadIdx.x] % 8]++;  // MISTAKE(data_race): needs atomicAdd
    __syncthreads();
    if (threadIdx.x < 8) result[threadIdx.x] = bins[threadIdx.x];
}

void histogram_with_increment() {
    DeviceBuffer<int> d_values(up_to(threads)), d_result(8);
    count_with_increment<<<1, threads>>>(d_values.data(), d_result.data());
    check_finished();
}

__global__ void stencil_with_late_halo(const float* in, float* out) {
    __shared__ float row[threads + 1];
    row[threadIdx.x + 1] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == threads - 1) row[0] = in[0];              // OTHER: warp 1 loads the halo
    out[threadIdx.x] = row[threadIdx.x + 1] - row[threadIdx.x];  // MISTAKE(data_race): needed by warp 0
}

void halo_behind_the_barrier() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    stencil_with_late_halo<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void pipeline(const int* in, int* out, int tiles) {
    __shared__ int buffer[2][threads];
    const int t = static_cast<int>(threadIdx.x);
    int sum = 0;
    buffer[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) buffer[(k + 1) % 2][t] = in[(k + 1) * threads + t];  // OTHER: fills the next buffer
        sum += buffer[k % 2][threads - 1 - t];  // MISTAKE(data_race): no barrier at the end of the round
    }
    out[t] = sum;
}

void double_buffer_without_barrier() {
    DeviceBuffer<int> d_in(up_to(4 * threads)), d_out(threads);
    pipeline<<<1, threads>>>(d_in.data(), d_out.data(), 4);
    check_finished();
}

template <class T>
__global__ void rotate(const T* in, T* out, int by) {
    extern __shared__ char memory[];
    T* values = reinterpret_cast<T*>(memory);
    values[threadIdx.x] = in[threadIdx.x];  // OTHER: stored here
    const unsigned from = (threadIdx.x + static_cast<unsigned>(by)) % blockDim.x;
    out[threadIdx.x] = values[from];  // MISTAKE(data_race): no barrier
}

void template_with_dynamic_shared() {
    DeviceBuffer<double> d_in(std::vector<double>(threads, 1.0)), d_out(threads);
    rotate<<<1, threads, threads * sizeof(double)>>>(d_in.data(), d_out.data(), 5);
    check_finished();
}

__device__ void swap_ends(int* row, unsigned t) {
    const int mine = row[threads - 1 - t];  // OTHER: read here
    row[t] = mine;                          // MISTAKE(data_race): needs a barrier between read and write
}

__global__ void reverse_in_place(int* data) {
    __shared__ int row[threads];
    row[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    swap_ends(row, threadIdx.x);
    __syncthreads();
    data[threadIdx.x] = row[threadIdx.x];
}

void read_and_write_in_device_function() {
    DeviceBuffer<int> d_data(up_to(threads));
    reverse_in_place<<<1, threads>>>(d_data.data());
    check_finished();
}

__global__ void shift_blocks(const int* in, int* out) {
    __shared__ int row[threads];
    const unsigned first = blockIdx.x * threads, t = threadIdx.x;
    row[t] = in[first + t];                   // OTHER: stored here
    if (blockIdx.x == 0) __syncthreads();     // the second block goes on at once
    out[first + t] = row[(t + 1) % threads];  // MISTAKE(data_race): in block 1
}

void barrier_in_first_block_only() {
    DeviceBuffer<int> d_in(up_to(2 * threads)), d_out(2 * threads);
    shift_blocks<<<2, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void shift_text(const char* in, char* out) {
    __shared__ char text[threads];
    text[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < threads - 1) text[threadIdx.x] = text[threadIdx.x + 1];  // MISTAKE(data_race): in place
    __syncthreads();
    out[threadIdx.x] = text[threadIdx.x];
}

void bytes_shifted_in_place() {
    std::vector<char> alphabet;
    for (int i = 0; i < threads; ++i) alphabet.push_back(static_cast<char>('a' + i % 26));
    DeviceBuffer<char> d_in(alphabet), d_out(threads);
    shift_text<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void count_even(int* out) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (threadIdx.x % 2 == 0) atomicAdd(&found, 1);  // OTHER: counted here
    out[threadIdx.x] = found;                        // MISTAKE(data_race): a plain read while others still count
    // HINT: put __syncthreads() between the atomic accesses and the others
    // HINT: an atomic read alone would not wait for the other threads
}

void atomic_and_plain_read() {
    DeviceBuffer<int> d_out(threads);
    count_even<<<1, threads>>>(d_out.data());
    check_finished();
}

__global__ void count_from_zero(int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;  // MISTAKE(data_race): no barrier between this and the first atomicAdd
    atomicAdd(&count, 1);             // OTHER: counted here
    __syncthreads();
    if (threadIdx.x == 0) *out = count;
}

void counter_cleared_without_barrier() {
    DeviceBuffer<int> d_out(1);
    count_from_zero<<<1, threads>>>(d_out.data());
    check_finished();
}

__global__ void reserve_places(int* next, int* out) {
    __shared__ int first;
    if (threadIdx.x == 0) first = atomicAdd(next, threads);    // OTHER: thread 0 reserves for all
    out[threadIdx.x] = first + static_cast<int>(threadIdx.x);  // MISTAKE(data_race): all read it, no barrier
}

void broadcast_without_barrier() {
    DeviceBuffer<int> d_next(std::vector<int>(1, 0)), d_out(threads);
    reserve_places<<<1, threads>>>(d_next.data(), d_out.data());
    check_finished();
}

__global__ void exchange_between_warps(const int* in, int* out) {
    __shared__ int row[threads];
    row[threadIdx.x] = in[threadIdx.x];  // OTHER: stored here
    __syncwarp();
    out[threadIdx.x] = row[(threadIdx.x + 32) % threads];  // MISTAKE(data_race): __syncwarp orders one warp only
}

void syncwarp_for_syncthreads() {
    DeviceBuffer<int> d_in(up_to(threads)), d_out(threads);
    exchange_between_warps<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sort_pairs(int* data) {
    __shared__ int values[threads];
    const unsigned t = threadIdx.x;
    values[t] = data[t];
    __syncthreads();
    for (unsigned round = 0; round < threads; ++round) {
        const unsigned left = 2 * (t % (threads / 2)) + round % 2;
        const bool has_pair = t < threads / 2 && left + 1 < threads;
        if (has_pair && values[left] > values[left + 1]) {  // MISTAKE(data_race): pairs of the round before
            const int low = values[left + 1];               // OTHER: read here
            values[left + 1] = values[left];                // OTHER: written here
            values[left] = low;                             // OTHER: and here
        }
    }
    __syncthreads();
    data[t] = values[t];
}

void odd_even_sort_without_barrier() {
    std::vector<int> falling = up_to(threads);
    for (int& value : falling) value = threads - value;
    DeviceBuffer<int> d_data(falling);
    sort_pairs<<<1, threads>>>(d_data.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList shared_races() {
    return {__FILE__,
            {{"load_without_barrier", "no barrier between load and use", load_without_barrier},
             {"overwrite_without_barrier", "no barrier between use and the next load", overwrite_without_barrier},
             {"transpose_without_barrier", "tile read by columns without a barrier", transpose_without_barrier},
             {"different_values_to_one_variable", "all threads write one variable", different_values_to_one_variable},
             {"histogram_with_increment", "shared histogram with ++", histogram_with_increment},
             {"halo_behind_the_barrier", "another warp loads the halo after the barrier", halo_behind_the_barrier},
             {"double_buffer_without_barrier", "two buffers, no barrier in the loop", double_buffer_without_barrier},
             {"template_with_dynamic_shared", "template on dynamic shared memory, no barrier",
              template_with_dynamic_shared},
             {"read_and_write_in_device_function", "reversed in place by a device function",
              read_and_write_in_device_function},
             {"barrier_in_first_block_only", "second block skips the barrier", barrier_in_first_block_only},
             {"bytes_shifted_in_place", "bytes shifted in place", bytes_shifted_in_place},
             {"atomic_and_plain_read", "plain read while others use atomicAdd", atomic_and_plain_read},
             {"counter_cleared_without_barrier", "counter cleared while others count", counter_cleared_without_barrier},
             {"broadcast_without_barrier", "value of thread 0 read without a barrier", broadcast_without_barrier},
             {"syncwarp_for_syncthreads", "__syncwarp between warps", syncwarp_for_syncthreads},
             {"odd_even_sort_without_barrier", "rounds of a sort without barriers", odd_even_sort_without_barrier}}};
}

}  // namespace corpus
