// Correct answer: a warp sorts 512 words of its own by ballots; no barrier of the block
#include "exercises/3_optimization/straighten_branches/straighten_branches.h"

constexpr int rounds = 96;
constexpr int words_of_a_warp = 512;
constexpr int warps = 4;  // of a block

__global__ void scramble(const unsigned* words, unsigned* scrambled, int count) {
    __shared__ int list[warps][words_of_a_warp];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long warp_of_grid = static_cast<long long>(blockIdx.x) * warps + warp;
    const long long first = warp_of_grid * words_of_a_warp;
    if (first >= count) return;  // the whole warp
    const long long left = count - first;
    const int own = left < words_of_a_warp ? static_cast<int>(left) : words_of_a_warp;
    const unsigned lanes_below = (1u << lane) - 1;
    int odd = 0, even = 0;
    for (int k = 0; k < own; k += 32) {
        const bool inside = k + lane < own;
        const bool is_odd = inside && words[first + k + lane] % 2 == 1;
        const unsigned odds = __ballot_sync(0xffffffffu, is_odd);
        const unsigned evens = __ballot_sync(0xffffffffu, inside && !is_odd);
        if (is_odd) list[warp][odd + __popc(odds & lanes_below)] = k + lane;
        if (inside && !is_odd) {
            list[warp][own - 1 - even - __popc(evens & lanes_below)] = k + lane;
        }
        odd += __popc(odds);
        even += __popc(evens);
    }
    __syncwarp();
    for (int k = lane; k < own; k += 32) {
        const long long i = first + list[warp][k];
        unsigned w = words[i];
        if (w & 1) {
            for (int round = 0; round < rounds; ++round) {
                w ^= w << 13;
                w ^= w >> 17;
                w ^= w << 5;
            }
        } else {
            for (int round = 0; round < rounds; ++round) w = (w ^ (w >> 15)) * 0x2C1B3C6Du;
        }
        scrambled[i] = w;
    }
}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    constexpr int words_of_a_block = warps * words_of_a_warp;
    if (count == 0) return;
    const int blocks = (count - 1) / words_of_a_block + 1;
    scramble<<<blocks, 32 * warps>>>(d_words, d_scrambled, count);
}
