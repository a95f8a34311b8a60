// gpu_architecture.md: how many bytes per second do shared memory, the L1 cache, the L2 cache, and device memory
// deliver to all SMs together? Every thread loads 16 bytes at a time and adds them up, so nothing but loads takes time.
#include "experiment.cuh"

constexpr unsigned kThreads = 1024, kOwn = 2048;  // a block's own 32 KiB, in units of 16 bytes
enum class From { shared, l1, l2 };  // and from device memory, where the array is too large for the L2 cache

template <From from>
__device__ uint4 load(const uint4* place) {
    uint4 v;
    if constexpr (from == From::l1)
        asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(place));
    else
        asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(place));
    return v;
}

// The index of load k of a thread. Blocks have their own pieces of an array, or sweep through all of it together.
// `step` is not known to the compiler, which would else load once what is loaded again.
template <From from>
__host__ __device__ unsigned place_of(unsigned block, unsigned thread, unsigned k, unsigned step, unsigned vectors) {
    if (from == From::l2) return (block * kThreads + thread + k * step) & (vectors - 1);
    return block * kOwn + ((thread + k * step) & (kOwn - 1));
}

template <From from>
__global__ void __launch_bounds__(kThreads)
    x_read(const uint4* in, unsigned vectors, unsigned step, unsigned rounds, unsigned* sums) {
    __shared__ uint4 own[from == From::shared ? kOwn : 1];
    if constexpr (from == From::shared) {
        for (unsigned i = threadIdx.x; i < kOwn; i += kThreads) own[i] = in[blockIdx.x * kOwn + i];
        __syncthreads();
    }
    unsigned sum = 0;
#pragma unroll 8
    for (unsigned k = 0; k < rounds; ++k) {
        const unsigned place = place_of<from>(blockIdx.x, threadIdx.x, k, step, vectors);
        uint4 v;
        if constexpr (from == From::shared) {
            const volatile uint4* const there = &own[place & (kOwn - 1)];
            asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "r"(static_cast<unsigned>(__cvta_generic_to_shared(const_cast<uint4*>(there)))));
        } else {
            v = load<from>(in + place);
        }
        sum += (v.x + v.y) + (v.z + v.w);
    }
    sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

__global__ void number_words(unsigned* words, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) words[i] = i;
}

template <From from>
struct IsSum {
    unsigned step, vectors, rounds;
    __device__ bool operator()(std::size_t i, unsigned v) const {
        unsigned sum = 0;
        for (unsigned k = 0; k < rounds; ++k)
            sum += 16 * place_of<from>(i / kThreads, i % kThreads, k, step, vectors) + 6;
        return v == sum;
    }
};

template <From from>
Variant variant(const char* name, const uint4* in, unsigned vectors, unsigned rounds, unsigned* sums) {
    const unsigned blocks = 2 * sm_count, step = from == From::l2 ? blocks * kThreads : kThreads + 32;
    return {name, [=] { x_read<from><<<blocks, kThreads>>>(in, vectors, step, rounds, sums); },
            16.0 * blocks * kThreads * rounds,
            [=] {
                return is_right(sums, blocks * kThreads, IsSum<from>{step, vectors, rounds});
            },
            resources(x_read<from>, kThreads)};
}

int main(int argc, char** argv) {
    start(argc, argv, "read_bandwidths: loads of 16 bytes, 2048 threads per SM");
    constexpr unsigned all = 1u << 28, small = 1u << 20;  // 4 GiB and 16 MiB
    uint4* const in = device_array<uint4>(all);
    unsigned* const sums = device_array<unsigned>(2 * sm_count * kThreads);
    number_words<<<1056, 256>>>(reinterpret_cast<unsigned*>(in), std::size_t{4} * all);
    CHECK(cudaGetLastError());
    measure("Reads", {variant<From::shared>("shared memory, 32 KiB per block", in, 0, 2048, sums),
                      variant<From::l1>("L1 cache, 32 KiB per block", in, 0, 2048, sums),
                      variant<From::l2>("L2 cache, 16 MiB", in, small, 256, sums),
                      variant<From::l2>("device memory, 4 GiB", in, all, all / (2 * sm_count * kThreads), sums)});
    return finish();
}
