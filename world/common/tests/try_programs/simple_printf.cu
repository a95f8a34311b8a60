// Kernels that print. Blocks and threads come in any order, so only one thread of each kernel prints below, or the
// threads take turns; `--all` lets every thread say hello at once.
#include <stdio.h>
#include <string.h>
#include <assert.h>
#include <cuda_runtime.h>

#ifndef MAX
#define MAX(a, b) (a > b ? a : b)
#endif

#define CHECK(call)                                                              \
{                                                                                \
    const cudaError_t error = call;                                              \
    if (error != cudaSuccess)                                                    \
    {                                                                            \
        fprintf(stderr, "Error: %s:%d, ", __FILE__, __LINE__);                   \
        fprintf(stderr, "code: %d, reason: %s\n", error,                         \
                cudaGetErrorString(error));                                      \
        exit(1);                                                                 \
    }                                                                            \
}

__device__ int blockNumber()
{
    return blockIdx.z * gridDim.x * gridDim.y + blockIdx.y * gridDim.x + blockIdx.x;
}

__device__ int threadNumber()
{
    return threadIdx.z * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
}

__global__ void helloFromGPU(void)
{
    printf("[%d, %d]:\t\tValue is:%d\n", blockNumber(), threadNumber(), 10);
}

// Everybody in turn: a barrier between two lines.
__global__ void inTurn(int val)
{
    const int count = blockDim.x * blockDim.y * blockDim.z;
    for (int turn = 0; turn < count; turn++) {
        if (turn == threadNumber())
            printf("thread (%u,%u,%u) is number %2d, value %+d\n", threadIdx.x, threadIdx.y, threadIdx.z, turn,
                   val * turn);
        __syncthreads();
    }
}

__global__ void checkIndex(dim3 expected)
{
    assert(gridDim.x == expected.x && gridDim.y == expected.y && gridDim.z == expected.z);
    const bool last = blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1 && blockIdx.z == gridDim.z - 1;
    if (last && threadNumber() == 0)
        printf("blockIdx:(%d, %d, %d) blockDim:(%d, %d, %d) gridDim:(%d, %d, %d)\n", blockIdx.x, blockIdx.y,
               blockIdx.z, blockDim.x, blockDim.y, blockDim.z, gridDim.x, gridDim.y, gridDim.z);
}

struct Particle {
    float3 position;
    double mass;
    char name[8];
    const void *where;
};

__global__ void formats(const Particle *p)
{
    int n = printf("%s at (%.2f, %6.3f, %e), mass %g\n", p->name, p->position.x, p->position.y, p->position.z, p->mass);
    printf("100%%, '%c', '%5s', '%-5s', 0x%04X, %o, %lld, %u\n", 'x', "ab", "cd", 0xBEEF, 8, -1234567890123LL,
           (unsigned)sizeof(Particle));
    printf("printf returned %d\n", n);  // unlike on the host: the number of arguments
    printf("%s\n", p->where == nullptr ? "nowhere" : "somewhere");
    printf("no newline yet");
    printf(", but now\n");
}

int main(int argc, char **argv)
{
    int devID = 0;
    cudaDeviceProp props;
    CHECK(cudaGetDevice(&devID));
    CHECK(cudaGetDeviceProperties(&props, devID));
    fprintf(stderr, "Device %d: \"%s\" with Compute %d.%d capability\n", devID, props.name, props.major, props.minor);

    size_t fifo = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 * 1024 * 1024));
    CHECK(cudaDeviceGetLimit(&fifo, cudaLimitPrintfFifoSize));
    printf("room for output: %s\n", fifo >= 4 * 1024 * 1024 ? "at least 4 MB" : "too small");

    // Kernel configuration, where a two-dimensional grid and three-dimensional blocks are configured.
    dim3 dimGrid(2, 2);
    dim3 dimBlock(2, 2, 2);
    if (argc > 1 && strcmp(argv[1], "--all") == 0) {
        helloFromGPU<<<dimGrid, dimBlock>>>();
        CHECK(cudaDeviceSynchronize());
    }

    printf("eight threads:\n");
    inTurn<<<1, dimBlock>>>(-3);
    CHECK(cudaDeviceSynchronize());

    dimGrid.z = 3;
    checkIndex<<<dimGrid, dim3(MAX(4, 2), 2)>>>(dimGrid);
    CHECK(cudaDeviceSynchronize());
    checkIndex<<<dim3{5}, 1>>>({5});
    CHECK(cudaDeviceSynchronize());

    Particle h = {{1.5f, -2.0f, 12345.678f}, 0.001, "muon", NULL}, *d;
    CHECK(cudaMalloc(&d, sizeof(Particle)));
    CHECK(cudaMemcpy(d, &h, sizeof(Particle), cudaMemcpyHostToDevice));
    formats<<<1, 1>>>(d);
    CHECK(cudaGetLastError());
    CHECK(cudaFree(d));  // waits for the kernel

    CHECK(cudaDeviceReset());
    printf("done\n");
    return 0;
}
