// Threads that write the same value to one place, or different values to places right beside each other; and threads
// that read what they wrote themselves.
#include <cstddef>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

// ---- the same value ------------------------------------------------------------------------------------------

__global__ void block_finds_negative(const int* values, int* found) {
    __shared__ int any_negative;
    if (threadIdx.x == 0) any_negative = 0;
    __syncthreads();
    if (values[blockIdx.x * blockDim.x + threadIdx.x] < 0) any_negative = 1;
    __syncthreads();
    if (threadIdx.x == 0) found[blockIdx.x] = any_negative;
}

void threads_set_one_shared_flag() {
    std::vector<int> values = scrambled(256, 100);
    for (int i = 130; i < 190; i += 3) values[i] = -1;
    DeviceBuffer<int> d_values(values), d_found(4);
    block_finds_negative<<<4, 64>>>(d_values.data(), d_found.data());
    check_finished();
    expect_equal(d_found.download(), {0, 0, 1, 0});
}

__global__ void grid_finds(const int* values, int n, int wanted, int* found) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] == wanted) *found = 1;
}

void blocks_set_one_global_flag() {
    DeviceBuffer<int> d_values(sequence<int>(1000, [](int i) { return i % 10; })), d_found(std::vector<int>{0});
    grid_finds<<<8, 128>>>(d_values.data(), 1000, 7, d_found.data());
    check_finished();
    expect_equal(d_found.download(), {1});
}

__global__ void cross_out_multiples(unsigned char* composite, int limit) {
    const int number = blockIdx.x * blockDim.x + threadIdx.x + 2;
    for (int multiple = 2 * number; multiple < limit; multiple += number) composite[multiple] = 1;
}

void sieve_crosses_out_twice() {
    constexpr int limit = 500;
    DeviceBuffer<unsigned char> d_composite(std::vector<unsigned char>(limit, 0));
    cross_out_multiples<<<4, 64>>>(d_composite.data(), limit);
    check_finished();
    expect_equal(d_composite.download(), sequence<unsigned char>(limit, [](int i) {
                     for (int divisor = 2; divisor * divisor <= i; ++divisor) {
                         if (i % divisor == 0) return 1;
                     }
                     return 0;
                 }));
}

__global__ void shares_table(const int* values, int* out) {
    __shared__ int squares[8];
    const int thread = threadIdx.x;
    squares[thread % 8] = (thread % 8) * (thread % 8);
    __syncthreads();
    out[thread] = squares[values[thread]];
}

void table_is_filled_many_times_over() {
    const std::vector<int> values = scrambled(96, 8);
    DeviceBuffer<int> d_values(values), d_out(96);
    shares_table<<<1, 96>>>(d_values.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(96, [&](int i) { return values[i] * values[i]; }));
}

__global__ void mark_neighbors(const int* offsets, const int* targets, const int* active, int* next_active, int nodes) {
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || active[node] == 0) return;
    for (int edge = offsets[node]; edge < offsets[node + 1]; ++edge) next_active[targets[edge]] = 1;
}

void frontier_is_marked_by_several_nodes() {
    constexpr int nodes = 200;
    const std::vector<int> targets = scrambled(3 * nodes, nodes), active = scrambled(nodes, 2);
    std::vector<int> expected(nodes, 0);
    for (int edge = 0; edge < 3 * nodes; ++edge) {
        if (active[edge / 3] != 0) expected[targets[edge]] = 1;
    }
    DeviceBuffer<int> d_offsets(sequence<int>(nodes + 1, [](int i) { return 3 * i; })), d_targets(targets);
    DeviceBuffer<int> d_active(active), d_next(std::vector<int>(nodes, 0));
    mark_neighbors<<<4, 64>>>(d_offsets.data(), d_targets.data(), d_active.data(), d_next.data(), nodes);
    check_finished();
    expect_equal(d_next.download(), expected);
}

__global__ void all_write_block_size(int* sizes) { sizes[blockIdx.x] = blockDim.x; }

void whole_block_writes_one_element() {
    DeviceBuffer<int> d_sizes(3);
    all_write_block_size<<<3, 96>>>(d_sizes.data());
    check_finished();
    expect_equal(d_sizes.download(), {96, 96, 96});
}

// ---- neighbors -----------------------------------------------------------------------------------------------

__global__ void uppercase(const char* in, char* out, int n) {
    __shared__ char text[128];
    const int thread = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + thread;
    if (i < n) text[thread] = in[i];
    if (i < n && text[thread] >= 'a' && text[thread] <= 'z') text[thread] = static_cast<char>(text[thread] - 32);
    if (i < n) out[i] = text[thread];
}

void neighbors_write_adjacent_bytes() {
    constexpr int n = 301;
    const auto text = sequence<char>(n, [](int i) { return 32 + i % 90; });
    DeviceBuffer<char> d_in(text), d_out(n);
    uppercase<<<3, 128>>>(d_in.data(), d_out.data(), n);
    check_finished();
    expect_equal(d_out.download(),
                 sequence<char>(n, [&](int i) { return text[i] >= 'a' && text[i] <= 'z' ? text[i] - 32 : text[i]; }));
}

__global__ void shorts_across_blocks(short* out) {
    out[threadIdx.x * gridDim.x + blockIdx.x] = static_cast<short>(100 * blockIdx.x + threadIdx.x);
}

void blocks_write_adjacent_shorts() {
    DeviceBuffer<short> d_out(8 * 32);
    shorts_across_blocks<<<8, 32>>>(d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<short>(8 * 32, [](int i) { return 100 * (i % 8) + i / 8; }));
}

__global__ void reverse_bytes_of_words(unsigned* words) {
    __shared__ unsigned staged[32];
    auto* bytes = reinterpret_cast<unsigned char*>(staged);
    const auto* in = reinterpret_cast<const unsigned char*>(words + 32 * blockIdx.x);
    const int thread = threadIdx.x;  // one thread a byte
    bytes[thread / 4 * 4 + 3 - thread % 4] = in[thread];
    __syncthreads();
    if (thread < 32) words[32 * blockIdx.x + thread] = staged[thread];
}

void bytes_make_up_words_after_barrier() {
    DeviceBuffer<unsigned> d_words(sequence<unsigned>(64, [](int i) { return 0x01020304u + i; }));
    reverse_bytes_of_words<<<2, 128>>>(d_words.data());
    check_finished();
    expect_equal(d_words.download(), sequence<unsigned>(64, [](int i) {
                     const unsigned word = 0x01020304u + i;
                     return word >> 24 | (word >> 8 & 0xFF00) | (word << 8 & 0xFF0000) | word << 24;
                 }));
}

struct Particle {
    float position;
    float velocity;
    int hits;
};

__global__ void members_by_different_threads(Particle* particles) {
    const int particle = threadIdx.x / 3;
    switch (threadIdx.x % 3) {
        case 0:
            particles[particle].position += 1;
            break;
        case 1:
            particles[particle].velocity *= 2;
            break;
        default:
            particles[particle].hits = particle;
    }
}

void threads_write_different_members() {
    DeviceBuffer<Particle> d_particles(std::vector<Particle>(20, {1, 2, 3}));
    members_by_different_threads<<<1, 60>>>(d_particles.data());
    check_finished();
    const std::vector<Particle> particles = d_particles.download();
    for (int i = 0; i < 20; ++i) {
        expect_equal(particles[i].position, 2.0f);
        expect_equal(particles[i].velocity, 4.0f);
        expect_equal(particles[i].hits, i);
    }
}

__global__ void set_odd_bits(const int* values, unsigned* odd, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] % 2 != 0) atomicOr(&odd[i / 32], 1u << i % 32);
}

void bits_of_a_word_are_set_atomically() {
    constexpr int n = 250;
    const std::vector<int> values = scrambled(n, 1000);
    std::vector<unsigned> expected(8, 0);
    for (int i = 0; i < n; ++i) expected[i / 32] |= static_cast<unsigned>(values[i] % 2) << i % 32;
    DeviceBuffer<int> d_values(values);
    DeviceBuffer<unsigned> d_odd(std::vector<unsigned>(8, 0));
    set_odd_bits<<<5, 56>>>(d_values.data(), d_odd.data(), n);
    check_finished();
    expect_equal(d_odd.download(), expected);
}

// ---- one's own -----------------------------------------------------------------------------------------------

__global__ void sum_of_digits(const int* values, int* sums) {
    __shared__ int digits[10][64];  // a column for each thread
    const int thread = threadIdx.x;
    int count = 0;
    for (int rest = values[thread]; rest > 0; rest /= 10) digits[count++][thread] = rest % 10;
    int sum = 0;
    while (count > 0) sum += digits[--count][thread];
    sums[thread] = sum;
}

void private_columns_in_shared_memory() {
    const std::vector<int> values = scrambled(64, 60000);
    DeviceBuffer<int> d_values(values), d_sums(64);
    sum_of_digits<<<1, 64>>>(d_values.data(), d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), sequence<int>(64, [&](int i) {
                     int sum = 0;
                     for (int rest = values[i]; rest > 0; rest /= 10) sum += rest % 10;
                     return sum;
                 }));
}

__global__ void own_element_in_place(float* values, int n, int steps) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    values[i] = 0;
    for (int step = 0; step < steps; ++step) values[i] = values[i] + i;
    if (values[i] > 100) values[i] -= 100;
}

void own_writes_are_read_without_barrier() {
    DeviceBuffer<float> d_values(100);
    own_element_in_place<<<2, 64>>>(d_values.data(), 100, 5);
    check_finished();
    expect_equal(d_values.download(), sequence<float>(100, [](int i) { return 5 * i > 100 ? 5 * i - 100 : 5 * i; }));
}

__global__ void swap_elements(int* left, int* right, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int old = left[i];
        left[i] = right[i];
        right[i] = old;
    }
}

void own_elements_of_two_arrays_change_places() {
    const std::vector<int> left = scrambled(130, 50), right = scrambled(130, 77);
    DeviceBuffer<int> d_left(left), d_right(right);
    swap_elements<<<1, 64>>>(d_left.data(), d_right.data(), 130);
    check_finished();
    expect_equal(d_left.download(), right);
    expect_equal(d_right.download(), left);
}

__global__ void reverse_in_place(int* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    const int front = values[i];
    values[i] = values[n - 1 - i];
    values[n - 1 - i] = front;
}

void reversal_in_place_by_pairs() {
    DeviceBuffer<int> d_values(sequence<int>(201, [](int i) { return i; }));
    reverse_in_place<<<2, 64>>>(d_values.data(), 201);
    check_finished();
    expect_equal(d_values.download(), sequence<int>(201, [](int i) { return 200 - i; }));
}

__global__ void first_thread_does_it_all(int* values, int n) {
    __shared__ int sums[64];
    if (threadIdx.x != 0) return;
    sums[0] = values[0];
    for (int i = 1; i < n; ++i) sums[i] = sums[i - 1] + values[i];
    for (int i = 0; i < n; ++i) values[i] = sums[i];
}

void one_thread_uses_shared_memory_alone() {
    DeviceBuffer<int> d_values(sequence<int>(64, [](int i) { return i; }));
    first_thread_does_it_all<<<1, 128>>>(d_values.data(), 64);
    check_finished();
    expect_equal(d_values.download(), sequence<int>(64, [](int i) { return i * (i + 1) / 2; }));
}

__global__ void permute(const int* order, const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[order[i]] = in[i];
}

void scatter_by_a_permutation() {
    constexpr int n = 257;
    const auto order = sequence<int>(n, [](int i) { return 100 * i % n; });
    DeviceBuffer<int> d_order(order), d_in(sequence<int>(n, [](int i) { return i; })), d_out(n);
    permute<<<3, 96>>>(d_order.data(), d_in.data(), d_out.data(), n);
    check_finished();
    std::vector<int> expected(n);
    for (int i = 0; i < n; ++i) expected[order[i]] = i;
    expect_equal(d_out.download(), expected);
}

}  // namespace

CaseList separate_writes() {
    return {
        __FILE__,
        {
            {"threads_set_one_shared_flag", "all write 1, read behind a barrier", threads_set_one_shared_flag},
            {"blocks_set_one_global_flag", "all write 1, nobody reads it in the launch", blocks_set_one_global_flag},
            {"sieve_crosses_out_twice", "same byte, same value, several threads", sieve_crosses_out_twice},
            {"table_is_filled_many_times_over", "each entry always gets its one value",
             table_is_filled_many_times_over},
            {"frontier_is_marked_by_several_nodes", "read from one array, write 1 to another",
             frontier_is_marked_by_several_nodes},
            {"whole_block_writes_one_element", "96 threads write 96", whole_block_writes_one_element},
            {"neighbors_write_adjacent_bytes", "bytes are written one by one", neighbors_write_adjacent_bytes},
            {"blocks_write_adjacent_shorts", "two blocks share a word, not a short", blocks_write_adjacent_shorts},
            {"bytes_make_up_words_after_barrier", "four writers, one reader, a barrier between them",
             bytes_make_up_words_after_barrier},
            {"threads_write_different_members", "one structure, three threads, three members",
             threads_write_different_members},
            {"bits_of_a_word_are_set_atomically", "atomicOr on shared words", bits_of_a_word_are_set_atomically},
            {"private_columns_in_shared_memory", "each thread keeps to its column, no barrier needed",
             private_columns_in_shared_memory},
            {"own_writes_are_read_without_barrier", "a thread sees its own writes",
             own_writes_are_read_without_barrier},
            {"own_elements_of_two_arrays_change_places", "read and written by the same thread",
             own_elements_of_two_arrays_change_places},
            {"reversal_in_place_by_pairs", "each pair belongs to one thread", reversal_in_place_by_pairs},
            {"one_thread_uses_shared_memory_alone", "the other threads have returned",
             one_thread_uses_shared_memory_alone},
            {"scatter_by_a_permutation", "scattered writes, never two to one place", scatter_by_a_permutation},
        }};
}

}  // namespace corpus
