// Wrong answer: a kernel for odd words, one for even ones, without an exchange
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

__global__ void scramble_odd(const unsigned* words, unsigned* scrambled, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count && words[i] % 2 == 1) scrambled[i] = scramble_by_shifts(words[i]);
}

__global__ void scramble_even(const unsigned* words, unsigned* scrambled, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count && words[i] % 2 == 0) scrambled[i] = scramble_by_products(words[i]);
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    const int blocks = (count + threads - 1) / threads;
    scramble_odd<<<blocks, threads>>>(d_words, d_scrambled, count);
    scramble_even<<<blocks, threads>>>(d_words, d_scrambled, count);
}
