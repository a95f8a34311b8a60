// Wrong answer: one loop, both rounds computed, the right one chosen in each turn
// Rejected by: computes one kind of rounds for a word
// Message: run through the same code
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
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    unsigned word = words[i];
    const unsigned odd = 0u - word % 2;  // all ones or all zeros
    for (int round = 0; round < rounds; ++round) {
        unsigned a = word;
        a ^= a << 13;
        a ^= a >> 17;
        a ^= a << 5;
        const unsigned b = (word ^ (word >> 15)) * 0x2C1B3C6Du;
        word = (a & odd) | (b & ~odd);
    }
    scrambled[i] = word;
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
