// Solution: a warp whose lanes want different things.
//
// The data decide which words are odd, but we decide who works on them. A block sorts its
// words by kind in shared memory: each odd one takes the next place from the front, each
// even one the next from the back. Then thread t works on the word at place t. Of the
// block's eight warps at most one has words of both kinds. The order of words of one kind
// depends on chance, but each carries the number of its home with it, so the results do not
// depend on that order.
//
// A list of all words by kind, as in the lesson divergence, does it too, for one more
// kernel and more memory traffic. Computing both and choosing does not: all lanes are
// active, but a warp goes through both loops as before.
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
    __shared__ unsigned sorted[threads];  // the block's words: odd ones from the front,
                                          // even ones from the back
    __shared__ int home[threads];         // where each of them came from
    __shared__ int odd_words, even_words;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * threads;  // of the block
    const int own = min(threads, count - first);
    if (thread == 0) odd_words = even_words = 0;
    __syncthreads();
    if (thread < own) {
        const unsigned word = words[first + thread];
        const int place =
            word % 2 == 1 ? atomicAdd(&odd_words, 1) : own - 1 - atomicAdd(&even_words, 1);
        sorted[place] = word;
        home[place] = thread;
    }
    __syncthreads();
    if (thread >= own) return;
    const unsigned word = sorted[thread];
    if (word % 2 == 1) {
        scrambled[first + home[thread]] = scramble_by_shifts(word);
    } else {
        scrambled[first + home[thread]] = scramble_by_products(word);
    }
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
