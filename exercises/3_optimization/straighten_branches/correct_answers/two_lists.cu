// Correct answer: a list of each kind in shared memory; threads stride through both
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
    __shared__ unsigned odd[threads], even[threads];
    __shared__ int odd_at[threads], even_at[threads];
    __shared__ int odds, evens;
    const int i = blockIdx.x * threads + threadIdx.x;
    if (threadIdx.x == 0) {
        odds = 0;
        evens = 0;
    }
    __syncthreads();
    if (i < count) {
        const unsigned word = words[i];
        if ((word & 1) != 0) {
            const int k = atomicAdd(&odds, 1);
            odd[k] = word;
            odd_at[k] = i;
        } else {
            const int k = atomicAdd(&evens, 1);
            even[k] = word;
            even_at[k] = i;
        }
    }
    __syncthreads();
    // odd words by the first threads, even ones by the last
    const int from_behind = threads - 1 - threadIdx.x;
    const int t = threadIdx.x;
    if (t < odds) scrambled[odd_at[t]] = scramble_by_shifts(odd[t]);
    if (from_behind < evens) {
        scrambled[even_at[from_behind]] = scramble_by_products(even[from_behind]);
    }
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
