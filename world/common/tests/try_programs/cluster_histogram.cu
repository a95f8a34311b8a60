// A program as people write it after reading about clusters: a histogram whose bins are spread over the blocks of a
// cluster, and a kernel that was declared for clusters of two blocks.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t status = (call);                                                            \
        if (status != cudaSuccess) {                                                            \
            printf("%s failed at line %d: %s\n", #call, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

__global__ void clusterHistogram(int* bins, int nbins, int binsPerBlock, const int* input, int n) {
    extern __shared__ int smem[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < binsPerBlock; i += blockDim.x) smem[i] = 0;
    cluster.sync();

    const int tid = cg::this_grid().thread_rank();
    for (int i = tid; i < n; i += blockDim.x * gridDim.x) {
        const int bin = min(max(input[i], 0), nbins - 1);
        int* remote = cluster.map_shared_rank(smem, bin / binsPerBlock);
        atomicAdd(remote + bin % binsPerBlock, 1);
    }
    cluster.sync();

    int* mine = bins + cluster.block_rank() * binsPerBlock;
    for (int i = threadIdx.x; i < binsPerBlock; i += blockDim.x) atomicAdd(&mine[i], smem[i]);
}

__global__ void __cluster_dims__(2, 1, 1) swapTiles(const float* in, float* out) {
    __shared__ float tile[64];
    cg::cluster_group cluster = cg::this_cluster();
    tile[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    cluster.sync();
    const float* other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = other[threadIdx.x];
    cluster.sync();
}

int main() {
    const int n = 10000, nbins = 256, clusterSize = 4, threads = 128;
    std::vector<int> input(n), expected(nbins, 0), result(nbins);
    for (int i = 0; i < n; ++i) {
        input[i] = (i * 31 + i / 7) % nbins;
        ++expected[input[i]];
    }
    int *d_input, *d_bins;
    CHECK(cudaMalloc(&d_input, n * sizeof(int)));
    CHECK(cudaMalloc(&d_bins, nbins * sizeof(int)));
    CHECK(cudaMemcpy(d_input, input.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_bins, 0, nbins * sizeof(int)));

    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = threads;
    config.dynamicSmemBytes = nbins / clusterSize * sizeof(int);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = clusterSize;
    attribute[0].val.clusterDim.y = 1;
    attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    int clusters = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, clusterHistogram, &config));
    printf("clusters fit: %s\n", clusters > 0 ? "yes" : "no");
    CHECK(cudaLaunchKernelEx(&config, clusterHistogram, d_bins, nbins, nbins / clusterSize, (const int*)d_input, n));
    CHECK(cudaMemcpy(result.data(), d_bins, nbins * sizeof(int), cudaMemcpyDeviceToHost));
    printf("histogram: %s\n", result == expected ? "right" : "WRONG");

    std::vector<float> tiles(256), swapped(256);
    for (int i = 0; i < 256; ++i) tiles[i] = i;
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, 256 * sizeof(float)));
    CHECK(cudaMalloc(&d_out, 256 * sizeof(float)));
    CHECK(cudaMemcpy(d_in, tiles.data(), 256 * sizeof(float), cudaMemcpyHostToDevice));
    swapTiles<<<4, 64>>>(d_in, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(swapped.data(), d_out, 256 * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < 256; ++i) wrong += swapped[i] != (i ^ 64);
    printf("swapped tiles: %s\n", wrong == 0 ? "right" : "WRONG");
    CHECK(cudaFree(d_input));
    CHECK(cudaFree(d_bins));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    return 0;
}
