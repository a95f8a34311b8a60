// Loads and stores at places that only the data knows: gathers, scatters, and chains of dependent loads, in tables that
// fit in the L1 cache, in the L2 cache, or only in DRAM, and at different occupancies.
#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace gathers_kernels {

// ---- gathers and scatters -------------------------------------------------------------------------------------------

/// A place in a table of `size` elements for thread `i`.
std::uint32_t random_place(std::size_t i, std::size_t size) {
    return static_cast<std::uint32_t>(hash(i + 12345) % static_cast<std::uint32_t>(size));
}

Array<unsigned> random_places(std::size_t count, std::size_t size) {
    return input_of<unsigned>(count, [size](std::size_t i) { return random_place(i, size); });
}

/// `each` independent gathers per thread, whose indices lie a block apart.
template <unsigned each>
__global__ void gather(const unsigned* places, const float* table, float* out) {
    const unsigned first = blockIdx.x * blockDim.x * each + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < each; ++k) sum += table[places[first + k * blockDim.x]];
    out[thread_in_grid()] = sum;
}

template <unsigned each>
Prepared random_gather(unsigned threads, std::size_t table_size, unsigned shared_bytes = 0) {
    const Array<unsigned> places = random_places(std::size_t{threads} * each, table_size);
    const Array<float> table = input<float>(table_size);
    const Array<float> out = output<float>(threads);
    const auto expected = [table_size](std::size_t i) {
        float sum = 0;
        for (std::size_t k = 0; k < each; ++k) {
            sum += element<float>(random_place((i / 256 * each + k) * 256 + i % 256, table_size));
        }
        return sum;
    };
    return prepared(gather<each>, {threads / 256, 256, shared_bytes}, out, expected, 0, places, table, out);
}

Prepared sequential_gather(unsigned threads, unsigned shared_bytes = 0) {
    const Array<unsigned> places = input_of<unsigned>(threads, [](std::size_t i) { return static_cast<unsigned>(i); });
    const Array<float> table = input<float>(threads);
    const Array<float> out = output<float>(threads);
    return prepared(gather<1>, {threads / 256, 256, shared_bytes}, out, element<float>, 0, places, table, out);
}

/// Registers limit the occupancy: 160 sums per thread stay alive over all rounds.
__global__ void __launch_bounds__(256)
    gather_with_many_registers(const unsigned* places, const float* table, unsigned rounds, float* out) {
    constexpr unsigned sums = 160;
    float sum[sums];
#pragma unroll
    for (unsigned k = 0; k < sums; ++k) sum[k] = static_cast<float>(k);
    for (unsigned r = 0; r < rounds; ++r) {
        const float value = table[places[r * gridDim.x * blockDim.x + thread_in_grid()]];
#pragma unroll
        for (unsigned k = 0; k < sums; ++k) sum[k] = sum[k] * 0.5f + value;
    }
    float total = 0;
#pragma unroll
    for (unsigned k = 0; k < sums; ++k) total += sum[k];
    out[thread_in_grid()] = total;
}

Prepared gather_at_low_occupancy(unsigned blocks, unsigned rounds, std::size_t table_size) {
    const std::size_t grid = std::size_t{blocks} * 256;
    const Array<unsigned> places = random_places(grid * rounds, table_size);
    const Array<float> table = input<float>(table_size);
    const Array<float> out = output<float>(grid);
    const auto expected = [grid, rounds, table_size](std::size_t i) {
        // The sums differ only in their start: k becomes k / 2^rounds + the same weighted sum of values.
        double weighted = 0;
        for (std::size_t r = 0; r < rounds; ++r) {
            weighted = weighted * 0.5 + element<double>(random_place(r * grid + i, table_size));
        }
        return 160 * weighted + 159.0 * 80 * std::pow(0.5, rounds);
    };
    return prepared(gather_with_many_registers, {blocks, 256}, out, expected, 1e-4, places, table, rounds, out);
}

/// Eight neighboring lanes read one 32-byte sector.
__global__ void gather_sectors(const unsigned* places, const float* table, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = table[places[i / 8] * 8 + i % 8];
}

Prepared random_sectors(unsigned threads, std::size_t table_size) {
    const Array<unsigned> places = random_places(threads / 8, table_size / 8);
    const Array<float> table = input<float>(table_size);
    const Array<float> out = output<float>(threads);
    const auto expected = [table_size](std::size_t i) {
        return element<float>(std::size_t{random_place(i / 8, table_size / 8)} * 8 + i % 8);
    };
    return prepared(gather_sectors, {threads / 256, 256}, out, expected, 0, places, table, out);
}

__global__ void gather_float4(const unsigned* places, const float4* table, float4* out) {
    const unsigned i = thread_in_grid();
    out[i] = table[places[i]];
}

Prepared random_float4(unsigned threads, std::size_t table_size) {
    const Array<unsigned> places = random_places(threads, table_size);
    const Array<float> table = input<float>(4 * table_size);
    const Array<float> out = output<float>(4 * std::size_t{threads});
    const auto expected = [table_size](std::size_t i) {
        return element<float>(4 * std::size_t{random_place(i / 4, table_size)} + i % 4);
    };
    return prepared(gather_float4, {threads / 256, 256}, out, expected, 0, places, table.as<float4>(),
                    out.as<float4>());
}

/// Every place is written once: place i * odd modulo a power of two is a permutation.
__global__ void scatter(unsigned factor, unsigned mask, const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i * factor & mask] = in[i];
}

Prepared scattered(unsigned threads, unsigned factor) {
    const Array<float> in = input<float>(threads);
    const Array<float> out = output<float>(threads);
    // The inverse of an odd number modulo 2^32, by Newton's method.
    unsigned inverse = factor;
    for (int step = 0; step < 5; ++step) inverse *= 2 - factor * inverse;
    const auto expected = [inverse, threads](std::size_t i) {
        return element<float>(static_cast<unsigned>(i) * inverse & (threads - 1));
    };
    return prepared(scatter, {threads / 256, 256}, out, expected, 0, factor, threads - 1, in, out);
}

std::vector<Case> gathers() {
    return {
        {"gather_sequential", [] { return sequential_gather(2 * kMi); }},
        {"gather_sequential_one_block_per_sm", [] { return sequential_gather(2 * kMi, kOneBlockPerSm); }},
        {"gather_32_kib", [] { return random_gather<1>(2 * kMi, 8 * kKi); }},
        {"gather_256_kib", [] { return random_gather<1>(2 * kMi, 64 * kKi); }},
        {"gather_4_mib", [] { return random_gather<1>(2 * kMi, kMi); }},
        {"gather_16_mib", [] { return random_gather<1>(2 * kMi, 4 * kMi); }},
        {"gather_128_mib", [] { return random_gather<1>(2 * kMi, 32 * kMi); }},
        {"gather_256_mib", [] { return random_gather<1>(2 * kMi, 64 * kMi); }},
        {"gather_32_kib_one_block_per_sm", [] { return random_gather<1>(kMi, 8 * kKi, kOneBlockPerSm); }},
        {"gather_4_mib_one_block_per_sm", [] { return random_gather<1>(kMi, kMi, kOneBlockPerSm); }},
        {"gather_128_mib_one_block_per_sm", [] { return random_gather<1>(kMi, 32 * kMi, kOneBlockPerSm); }},
        {"gather_4_mib_four_blocks_per_sm", [] { return random_gather<1>(kMi, kMi, kFourBlocksPerSm); }},
        {"gather_128_mib_four_blocks_per_sm", [] { return random_gather<1>(kMi, 32 * kMi, kFourBlocksPerSm); }},
        {"gather_4_per_thread_32_kib", [] { return random_gather<4>(kMi / 2, 8 * kKi); }},
        {"gather_4_per_thread_4_mib", [] { return random_gather<4>(kMi / 2, kMi); }},
        {"gather_4_per_thread_128_mib", [] { return random_gather<4>(kMi / 2, 32 * kMi); }},
        {"gather_8_per_thread_128_mib_one_block_per_sm",
         [] { return random_gather<8>(kMi / 4, 32 * kMi, kOneBlockPerSm); }},
        {"gather_8_per_thread_4_mib_one_block_per_sm", [] { return random_gather<8>(kMi / 4, kMi, kOneBlockPerSm); }},
        {"gather_many_registers_32_kib", [] { return gather_at_low_occupancy(264, 4, 8 * kKi); }},
        {"gather_many_registers_4_mib", [] { return gather_at_low_occupancy(264, 4, kMi); }},
        {"gather_many_registers_128_mib", [] { return gather_at_low_occupancy(264, 4, 32 * kMi); }},
        {"gather_sectors_4_mib", [] { return random_sectors(4 * kMi, kMi); }},
        {"gather_sectors_128_mib", [] { return random_sectors(4 * kMi, 32 * kMi); }},
        {"gather_float4_4_mib", [] { return random_float4(kMi, kMi / 4); }},
        {"gather_float4_128_mib", [] { return random_float4(kMi, 8 * kMi); }},
        {"scatter_stride_33", [] { return scattered(2 * kMi, 33); }},
        {"scatter_random", [] { return scattered(2 * kMi, 0x9E3779B1u); }},
        {"scatter_random_32_mib", [] { return scattered(8 * kMi, 0x85EBCA6Bu); }},
    };
}

// ---- chains of dependent loads --------------------------------------------------------------------------------------

constexpr unsigned kChainFactor = 0x5851F42Du;   // 1 modulo 4
constexpr unsigned kChainSummand = 0x14057B7Fu;  // odd

/// The chain visits every place of a table whose size is a power of two: a linear congruential generator.
unsigned next_place(unsigned place, unsigned size) { return (place * kChainFactor + kChainSummand) & (size - 1); }

/// `chains` chains per thread, which are independent of each other.
template <unsigned chains>
__global__ void follow_chains(const unsigned* next, unsigned steps, unsigned apart, unsigned* out) {
    unsigned place[chains];
#pragma unroll
    for (unsigned k = 0; k < chains; ++k) place[k] = (thread_in_grid() * chains + k) * apart;
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
#pragma unroll
        for (unsigned k = 0; k < chains; ++k) place[k] = next[place[k]];
    }
    unsigned sum = 0;
#pragma unroll
    for (unsigned k = 0; k < chains; ++k) sum += place[k];
    out[thread_in_grid()] = sum;
}

template <unsigned chains>
Prepared followed(unsigned blocks, unsigned threads, unsigned size, unsigned steps) {
    const Array<unsigned> next =
        input_of<unsigned>(size, [size](std::size_t i) { return next_place(static_cast<unsigned>(i), size); });
    const Array<unsigned> out = output<unsigned>(std::size_t{blocks} * threads);
    const unsigned all = blocks * threads * chains;
    const unsigned apart = size > all ? size / all : 1;
    if (all * apart > size) throw std::logic_error("more chains than places");
    const auto expected = [size, steps, apart](std::size_t i) {
        unsigned sum = 0;
        for (unsigned k = 0; k < chains; ++k) {
            unsigned place = (static_cast<unsigned>(i) * chains + k) * apart;
            for (unsigned step = 0; step < steps; ++step) place = next_place(place, size);
            sum += place;
        }
        return sum;
    };
    return prepared(follow_chains<chains>, {blocks, threads}, out, expected, 0, next, steps, apart, out);
}

std::vector<Case> dependent_loads() {
    return {
        {"chain_1_thread_16_kib", [] { return followed<1>(1, 1, 4 * kKi, 2048); }},
        {"chain_1_thread_4_mib", [] { return followed<1>(1, 1, kMi, 1024); }},
        {"chain_1_thread_128_mib", [] { return followed<1>(1, 1, 32 * kMi, 512); }},
        {"chain_1_warp_16_kib", [] { return followed<1>(1, 32, 4 * kKi, 512); }},
        {"chain_1_warp_4_mib", [] { return followed<1>(1, 32, kMi, 256); }},
        {"chain_1_warp_128_mib", [] { return followed<1>(1, 32, 32 * kMi, 256); }},
        {"chain_132_warps_4_mib", [] { return followed<1>(kSms, 32, kMi, 256); }},
        {"chain_132_blocks_of_128_4_mib", [] { return followed<1>(kSms, 128, kMi, 128); }},
        {"chain_132_blocks_of_128_128_mib", [] { return followed<1>(kSms, 128, 32 * kMi, 128); }},
        {"chain_132_blocks_of_1024_4_mib", [] { return followed<1>(kSms, 1024, kMi, 32); }},
        {"chain_132_blocks_of_1024_128_mib", [] { return followed<1>(kSms, 1024, 32 * kMi, 32); }},
        {"chain_1_warp_2_chains_4_mib", [] { return followed<2>(1, 32, kMi, 256); }},
        {"chain_1_warp_4_chains_4_mib", [] { return followed<4>(1, 32, kMi, 256); }},
        {"chain_132_blocks_of_128_4_chains_4_mib", [] { return followed<4>(kSms, 128, kMi, 64); }},
        {"chain_132_blocks_of_128_4_chains_128_mib", [] { return followed<4>(kSms, 128, 32 * kMi, 64); }},
    };
}

}  // namespace gathers_kernels

std::vector<Family> gather_families() {
    return {{"gathers", gathers_kernels::gathers()}, {"dependent_loads", gathers_kernels::dependent_loads()}};
}

}  // namespace model_kernels
