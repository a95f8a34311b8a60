// Correct answer: __match_any_sync finds the lanes of a kind; their first one adds for all
#include "exercises/3_optimization/straighten_branches/straighten_branches.h"

constexpr int threads = 512;

__device__ unsigned scrambled_word(unsigned w) {
    if (w & 1u) {
        for (int i = 0; i < 96; ++i) {
            w ^= w << 13;
            w ^= w >> 17;
            w ^= w << 5;
        }
    } else {
        for (int i = 0; i < 96; ++i) w = (w ^ (w >> 15)) * 0x2C1B3C6Du;
    }
    return w;
}

__global__ void scramble(const unsigned* words, unsigned* scrambled, int count) {
    __shared__ uint2 sorted[threads];  // x: the word, y: its home
    __shared__ unsigned taken[3];      // even, odd, none
    if (threadIdx.x < 3) taken[threadIdx.x] = 0;
    __syncthreads();

    const unsigned first = blockIdx.x * threads;
    const unsigned own = min(static_cast<unsigned>(threads), count - first);
    const bool mine = threadIdx.x < own;
    const unsigned word = mine ? words[first + threadIdx.x] : 0;
    const unsigned kind = mine ? word & 1u : 2u;

    const unsigned lane = threadIdx.x % 32;
    const unsigned peers = __match_any_sync(0xffffffffu, kind);
    const int leader = __ffs(peers) - 1;
    unsigned base = 0;
    const unsigned number_of_peers = __popc(peers);
    if (lane == leader) base = atomicAdd(&taken[kind], number_of_peers);
    base = __shfl_sync(0xffffffffu, base, leader);
    const unsigned number = base + __popc(peers & ((1u << lane) - 1u));
    if (mine) {
        const unsigned place = kind == 1 ? number : own - 1 - number;
        sorted[place] = make_uint2(word, first + threadIdx.x);
    }
    __syncthreads();

    if (mine) {
        const uint2 next = sorted[threadIdx.x];
        scrambled[next.y] = scrambled_word(next.x);
    }
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count - 1) / threads + 1, threads>>>(d_words, d_scrambled, count);
}
