// Wrong answer: takes every odd word for odd and every even one for even: right for 0, 1, 2, 3 ... only
// Rejected by: scrambles any number of words
// Message: Is each word scrambled by its own kind of rounds?
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

// The first half of a block works on words 1, 3, 5 ..., the second half on words 0, 2, 4 ...
__global__ void scramble(const unsigned* words, unsigned* scrambled, int count) {
    const int half = threads / 2;
    const bool odd = threadIdx.x < half;
    const int i = blockIdx.x * threads + 2 * (threadIdx.x % half) + (odd ? 1 : 0);
    if (i >= count) return;
    scrambled[i] = odd ? scramble_by_shifts(words[i]) : scramble_by_products(words[i]);
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
