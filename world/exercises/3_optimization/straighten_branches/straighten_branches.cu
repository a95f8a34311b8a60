// Exercise: a kernel whose lanes take different branches in nearly every warp.
// The task: ./warpwise task straighten_branches
#include "exercises/3_optimization/straighten_branches/straighten_branches.h"

constexpr int threads = 256;  // per block
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
    // TODO 1: how many words does this block have, and how many of them are odd? Give every
    // thread of the block a word, in such a way that the odd ones go to the first threads
    // of the block and the even ones to the last threads.
    // TODO 2: now neighboring threads take the same branch. At which index does the result
    // of a word belong?
    const int i = blockIdx.x * threads + threadIdx.x;
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
