// What CUB's block primitives do with neighbors: run-length encoding of a tile by flags, a scan, and an exchange.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>

#include <cstdio>
#include <vector>

const int THREADS = 64, ITEMS = 5, N = THREADS * ITEMS;

struct Minus {
    __device__ int operator()(int a, int b) const { return a - b; }
};

__global__ void Encode(const int *in, int *begins, int *count, int *differences, int *reversed, int *next) {
    typedef cub::BlockDiscontinuity<int, THREADS> Flags;
    typedef cub::BlockScan<int, THREADS> Scan;
    typedef cub::BlockExchange<int, THREADS, ITEMS> Exchange;
    typedef cub::BlockAdjacentDifference<int, THREADS> Difference;
    typedef cub::BlockShuffle<int, THREADS> Shuffle;
    __shared__ typename Flags::TempStorage flags_storage;
    __shared__ typename Scan::TempStorage scan_storage;
    __shared__ typename Exchange::TempStorage exchange_storage;
    __shared__ typename Difference::TempStorage difference_storage;
    __shared__ typename Shuffle::TempStorage shuffle_storage;
    int items[ITEMS], heads[ITEMS], places[ITEMS], total, out[ITEMS], ranks[ITEMS];
    for (int i = 0; i < ITEMS; ++i) items[i] = in[i * THREADS + threadIdx.x];
    Exchange(exchange_storage).StripedToBlocked(items);
    Flags(flags_storage).FlagHeads(heads, items, cuda::std::not_equal_to<int>());
    Scan(scan_storage).ExclusiveSum(heads, places, total);
    for (int i = 0; i < ITEMS; ++i)
        if (heads[i]) begins[places[i]] = threadIdx.x * ITEMS + i;
    if (threadIdx.x == 0) *count = total;
    Difference(difference_storage).SubtractLeft(items, out, Minus());
    __syncthreads();
    for (int i = 0; i < ITEMS; ++i) {
        differences[threadIdx.x * ITEMS + i] = out[i];
        ranks[i] = N - 1 - (threadIdx.x * ITEMS + i);
    }
    Exchange(exchange_storage).ScatterToStriped(items, ranks);
    for (int i = 0; i < ITEMS; ++i) reversed[i * THREADS + threadIdx.x] = items[i];
    int from = -1;
    Shuffle(shuffle_storage).Offset((int)threadIdx.x * 3, from, 2);
    next[threadIdx.x] = from;
}

int main() {
    std::vector<int> in(N), begins(N), differences(N), reversed(N), next(THREADS);
    for (int i = 0; i < N; ++i) in[i] = (i / 3) % 4 + (i % 11 == 0);
    int *d_in, *d_begins, *d_count, *d_differences, *d_reversed, *d_next, count = 0;
    cudaMalloc(&d_in, N * sizeof(int));
    cudaMalloc(&d_begins, N * sizeof(int));
    cudaMalloc(&d_count, sizeof(int));
    cudaMalloc(&d_differences, N * sizeof(int));
    cudaMalloc(&d_reversed, N * sizeof(int));
    cudaMalloc(&d_next, THREADS * sizeof(int));
    cudaMemcpy(d_in, in.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    Encode<<<1, THREADS>>>(d_in, d_begins, d_count, d_differences, d_reversed, d_next);
    cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(differences.data(), d_differences, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(reversed.data(), d_reversed, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(next.data(), d_next, THREADS * sizeof(int), cudaMemcpyDeviceToHost);
    std::vector<int> wanted;
    bool ok = true;
    for (int i = 0; i < N; ++i) {
        if (i == 0 || in[i] != in[i - 1]) wanted.push_back(i);
        ok = ok && differences[i] == (i == 0 ? in[0] : in[i] - in[i - 1]) && reversed[i] == in[N - 1 - i];
    }
    for (int t = 0; t < THREADS; ++t) ok = ok && next[t] == (t + 2 < THREADS ? (t + 2) * 3 : -1);
    ok = ok && count == (int)wanted.size();
    begins.resize(wanted.size());
    cudaMemcpy(begins.data(), d_begins, wanted.size() * sizeof(int), cudaMemcpyDeviceToHost);
    ok = ok && begins == wanted;
    cudaFree(d_in);
    cudaFree(d_begins);
    cudaFree(d_count);
    cudaFree(d_differences);
    cudaFree(d_reversed);
    cudaFree(d_next);
    printf("neighbors: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
