/*
    Parallel sum, seven times: each kernel removes one reason why the one before is slow.

      0  interleaved addressing, divergent branch (with a modulo)
      1  interleaved addressing, strided index (bank conflicts instead of divergence)
      2  sequential addressing
      3  first add while loading from global memory
      4  the last warp unrolled
      5  completely unrolled, block size as a template parameter
      6  many elements per thread

    Options: --n=COUNT  --threads=128|256
*/
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        const cudaError_t status_ = (call);                                                  \
        if (status_ != cudaSuccess) {                                                        \
            std::fprintf(stderr, "%s:%d: '%s' failed: %s (%s)\n", __FILE__, __LINE__, #call, \
                         cudaGetErrorString(status_), cudaGetErrorName(status_));            \
            std::exit(EXIT_FAILURE);                                                         \
        }                                                                                    \
    } while (0)

typedef unsigned int uint;

// Unsized `extern __shared__` arrays of one name cannot have several types, so each type asks this struct for its own.
template <class T>
struct SharedMemory {
    __device__ inline operator T*() {
        extern __shared__ int shared_ints[];
        return (T*)shared_ints;
    }
};

// Doubles need an alignment of 8 bytes.
template <>
struct SharedMemory<double> {
    __device__ inline operator double*() {
        extern __shared__ double shared_doubles[];
        return (double*)shared_doubles;
    }
};

template <class T>
__global__ void reduce0(const T* in, T* out, uint n) {
    T* cache = SharedMemory<T>();
    uint tid = threadIdx.x;
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    cache[tid] = (i < n) ? in[i] : 0;
    __syncthreads();
    for (uint s = 1; s < blockDim.x; s *= 2) {
        if ((tid % (2 * s)) == 0) cache[tid] += cache[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = cache[0];
}

template <class T>
__global__ void reduce1(const T* in, T* out, uint n) {
    T* cache = SharedMemory<T>();
    uint tid = threadIdx.x;
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    cache[tid] = (i < n) ? in[i] : 0;
    __syncthreads();
    for (uint s = 1; s < blockDim.x; s *= 2) {
        uint index = 2 * s * tid;
        if (index < blockDim.x) cache[index] += cache[index + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = cache[0];
}

template <class T>
__global__ void reduce2(const T* in, T* out, uint n) {
    T* cache = SharedMemory<T>();
    uint tid = threadIdx.x;
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    cache[tid] = (i < n) ? in[i] : 0;
    __syncthreads();
    for (uint s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) cache[tid] += cache[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = cache[0];
}

template <class T>
__global__ void reduce3(const T* in, T* out, uint n) {
    T* cache = SharedMemory<T>();
    uint tid = threadIdx.x;
    uint i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    T sum = (i < n) ? in[i] : 0;
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    cache[tid] = sum;
    __syncthreads();
    for (uint s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) cache[tid] = sum = sum + cache[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sum;
}

// One step of the last warp: every lane reads before any lane writes, and the other way round for the next step.
#define WARP_STEP(distance)                  \
    if (blockSize >= 2 * (distance)) {       \
        sum = sum + cache[tid + (distance)]; \
        __syncwarp();                        \
        cache[tid] = sum;                    \
        __syncwarp();                        \
    }

template <uint blockSize, class T>
__device__ __forceinline__ void warpReduce(volatile T* cache, uint tid) {
    T sum = cache[tid];
    if (blockSize < 64) cache[tid + 32] = 0;  // the upper lanes of a single warp read beyond it
    __syncwarp();
    WARP_STEP(32)
    WARP_STEP(16)
    WARP_STEP(8)
    WARP_STEP(4)
    WARP_STEP(2)
    WARP_STEP(1)
}

template <uint blockSize, class T>
__global__ void reduce4(const T* in, T* out, uint n) {
    T* cache = SharedMemory<T>();
    uint tid = threadIdx.x;
    uint i = blockIdx.x * (blockSize * 2) + threadIdx.x;
    cache[tid] = ((i < n) ? in[i] : 0) + ((i + blockSize < n) ? in[i + blockSize] : 0);
    __syncthreads();
    for (uint s = blockSize / 2; s > 32; s >>= 1) {
        if (tid < s) cache[tid] += cache[tid + s];
        __syncthreads();
    }
    if (tid < 32) warpReduce<blockSize>(cache, tid);
    if (tid == 0) out[blockIdx.x] = cache[0];
}

#define BLOCK_STEP(half)                                     \
    if (blockSize >= 2 * (half)) {                           \
        if (tid < (half)) cache[tid] += cache[tid + (half)]; \
        __syncthreads();                                     \
    }

template <uint blockSize, class T>
__device__ __forceinline__ void blockReduce(T* cache, uint tid) {
    BLOCK_STEP(256)
    BLOCK_STEP(128)
    BLOCK_STEP(64)
    if (tid < 32) warpReduce<blockSize>(cache, tid);
}

template <uint blockSize, class T>
__global__ void reduce5(const T* in, T* out, uint n) {
    T* cache = SharedMemory<T>();
    uint tid = threadIdx.x;
    uint i = blockIdx.x * (blockSize * 2) + threadIdx.x;
    cache[tid] = ((i < n) ? in[i] : 0) + ((i + blockSize < n) ? in[i + blockSize] : 0);
    __syncthreads();
    blockReduce<blockSize>(cache, tid);
    if (tid == 0) out[blockIdx.x] = cache[0];
}

template <uint blockSize, class T>
__global__ void reduce6(const T* in, T* out, uint n) {
    T* cache = SharedMemory<T>();
    uint tid = threadIdx.x;
    uint gridSize = blockSize * 2 * gridDim.x;
    T sum = 0;
    for (uint i = blockIdx.x * blockSize * 2 + threadIdx.x; i < n; i += gridSize) {
        sum += in[i];
        if (i + blockSize < n) sum += in[i + blockSize];
    }
    cache[tid] = sum;
    __syncthreads();
    blockReduce<blockSize>(cache, tid);
    if (tid == 0) out[blockIdx.x] = cache[0];
}

template <class T>
void reduce(int version, uint n, uint threads, uint blocks, const T* d_in, T* d_out) {
    dim3 block(threads, 1, 1);
    dim3 grid(blocks, 1, 1);
    // A single warp reads up to 32 elements beyond its own, so it gets the room of two.
    size_t bytes = std::max(threads, 64u) * sizeof(T);

#define LAUNCH(...) __VA_ARGS__<<<grid, block, bytes>>>(d_in, d_out, n)
#define UNROLLED(kernel)        \
    if (threads == 512)         \
        LAUNCH(kernel<512, T>); \
    else if (threads == 256)    \
        LAUNCH(kernel<256, T>); \
    else if (threads == 128)    \
        LAUNCH(kernel<128, T>); \
    else if (threads == 64)     \
        LAUNCH(kernel<64, T>);  \
    else                        \
        LAUNCH(kernel<32, T>);

    if (version == 0) LAUNCH(reduce0<T>);
    if (version == 1) LAUNCH(reduce1<T>);
    if (version == 2) LAUNCH(reduce2<T>);
    if (version == 3) LAUNCH(reduce3<T>);
    if (version == 4) {
        UNROLLED(reduce4)
    }
    if (version == 5) {
        UNROLLED(reduce5)
    }
    if (version == 6) {
        UNROLLED(reduce6)
    }
    CUDA_CHECK(cudaGetLastError());
}

template <class T>
bool runTest(const char* type, uint n, uint threads) {
    std::vector<T> input(n);
    T expected = 0;
    for (uint i = 0; i < n; i++) expected += input[i] = (T)((i * 7u + 3u) & 0xF);  // whole numbers: sums are exact

    T *d_in, *d_out;
    const uint maxBlocks = (n + threads - 1) / threads;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(T)));
    CUDA_CHECK(cudaMalloc(&d_out, maxBlocks * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(d_in, input.data(), n * sizeof(T), cudaMemcpyHostToDevice));

    std::printf("Reducing %u elements of type %s, %u threads per block\n", n, type, threads);
    bool good = true;
    for (int kernel = 0; kernel < 7; kernel++) {
        uint perBlock = kernel < 3 ? threads : 2 * threads;
        uint blocks = (n + perBlock - 1) / perBlock;
        if (kernel == 6) blocks = std::min(blocks, 8u);
        reduce<T>(kernel, n, threads, blocks, d_in, d_out);
        std::vector<T> partial(blocks);
        CUDA_CHECK(cudaMemcpy(partial.data(), d_out, blocks * sizeof(T), cudaMemcpyDeviceToHost));
        T result = 0;
        for (T part : partial) result += part;
        std::printf("reduce%d: %u blocks, sum %.0f %s\n", kernel, blocks, (double)result,
                    result == expected ? "ok" : "WRONG");
        good = good && result == expected;
    }
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return good;
}

int main(int argc, char** argv) {
    uint n = 10000, threads = 128;
    for (int i = 1; i < argc; i++) {
        std::sscanf(argv[i], "--n=%u", &n);
        std::sscanf(argv[i], "--threads=%u", &threads);
    }
    if (threads < 128 || threads > 256 || (threads & (threads - 1)) != 0 || n == 0) {
        std::fprintf(stderr, "usage: %s [--n=COUNT] [--threads=128|256]\n", argv[0]);
        return 1;
    }
    bool good = runTest<int>("int", n, threads);
    good &= runTest<float>("float", n, 2 * threads);
    good &= runTest<double>("double", n, threads / 4);
    std::puts(good ? "Test passed" : "Test failed!");
    return good ? 0 : 1;
}
