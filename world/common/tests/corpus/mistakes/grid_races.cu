// Races on global memory between blocks: nothing orders the blocks of a launch.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 32;
constexpr int blocks = 4;
constexpr int n = threads * blocks;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

std::vector<int> zeros(int count) { return std::vector<int>(static_cast<std::size_t>(count), 0); }

__global__ void double_in_place(float* data) {
    const unsigned i = threadIdx.x + blockIdx.x;
    data[i] *= 2;  // MISTAKE(data_race): index without blockDim.x, blocks share elements
}

void index_without_block_size() {
    DeviceBuffer<float> d_data(ones(n));
    double_in_place<<<blocks, threads>>>(d_data.data());
    check_finished();
}

__global__ void add_block_sums(const float* in, float* total) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *total += sum;  // MISTAKE(data_race): one thread of every block
}

void block_sums_without_atomic() {
    DeviceBuffer<float> d_in(ones(n)), d_total(std::vector<float>(1, 0.0f));
    add_block_sums<<<blocks, threads>>>(d_in.data(), d_total.data());
    check_finished();
}

__global__ void sum_in_one_launch(const float* in, float* partial, unsigned* counter, float* total) {
    if (threadIdx.x != 0) return;
    float sum = 0;
    for (int i = 0; i < threads; ++i) sum += in[blockIdx.x * threads + static_cast<unsigned>(i)];
    partial[blockIdx.x] = sum;  // OTHER: needs __threadfence() before the ticket is drawn
    if (atomicAdd(counter, 1u) != gridDim.x - 1) return;
    sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) {
        sum += partial[block];  // MISTAKE(data_race): the last block may see the ticket before the sums
    }
    *total = sum;
}

void last_block_without_fence() {
    DeviceBuffer<float> d_in(ones(n)), d_partial(blocks), d_total(1);
    DeviceBuffer<unsigned> d_counter(std::vector<unsigned>(1, 0));
    sum_in_one_launch<<<blocks, threads>>>(d_in.data(), d_partial.data(), d_counter.data(), d_total.data());
    check_finished();
}

__global__ void sum_with_block_fence(const float* in, float* partial, unsigned* counter, float* total) {
    if (threadIdx.x != 0) return;
    float sum = 0;
    for (int i = 0; i < threads; ++i) sum += in[blockIdx.x * threads + static_cast<unsigned>(i)];
    partial[blockIdx.x] = sum;  // OTHER: ordered for its own block only
    __threadfence_block();
    if (atomicAdd(counter, 1u) != gridDim.x - 1) return;
    __threadfence_block();
    sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) {
        sum += partial[block];  // MISTAKE(data_race): wants __threadfence()
    }
    *total = sum;
}

void last_block_with_block_fence() {
    DeviceBuffer<float> d_in(ones(n)), d_partial(blocks), d_total(1);
    DeviceBuffer<unsigned> d_counter(std::vector<unsigned>(1, 0));
    sum_with_block_fence<<<blocks, threads>>>(d_in.data(), d_partial.data(), d_counter.data(), d_total.data());
    check_finished();
}

__global__ void sum_by_counter(const float* in, float* partial, unsigned* counter, float* total) {
    if (threadIdx.x != 0) return;
    float sum = 0;
    for (int i = 0; i < threads; ++i) sum += in[blockIdx.x * threads + static_cast<unsigned>(i)];
    partial[blockIdx.x] = sum;
    __threadfence();
    atomicAdd(counter, 1u);             // OTHER: the ticket that is thrown away
    if (*counter != gridDim.x) return;  // MISTAKE(data_race): reads the counter again instead of its ticket
    __threadfence();
    sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) sum += partial[block];
    *total = sum;
}

void counter_instead_of_ticket() {
    DeviceBuffer<float> d_in(ones(n)), d_partial(blocks), d_total(1);
    DeviceBuffer<unsigned> d_counter(std::vector<unsigned>(1, 0));
    sum_by_counter<<<blocks, threads>>>(d_in.data(), d_partial.data(), d_counter.data(), d_total.data());
    check_finished();
}

__global__ void draw_ticket(unsigned* counter, unsigned* last) {
    if (threadIdx.x != 0) return;
    const unsigned ticket = (*counter)++;  // MISTAKE(data_race): needs atomicAdd
    if (ticket == gridDim.x - 1) *last = blockIdx.x;
}

void ticket_with_increment() {
    DeviceBuffer<unsigned> d_counter(std::vector<unsigned>(1, 0)), d_last(1);
    draw_ticket<<<blocks, threads>>>(d_counter.data(), d_last.data());
    check_finished();
}

__global__ void smooth_in_place(float* data, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const bool inside = i > 0 && i < count - 1;
    const float average = inside ? (data[i - 1] + data[i + 1]) / 2 : 0;  // OTHER: reads the neighbor block's edge
    __syncthreads();
    if (inside) data[i] = average;  // MISTAKE(data_race): the barrier holds its own block only
}

void neighbor_block_in_place() {
    DeviceBuffer<float> d_data(ones(n));
    smooth_in_place<<<blocks, threads>>>(d_data.data(), n);
    check_finished();
}

__global__ void publish(int* value, int* ready, int* seen) {
    if (blockIdx.x == 0) {
        *value = 42;           // OTHER: the value
        *ready = 1;            // OTHER: the flag
    } else if (*ready == 1) {  // MISTAKE(data_race): a plain flag orders nothing
        *seen = *value;        // MISTAKE(data_race): nor the value behind it
    }
}

void plain_flag_between_blocks() {
    DeviceBuffer<int> d_value(zeros(1)), d_ready(zeros(1)), d_seen(1);
    publish<<<2, 1>>>(d_value.data(), d_ready.data(), d_seen.data());
    check_finished();
}

__global__ void increment_all(int* data, int count) {
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
         i += static_cast<int>(blockDim.x)) {
        data[i] += 1;  // MISTAKE(data_race): the stride leaves out gridDim.x, blocks do each other's work
    }
}

void grid_stride_without_grid() {
    DeviceBuffer<int> d_data(zeros(n));
    increment_all<<<blocks, threads>>>(d_data.data(), n);
    check_finished();
}

__global__ void clear_and_sum(const float* in, float* total) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *total = 0;                       // MISTAKE(data_race): other blocks may have added already
    if (blockIdx.x > 0) atomicAdd(total, in[i]);  // OTHER: added here
}

void cleared_by_the_same_launch() {
    DeviceBuffer<float> d_in(ones(n)), d_total(std::vector<float>(1, 0.0f));
    clear_and_sum<<<blocks, threads>>>(d_in.data(), d_total.data());
    check_finished();
}

template <class T>
__global__ void split_product(const T* a, const T* b, T* c, int size) {
    const int i = static_cast<int>(threadIdx.x), k = static_cast<int>(blockIdx.x);
    c[i] += a[i * size + k] * b[k];  // MISTAKE(data_race): every block adds its column to the same result
}

void columns_split_over_blocks() {
    DeviceBuffer<double> d_a(std::vector<double>(256, 1.0)), d_b(std::vector<double>(16, 1.0));
    DeviceBuffer<double> d_c(std::vector<double>(16, 0.0));
    split_product<<<16, 16>>>(d_a.data(), d_b.data(), d_c.data(), 16);
    check_finished();
}

__device__ int busy;

__global__ void lock_by_plain_flag(int* shared_sum) {
    if (threadIdx.x != 0 || busy != 0) return;  // MISTAKE(data_race): test and set are two steps
    busy = 1;                                   // OTHER: set here
    *shared_sum += 1;                           // OTHER: not protected at all
    busy = 0;                                   // OTHER: and here
}

void lock_without_atomic() {
    DeviceBuffer<int> d_sum(zeros(1));
    lock_by_plain_flag<<<blocks, threads>>>(d_sum.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList grid_races() {
    return {
        __FILE__,
        {{"index_without_block_size", "threadIdx.x + blockIdx.x as index", index_without_block_size},
         {"block_sums_without_atomic", "block sums added with +=", block_sums_without_atomic},
         {"last_block_without_fence", "last-block sum without __threadfence", last_block_without_fence},
         {"last_block_with_block_fence", "last-block sum with __threadfence_block", last_block_with_block_fence},
         {"counter_instead_of_ticket", "last block found by reading the counter again", counter_instead_of_ticket},
         {"ticket_with_increment", "ticket drawn with ++", ticket_with_increment},
         {"neighbor_block_in_place", "stencil in place across blocks", neighbor_block_in_place},
         {"plain_flag_between_blocks", "plain flag between blocks", plain_flag_between_blocks},
         {"grid_stride_without_grid", "grid-stride loop without gridDim.x", grid_stride_without_grid},
         {"cleared_by_the_same_launch", "sum cleared by the launch that adds", cleared_by_the_same_launch},
         {"columns_split_over_blocks", "template: columns split over blocks, added with +=", columns_split_over_blocks},
         {"lock_without_atomic", "lock that is a plain variable", lock_without_atomic}}};
}

}  // namespace corpus
