// Correct answer: two kernels: the first lists all words by kind, the second scrambles
#include "exercises/3_optimization/straighten_branches/straighten_branches.h"

#include <cuda_runtime.h>

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

/// Odd words from the front of the list, even ones from its back. Counters are 0 before.
__global__ void list_by_kind(const unsigned* words, int count, int* list, int* counters) {
    __shared__ int found[2], base[2];
    const int i = blockIdx.x * threads + threadIdx.x;
    if (threadIdx.x < 2) found[threadIdx.x] = 0;
    __syncthreads();
    int kind = 0, number = 0;
    if (i < count) {
        kind = words[i] % 2;
        number = atomicAdd(&found[kind], 1);
    }
    __syncthreads();
    if (threadIdx.x < 2) {
        base[threadIdx.x] = atomicAdd(&counters[threadIdx.x], found[threadIdx.x]);
    }
    __syncthreads();
    if (i >= count) return;
    const int place = base[kind] + number;
    list[kind == 1 ? place : count - 1 - place] = i;
}

__global__ void scramble_list(const unsigned* words, unsigned* scrambled, const int* list,
                              int count) {
    const int k = blockIdx.x * threads + threadIdx.x;
    if (k >= count) return;
    const int i = list[k];
    const unsigned word = words[i];
    if (word % 2 == 1) {
        scrambled[i] = scramble_by_shifts(word);
    } else {
        scrambled[i] = scramble_by_products(word);
    }
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    int* memory = nullptr;
    cudaMalloc(&memory, (2 + static_cast<size_t>(count)) * sizeof(int));
    int* const list = memory + 2;
    cudaMemset(memory, 0, 2 * sizeof(int));
    const int blocks = (count + threads - 1) / threads;
    list_by_kind<<<blocks, threads>>>(d_words, count, list, memory);
    scramble_list<<<blocks, threads>>>(d_words, d_scrambled, list, count);
    cudaFree(memory);
}
