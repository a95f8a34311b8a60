// Block sums with cub::BlockReduce: full blocks, a last block with fewer elements, and the same storage used twice.
#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

struct Larger {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

template <int BLOCK_THREADS, cub::BlockReduceAlgorithm ALGORITHM>
__global__ void BlockSumKernel(const int *d_in, int n, int *d_sums, int *d_largest) {
    typedef cub::BlockReduce<int, BLOCK_THREADS, ALGORITHM> BlockReduceT;
    __shared__ typename BlockReduceT::TempStorage temp_storage;
    int i = blockIdx.x * BLOCK_THREADS + threadIdx.x;
    int valid = n - blockIdx.x * BLOCK_THREADS;
    int item = i < n ? d_in[i] : 0;
    int sum = valid >= BLOCK_THREADS ? BlockReduceT(temp_storage).Sum(item) : BlockReduceT(temp_storage).Sum(item, valid);
    __syncthreads();
    int largest = BlockReduceT(temp_storage).Reduce(item, Larger(), valid);
    if (threadIdx.x == 0) {
        d_sums[blockIdx.x] = sum;
        d_largest[blockIdx.x] = largest;
    }
}

__global__ void FourItems(const int *d_in, int *d_out) {
    typedef cub::BlockReduce<int, 16, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 4> BlockReduceT;
    __shared__ typename BlockReduceT::TempStorage temp_storage;
    int items[4];
    int thread = threadIdx.y * 16 + threadIdx.x;
    for (int k = 0; k < 4; ++k) items[k] = d_in[4 * thread + k];
    int sum = BlockReduceT(temp_storage).Sum(items);
    if (thread == 0) *d_out = sum;
}

template <int BLOCK_THREADS, cub::BlockReduceAlgorithm ALGORITHM>
bool test(int n) {
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = (i * 7919) % 1000 - 500;
    int blocks = (n + BLOCK_THREADS - 1) / BLOCK_THREADS;
    int *d_in, *d_sums, *d_largest;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMalloc(&d_sums, blocks * sizeof(int));
    cudaMalloc(&d_largest, blocks * sizeof(int));
    cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    BlockSumKernel<BLOCK_THREADS, ALGORITHM><<<blocks, BLOCK_THREADS>>>(d_in, n, d_sums, d_largest);
    std::vector<int> sums(blocks), largest(blocks);
    cudaMemcpy(sums.data(), d_sums, blocks * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(largest.data(), d_largest, blocks * sizeof(int), cudaMemcpyDeviceToHost);
    bool ok = true;
    for (int b = 0; b < blocks; ++b) {
        int sum = 0, most = -1000000;
        for (int i = b * BLOCK_THREADS; i < n && i < (b + 1) * BLOCK_THREADS; ++i) {
            sum += in[i];
            if (in[i] > most) most = in[i];
        }
        ok = ok && sums[b] == sum && largest[b] == most;
    }
    cudaFree(d_in);
    cudaFree(d_sums);
    cudaFree(d_largest);
    return ok;
}

int main() {
    bool ok = true;
    for (int n : {1, 2, 31, 32, 33, 127, 128, 129, 1009, 4099}) {
        ok = test<128, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(n) && ok;
        ok = test<256, cub::BLOCK_REDUCE_RAKING>(n) && ok;
        ok = test<32, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(n) && ok;
        ok = test<48, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(n) && ok;
    }
    std::vector<int> in(256);
    int wanted = 0;
    for (int i = 0; i < 256; ++i) wanted += in[i] = i * i;
    int *d_in, *d_out, out = 0;
    cudaMalloc(&d_in, 256 * sizeof(int));
    cudaMalloc(&d_out, sizeof(int));
    cudaMemcpy(d_in, in.data(), 256 * sizeof(int), cudaMemcpyHostToDevice);
    FourItems<<<1, dim3(16, 4)>>>(d_in, d_out);
    cudaMemcpy(&out, d_out, sizeof(int), cudaMemcpyDeviceToHost);
    ok = ok && out == wanted;
    cudaFree(d_in);
    cudaFree(d_out);
    printf("block reduce: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
