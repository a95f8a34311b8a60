// Correct answer: blocks of 1024 threads; only homes are sorted, words are read again
#include "exercises/3_optimization/straighten_branches/straighten_branches.h"

constexpr int block_size = 1024;

template <class Round>
__device__ unsigned repeat(unsigned word, Round round) {
    for (int k = 0; k < 96; ++k) word = round(word);
    return word;
}

__global__ void scramble(const unsigned* words, unsigned* scrambled, int count) {
    __shared__ int index[block_size];
    __shared__ int front, back;
    const int begin = blockIdx.x * block_size;
    const int end = min(begin + block_size, count);
    if (threadIdx.x == 0) {
        front = 0;
        back = end - begin;
    }
    __syncthreads();
    const int i = begin + threadIdx.x;
    if (i < end) index[words[i] & 1 ? atomicAdd(&front, 1) : atomicSub(&back, 1) - 1] = i;
    __syncthreads();
    if (i < end) {
        const int mine = index[threadIdx.x];
        const unsigned word = words[mine];
        if (threadIdx.x < front) {
            scrambled[mine] = repeat(word, [](unsigned w) {
                w ^= w << 13;
                w ^= w >> 17;
                return w ^ (w << 5);
            });
        } else {
            scrambled[mine] =
                repeat(word, [](unsigned w) { return (w ^ (w >> 15)) * 0x2C1B3C6Du; });
        }
    }
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count <= 0) return;
    const int blocks = count / block_size + (count % block_size != 0);
    scramble<<<blocks, block_size>>>(d_words, d_scrambled, count);
}
