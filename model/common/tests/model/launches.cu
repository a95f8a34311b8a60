// Launches that are so small that their overhead dominates, grids that leave a tail, and blocks with unequal work.
#include <vector>

#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace launches_kernels {

// ---- small launches -----------------------------------------------------------------------------------------------

__global__ void do_nothing() {}

/// A kernel without an output has nothing to check except that it ran.
Prepared empty(unsigned blocks, unsigned threads) {
    const Shape shape{blocks, threads};
    return {shape, launch_of(do_nothing, shape), [] { warpwise::check_finished(); }};
}

__global__ void store_rank(unsigned* out) {
    const unsigned i = thread_in_grid();
    out[i] = i;
}

Prepared store_ranks(unsigned blocks, unsigned threads) {
    const Array<unsigned> out = output<unsigned>(blocks * threads);
    return prepared(
        store_rank, {blocks, threads}, out, [](std::size_t i) { return i; }, 0, out);
}

__global__ void increment(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[i] + 1;
}

Prepared increments(unsigned blocks, unsigned threads) {
    const Array<float> in = input<float>(blocks * threads);
    const Array<float> out = output<float>(blocks * threads);
    return prepared(
        increment, {blocks, threads}, out, [](std::size_t i) { return element<float>(i) + 1; }, 0, in, out);
}

struct ManyParameters {
    float values[128];
};

__global__ void sum_parameters(ManyParameters parameters, float* out) {
    float sum = 0;
    for (float value : parameters.values) sum += value;
    out[threadIdx.x] = sum + static_cast<float>(threadIdx.x);
}

Prepared many_parameters() {
    ManyParameters parameters{};
    for (int k = 0; k < 128; ++k) parameters.values[k] = static_cast<float>(k);
    const Array<float> out = output<float>(32);
    return prepared(
        sum_parameters, {1, 32}, out, [](std::size_t i) { return 127 * 64 + static_cast<float>(i); }, 0, parameters,
        out);
}

/// Each of ten phases needs what another thread stored in the phase before.
__global__ void ten_barriers(const unsigned* in, unsigned* out) {
    __shared__ unsigned values[256];
    const unsigned thread = threadIdx.x;
    unsigned value = in[thread];
    for (int phase = 0; phase < 10; ++phase) {
        values[thread] = value;
        __syncthreads();
        value = values[(thread + 1) % 256];
        __syncthreads();
    }
    out[thread] = value;
}

Prepared barriers_in_one_block() {
    const Array<unsigned> in = input<unsigned>(256);
    const Array<unsigned> out = output<unsigned>(256);
    return prepared(
        ten_barriers, {1, 256}, out, [](std::size_t i) { return element<unsigned>((i + 10) % 256); }, 0, in, out);
}

/// Three loads, each of which needs the value of the one before.
__global__ void three_dependent_loads(const unsigned* chain, unsigned* out) {
    unsigned place = threadIdx.x;
    for (int step = 0; step < 3; ++step) place = chain[place];
    out[threadIdx.x] = place;
}

Prepared dependent_loads_in_one_block() {
    constexpr unsigned size = 4096;
    const Array<unsigned> chain = input_of<unsigned>(size, [](std::size_t i) { return (5 * i + 1001) % size; });
    const Array<unsigned> out = output<unsigned>(64);
    const auto expected = [](std::size_t i) {
        std::size_t place = i;
        for (int step = 0; step < 3; ++step) place = (5 * place + 1001) % size;
        return place;
    };
    return prepared(three_dependent_loads, {1, 64}, out, expected, 0, chain, out);
}

std::vector<Case> small_launches() {
    return {
        {"empty_1_block", [] { return empty(1, 32); }},
        {"empty_132_blocks_of_1024", [] { return empty(kSms, 1024); }},
        {"empty_4096_blocks_of_256", [] { return empty(4096, 256); }},
        {"empty_65536_blocks_of_64", [] { return empty(65536, 64); }},
        {"store_1_block_of_32", [] { return store_ranks(1, 32); }},
        {"store_132_blocks_of_32", [] { return store_ranks(kSms, 32); }},
        {"increment_1_block_of_32", [] { return increments(1, 32); }},
        {"increment_1_block_of_1024", [] { return increments(1, 1024); }},
        {"increment_16_blocks_of_128", [] { return increments(16, 128); }},
        {"increment_264_blocks_of_256", [] { return increments(264, 256); }},
        {"parameters_of_512_bytes", [] { return many_parameters(); }},
        {"ten_barriers_in_1_block", [] { return barriers_in_one_block(); }},
        {"three_dependent_loads_in_1_block", [] { return dependent_loads_in_one_block(); }},
    };
}

// ---- tails and unequal work ---------------------------------------------------------------------------------------

/// x -> a x + b, `rounds` times.
__device__ float multiply_add(float x, float a, float b, unsigned rounds) {
#pragma unroll 16
    for (unsigned r = 0; r < rounds; ++r) x = x * a + b;
    return x;
}

constexpr float kFactor = 0.9995f;
constexpr float kSummand = 0.001f;

double expected_chain(double x, unsigned rounds) {
    for (unsigned r = 0; r < rounds; ++r) x = x * static_cast<double>(kFactor) + static_cast<double>(kSummand);
    return x;
}

__global__ void equal_work(float a, float b, unsigned rounds, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = multiply_add(static_cast<float>(i % 64) / 64, a, b, rounds);
}

Prepared equal_blocks(unsigned blocks, unsigned threads, unsigned shared_bytes, unsigned rounds) {
    std::vector<double> results;
    for (unsigned k = 0; k < 64; ++k) results.push_back(expected_chain(k / 64.0, rounds));
    const Array<float> out = output<float>(blocks * threads);
    return prepared(
        equal_work, {blocks, threads, shared_bytes}, out, [results](std::size_t i) { return results[i % 64]; }, 1e-3,
        kFactor, kSummand, rounds, out);
}

/// `rounds[block]` differs from block to block.
__global__ void unequal_work(const unsigned* rounds, float a, float b, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = multiply_add(static_cast<float>(i % 4) / 4, a, b, rounds[blockIdx.x]);
}

template <class Rounds>
Prepared unequal_blocks(unsigned blocks, unsigned threads, Rounds rounds_of) {
    std::vector<unsigned> rounds(blocks);
    std::vector<double> results(4 * blocks);
    for (unsigned block = 0; block < blocks; ++block) {
        rounds[block] = rounds_of(block);
        for (unsigned k = 0; k < 4; ++k) results[4 * block + k] = expected_chain(k / 4.0, rounds[block]);
    }
    const Array<unsigned> d_rounds = upload(rounds);
    const Array<float> out = output<float>(blocks * threads);
    const auto expected = [results, threads](std::size_t i) { return results[4 * (i / threads) + i % 4]; };
    return prepared(unequal_work, {blocks, threads}, out, expected, 1e-3, d_rounds, kFactor, kSummand, out);
}

/// Reads 8 KiB per block: with one block per SM the last block of an incomplete wave is a wave of its own.
__global__ void sum_8_kib_per_block(const float* in, float* out) {
    float sum = 0;
    for (unsigned k = 0; k < 8; ++k) sum += in[(blockIdx.x * 8 + k) * 256 + threadIdx.x];
    out[thread_in_grid()] = sum;
}

Prepared memory_tail(unsigned blocks) {
    const Array<float> in = input<float>(blocks * 2048);
    const Array<float> out = output<float>(blocks * 256);
    const auto expected = [](std::size_t i) {
        float sum = 0;
        for (std::size_t k = 0; k < 8; ++k) sum += element<float>((i / 256 * 8 + k) * 256 + i % 256);
        return sum;
    };
    return prepared(sum_8_kib_per_block, {blocks, 256, kOneBlockPerSm}, out, expected, 0, in, out);
}

std::vector<Case> tails() {
    return {
        {"tail_66_blocks", [] { return equal_blocks(kSms / 2, 256, kOneBlockPerSm, 2048); }},
        {"tail_132_blocks", [] { return equal_blocks(kSms, 256, kOneBlockPerSm, 2048); }},
        {"tail_133_blocks", [] { return equal_blocks(kSms + 1, 256, kOneBlockPerSm, 2048); }},
        {"tail_264_blocks", [] { return equal_blocks(2 * kSms, 256, kOneBlockPerSm, 2048); }},
        {"tail_265_blocks", [] { return equal_blocks(2 * kSms + 1, 256, kOneBlockPerSm, 2048); }},
        {"tail_528_blocks", [] { return equal_blocks(4 * kSms, 256, kOneBlockPerSm, 1024); }},
        {"tail_529_blocks", [] { return equal_blocks(4 * kSms + 1, 256, kOneBlockPerSm, 1024); }},
        {"tail_264_blocks_of_1024", [] { return equal_blocks(2 * kSms, 1024, 0, 512); }},
        {"tail_265_blocks_of_1024", [] { return equal_blocks(2 * kSms + 1, 1024, 0, 512); }},
        {"tail_396_blocks_of_1024", [] { return equal_blocks(3 * kSms, 1024, 0, 512); }},
        {"tail_memory_132_blocks", [] { return memory_tail(kSms); }},
        {"tail_memory_133_blocks", [] { return memory_tail(kSms + 1); }},
        {"tail_memory_1057_blocks", [] { return memory_tail(8 * kSms + 1); }},
        {"unequal_first_block_long",
         [] { return unequal_blocks(1056, 128, [](unsigned block) { return block == 0 ? 8192u : 512u; }); }},
        {"unequal_last_block_long",
         [] { return unequal_blocks(8448, 128, [](unsigned block) { return block == 8447 ? 8192u : 256u; }); }},
        {"unequal_growing", [] { return unequal_blocks(1056, 128, [](unsigned block) { return 2 * block; }); }},
        {"unequal_every_tenth_long",
         [] { return unequal_blocks(2640, 128, [](unsigned block) { return block % 10 == 0 ? 4096u : 64u; }); }},
    };
}

}  // namespace launches_kernels

std::vector<Family> launch_families() {
    return {{"small_launches", launches_kernels::small_launches()}, {"tails", launches_kernels::tails()}};
}

}  // namespace model_kernels
