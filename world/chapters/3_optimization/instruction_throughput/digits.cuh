// The kernels that add up decimal digits, in the order in which they are read.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace optimization {
namespace {

constexpr unsigned kBlock = 256;  // threads

// Step 2, one number per thread, 64 bits to be on the safe side, and the base is an
// argument.
// Slow because a GPU divides by multiplying, and has multipliers for 32 bits only. A
// division of 64 bits is a program of 82 instructions. Where both numbers happen to fit in
// 32 bits, as they do here, it takes a shortcut, but it has to ask first.
__global__ void digits_of_64_bits(const unsigned* numbers, unsigned* sums,
                                  std::size_t count, unsigned long long base) {
    const std::size_t i = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
    if (i >= count) return;
    unsigned long long sum = 0;
    for (unsigned long long rest = numbers[i]; rest != 0; rest /= base) sum += rest % base;
    sums[i] = static_cast<unsigned>(sum);
}

// Step 3, numbers of 32 bits are divided as such. nvcc computes the reciprocal of the base
// once, before the loop.
// Faster because a digit costs some multiplications and corrections. Still slow because the
// reciprocal is not exact, which makes these corrections necessary.
__global__ void digits_of_32_bits(const unsigned* numbers, unsigned* sums,
                                  std::size_t count, unsigned base) {
    const std::size_t i = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
    if (i >= count) return;
    unsigned sum = 0;
    for (unsigned rest = numbers[i]; rest != 0; rest /= base) sum += rest % base;
    sums[i] = sum;
}

// Step 4, the base is a constant. rest / 10 is the upper half of rest * 0xCCCCCCCD, shifted
// right by 3, for every 32-bit number, exactly: the compiler knows such a pair for each
// constant.
// Faster because there are no corrections, and a round has 7 instructions. Still slow
// because each digit takes one round, of which only three instructions divide.
__global__ void digits_of_base_10(const unsigned* numbers, unsigned* sums,
                                  std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
    if (i >= count) return;
    unsigned sum = 0;
    for (unsigned rest = numbers[i]; rest != 0; rest /= 10) sum += rest % 10;
    sums[i] = sum;
}

// Step 5, two digits at a time. Below 100, the tens are pair * 103 / 1024, and the sum of
// the digits is pair - 9 * tens: that needs no upper half, and the pairs wait for nothing
// but the division by 100.
// Faster because half of the rounds are left: 10 instructions for two digits, not 14.
__global__ void digits_in_pairs(const unsigned* numbers, unsigned* sums,
                                std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
    if (i >= count) return;
    unsigned sum = 0;
    for (unsigned rest = numbers[i]; rest != 0; rest /= 100) {
        const unsigned pair = rest % 100;
        sum += pair - 9 * (pair * 103 / 1024);
    }
    sums[i] = sum;
}

}  // namespace
}  // namespace optimization
