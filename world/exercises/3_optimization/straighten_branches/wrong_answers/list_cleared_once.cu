// Wrong answer: a list in global memory, whose counters are 0 only for the first call
// Rejected by: scrambles any number of words
// Message: out of bounds
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

__device__ int odd_words, even_words;  // 0 at the start of the program

__global__ void list_by_kind(const unsigned* words, int* list, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    if (words[i] % 2 == 1) {
        list[atomicAdd(&odd_words, 1)] = i;
    } else {
        list[count - 1 - atomicAdd(&even_words, 1)] = i;
    }
}

__global__ void scramble(const unsigned* words, unsigned* scrambled, const int* list,
                         int count) {
    const int k = blockIdx.x * threads + threadIdx.x;
    if (k >= count) return;
    const int i = list[k];
    const unsigned word = words[i];
    scrambled[i] = word % 2 == 1 ? scramble_by_shifts(word) : scramble_by_products(word);
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    const int blocks = (count + threads - 1) / threads;
    int* list = nullptr;
    cudaMalloc(&list, count * sizeof(int));
    list_by_kind<<<blocks, threads>>>(d_words, list, count);
    scramble<<<blocks, threads>>>(d_words, d_scrambled, list, count);
    cudaFree(list);
}
