// Wrong answer: the host scrambles, the kernel does nothing
// Rejected by: scrambles any number of words
// Message: copied from host memory; kernels have to write the result
#include "exercises/3_optimization/straighten_branches/straighten_branches.h"

#include <cuda_runtime.h>

#include <vector>

__global__ void scramble() {}

void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count) {
    if (count == 0) return;
    std::vector<unsigned> words(count);
    cudaMemcpy(words.data(), d_words, count * 4, cudaMemcpyDeviceToHost);
    for (unsigned& word : words) {
        const bool odd = word % 2 == 1;
        for (int round = 0; round < 96; ++round) {
            if (odd) {
                word ^= word << 13;
                word ^= word >> 17;
                word ^= word << 5;
            } else {
                word = (word ^ (word >> 15)) * 0x2C1B3C6Du;
            }
        }
    }
    cudaMemcpy(d_scrambled, words.data(), count * 4, cudaMemcpyHostToDevice);
    scramble<<<(count + 255) / 256, 256>>>();
}
