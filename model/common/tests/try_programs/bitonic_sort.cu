/*
 * Bitonic sort of records (a key and a payload), many short arrays at once or one long array.
 *
 * The network of n elements has log2(n) phases; phase p merges runs of 2^p, with strides 2^(p-1), ..., 2, 1. Strides
 * that stay inside of a chunk of CHUNK elements are done in shared memory, all of them in one launch; longer ones need
 * a launch each, because only the end of a kernel orders blocks.
 */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK 512u
#define THREADS (CHUNK / 2)
#define GLOBAL_THREAD_ID (__umul24(blockIdx.x, blockDim.x) + threadIdx.x)

typedef unsigned int uint;
typedef enum { DESCENDING = 0, ASCENDING = 1 } Order;

#define cudaCheckErrors(msg)                                                                             \
    do {                                                                                                 \
        cudaError_t last_error = cudaGetLastError();                                                     \
        if (last_error != cudaSuccess) {                                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, msg, cudaGetErrorString(last_error)); \
            exit(1);                                                                                     \
        }                                                                                                \
    } while (0)

/* What a thread compares in one step: elements `low` and `low + stride`, to be put into the order `order`. */
struct Pair {
    uint low;
    uint order;

    /* Thread `t` of n/2; `run` is the length of the runs that are merged, and their order alternates. The last phase
       merges the whole array, whose order is that of the caller. */
    __device__ Pair(uint t, uint stride, uint run, uint array_length, uint wanted)
        : low(2 * t - (t & (stride - 1))), order(wanted ^ (run < array_length && (t & (run / 2)) != 0)) {}
};

__device__ inline void exchange(uint& a, uint& b) {
    uint t = a;
    a = b;
    b = t;
}

__device__ __forceinline__ void compare_exchange(uint& key_a, uint& key_b, uint& payload_a, uint& payload_b,
                                                 uint order) {
    if ((key_a > key_b) == order) {
        exchange(key_a, key_b);
        exchange(payload_a, payload_b);
    }
}

/* All steps of the phases first_run, 2 * first_run, ..., last_run whose stride is below CHUNK. */
__global__ void sort_chunks(uint* keys, uint* payloads, uint first_run, uint last_run, uint array_length, uint order) {
    __shared__ uint s_key[CHUNK], s_payload[CHUNK];
    const uint begin = blockIdx.x * CHUNK;

    for (uint i = threadIdx.x; i < CHUNK; i += blockDim.x) {
        s_key[i] = keys[begin + i];
        s_payload[i] = payloads[begin + i];
    }
    for (uint run = first_run; run <= last_run; run <<= 1) {
        for (uint stride = min(run, CHUNK) / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            const Pair pair(GLOBAL_THREAD_ID, stride, run, array_length, order);
            const uint a = pair.low - begin, b = a + stride;
            compare_exchange(s_key[a], s_key[b], s_payload[a], s_payload[b], pair.order);
        }
    }
    __syncthreads();
    for (uint i = threadIdx.x; i < CHUNK; i += blockDim.x) {
        keys[begin + i] = s_key[i];
        payloads[begin + i] = s_payload[i];
    }
}

/* One step with a stride of CHUNK or more. */
__global__ void merge_step(uint* keys, uint* payloads, uint stride, uint run, uint array_length, uint order) {
    const Pair pair(GLOBAL_THREAD_ID, stride, run, array_length, order);
    uint *key = keys + pair.low, *payload = payloads + pair.low;
    compare_exchange(key[0], key[stride], payload[0], payload[stride], pair.order);
}

/* Sorts `count` records in place as arrays of `array_length` each, a power of two. */
extern "C" void bitonic_sort(uint* d_keys, uint* d_payloads, uint count, uint array_length, Order order) {
    assert(array_length >= 2 && (array_length & (array_length - 1)) == 0);
    assert(count % array_length == 0 && count % CHUNK == 0);
    const uint blocks = count / CHUNK;
    const uint in_chunks = array_length < CHUNK ? array_length : CHUNK;

    sort_chunks<<<blocks, THREADS>>>(d_keys, d_payloads, 2, in_chunks, array_length, order);
    for (uint run = 2 * CHUNK; run <= array_length; run <<= 1) {
        for (uint stride = run / 2; stride >= CHUNK; stride >>= 1)
            merge_step<<<blocks, THREADS>>>(d_keys, d_payloads, stride, run, array_length, order);
        sort_chunks<<<blocks, THREADS>>>(d_keys, d_payloads, run, run, array_length, order);
    }
    cudaCheckErrors("bitonic_sort");
}

/* Arrays must be in order. A payload is its record's old position: it must lie in the same array, occur once, and have
   that key. Returns how many records are wrong. */
static uint count_wrong(const uint* keys, const uint* payloads, const uint* old_keys, uint count, uint array_length,
                        Order order) {
    char* seen = (char*)calloc(count, 1);
    uint wrong = 0;
    for (uint i = 0; i < count; i++) {
        int good = payloads[i] < count && payloads[i] / array_length == i / array_length && !seen[payloads[i]];
        if (good) {
            seen[payloads[i]] = 1;
            good = old_keys[payloads[i]] == keys[i];
        }
        if (i % array_length > 0 && keys[i - 1] != keys[i])
            good = good && (keys[i - 1] < keys[i]) == (order == ASCENDING);
        wrong += !good;
    }
    free(seen);
    return wrong;
}

int main(void) {
    const uint count = 4096, key_values = 1000;
    const size_t bytes = count * sizeof(uint);
    uint *old_keys = (uint*)malloc(bytes), *positions = (uint*)malloc(bytes);
    uint *keys = (uint*)malloc(bytes), *payloads = (uint*)malloc(bytes);
    uint *d_keys, *d_payloads, failures = 0;

    srand(1968);
    for (uint i = 0; i < count; i++) {
        old_keys[i] = rand() % key_values; /* some keys occur several times */
        positions[i] = i;
    }
    cudaMalloc((void**)&d_keys, bytes);
    cudaMalloc((void**)&d_payloads, bytes);
    cudaCheckErrors("cudaMalloc");

    for (uint array_length = 16; array_length <= count; array_length *= 4) {
        const Order order = array_length == 256 ? DESCENDING : ASCENDING;
        cudaMemcpy(d_keys, old_keys, bytes, cudaMemcpyHostToDevice);
        cudaMemcpy(d_payloads, positions, bytes, cudaMemcpyHostToDevice);
        cudaCheckErrors("copying to the device");

        bitonic_sort(d_keys, d_payloads, count, array_length, order);

        cudaMemcpy(keys, d_keys, bytes, cudaMemcpyDeviceToHost);
        cudaMemcpy(payloads, d_payloads, bytes, cudaMemcpyDeviceToHost);
        cudaCheckErrors("copying from the device");
        const uint wrong = count_wrong(keys, payloads, old_keys, count, array_length, order);
        printf("%3u arrays of %4u, %s: %u wrong\n", count / array_length, array_length,
               order == ASCENDING ? "ascending" : "descending", wrong);
        failures += wrong > 0;
    }

    cudaFree(d_keys), cudaFree(d_payloads);
    free(old_keys), free(positions), free(keys), free(payloads);
    cudaDeviceReset();
    puts(failures ? "FAILED" : "PASSED");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
