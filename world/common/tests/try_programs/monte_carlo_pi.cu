// Pi by throwing darts: every thread has a random number generator of its own, the block adds up its hits, one atomic a
// block adds up the rest. The host throws the same darts, so the number of hits has to be the same, not just similar:
// coordinates are integers, for which no compiler fuses a multiplication with an addition.
//
//   monte_carlo_pi [darts per thread]

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define gpuErrchk(ans) \
    { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char* file, int line, bool abort = true) {
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        if (abort) exit(code);
    }
}

// Older GPUs have no atomicAdd for doubles.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
static __inline__ __device__ double atomicAdd(double* address, double value) {
    unsigned long long int* bits = (unsigned long long int*)address;
    unsigned long long int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
#endif

/// Marsaglia's xorshift with 32 bits of state.
struct XorShift32 {
    std::uint32_t state;

    __host__ __device__ explicit XorShift32(std::uint32_t seed) : state(seed != 0 ? seed : 1) {}
    __host__ __device__ std::uint32_t operator()() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
};

/// Linear congruential generator modulo 2^64; only its upper half is any good.
class Lcg64 {
public:
    static constexpr std::uint64_t multiplier = 6364136223846793005ull, increment = 1442695040888963407ull;
    __host__ __device__ explicit Lcg64(std::uint32_t seed) : state_(seed) { operator()(); }
    __host__ __device__ std::uint32_t operator()() {
        state_ = state_ * multiplier + increment;
        return static_cast<std::uint32_t>(state_ >> 32);
    }

private:
    std::uint64_t state_;
};

/// Neighboring threads get seeds that have nothing to do with each other.
__host__ __device__ inline std::uint32_t seed_of(std::uint32_t thread) {
    std::uint32_t x = thread + 0x9e3779b9u;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

template <typename Generator>
__host__ __device__ unsigned throw_darts(unsigned thread, unsigned darts) {
    Generator random{seed_of(thread)};
    unsigned hits = 0;
    for (unsigned i = 0; i < darts; ++i) {
        const std::uint64_t x = random() >> 1, y = random() >> 1;  // 31 bits each: the squares' sum fits
        hits += x * x + y * y < (std::uint64_t(1) << 62);
    }
    return hits;
}

__inline__ __device__ unsigned warpReduceSum(unsigned val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}

__inline__ __device__ unsigned blockReduceSum(unsigned val) {
    static __shared__ unsigned shared[32];  // one partial sum per warp
    int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

template <typename Generator>
__global__ void estimate(unsigned darts, unsigned long long* hits, double* share) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned mine = throw_darts<Generator>(thread, darts);
    const unsigned sum = blockReduceSum(mine);
    if (threadIdx.x == 0) {
        atomicAdd(hits, static_cast<unsigned long long>(sum));
        atomicAdd(share, sum / (double(darts) * blockDim.x * gridDim.x));
        if (blockIdx.x == 0) printf("block 0 of %u: %u hits of %u darts\n", gridDim.x, sum, darts * blockDim.x);
    }
}

template <typename Generator>
bool run(const char* name, unsigned darts) {
    constexpr unsigned blocks = 16, threads = 128;
    struct Totals {
        unsigned long long hits;
        double share;
    } * totals, zero = {}, result;
    gpuErrchk(cudaMalloc(&totals, sizeof(Totals)));
    gpuErrchk(cudaMemcpy(totals, &zero, sizeof(Totals), cudaMemcpyHostToDevice));

    estimate<Generator><<<blocks, threads>>>(darts, &totals->hits, &totals->share);
    gpuErrchk(cudaPeekAtLastError());
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaMemcpy(&result, totals, sizeof(Totals), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaFree(totals));

    unsigned long long expected = 0;
    for (unsigned thread = 0; thread < blocks * threads; ++thread) expected += throw_darts<Generator>(thread, darts);

    const double count = double(darts) * blocks * threads, pi = 4 * (result.hits / count);
    const bool good = result.hits == expected && std::fabs(4 * result.share - pi) < 1e-9 && std::fabs(pi - M_PI) < 0.02;
    std::printf("%s: %llu of %.0f darts hit, pi is about %.3f: %s\n", name, result.hits, count, pi,
                good ? "the same darts as on the host" : "NOT what the host says");
    return good;
}

int main(int argc, char* argv[]) {
    const unsigned darts = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
    bool good = run<XorShift32>("xorshift", darts);
    good = run<Lcg64>("LCG", darts) && good;
    std::puts(good ? "Test passed" : "Test failed");
    return good ? 0 : 1;
}
