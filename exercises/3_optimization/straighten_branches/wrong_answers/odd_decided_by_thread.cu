// Wrong answer: one word too many is taken for odd
// Rejected by: scrambles any number of words
// Message: These words went through the rounds of the other kind
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
    __shared__ unsigned sorted[threads];  // odd words in front, even ones behind
    __shared__ int home[threads];         // where each of them came from
    __shared__ int odd_words, even_words;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * threads;  // of the block
    const int own = min(threads, count - first);
    if (thread == 0) odd_words = even_words = 0;
    __syncthreads();
    if (thread < own) {
        const unsigned word = words[first + thread];
        const bool odd = word % 2 == 1;
        const int place = odd ? atomicAdd(&odd_words, 1) : own - 1 - atomicAdd(&even_words, 1);
        sorted[place] = word;
        home[place] = thread;
    }
    __syncthreads();
    if (thread >= own) return;
    const unsigned word = sorted[thread];
    if (thread <= odd_words) {
        scrambled[first + home[thread]] = scramble_by_shifts(word);
    } else {
        scrambled[first + home[thread]] = scramble_by_products(word);
    }
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
