// Asks the runtime for launch shapes and works out the theoretical occupancy, three ways:
//   - by hand for block sizes from 32 to 1024,
//   - cudaOccupancyMaxPotentialBlockSize, for a kernel without shared memory,
//   - cudaOccupancyMaxPotentialBlockSizeVariableSMem, where shared memory grows with the block (function and functor).
// The kernels are then run in the shapes that were suggested and checked.
//
// The result does not depend on the device; `-v` prints the numbers that do, on stderr.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>
#include <vector>

#define CUDA_CHECK(expr_to_check)                                                                       \
    do {                                                                                                \
        cudaError_t result = expr_to_check;                                                             \
        if (result != cudaSuccess) {                                                                    \
            fprintf(stderr, "CUDA Runtime Error: %s:%i:%d = %s\n", __FILE__, __LINE__, result,          \
                    cudaGetErrorString(result));                                                        \
            exit(1);                                                                                    \
        }                                                                                               \
    } while (0)

static bool verbose = false;

__global__ void square(int *array, int arrayCount)
{
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    if (idx < arrayCount) {
        array[idx] *= array[idx];
    }
}

// Reverses within each block; needs four bytes of dynamic shared memory a thread.
__global__ void reverse_blocks(int *array, int arrayCount)
{
    extern __shared__ int staged[];
    const int base = blockIdx.x * blockDim.x, idx = base + threadIdx.x;
    const int last = min(int(blockDim.x), arrayCount - base) - 1;
    if (idx < arrayCount) staged[threadIdx.x] = array[idx];
    __syncthreads();
    if (idx < arrayCount) array[idx] = staged[last - int(threadIdx.x)];
}

struct BytesPerThread {
    size_t bytes;
    __host__ __device__ size_t operator()(int blockSize) const { return blockSize * bytes; }
};

static __host__ __device__ size_t fourBytesEach(int blockSize) { return blockSize * sizeof(int); }

template <typename KernelFunction>
static double reportPotentialOccupancy(KernelFunction kernel, int blockSize, size_t dynamicSMem)
{
    int device;
    cudaDeviceProp prop;
    int numBlocks;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaGetDeviceProperties(&prop, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&numBlocks, kernel, blockSize, dynamicSMem));
    const int warps = (blockSize + prop.warpSize - 1) / prop.warpSize;
    const int activeWarps = numBlocks * warps;
    const int maxWarps = prop.maxThreadsPerMultiProcessor / prop.warpSize;
    if (verbose) {
        fprintf(stderr, "block size %4d, %6zu bytes: %2d blocks, occupancy %5.1f %%\n", blockSize, dynamicSMem,
                numBlocks, 100.0 * activeWarps / maxWarps);
    }
    return (double)activeWarps / maxWarps;
}

static bool launchConfig(bool automatic)
{
    const int count = 30000;
    const int size = count * sizeof(int);
    std::vector<int> array(count);
    std::iota(array.begin(), array.end(), 0);
    int *dArray;
    CUDA_CHECK(cudaMalloc(&dArray, size));
    CUDA_CHECK(cudaMemcpy(dArray, array.data(), size, cudaMemcpyHostToDevice));

    int blockSize = 32, minGridSize = 0;
    if (automatic)
        CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&minGridSize, &blockSize, square, 0, count));
    const int gridSize = (count + blockSize - 1) / blockSize;  // round up according to array size
    square<<<gridSize, blockSize>>>(dArray, count);
    CUDA_CHECK(cudaGetLastError());
    const double occupancy = reportPotentialOccupancy(square, blockSize, 0);
    CUDA_CHECK(cudaMemcpy(array.data(), dArray, size, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dArray));
    for (int i = 0; i < count; i += 1)
        if (array[i] != int(unsigned(i) * unsigned(i))) return false;
    if (automatic && blockSize % 32 != 0) return false;
    return automatic ? occupancy > 0.99 : occupancy <= 1;
}

static bool variableSharedMemory()
{
    int fromFunction[2], fromFunctor[2];
    CUDA_CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&fromFunction[0], &fromFunction[1], reverse_blocks,
                                                              fourBytesEach));
    CUDA_CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&fromFunctor[0], &fromFunctor[1], reverse_blocks,
                                                              BytesPerThread{sizeof(int)}, 512));
    if (fromFunctor[1] > 512 || reportPotentialOccupancy(reverse_blocks, fromFunction[1], 4 * fromFunction[1]) < 0.99)
        return false;

    const int blockSize = fromFunction[1], n = 5 * blockSize + 7;
    std::vector<int> h(n);
    std::iota(std::begin(h), std::end(h), 1);
    int *d;
    CUDA_CHECK(cudaMalloc((void **)&d, n * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    reverse_blocks<<<(n + blockSize - 1) / blockSize, blockSize, BytesPerThread{sizeof(int)}(blockSize)>>>(d, n);
    CUDA_CHECK(cudaPeekAtLastError());
    CUDA_CHECK(cudaMemcpy(&h[0], d, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d));
    for (int base = 0; base < n; base += blockSize) {
        const int end = std::min(base + blockSize, n);
        for (int i = base; i < end; i++)
            if (h[i] != base + end - i) return false;
    }
    return true;
}

static bool attributesFit()
{
    cudaFuncAttributes attr;
    CUDA_CHECK(cudaFuncGetAttributes(&attr, reverse_blocks));
    if (verbose) fprintf(stderr, "registers %d, static shared memory %zu\n", attr.numRegs, attr.sharedSizeBytes);
    size_t smem = 0;
    CUDA_CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&smem, reverse_blocks, 2, 128));
    int blocks = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, square, 1024, 0, cudaOccupancyDefault));
    return attr.maxThreadsPerBlock >= 128 && attr.numRegs > 0 && smem > 0 && blocks >= 1;
}

int main(int argc, char **argv)
{
    verbose = argc > 1 && !strcmp(argv[1], "-v");
    double best = 0, previous = 0;
    bool grows = true;
    for (int blockSize = 32; blockSize <= 1024; blockSize *= 2) {
        const double occupancy = reportPotentialOccupancy(&square, blockSize, 0);
        if (occupancy + 1e-9 < previous) grows = false;
        best = std::fmax(best, previous = occupancy);
    }
    const bool results[] = {grows && best > 0.99, launchConfig(false), launchConfig(true), variableSharedMemory(),
                            attributesFit()};
    const char *names[] = {"by hand", "manual configuration", "suggested block size", "variable shared memory",
                           "attributes"};
    int status = 0;
    for (size_t i = 0; i < std::size(results); i++) {
        printf("%-24s%s\n", names[i], results[i] ? "ok" : "WRONG");
        if (!results[i]) status = 1;
    }
    printf("\nTest %s\n", status ? "FAILED" : "PASSED");
    return status;
}
