// Several threads write the same value to the same place. CUDA says that one of the writes takes place, and it does not
// matter which one.
#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

/// A long loop with loads, in which all threads store what depends on the place alone.
template <class T>
__global__ void all_store_all(const int* in, T* out, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += in[(i + threadIdx.x) % n];
        out[i] = T(3 * i + 1);
        sum += in[(i * 7 + blockIdx.x) % n];
    }
    if (sum == -1) out[0] = T(0);
}

template <class T>
void check_same_values(int blocks, int threads, int n) {
    DeviceBuffer<int> d_in(std::vector<int>(n, 1));
    DeviceBuffer<T> d_out(n);
    all_store_all<T><<<blocks, threads>>>(d_in.data(), d_out.data(), n);
    check_finished();
    expect_equal(d_out.download(), sequence<T>(n, [](int i) { return T(3 * i + 1); }));
}

void lanes_store_the_same_words() { check_same_values<int>(1, 32, 700); }
void lanes_store_the_same_bytes() { check_same_values<unsigned char>(1, 32, 600); }
void lanes_store_the_same_halfwords() { check_same_values<short>(1, 64, 500); }
void lanes_store_the_same_doubles() { check_same_values<double>(1, 40, 500); }
void blocks_store_the_same_words() { check_same_values<float>(4, 32, 400); }

struct Pair {
    int first;
    int second;
};

__global__ void all_store_structures(const int* in, int4* vectors, Pair* pairs, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += in[(i + threadIdx.x) % n];
        vectors[i] = make_int4(i, i + 1, i + 2, i + 3);
        pairs[i] = Pair{-i, i};
        sum += in[(i * 5 + blockIdx.x) % n];
    }
    if (sum == -1) pairs[0] = Pair{0, 0};
}

void lanes_store_the_same_structures() {
    constexpr int n = 400;
    DeviceBuffer<int> d_in(std::vector<int>(n, 1));
    DeviceBuffer<int4> d_vectors(n);
    DeviceBuffer<Pair> d_pairs(n);
    all_store_structures<<<2, 64>>>(d_in.data(), d_vectors.data(), d_pairs.data(), n);
    check_finished();
    const std::vector<int4> vectors = d_vectors.download();
    const std::vector<Pair> pairs = d_pairs.download();
    for (int i = 0; i < n; ++i) {
        expect_equal(vectors[i].w, i + 3);
        expect_equal(pairs[i].first + pairs[i].second, 0);
    }
}

__global__ void all_copy_structures(const int4* from, int4* to, int n) {
    for (int i = 0; i < n; ++i) to[i] = from[i];
}

void lanes_copy_the_same_structures() {
    constexpr int n = 500;
    DeviceBuffer<int4> d_from(std::vector<int4>(n, make_int4(1, 2, 3, 4))), d_to(n);
    all_copy_structures<<<2, 32>>>(d_from.data(), d_to.data(), n);
    check_finished();
    expect_equal(d_to.download()[n - 1].z, 3);
}

struct Large {
    double a, b, c;
    int d, e;
};

__global__ void all_copy_large_structures(const Large* from, Large* to, int n) {
    for (int i = 0; i < n; ++i) to[i] = from[n - 1 - i];
}

void lanes_copy_the_same_large_structures() {
    constexpr int n = 300;
    DeviceBuffer<Large> d_from(std::vector<Large>(n, Large{1, 2, 3, 4, 5})), d_to(n);
    all_copy_large_structures<<<2, 32>>>(d_from.data(), d_to.data(), n);
    check_finished();
    expect_equal(d_to.download()[n - 1].e, 5);
}

/// In shared memory, all over again after each barrier.
__global__ void all_fill_the_tile(int* out, int rounds) {
    __shared__ int tile[50];
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < 50; ++i) tile[i] = round + i;
        __syncthreads();
        if (threadIdx.x < 50) out[round * 50 + threadIdx.x] = tile[49 - threadIdx.x];
        __syncthreads();
    }
}

void threads_fill_a_tile_with_the_same_values() {
    constexpr int rounds = 8;
    DeviceBuffer<int> d_out(rounds * 50);
    all_fill_the_tile<<<1, 96>>>(d_out.data(), rounds);
    check_finished();
    expect_equal(d_out.download(), sequence<int>(rounds * 50, [](int i) { return i / 50 + 49 - i % 50; }));
}

/// One flag that whoever finds something sets; the host reads it.
__global__ void mark_if_any(const int* values, int n, int wanted, int* found) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (values[i] == wanted) *found = 1;
    }
}

void flag_set_by_whoever_finds() {
    DeviceBuffer<int> d_values(sequence<int>(5000, [](int i) { return i % 10; })), d_found(std::vector<int>{0});
    mark_if_any<<<4, 64>>>(d_values.data(), 5000, 7, d_found.data());
    check_finished();
    expect_equal(d_found.download(), {1});
}

/// Others stop as soon as they see the flag: it is volatile, and nothing else depends on it.
__global__ void stop_when_found(const int* values, int n, int wanted, volatile int* found) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (*found != 0) return;
        if (values[i] == wanted) *found = 1;
    }
}

void search_that_stops_early() {
    DeviceBuffer<int> d_values(sequence<int>(5000, [](int i) { return i; })), d_found(std::vector<int>{0});
    stop_when_found<<<4, 64>>>(d_values.data(), 5000, 123, d_found.data());
    check_finished();
    expect_equal(d_found.download(), {1});
}

/// A step of breadth-first search: several vertices reach the same one and give it the same distance.
__global__ void next_level(const int* heads, const int* edges, int n, const int* before, int* distance, int level) {
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= n || before[vertex] != level) return;
    for (int edge = heads[vertex]; edge < heads[vertex + 1]; ++edge) {
        if (before[edges[edge]] < 0) distance[edges[edge]] = level + 1;
    }
}

void vertices_reached_from_several_sides() {
    constexpr int n = 100;  // i leads to 2 i, 2 i + 1, and i + 1
    std::vector<int> heads(1, 0), edges, expected(n, -1);
    for (int i = 0; i < n; ++i) {
        for (const int to : {2 * i, 2 * i + 1, i + 1}) {
            if (to < n) edges.push_back(to);
        }
        heads.push_back(static_cast<int>(edges.size()));
    }
    expected[0] = 0;
    DeviceBuffer<int> d_heads(heads), d_edges(edges), d_before(expected), d_after(expected);
    for (int level = 0; level < 4; ++level) {
        next_level<<<2, 64>>>(d_heads.data(), d_edges.data(), n, d_before.data(), d_after.data(), level);
        check_finished();
        d_before = DeviceBuffer<int>(d_after.download());
        for (int i = 0; i < n; ++i) {
            if (expected[i] != level) continue;
            for (int edge = heads[i]; edge < heads[i + 1]; ++edge) {
                if (expected[edges[edge]] < 0) expected[edges[edge]] = level + 1;
            }
        }
    }
    expect_equal(d_after.download(), expected);
}

}  // namespace

CaseList harmless_writes() {
    return {__FILE__,
            {
                {"lanes_store_the_same_words", "a long loop with loads", lanes_store_the_same_words},
                {"lanes_store_the_same_bytes", "one byte at a time", lanes_store_the_same_bytes},
                {"lanes_store_the_same_halfwords", "two bytes at a time", lanes_store_the_same_halfwords},
                {"lanes_store_the_same_doubles", "eight bytes at a time", lanes_store_the_same_doubles},
                {"blocks_store_the_same_words", "from four blocks", blocks_store_the_same_words},
                {"lanes_store_the_same_structures", "16 bytes, and structures", lanes_store_the_same_structures},
                {"lanes_copy_the_same_structures", "copies of 16 bytes", lanes_copy_the_same_structures},
                {"lanes_copy_the_same_large_structures", "copies of 32 bytes", lanes_copy_the_same_large_structures},
                {"threads_fill_a_tile_with_the_same_values", "shared memory", threads_fill_a_tile_with_the_same_values},
                {"flag_set_by_whoever_finds", "one value", flag_set_by_whoever_finds},
                {"search_that_stops_early", "volatile flag", search_that_stops_early},
                {"vertices_reached_from_several_sides", "breadth-first search", vertices_reached_from_several_sides},
            }};
}

}  // namespace corpus
