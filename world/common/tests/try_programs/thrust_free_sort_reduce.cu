// Sorting and reducing with nothing but templates and functors, for those who cannot have Thrust.
//
//   sort:    Batcher's odd-even merge sort, in shared memory up to a tile, above that step by step in global memory;
//            any comparison, keys with values
//   reduce:  any associative operation with an identity, after any transformation

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>
#include <vector>

static void HandleError(cudaError_t err, const char *file, int line)
{
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << " in " << file << " at line " << line << std::endl;
        std::exit(EXIT_FAILURE);
    }
}
#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))

#define HD __host__ __device__

template <typename T> struct Less    { HD bool operator()(const T &a, const T &b) const { return a < b; } };
template <typename T> struct Greater { HD bool operator()(const T &a, const T &b) const { return b < a; } };

template <typename T> struct Plus {
    HD T operator()(T a, T b) const { return a + b; }
    static HD T identity() { return T(0); }
};
template <typename T> struct Maximum {
    HD T operator()(T a, T b) const { return a > b ? a : b; }
    static T identity() { return std::numeric_limits<T>::lowest(); }
};
struct Square   { __device__ double operator()(int v) const { return double(v) * v; } };
struct Identity { template <typename T> HD T operator()(T v) const { return v; } };

class IsDivisibleBy {
public:
    explicit IsDivisibleBy(int divisor) : m_divisor(divisor) {}
    __device__ int operator()(int v) const { return v % m_divisor == 0 ? 1 : 0; }

private:
    int m_divisor;
};

// ---------------------------------------------------------------- sort

template <typename Key, typename Value, class Compare>
__device__ inline void compareAndSwap(Key &ka, Value &va, Key &kb, Value &vb, Compare before)
{
    if (before(kb, ka)) {
        Key k = ka; ka = kb; kb = k;
        Value v = va; va = vb; vb = v;
    }
}

// The pair of step (size, stride) that thread `t` looks after; false where the network leaves it alone.
HD inline bool networkPair(unsigned t, unsigned size, unsigned stride, unsigned &a, unsigned &b)
{
    a = 2 * t - (t & (stride - 1));
    b = a + stride;
    if (stride == size / 2) return true;  // the first step of a merge
    const unsigned offset = t & (size / 2 - 1);
    if (offset < stride) return false;
    a -= stride;
    b -= stride;
    return true;
}

template <typename Key, typename Value, class Compare, unsigned Tile>
__global__ void sortTiles(Key *keys, Value *values, Compare before)
{
    __shared__ Key s_key[Tile];
    __shared__ Value s_val[Tile];
    keys += blockIdx.x * Tile;
    values += blockIdx.x * Tile;
    for (unsigned i = threadIdx.x; i < Tile; i += blockDim.x) { s_key[i] = keys[i]; s_val[i] = values[i]; }

    for (unsigned size = 2; size <= Tile; size <<= 1)
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned a, b;
            if (networkPair(threadIdx.x, size, stride, a, b))
                compareAndSwap(s_key[a], s_val[a], s_key[b], s_val[b], before);
        }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < Tile; i += blockDim.x) { keys[i] = s_key[i]; values[i] = s_val[i]; }
}

template <typename Key, typename Value, class Compare>
__global__ void mergeStep(Key *keys, Value *values, unsigned size, unsigned stride, Compare before)
{
    unsigned a, b;
    if (networkPair(blockIdx.x * blockDim.x + threadIdx.x, size, stride, a, b))
        compareAndSwap(keys[a], values[a], keys[b], values[b], before);
}

// `n` is a power of two and at least a tile.
template <typename Key, typename Value, class Compare>
void sortByKey(Key *d_keys, Value *d_values, unsigned n, Compare before)
{
    constexpr unsigned Tile = 256;
    static_assert((Tile & (Tile - 1)) == 0, "a tile has to be a power of two");
    sortTiles<Key, Value, Compare, Tile><<<n / Tile, Tile / 2>>>(d_keys, d_values, before);
    HANDLE_ERROR(cudaGetLastError());
    for (unsigned size = 2 * Tile; size <= n; size <<= 1)
        for (unsigned stride = size / 2; stride > 0; stride >>= 1)
            mergeStep<<<n / 256, 128>>>(d_keys, d_values, size, stride, before);
    HANDLE_ERROR(cudaGetLastError());
}

// ---------------------------------------------------------------- reduce

// Dynamic shared memory of any type: one array of bytes for all instantiations.
template <typename T>
__device__ T *sharedMemory()
{
    extern __shared__ __align__(16) unsigned char s_bytes[];
    return reinterpret_cast<T *>(s_bytes);
}

template <unsigned BlockSize, typename In, typename Out, class Transform, class Op>
__global__ void __launch_bounds__(BlockSize)
reduceKernel(const In *in, Out *out, unsigned n, Transform f, Op op, Out init)
{
    Out *cache = sharedMemory<Out>();
    Out mine = init;
    for (unsigned i = blockIdx.x * BlockSize + threadIdx.x; i < n; i += BlockSize * gridDim.x)
        mine = op(mine, f(in[i]));
    cache[threadIdx.x] = mine;
    __syncthreads();
    auto fold = [&](unsigned width) {
        if (threadIdx.x < width) cache[threadIdx.x] = mine = op(mine, cache[threadIdx.x + width]);
        __syncthreads();
    };
    if constexpr (BlockSize >= 256) fold(128);
    if constexpr (BlockSize >= 128) fold(64);
#pragma unroll
    for (unsigned width = 32; width > 0; width /= 2) fold(width);
    if (threadIdx.x == 0) out[blockIdx.x] = mine;
}

template <typename Out, typename In, class Transform, class Op>
Out transformReduce(const In *d_in, unsigned n, Transform f, Op op)
{
    constexpr unsigned BlockSize = 128;
    const unsigned blocks = std::min((n + BlockSize - 1) / BlockSize, 16u);
    Out *d_partial, result;
    HANDLE_ERROR(cudaMalloc((void **)&d_partial, (blocks + 1) * sizeof(Out)));
    Out *d_total = d_partial + blocks;
    const size_t bytes = BlockSize * sizeof(Out);
    reduceKernel<BlockSize><<<blocks, BlockSize, bytes>>>(d_in, d_partial, n, f, op, Op::identity());
    reduceKernel<BlockSize><<<1, BlockSize, bytes>>>(d_partial, d_total, blocks, Identity(), op, Op::identity());
    HANDLE_ERROR(cudaGetLastError());
    HANDLE_ERROR(cudaMemcpy(&result, d_total, sizeof(Out), cudaMemcpyDeviceToHost));
    HANDLE_ERROR(cudaFree(d_partial));
    return result;
}

// ---------------------------------------------------------------- tests

template <template <typename> class Compare, typename Key>
bool testSort(const char *name, unsigned n, const std::vector<Key> &keys)
{
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    Key *d_keys;
    unsigned *d_order;
    HANDLE_ERROR(cudaMalloc(&d_keys, n * sizeof(Key)));
    HANDLE_ERROR(cudaMalloc(&d_order, n * sizeof(unsigned)));
    HANDLE_ERROR(cudaMemcpy(d_keys, keys.data(), n * sizeof(Key), cudaMemcpyHostToDevice));
    HANDLE_ERROR(cudaMemcpy(d_order, order.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    sortByKey(d_keys, d_order, n, Compare<Key>());
    std::vector<Key> sorted(n), expected(keys);
    HANDLE_ERROR(cudaMemcpy(sorted.data(), d_keys, n * sizeof(Key), cudaMemcpyDeviceToHost));
    HANDLE_ERROR(cudaMemcpy(order.data(), d_order, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    HANDLE_ERROR(cudaFree(d_keys));
    HANDLE_ERROR(cudaFree(d_order));
    std::sort(expected.begin(), expected.end(), Compare<Key>());
    bool ok = sorted == expected;
    for (unsigned i = 0; i < n; i++) ok = ok && keys[order[i]] == sorted[i];
    std::cout << "sort " << std::left << std::setw(18) << name << (ok ? "ok" : "WRONG") << std::endl;
    return ok;
}

template <typename T>
bool same(const char *name, T got, T expected)
{
    std::ostringstream text;
    text << std::setprecision(10) << got;
    std::cout << "reduce " << std::setw(16) << name << text.str() << (got == expected ? " ok" : " WRONG") << std::endl;
    return got == expected;
}

int main()
{
    const unsigned n = 2048;
    std::mt19937 random(12345);  // its numbers are the same everywhere
    std::vector<int> ints(n);
    std::vector<float> floats(n);
    for (auto &v : ints) v = int(random() % 100000) - 50000;
    for (auto &v : floats) v = float(random() % 4096) / 16;

    bool ok = testSort<Less>("int, ascending", n, ints);
    ok &= testSort<Greater>("float, descending", n, floats);
    ok &= testSort<Less>("one tile", 256, std::vector<int>(ints.begin(), ints.begin() + 256));

    int *d_ints;
    HANDLE_ERROR(cudaMalloc(&d_ints, n * sizeof(int)));
    HANDLE_ERROR(cudaMemcpy(d_ints, ints.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    double squares = 0;
    for (int v : ints) squares += double(v) * v;
    ok &= same("sum", transformReduce<int>(d_ints, n, Identity(), Plus<int>()),
               std::accumulate(ints.begin(), ints.end(), 0));
    ok &= same("maximum", transformReduce<int>(d_ints, n, Identity(), Maximum<int>()),
               *std::max_element(ints.begin(), ints.end()));
    ok &= same("sum of squares", transformReduce<double>(d_ints, n, Square(), Plus<double>()), squares);
    ok &= same("divisible by 3", transformReduce<int>(d_ints, n, IsDivisibleBy(3), Plus<int>()),
               int(std::count_if(ints.begin(), ints.end(), [](int v) { return v % 3 == 0; })));
    HANDLE_ERROR(cudaFree(d_ints));

    std::cout << (ok ? "PASSED" : "FAILED") << std::endl;
    return ok ? 0 : 1;
}
