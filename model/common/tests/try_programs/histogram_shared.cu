/*
 * Histogram of bytes, in the style of an introductory book: global atomics, then privatized in shared memory, then with
 * one atomic for all lanes of a warp that have the same byte. Chunks of the data are copied from pinned memory in two
 * streams, so that on a GPU one chunk's copy overlaps another's kernel.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define BINS 256
#define SIZE (96 * 1024 + 5)
#define CHUNK (32 * 1024)

static void HandleError(cudaError_t err, const char* file, int line) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}
#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))
#define HANDLE_NULL(a)                                                     \
    {                                                                      \
        if (a == NULL) {                                                   \
            fprintf(stderr, "%s:%d: out of memory\n", __FILE__, __LINE__); \
            exit(EXIT_FAILURE);                                            \
        }                                                                  \
    }

// The histogram itself is a variable of the device: found by its name, not by a pointer.
__device__ unsigned int d_histo[BINS];
__device__ unsigned long long d_bytes_seen = 0;

// Which bin counts a byte.
__constant__ unsigned char c_bin_of[256];

__global__ void count_global(const unsigned char* buffer, long size) {
    long i = threadIdx.x + blockIdx.x * blockDim.x;
    while (i < size) {
        atomicAdd(&d_histo[c_bin_of[buffer[i]]], 1);
        i += blockDim.x * gridDim.x;
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd(&d_bytes_seen, (unsigned long long)size);
}

__global__ void count_shared(const unsigned char* buffer, long size) {
    __shared__ unsigned int temp[BINS];
    temp[threadIdx.x] = 0;
    __syncthreads();

    // Four bytes at a time, as far as they go; then the rest.
    const uchar4* quads = reinterpret_cast<const uchar4*>(buffer);
    int first = threadIdx.x + blockIdx.x * blockDim.x, offset = blockDim.x * gridDim.x;
    for (int i = first; i < size / 4; i += offset) {
        uchar4 q = quads[i];
        atomicAdd(&temp[c_bin_of[q.x]], 1);
        atomicAdd(&temp[c_bin_of[q.y]], 1);
        atomicAdd(&temp[c_bin_of[q.z]], 1);
        atomicAdd(&temp[c_bin_of[q.w]], 1);
    }
    for (int i = size / 4 * 4 + first; i < size; i += offset) atomicAdd(&temp[c_bin_of[buffer[i]]], 1);
    __syncthreads();

    if (temp[threadIdx.x] > 0) atomicAdd(&d_histo[threadIdx.x], temp[threadIdx.x]);
    if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd(&d_bytes_seen, (unsigned long long)size);
}

__global__ void count_aggregated(const unsigned char* buffer, long size) {
    extern __shared__ unsigned int bins[];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) bins[bin] = 0u;
    __syncthreads();

    const unsigned int lane = threadIdx.x % warpSize;
    for (long base = (long)blockIdx.x * blockDim.x; base < size; base += (long)blockDim.x * gridDim.x) {
        long i = base + threadIdx.x;
        unsigned int active = __ballot_sync(0xffffffffu, i < size);
        if (i < size) {
            int bin = c_bin_of[__ldg(buffer + i)];
            unsigned int peers = __match_any_sync(active, bin);
            if (lane == (unsigned int)__ffs(peers) - 1) atomicAdd(bins + bin, __popc(peers));
        }
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (bins[bin] != 0) atomicAdd(d_histo + bin, bins[bin]);
    if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd(&d_bytes_seen, (unsigned long long)size);
}

struct Version {
    const char* name;
    void (*kernel)(const unsigned char*, long);
    int threads;
    size_t shared_bytes;
};

int main(void) {
    unsigned char bin_of[256];
    for (int i = 0; i < 256; i++) bin_of[i] = (unsigned char)(i ^ 0x55);
    HANDLE_ERROR(cudaMemcpyToSymbol(c_bin_of, bin_of, sizeof(bin_of)));

    unsigned char* buffer;  // page-locked, as asynchronous copies want it
    HANDLE_ERROR(cudaHostAlloc((void**)&buffer, SIZE, cudaHostAllocDefault));
    unsigned int expected[BINS] = {0}, state = 12345;
    for (long i = 0; i < SIZE; i++) {
        state = state * 1664525u + 1013904223u;
        buffer[i] = (state >> 24) & (state >> 16);  // low values are more frequent
        expected[bin_of[buffer[i]]]++;
    }

    cudaDeviceProp prop;
    HANDLE_ERROR(cudaGetDeviceProperties(&prop, 0));
    const int blocks = std::min(prop.multiProcessorCount * 2, 16);

    cudaStream_t stream[2];
    unsigned char* d_chunk[2];
    for (int s = 0; s < 2; s++) {
        HANDLE_ERROR(cudaStreamCreate(&stream[s]));
        HANDLE_ERROR(cudaMalloc((void**)&d_chunk[s], CHUNK));
    }

    const Version versions[] = {
        {"global atomics", count_global, 256, 0},
        {"shared atomics", count_shared, BINS, 0},
        {"warp-aggregated", count_aggregated, 128, BINS * sizeof(unsigned int)},
    };
    unsigned int* histo = (unsigned int*)malloc(sizeof(expected));
    HANDLE_NULL(histo);
    int failures = 0;
    for (const Version& version : versions) {
        void* d_bins;
        HANDLE_ERROR(cudaGetSymbolAddress(&d_bins, d_histo));
        HANDLE_ERROR(cudaMemset(d_bins, 0, sizeof(expected)));
        unsigned long long seen = 0;
        HANDLE_ERROR(cudaMemcpyToSymbol(d_bytes_seen, &seen, sizeof(seen)));

        int turn = 0;
        for (long begin = 0; begin < SIZE; begin += CHUNK, turn ^= 1) {
            long count = std::min<long>(CHUNK, SIZE - begin);
            HANDLE_ERROR(cudaMemcpyAsync(d_chunk[turn], buffer + begin, count, cudaMemcpyHostToDevice, stream[turn]));
            version.kernel<<<blocks, version.threads, version.shared_bytes, stream[turn]>>>(d_chunk[turn], count);
            HANDLE_ERROR(cudaGetLastError());
        }
        for (int s = 0; s < 2; s++) HANDLE_ERROR(cudaStreamSynchronize(stream[s]));

        HANDLE_ERROR(cudaMemcpyFromSymbol(histo, d_histo, sizeof(expected)));
        HANDLE_ERROR(cudaMemcpyFromSymbol(&seen, d_bytes_seen, sizeof(seen), 0, cudaMemcpyDeviceToHost));
        bool same = memcmp(histo, expected, sizeof(expected)) == 0 && seen == SIZE;
        long sum = 0;
        for (int i = 0; i < BINS; i++) sum += histo[i];
        printf("%-16s sum %ld, of byte 0: %u, %s\n", version.name, sum, histo[bin_of[0]],
               same ? "same as on the CPU" : "NOT the same as on the CPU");
        failures += !same;
    }

    for (int s = 0; s < 2; s++) {
        HANDLE_ERROR(cudaFree(d_chunk[s]));
        HANDLE_ERROR(cudaStreamDestroy(stream[s]));
    }
    HANDLE_ERROR(cudaFreeHost(buffer));
    free(histo);
    printf(failures ? "%d FAILED\n" : "PASSED\n", failures);
    return failures ? 1 : 0;
}
