// Matrix transpose: seven versions and two copies as their ceiling, called in a loop through a function pointer.
//
//     transpose_sample [-dimX=COLUMNS] [-dimY=ROWS] [-time]
//
// All kernels move a tile of TILE_DIM x TILE_DIM elements with TILE_DIM x BLOCK_ROWS threads, so that each thread moves
// TILE_DIM / BLOCK_ROWS elements and the cost of its index arithmetic is shared by them.

#include <cooperative_groups.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace cg = cooperative_groups;

#define TILE_DIM 32
#define BLOCK_ROWS 8

#define ROUND_DOWN(a, b) ((a) - (a) % (b))

#define checkCudaErrors(err) check_call(err, __FILE__, __LINE__)

inline void check_call(cudaError err, const char* file, const int line) {
    if (cudaSuccess != err) {
        fprintf(stderr, "%s(%i): runtime call failed with %d, %s\n", file, line, (int)err, cudaGetErrorString(err));
        exit(-1);
    }
}

__global__ void copy(float* odata, float* idata, int width, int height) {
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    int index = x + width * y;

    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) {
        odata[index + i * width] = idata[index + i * width];
    }
}

__global__ void copySharedMem(float* odata, float* idata, int width, int height) {
    cg::thread_block cta = cg::this_thread_block();
    __shared__ float tile[TILE_DIM][TILE_DIM];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    int index = x + width * y;

    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) {
        if (x < width && y + i < height) tile[threadIdx.y + i][threadIdx.x] = idata[index + i * width];
    }
    cg::sync(cta);
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) {
        if (x < width && y + i < height) odata[index + i * width] = tile[threadIdx.y + i][threadIdx.x];
    }
}

__global__ void transposeNaive(float* odata, float* idata, int width, int height) {
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    int from = x + width * y;
    int to = y + height * x;

    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) {
        odata[to + i] = idata[from + i * width];
    }
}

// PAD 0: a warp reads a column of the tile from one bank; PAD 1: from 32 banks.
template <int PAD>
__device__ __forceinline__ void transposeTile(float* odata, const float* idata, int width, int height, int bx, int by) {
    cg::thread_block cta = cg::this_thread_block();
    __shared__ float tile[TILE_DIM][TILE_DIM + PAD];

    int x = bx * TILE_DIM + threadIdx.x;
    int y = by * TILE_DIM + threadIdx.y;
    int from = x + y * width;

    x = by * TILE_DIM + threadIdx.x;
    y = bx * TILE_DIM + threadIdx.y;
    int to = x + y * height;

#pragma unroll
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) {
        tile[threadIdx.y + i][threadIdx.x] = idata[from + i * width];
    }
    cg::sync(cta);
#pragma unroll
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) {
        odata[to + i * height] = tile[threadIdx.x][threadIdx.y + i];
    }
}

__global__ void transposeCoalesced(float* odata, float* idata, int width, int height) {
    transposeTile<0>(odata, idata, width, height, blockIdx.x, blockIdx.y);
}

__global__ void __launch_bounds__(TILE_DIM* BLOCK_ROWS)
    transposeNoBankConflicts(float* odata, float* idata, int width, int height) {
    transposeTile<1>(odata, idata, width, height, blockIdx.x, blockIdx.y);
}

// Blocks that run together work along diagonals of the matrix, so that they do not camp on one partition of memory.
__global__ void transposeDiagonal(float* odata, float* idata, int width, int height) {
    int bx, by;
    if (width == height) {
        by = blockIdx.x;
        bx = (blockIdx.x + blockIdx.y) % gridDim.x;
    } else {
        int bid = blockIdx.x + gridDim.x * blockIdx.y;
        by = bid % gridDim.y;
        bx = ((bid / gridDim.y) + by) % gridDim.x;
    }
    transposeTile<1>(odata, idata, width, height, bx, by);
}

// Half of the job each: tiles are transposed but stay where they are, or move but are not transposed.
__global__ void transposeFineGrained(float* odata, float* idata, int width, int height) {
    cg::thread_block block = cg::this_thread_block();
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];

    int index = blockIdx.x * TILE_DIM + threadIdx.x + (blockIdx.y * TILE_DIM + threadIdx.y) * width;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) tile[threadIdx.y + i][threadIdx.x] = idata[index + i * width];
    block.sync();
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) odata[index + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void transposeCoarseGrained(float* odata, float* idata, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int from = blockIdx.x * TILE_DIM + threadIdx.x + (blockIdx.y * TILE_DIM + threadIdx.y) * width;
    int to = blockIdx.y * TILE_DIM + threadIdx.x + (blockIdx.x * TILE_DIM + threadIdx.y) * height;

    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) tile[threadIdx.y + i][threadIdx.x] = idata[from + i * width];
    __syncthreads();
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) odata[to + i * height] = tile[threadIdx.y + i][threadIdx.x];
}

// What element (x, y) of the result is, as an index into the source.
static int copied(int x, int y, int n) { return y * n + x; }
static int transposed(int x, int y, int n) { return x * n + y; }
static int tile_moved(int x, int y, int n) {
    return (x - x % TILE_DIM + y % TILE_DIM) * n + y - y % TILE_DIM + x % TILE_DIM;
}
static int tile_turned(int x, int y, int n) {
    return (y - y % TILE_DIM + x % TILE_DIM) * n + x - x % TILE_DIM + y % TILE_DIM;
}

static const struct {
    const char* name;
    void (*kernel)(float*, float*, int, int);
    int (*source)(int, int, int);
} versions[] = {
    {"simple copy", &copy, &copied},
    {"shared memory copy", &copySharedMem, &copied},
    {"naive", &transposeNaive, &transposed},
    {"coalesced", &transposeCoalesced, &transposed},
    {"optimized", &transposeNoBankConflicts, &transposed},
    {"coarse-grained", &transposeCoarseGrained, &tile_moved},
    {"fine-grained", &transposeFineGrained, &tile_turned},
    {"diagonal", &transposeDiagonal, &transposed},
};

int main(int argc, char** argv) {
    int size_x = 128, size_y = 128, timing = 0;
    for (int i = 1; i < argc; i++) {
        if (sscanf(argv[i], "-dimX=%d", &size_x) == 1) continue;
        if (sscanf(argv[i], "-dimY=%d", &size_y) == 1) continue;
        if (strcmp(argv[i], "-time") == 0) timing = 1;
    }
    size_x = ROUND_DOWN(size_x, TILE_DIM);
    size_y = ROUND_DOWN(size_y, TILE_DIM);
    assert(size_x > 0 && size_y > 0 && size_x == size_y);  // the fine-grained version needs a square

    dim3 grid(size_x / TILE_DIM, size_y / TILE_DIM), threads(TILE_DIM, BLOCK_ROWS);
    printf("Matrix size: %dx%d (%dx%d tiles), tile size: %dx%d, block size: %dx%d\n\n", size_x, size_y, grid.x, grid.y,
           TILE_DIM, TILE_DIM, threads.x, threads.y);

    const size_t mem_size = sizeof(float) * size_x * size_y;
    float *h_idata = (float*)malloc(mem_size), *h_odata = (float*)malloc(mem_size);
    float *d_idata, *d_odata;
    checkCudaErrors(cudaMalloc((void**)&d_idata, mem_size));
    checkCudaErrors(cudaMalloc((void**)&d_odata, mem_size));
    for (int i = 0; i < size_x * size_y; ++i) h_idata[i] = (float)i;
    checkCudaErrors(cudaMemcpy(d_idata, h_idata, mem_size, cudaMemcpyHostToDevice));

    cudaEvent_t start, stop;
    checkCudaErrors(cudaEventCreate(&start));
    checkCudaErrors(cudaEventCreate(&stop));

    int success = 1;
    for (int k = 0; k < (int)(sizeof(versions) / sizeof(versions[0])); k++) {
        void (*kernel)(float*, float*, int, int) = versions[k].kernel;
        checkCudaErrors(cudaMemset(d_odata, 0, mem_size));
        checkCudaErrors(cudaEventRecord(start, 0));
        kernel<<<grid, threads>>>(d_odata, d_idata, size_x, size_y);
        checkCudaErrors(cudaGetLastError());
        checkCudaErrors(cudaEventRecord(stop, 0));
        checkCudaErrors(cudaEventSynchronize(stop));
        checkCudaErrors(cudaMemcpy(h_odata, d_odata, mem_size, cudaMemcpyDeviceToHost));

        int wrong = 0;
        for (int y = 0; y < size_y; y++)
            for (int x = 0; x < size_x; x++)
                wrong += h_odata[y * size_x + x] != h_idata[versions[k].source(x, y, size_x)];
        float kernelTime;
        checkCudaErrors(cudaEventElapsedTime(&kernelTime, start, stop));
        if (timing) {
            float bandwidth = 2.0f * mem_size / (1024 * 1024 * 1024) / (kernelTime / 1000.0f);
            fprintf(stderr, "%-18s %9.3f GB/s %9.5f ms\n", versions[k].name, bandwidth, kernelTime);
        }
        printf("%-18s %u floats, %u threads a block: %s\n", versions[k].name, size_x * size_y, threads.x * threads.y,
               wrong ? "FAILED" : "passed");
        success = success && !wrong;
    }

    free(h_idata);
    free(h_odata);
    checkCudaErrors(cudaFree(d_idata));
    checkCudaErrors(cudaFree(d_odata));
    checkCudaErrors(cudaEventDestroy(start));
    checkCudaErrors(cudaEventDestroy(stop));

    if (!success) {
        printf("Test failed!\n");
        exit(EXIT_FAILURE);
    }
    printf("\nTest passed\n");
    exit(EXIT_SUCCESS);
}
