// Wrong answer: sorts by the place in the array, as if odd words had odd places
// Rejected by: has nearly all lanes active
// Message: of 32 lanes active on average, at least 24 wanted
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
    const int t = threadIdx.x;
    const int first = blockIdx.x * threads;
    const int half = threads / 2;
    const int i = first + (t < half ? 2 * t + 1 : 2 * (t - half));
    if (i >= count) return;
    const unsigned word = words[i];
    if (word % 2 == 1) {
        scrambled[i] = scramble_by_shifts(word);
    } else {
        scrambled[i] = scramble_by_products(word);
    }
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
