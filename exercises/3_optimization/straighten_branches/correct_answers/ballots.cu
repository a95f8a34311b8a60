// Correct answer: places from __ballot_sync and __popc, one atomic for each warp and kind
#include "exercises/3_optimization/straighten_branches/straighten_branches.h"

constexpr int threads = 256;  // of a block
constexpr int rounds = 96;

__device__ unsigned scramble_by_shifts(unsigned word) {
    for (int round = 0; round < rounds; ++round) {
        word ^= word << 13;
        word ^= word >> 17;
        word ^= word << 5;
    }
    return word;
}

__device__ unsigned scramble_by_products(unsigned word) {
    for (int round = 0; round < rounds; ++round) word = (word ^ (word >> 15)) * 0x2C1B3C6Du;
    return word;
}

__global__ void scramble(const unsigned* words, unsigned* scrambled, int count) {
    __shared__ unsigned sorted[threads];
    __shared__ short home[threads];
    __shared__ int odd_words, even_words;
    const int first = blockIdx.x * threads;
    const int own = min(threads, count - first);
    const int t = threadIdx.x, lane = t % 32;
    if (t == 0) {
        odd_words = 0;
        even_words = 0;
    }
    __syncthreads();

    const bool mine = t < own;
    const unsigned word = mine ? words[first + t] : 0;
    const bool is_odd = mine && word % 2 == 1;
    const unsigned odd_lanes = __ballot_sync(0xffffffffu, is_odd);
    const unsigned even_lanes = __ballot_sync(0xffffffffu, mine && !is_odd);
    int odd_base = 0, even_base = 0;
    if (lane == 0) {
        odd_base = atomicAdd(&odd_words, __popc(odd_lanes));
        even_base = atomicAdd(&even_words, __popc(even_lanes));
    }
    odd_base = __shfl_sync(0xffffffffu, odd_base, 0);
    even_base = __shfl_sync(0xffffffffu, even_base, 0);
    const unsigned below = (1u << lane) - 1;
    if (mine) {
        const int place =
            is_odd ? odd_base + __popc(odd_lanes & below) : own - 1 - (even_base + __popc(even_lanes & below));
        sorted[place] = word;
        home[place] = static_cast<short>(t);
    }
    __syncthreads();

    if (!mine) return;
    const unsigned w = sorted[t];
    const int target = first + home[t];
    scrambled[target] = w % 2 == 1 ? scramble_by_shifts(w) : scramble_by_products(w);
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
