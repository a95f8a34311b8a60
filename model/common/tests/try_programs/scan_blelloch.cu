/*
 * Work-efficient exclusive prefix sum (Blelloch 1990) of arrays of any length.
 *
 * Each block scans 2 * BLOCK_SIZE elements in shared memory: up-sweep, clear the root, down-sweep. Indices are padded
 * so that threads whose addresses are a power of two apart do not meet in one bank. The sums of the blocks are scanned
 * in the same way, recursively, and added back.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_NUM_BANKS 5
#define NUM_BANKS (1 << LOG_NUM_BANKS)

#ifdef ZERO_BANK_CONFLICTS
#define CONFLICT_FREE_OFFSET(n) (((n) >> LOG_NUM_BANKS) + ((n) >> (2 * LOG_NUM_BANKS)))
#else
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
#endif
#define PADDED(n) ((n) + CONFLICT_FREE_OFFSET(n))

#define BLOCK_SIZE 128
#define ELEMENTS_PER_BLOCK (2 * BLOCK_SIZE)
#define MAX_LEVELS 8

#define CUDA_SAFE_CALL(call)                                                                    \
    {                                                                                           \
        cudaError_t err = call;                                                                 \
        if (cudaSuccess != err) {                                                               \
            fprintf(stderr, "%s, line %i: %s.\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
            exit(EXIT_FAILURE);                                                                 \
        }                                                                                       \
    }

#define CHECK_LAUNCH()                           \
    {                                            \
        CUDA_SAFE_CALL(cudaGetLastError());      \
        CUDA_SAFE_CALL(cudaDeviceSynchronize()); \
    }

/// Scans one block's elements; STORE_SUM also keeps their total. Elements at and beyond n count as zero.
template <bool STORE_SUM>
__global__ void scan_block(int* out, const int* in, int* sums, int n) {
    extern __shared__ int temp[];  // PADDED(ELEMENTS_PER_BLOCK) of them

    int tid = threadIdx.x;
    int base = __mul24(blockIdx.x, ELEMENTS_PER_BLOCK);
    int offset = 1;

    // Two elements per thread, half a block apart: neighbors read neighbors.
    int ai = tid;
    int bi = tid + BLOCK_SIZE;
    temp[PADDED(ai)] = (base + ai < n) ? in[base + ai] : 0;
    temp[PADDED(bi)] = (base + bi < n) ? in[base + bi] : 0;

    // Up-sweep: every node of the tree becomes the sum of its children.
    for (int d = ELEMENTS_PER_BLOCK >> 1; d > 0; d >>= 1) {
        __syncthreads();

        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1;
            int bi = offset * (2 * tid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }

    // The root is the sum of all; nothing comes before the first element.
    if (tid == 0) {
        int index = PADDED(ELEMENTS_PER_BLOCK - 1);
        if (STORE_SUM) sums[blockIdx.x] = temp[index];
        temp[index] = 0;
    }

    // Down-sweep: left children get what comes before their parent, right ones the left sibling's sum as well.
    for (int d = 1; d < ELEMENTS_PER_BLOCK; d *= 2) {
        offset >>= 1;
        __syncthreads();

        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1;
            int bi = offset * (2 * tid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);

            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();

    if (base + ai < n) out[base + ai] = temp[PADDED(ai)];
    if (base + bi < n) out[base + bi] = temp[PADDED(bi)];
}

/// Every element gets the sum of all blocks before its own, which one thread fetches for the whole block.
__global__ void add_block_offset(int* g_data, const int* offsets, int n) {
    __shared__ int offset_of_block;
    if (threadIdx.x == 0) offset_of_block = offsets[blockIdx.x];

    unsigned int address = __umul24(blockIdx.x, ELEMENTS_PER_BLOCK) + threadIdx.x;
    __syncthreads();

    if (address < n) g_data[address] += offset_of_block;
    if (address + blockDim.x < n) g_data[address + blockDim.x] += offset_of_block;
}

static int* level_sums[MAX_LEVELS];

static int blocksFor(int n) { return (n + ELEMENTS_PER_BLOCK - 1) / ELEMENTS_PER_BLOCK; }

/// One array of block sums for each level of the recursion.
void allocate_sums(int longest) {
    memset(level_sums, 0, sizeof(level_sums));
    int level = 0;
    for (int blocks = blocksFor(longest); blocks > 1; blocks = blocksFor(blocks)) {
        CUDA_SAFE_CALL(cudaMalloc((void**)&level_sums[level++], blocks * sizeof(int)));
    }
}

void free_sums() {
    for (int level = 0; level < MAX_LEVELS; level++) {
        CUDA_SAFE_CALL(cudaFree(level_sums[level]));  // freeing NULL does nothing
    }
}

void scan_level(int* out, const int* in, int n, int level) {
    const unsigned int sharedMemSize = PADDED(ELEMENTS_PER_BLOCK) * sizeof(int);
    dim3 grid(blocksFor(n)), threads(BLOCK_SIZE);

    if (grid.x > 1) {
        scan_block<true><<<grid, threads, sharedMemSize>>>(out, in, level_sums[level], n);
        CHECK_LAUNCH();
        scan_level(level_sums[level], level_sums[level], grid.x, level + 1);
        add_block_offset<<<grid, threads>>>(out, level_sums[level], n);
        CHECK_LAUNCH();
    } else {
        scan_block<false><<<grid, threads, sharedMemSize>>>(out, in, 0, n);
        CHECK_LAUNCH();
    }
}

int main(int argc, char** argv) {
    const int lengths[] = {1, 31, 256, 257, 1000, 4096, 70001};
    const int count = sizeof(lengths) / sizeof(lengths[0]);
    const int longest = lengths[count - 1];
    const size_t bytes = longest * sizeof(int);
    int failures = 0;
    (void)argc;
    (void)argv;

    int *h_in = (int*)malloc(bytes), *h_out = (int*)malloc(bytes);
    int *d_in, *d_out;
    CUDA_SAFE_CALL(cudaMalloc((void**)&d_in, bytes));
    CUDA_SAFE_CALL(cudaMalloc((void**)&d_out, bytes));
    allocate_sums(longest);

    srand(1990);
    for (int i = 0; i < longest; i++) h_in[i] = i % 11 - (i & 3) + rand() % 2;
    CUDA_SAFE_CALL(cudaMemcpy(d_in, h_in, bytes, cudaMemcpyHostToDevice));

    for (int k = 0; k < count; k++) {
        const int n = lengths[k];
        CUDA_SAFE_CALL(cudaMemset(d_out, 0xEE, bytes));
        scan_level(d_out, d_in, n, 0);
        CUDA_SAFE_CALL(cudaMemcpy(h_out, d_out, bytes, cudaMemcpyDeviceToHost));

        int wrong = 0, sum = 0;
        for (int i = 0; i < n; i++) {
            wrong += h_out[i] != sum;
            sum += h_in[i];
        }
        for (int i = n; i < longest; i++) wrong += h_out[i] != (int)0xEEEEEEEE;  // nothing written behind the end
        printf("scan of %5d elements: %s\n", n, wrong == 0 ? "ok" : "WRONG");
        failures += wrong != 0;
    }

    free_sums();
    CUDA_SAFE_CALL(cudaFree(d_in));
    CUDA_SAFE_CALL(cudaFree(d_out));
    free(h_in);
    free(h_out);
    printf("%s\n", failures == 0 ? "Test PASSED" : "Test FAILED");
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
