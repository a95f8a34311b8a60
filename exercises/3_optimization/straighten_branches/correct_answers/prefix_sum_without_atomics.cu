// Correct answer: a scan counts the odd words before each, so the order is stable
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
    __shared__ int odd_up_to[threads];
    __shared__ int source[threads];
    const int t = threadIdx.x;
    const int base = blockIdx.x * threads;
    const int n = min(threads, count - base);
    const int odd = t < n ? static_cast<int>(words[base + t] & 1u) : 0;
    odd_up_to[t] = odd;
    __syncthreads();
    for (int d = 1; d < threads; d *= 2) {
        const int below = t >= d ? odd_up_to[t - d] : 0;
        __syncthreads();
        odd_up_to[t] += below;
        __syncthreads();
    }
    const int odds = odd_up_to[threads - 1];
    const int odds_before = odd_up_to[t] - odd;
    if (t < n) source[odd ? odds_before : odds + (t - odds_before)] = t;
    __syncthreads();
    if (t >= n) return;
    const int i = base + source[t];
    const unsigned word = words[i];
    unsigned result;
    if (t < odds) {
        result = scramble_by_shifts(word);
    } else {
        result = scramble_by_products(word);
    }
    scrambled[i] = result;
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
