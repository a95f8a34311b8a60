// Histograms: in global and in shared memory, over uniform, skewed, and constant data.
#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace histograms_kernels {

enum class Data { uniform, skewed, constant, sorted };

/// The bin of element `i` of `n`.
unsigned bin_of(Data data, std::size_t i, std::size_t n, unsigned bins) {
    switch (data) {
        case Data::uniform:
            return hash(i) % bins;
        case Data::skewed: {  // half of the elements in bin 0, a quarter in bin 1, and so on
            const std::uint32_t bits = hash(i) | 1u << 31;
            return static_cast<unsigned>(__builtin_ctz(bits)) % bins;
        }
        case Data::constant:
            return bins / 3;
        case Data::sorted:
            return static_cast<unsigned>(i * bins / n);
    }
    return 0;
}

/// One atomic operation in global memory per element.
template <class T>
__global__ void histogram_global(const T* in, unsigned each, unsigned* bins) {
    const unsigned threads = gridDim.x * blockDim.x;
    for (unsigned k = 0; k < each; ++k) atomicAdd(bins + in[thread_in_grid() + k * threads], 1u);
}

/// One histogram per block in shared memory.
template <class T>
__global__ void histogram_shared(const T* in, unsigned each, unsigned count, unsigned* bins) {
    extern __shared__ unsigned own[];
    for (unsigned bin = threadIdx.x; bin < count; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
    const unsigned threads = gridDim.x * blockDim.x;
    for (unsigned k = 0; k < each; ++k) atomicAdd(own + in[thread_in_grid() + k * threads], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < count; bin += blockDim.x) {
        if (own[bin] != 0) atomicAdd(bins + bin, own[bin]);
    }
}

/// One histogram per warp in shared memory.
__global__ void histogram_per_warp(const unsigned char* in, unsigned each, unsigned* bins) {
    __shared__ unsigned own[8][256];
    for (unsigned k = threadIdx.x; k < 8 * 256; k += 256) own[k / 256][k % 256] = 0;
    __syncthreads();
    const unsigned threads = gridDim.x * blockDim.x;
    unsigned* const mine = own[threadIdx.x / 32];
    for (unsigned k = 0; k < each; ++k) atomicAdd(mine + in[thread_in_grid() + k * threads], 1u);
    __syncthreads();
    unsigned sum = 0;
    for (unsigned warp = 0; warp < 8; ++warp) sum += own[warp][threadIdx.x];
    if (sum != 0) atomicAdd(bins + threadIdx.x, sum);
}

/// Four bytes per load.
__global__ void histogram_of_words(const unsigned* in, unsigned each, unsigned* bins) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    const unsigned threads = gridDim.x * blockDim.x;
    for (unsigned k = 0; k < each; ++k) {
        const unsigned word = in[thread_in_grid() + k * threads];
#pragma unroll
        for (unsigned shift = 0; shift < 32; shift += 8) atomicAdd(own + (word >> shift & 255u), 1u);
    }
    __syncthreads();
    if (own[threadIdx.x] != 0) atomicAdd(bins + threadIdx.x, own[threadIdx.x]);
}

/// Lanes with the same bin are found first; one of them adds for all.
__global__ void histogram_with_match(const unsigned char* in, unsigned each, unsigned* bins) {
    const unsigned threads = gridDim.x * blockDim.x;
    for (unsigned k = 0; k < each; ++k) {
        const unsigned bin = in[thread_in_grid() + k * threads];
        const unsigned same = __match_any_sync(0xFFFFFFFFu, bin);
        if (threadIdx.x % 32 == static_cast<unsigned>(__ffs(static_cast<int>(same)) - 1)) {
            atomicAdd(bins + bin, static_cast<unsigned>(__popc(same)));
        }
    }
}

/// Sixteen bins in registers: no atomic operation until the end.
__global__ void histogram_in_registers(const unsigned char* in, unsigned each, unsigned* bins) {
    const unsigned threads = gridDim.x * blockDim.x;
    unsigned own[16] = {};
    for (unsigned k = 0; k < each; ++k) {
        const unsigned bin = in[thread_in_grid() + k * threads];
#pragma unroll
        for (unsigned b = 0; b < 16; ++b) own[b] += bin == b;
    }
#pragma unroll
    for (unsigned b = 0; b < 16; ++b) {
        const unsigned sum = __reduce_add_sync(0xFFFFFFFFu, own[b]);
        if (threadIdx.x % 32 == 0) atomicAdd(bins + b, sum);
    }
}

template <class T>
struct Input {
    Array<T> in;
    Array<unsigned> bins;
    std::vector<unsigned> expected;

    Input(Data data, std::size_t n, unsigned count)
        : in(input_of<T>(n, [=](std::size_t i) { return static_cast<T>(bin_of(data, i, n, count)); })),
          bins(output<unsigned>(count, 0)),
          expected(count) {
        for (std::size_t i = 0; i < n; ++i) ++expected[bin_of(data, i, n, count)];
    }

    auto check() const {
        return [counts = expected](std::size_t bin) { return counts[bin]; };
    }
};

template <class T>
Prepared in_global(Data data, unsigned blocks, unsigned each, unsigned count) {
    const Input<T> given(data, std::size_t{blocks} * 256 * each, count);
    return prepared(histogram_global<T>, {blocks, 256}, given.bins, given.check(), 0, given.in, each, given.bins);
}

template <class T>
Prepared in_shared(Data data, unsigned blocks, unsigned each, unsigned count) {
    const Input<T> given(data, std::size_t{blocks} * 256 * each, count);
    const Shape shape{blocks, 256, static_cast<unsigned>(count * sizeof(unsigned))};
    return prepared(histogram_shared<T>, shape, given.bins, given.check(), 0, given.in, each, count, given.bins);
}

Prepared of_bytes(void (*kernel)(const unsigned char*, unsigned, unsigned*), Data data, unsigned blocks, unsigned each,
                  unsigned count = 256) {
    const Input<unsigned char> given(data, std::size_t{blocks} * 256 * each, count);
    return prepared(kernel, {blocks, 256}, given.bins, given.check(), 0, given.in, each, given.bins);
}

Prepared of_words(Data data, unsigned blocks, unsigned each) {
    const Input<unsigned char> given(data, std::size_t{blocks} * 256 * each * 4, 256);
    return prepared(histogram_of_words, {blocks, 256}, given.bins, given.check(), 0, given.in.as<unsigned>(), each,
                    given.bins);
}

std::vector<Case> histograms() {
    using Byte = unsigned char;
    return {
        {"histogram_global_uniform_256", [] { return in_global<Byte>(Data::uniform, 528, 4, 256); }},
        {"histogram_global_skewed_256", [] { return in_global<Byte>(Data::skewed, 528, 4, 256); }},
        {"histogram_global_constant_256", [] { return in_global<Byte>(Data::constant, 528, 4, 256); }},
        {"histogram_global_sorted_256", [] { return in_global<Byte>(Data::sorted, 528, 4, 256); }},
        {"histogram_global_uniform_65536", [] { return in_global<unsigned short>(Data::uniform, 528, 8, 65536); }},
        {"histogram_global_uniform_million", [] { return in_global<unsigned>(Data::uniform, 528, 8, kMi); }},
        {"histogram_shared_uniform_256", [] { return in_shared<Byte>(Data::uniform, 528, 16, 256); }},
        {"histogram_shared_skewed_256", [] { return in_shared<Byte>(Data::skewed, 528, 16, 256); }},
        {"histogram_shared_constant_256", [] { return in_shared<Byte>(Data::constant, 528, 16, 256); }},
        {"histogram_shared_sorted_256", [] { return in_shared<Byte>(Data::sorted, 528, 16, 256); }},
        {"histogram_shared_uniform_16", [] { return in_shared<Byte>(Data::uniform, 528, 16, 16); }},
        {"histogram_shared_uniform_8192", [] { return in_shared<unsigned short>(Data::uniform, 528, 16, 8192); }},
        {"histogram_shared_uniform_256_few_blocks", [] { return in_shared<Byte>(Data::uniform, 33, 64, 256); }},
        {"histogram_per_warp_uniform", [] { return of_bytes(histogram_per_warp, Data::uniform, 528, 16); }},
        {"histogram_per_warp_constant", [] { return of_bytes(histogram_per_warp, Data::constant, 528, 16); }},
        {"histogram_of_words_uniform", [] { return of_words(Data::uniform, 528, 8); }},
        {"histogram_of_words_skewed", [] { return of_words(Data::skewed, 528, 8); }},
        {"histogram_with_match_skewed", [] { return of_bytes(histogram_with_match, Data::skewed, 264, 8); }},
        {"histogram_with_match_constant", [] { return of_bytes(histogram_with_match, Data::constant, 264, 8); }},
        {"histogram_in_registers", [] { return of_bytes(histogram_in_registers, Data::uniform, 264, 32, 16); }},
    };
}

}  // namespace histograms_kernels

std::vector<Family> histogram_families() { return {{"histograms", histograms_kernels::histograms()}}; }

}  // namespace model_kernels
