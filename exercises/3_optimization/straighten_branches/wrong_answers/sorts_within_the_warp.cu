// Wrong answer: sorts the words of a warp: its lanes change places, and it still has both kinds
// Rejected by: has nearly all lanes active
// Message: active lanes
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
    __shared__ unsigned sorted[threads];
    __shared__ int home[threads];
    const int i = blockIdx.x * threads + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const int first = threadIdx.x - lane;  // thread of the warp
    const unsigned word = i < count ? words[i] : 0;
    const unsigned odd = __ballot_sync(~0u, word % 2 == 1);
    const unsigned before = (1u << lane) - 1;
    const int odd_before = __popc(odd & before);
    const int place = first + (word % 2 == 1 ? odd_before : __popc(odd) + lane - odd_before);
    sorted[place] = word;
    home[place] = i;
    __syncwarp();
    const int to = home[threadIdx.x];
    if (to >= count) return;
    if (sorted[threadIdx.x] % 2 == 1) {
        scrambled[to] = scramble_by_shifts(sorted[threadIdx.x]);
    } else {
        scrambled[to] = scramble_by_products(sorted[threadIdx.x]);
    }
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    scramble<<<(count + threads - 1) / threads, threads>>>(d_words, d_scrambled, count);
}
