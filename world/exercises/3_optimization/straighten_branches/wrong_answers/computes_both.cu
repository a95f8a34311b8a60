// Wrong answer: all lanes compute both, and choose then
// Rejected by: goes through little more than its own rounds
// Message: stretches of code for 32 words, at most
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
    const unsigned word = words[i];
    const unsigned shifted = scramble_by_shifts(word);
    const unsigned multiplied = scramble_by_products(word);
    scrambled[i] = word % 2 == 1 ? shifted : multiplied;
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
