// Least-significant-digit radix sort for unsigned, signed and floating-point keys, with everything it needs written
// out: a histogram of digits per block, an exclusive scan over all of them, and a stable scatter that ranks equal
// digits with warp votes. C++17, buffers that free themselves, no libraries.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

namespace {

constexpr int kBits = 4;
constexpr int kDigits = 1 << kBits;
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kItemsPerThread = 4;
constexpr int kTile = kThreads * kItemsPerThread;

inline void check(cudaError_t error, const char* expression, const char* file, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s(%d): %s returned %s: %s\n", file, line, expression, cudaGetErrorName(error),
                 cudaGetErrorString(error));
    std::abort();
}
#define CHECK_CUDA(...) check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

struct CudaDeleter {
    void operator()(void* pointer) const noexcept { cudaFree(pointer); }
};
template <class T>
using device_ptr = std::unique_ptr<T[], CudaDeleter>;

template <class T>
device_ptr<T> make_device(std::size_t count) {
    T* pointer = nullptr;
    CHECK_CUDA(cudaMalloc(&pointer, count * sizeof(T)));
    return device_ptr<T>(pointer);
}

/// Maps keys to unsigned numbers in the same order, and back.
template <class Key>
struct KeyTraits {
    static_assert(sizeof(Key) == 4, "keys of 32 bits only");
    static __device__ std::uint32_t encode(Key key) {
        if constexpr (std::is_same_v<Key, float>) {
            const std::uint32_t bits = __float_as_uint(key);
            return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
        } else if constexpr (std::is_signed_v<Key>) {
            return static_cast<std::uint32_t>(key) ^ 0x80000000u;
        } else {
            return key;
        }
    }
};

template <class Key>
__device__ __forceinline__ int digit_of(Key key, int shift) {
    return (KeyTraits<Key>::encode(key) >> shift) & (kDigits - 1);
}

/// counts[digit * blocks + block]: how many keys of this block have the digit. This order makes one scan enough.
template <class Key>
__global__ void count_digits(const Key* __restrict__ keys, unsigned* __restrict__ counts, int n, int shift) {
    __shared__ unsigned local[kDigits];
    if (threadIdx.x < kDigits) local[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int item = 0; item < kItemsPerThread; ++item) {
        const int i = blockIdx.x * kTile + item * kThreads + threadIdx.x;
        if (i < n) atomicAdd(&local[digit_of(keys[i], shift)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

__device__ unsigned warp_inclusive_scan(unsigned value) {
    const int lane = threadIdx.x & 31;
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance) value += other;
    }
    return value;
}

/// Exclusive scan in place by a single block, which carries the sum from chunk to chunk.
__global__ void scan(unsigned* data, int n) {
    __shared__ unsigned warp_sums[kWarps];
    __shared__ unsigned carry;
    if (threadIdx.x == 0) carry = 0;
    __syncthreads();
    for (int base = 0; base < n; base += blockDim.x) {
        const int i = base + threadIdx.x;
        const unsigned value = i < n ? data[i] : 0;
        unsigned inclusive = warp_inclusive_scan(value);
        if ((threadIdx.x & 31) == 31) warp_sums[threadIdx.x / 32] = inclusive;
        __syncthreads();
        unsigned before = carry;
        for (int warp = 0; warp < static_cast<int>(threadIdx.x / 32); ++warp) before += warp_sums[warp];
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) carry = before + inclusive;
        if (i < n) data[i] = before + inclusive - value;
        __syncthreads();
    }
}

/// Puts every key where its digit begins, behind the equal digits before it.
template <class Key>
__global__ void scatter(const Key* __restrict__ in, Key* __restrict__ out, const unsigned* __restrict__ offsets, int n,
                        int shift) {
    __shared__ unsigned next[kDigits];             // where the block's next key with this digit goes
    __shared__ unsigned in_warp[kWarps][kDigits];  // keys with this digit in each warp
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    if (threadIdx.x < kDigits) next[threadIdx.x] = offsets[threadIdx.x * gridDim.x + blockIdx.x];

    for (int item = 0; item < kItemsPerThread; ++item) {
        const int i = blockIdx.x * kTile + item * kThreads + threadIdx.x;
        const bool valid = i < n;
        const Key key = valid ? in[i] : Key{};
        const int digit = valid ? digit_of(key, shift) : kDigits;

        // Lanes with the same digit: one vote for each bit, and one for lanes that have a key at all.
        unsigned same = __ballot_sync(0xffffffffu, valid);
        for (int bit = 0; bit < kBits; ++bit) {
            const bool set = digit >> bit & 1;
            const unsigned with_bit = __ballot_sync(0xffffffffu, set);
            same &= set ? with_bit : ~with_bit;
        }
        const unsigned rank = __popc(same & ((1u << lane) - 1));

        if (lane < kDigits) in_warp[warp][lane] = 0;
        __syncwarp();
        if (valid && rank == 0) in_warp[warp][digit] = __popc(same);
        __syncthreads();
        if (valid) {
            unsigned position = next[digit] + rank;
            for (int w = 0; w < warp; ++w) position += in_warp[w][digit];
            out[position] = key;
        }
        __syncthreads();
        if (threadIdx.x < kDigits)
            for (int w = 0; w < kWarps; ++w) next[threadIdx.x] += in_warp[w][threadIdx.x];
        __syncthreads();
    }
}

template <class Key>
void radix_sort(Key* d_keys, int n) {
    const int blocks = (n + kTile - 1) / kTile;
    auto other = make_device<Key>(n);
    auto counts = make_device<unsigned>(static_cast<std::size_t>(kDigits) * blocks);
    Key *from = d_keys, *to = other.get();
    for (int shift = 0; shift < 32; shift += kBits, std::swap(from, to)) {
        count_digits<<<blocks, kThreads>>>(from, counts.get(), n, shift);
        scan<<<1, kThreads>>>(counts.get(), kDigits * blocks);
        scatter<Key><<<blocks, kThreads>>>(from, to, counts.get(), n, shift);
        CHECK_CUDA(cudaGetLastError());
    }
    static_assert(32 / kBits % 2 == 0, "an even number of passes ends in the buffer where it began");
    CHECK_CUDA(cudaDeviceSynchronize());
}

template <class Key>
bool test(const char* name, int n) {
    std::mt19937 random(n);
    std::vector<Key> keys(n);
    for (Key& key : keys) {
        const std::uint32_t bits = random();
        if constexpr (std::is_same_v<Key, float>) {
            key = (static_cast<float>(bits) - 2147483648.0f) / (bits % 5 == 0 ? 4294967296.0f : 65536.0f);
        } else {
            key = static_cast<Key>(bits % 3 == 0 ? bits & 0xff : bits);
        }
    }
    if (n > 2) keys[1] = std::numeric_limits<Key>::lowest(), keys[0] = std::numeric_limits<Key>::max();

    auto d_keys = make_device<Key>(n);
    CHECK_CUDA(cudaMemcpy(d_keys.get(), keys.data(), n * sizeof(Key), cudaMemcpyHostToDevice));
    radix_sort(d_keys.get(), n);
    std::vector<Key> sorted(n);
    CHECK_CUDA(cudaMemcpy(sorted.data(), d_keys.get(), n * sizeof(Key), cudaMemcpyDeviceToHost));

    std::sort(keys.begin(), keys.end());
    const bool good = keys == sorted;
    std::printf("%-8s %5d keys: %s\n", name, n, good ? "sorted" : "NOT sorted");
    return good;
}

}  // namespace

int main() {
    bool good = true;
    for (const int n : {1, 600, 1200}) {
        good &= test<std::uint32_t>("uint32_t", n);
        good &= test<std::int32_t>("int32_t", n);
        good &= test<float>("float", n);
    }
    std::puts(good ? "PASSED" : "FAILED");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
