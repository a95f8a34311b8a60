/* A tour of the warp-level functions. One warp runs every kernel; each result is compared with what a loop over 32
 * lanes gives on the host. */
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <assert.h>

#define WARP_SIZE 32
#define FULL_MASK 0xffffffffu

#define gpuErrchk(ans) do { gpuAssert((ans), __FILE__, __LINE__); } while (0)
static inline void gpuAssert(cudaError_t code, const char *file, int line)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s:%d\n", cudaGetErrorString(code), file, line);
        exit(EXIT_FAILURE);
    }
}

static __device__ __forceinline__ unsigned lane_id(void) { return threadIdx.x & (WARP_SIZE - 1); }
static __device__ __forceinline__ unsigned lanemask_lt(void) { return (1u << lane_id()) - 1; }

__global__ void votes(const int *in, unsigned *out)
{
    const unsigned lane = lane_id();
    const int v = in[lane];
    const unsigned odd = __ballot_sync(FULL_MASK, v & 1);
    if (lane == 0) {
        out[0] = odd;
        out[1] = __popc(odd);
        out[2] = __ffs(odd);
        out[3] = __clz(odd);
        out[4] = __brev(odd);
    }
    const int all_small = __all_sync(FULL_MASK, v < 100), all_odd = __all_sync(FULL_MASK, v & 1);
    const int any_seven = __any_sync(FULL_MASK, v == 7), any_big = __any_sync(FULL_MASK, v >= 100);
    if (lane == 31)
        out[5] = all_small | all_odd << 1 | any_seven << 2 | any_big << 3;
}

__global__ void shuffles(const int *in, int *out)
{
    const int lane = lane_id(), v = in[lane];
    out[0 * WARP_SIZE + lane] = __shfl_sync(FULL_MASK, v, 5);
    out[1 * WARP_SIZE + lane] = __shfl_sync(FULL_MASK, v, lane + 3);            /* wraps around */
    out[2 * WARP_SIZE + lane] = __shfl_up_sync(FULL_MASK, v, 2);
    out[3 * WARP_SIZE + lane] = __shfl_down_sync(FULL_MASK, v, 4, 8);           /* groups of 8 */
    out[4 * WARP_SIZE + lane] = __shfl_xor_sync(FULL_MASK, v, 16);
    long long wide = ((long long)v << 40) | lane;
    wide = __shfl_xor_sync(FULL_MASK, wide, 1);
    out[5 * WARP_SIZE + lane] = (int)(wide >> 40) + (int)(wide & 0xff);
    const double half = __shfl_down_sync(FULL_MASK, v * 0.5, 1);
    out[6 * WARP_SIZE + lane] = (int)(2 * half);
}

/* Lanes that hold the same key elect a leader, which adds for all of them. */
__global__ void count_keys(const int *keys, int *counts, unsigned *peers_out)
{
    const unsigned peers = __match_any_sync(FULL_MASK, keys[lane_id()]);
    if ((int)lane_id() == __ffs(peers) - 1)
        atomicAdd(&counts[keys[lane_id()]], __popc(peers));
    int same = -1;
    const unsigned everyone = __match_all_sync(FULL_MASK, 42, &same);
    assert(same == 1 && everyone == FULL_MASK);
    __match_all_sync(FULL_MASK, keys[lane_id()], &same);
    assert(same == 0);
    peers_out[lane_id()] = peers;
}

/* Only some lanes take the branch; they alone number themselves. */
__global__ void pack_positive(const int *in, int *out, int *count)
{
    const int v = in[lane_id()] - 10;
    if (v > 0) {
        const unsigned mask = __activemask();
        out[__popc(mask & lanemask_lt())] = v;
        if ((mask & lanemask_lt()) == 0)
            *count = __popc(mask);
        __syncwarp(mask);
    }
}

__device__ int warp_sum(int v)
{
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        v += __shfl_down_sync(FULL_MASK, v, offset);
    return v;
}

__global__ void reductions(const int *in, int *out)
{
    const int v = in[lane_id()];
    const int s = warp_sum(v);
    const int s8 = (int)__reduce_add_sync(FULL_MASK, (unsigned)v);  /* needs compute capability 8.0 */
    const int lo = __reduce_min_sync(FULL_MASK, v), hi = __reduce_max_sync(FULL_MASK, v);
    const unsigned bits = __reduce_or_sync(FULL_MASK, (unsigned)v);
    if (lane_id() == 0) { out[0] = s; out[1] = s8; out[2] = lo; out[3] = hi; out[4] = (int)bits; }
}

static int failures = 0;
static void report(const char *name, int ok)
{
    printf("%-14s %s\n", name, ok ? "ok" : "WRONG");
    if (!ok) failures++;
}

int main(void)
{
    int h[WARP_SIZE], *d_in, *d_out, result[7 * WARP_SIZE];
    unsigned *d_bits, bits[WARP_SIZE];
    int i, ok;

    gpuErrchk(cudaMalloc(&d_in, sizeof h));
    gpuErrchk(cudaMalloc(&d_out, sizeof result));
    gpuErrchk(cudaMalloc(&d_bits, sizeof bits));
    for (i = 0; i < WARP_SIZE; i++) h[i] = (i * 7 + 3) % 29;
    gpuErrchk(cudaMemcpy(d_in, h, sizeof h, cudaMemcpyHostToDevice));

    votes<<<1, WARP_SIZE>>>(d_in, d_bits);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(bits, d_bits, 6 * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned odd = 0, reversed = 0, seven = 0;
    for (i = 0; i < WARP_SIZE; i++) {
        if (h[i] & 1) odd |= 1u << i, reversed |= 1u << (31 - i);
        if (h[i] == 7) seven = 4;
    }
    printf("odd values: 0x%08x, %u lanes, first %u, reversed 0x%08x\n", bits[0], bits[1], bits[2], bits[4]);
    report("votes", bits[0] == odd && bits[1] == (unsigned)__builtin_popcount(odd) &&
                        bits[2] == (unsigned)__builtin_ffs((int)odd) && bits[3] == (unsigned)__builtin_clz(odd) &&
                        bits[4] == reversed && bits[5] == (1u | seven));

    shuffles<<<1, WARP_SIZE>>>(d_in, d_out);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(result, d_out, sizeof result, cudaMemcpyDeviceToHost));
    for (ok = 1, i = 0; i < WARP_SIZE; i++) {
        ok &= result[i] == h[5];
        ok &= result[WARP_SIZE + i] == h[(i + 3) % WARP_SIZE];
        ok &= result[2 * WARP_SIZE + i] == (i < 2 ? h[i] : h[i - 2]);
        ok &= result[3 * WARP_SIZE + i] == (i % 8 < 4 ? h[i + 4] : h[i]);
        ok &= result[4 * WARP_SIZE + i] == h[i ^ 16];
        ok &= result[5 * WARP_SIZE + i] == h[i ^ 1] + (i ^ 1);
        ok &= result[6 * WARP_SIZE + i] == (i < 31 ? h[i + 1] : h[i]);
    }
    report("shuffles", ok);

    for (i = 0; i < WARP_SIZE; i++) h[i] = (i * i) % 5;
    gpuErrchk(cudaMemcpy(d_in, h, sizeof h, cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemset(d_out, 0, 5 * sizeof(int)));
    count_keys<<<1, WARP_SIZE>>>(d_in, d_out, d_bits);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(result, d_out, 5 * sizeof(int), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(bits, d_bits, sizeof bits, cudaMemcpyDeviceToHost));
    int expected[5] = {0};
    for (i = 0; i < WARP_SIZE; i++) expected[h[i]]++;
    for (ok = 1, i = 0; i < 5; i++) ok &= result[i] == expected[i];
    printf("keys: %d %d %d %d %d, peers of lane 0: 0x%08x\n", result[0], result[1], result[2], result[3], result[4],
           bits[0]);
    report("match", ok);

    for (i = 0; i < WARP_SIZE; i++) h[i] = i % 3 ? i : 0;
    gpuErrchk(cudaMemcpy(d_in, h, sizeof h, cudaMemcpyHostToDevice));
    pack_positive<<<1, WARP_SIZE>>>(d_in, d_out, d_out + WARP_SIZE);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(result, d_out, (WARP_SIZE + 1) * sizeof(int), cudaMemcpyDeviceToHost));
    int packed = 0;
    for (ok = 1, i = 0; i < WARP_SIZE; i++)
        if (h[i] - 10 > 0) ok &= result[packed++] == h[i] - 10;
    report("activemask", ok && result[WARP_SIZE] == packed);

    reductions<<<1, WARP_SIZE>>>(d_in, d_out);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(result, d_out, 5 * sizeof(int), cudaMemcpyDeviceToHost));
    int sum = 0, lo = h[0], hi = h[0], all = 0;
    for (i = 0; i < WARP_SIZE; i++) {
        sum += h[i], all |= h[i];
        if (h[i] < lo) lo = h[i];
        if (h[i] > hi) hi = h[i];
    }
    printf("sum %d, least %d, largest %d\n", result[0], result[2], result[3]);
    ok = result[0] == sum && result[1] == sum && result[2] == lo && result[3] == hi && result[4] == all;
    report("reductions", ok);

    cudaFree(d_in); cudaFree(d_out); cudaFree(d_bits);
    printf("%s\n", failures ? "FAILED" : "all warp functions behave");
    return failures != 0;
}
