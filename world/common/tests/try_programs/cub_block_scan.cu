// A long scan by one block: tile after tile, with a callback that carries the running total (as in CUB's documentation).
#include <cub/cub.cuh>

#include <cstdio>
#include <vector>

struct BlockPrefixCallbackOp {
    int running_total;
    __device__ BlockPrefixCallbackOp(int running_total) : running_total(running_total) {}
    __device__ int operator()(int block_aggregate) {
        int old_prefix = running_total;
        running_total += block_aggregate;
        return old_prefix;
    }
};

template <cub::BlockScanAlgorithm ALGORITHM>
__global__ void LongScan(int *d_data, int num_items) {
    typedef cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE> BlockLoad;
    typedef cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_TRANSPOSE> BlockStore;
    typedef cub::BlockScan<int, 128, ALGORITHM> BlockScan;
    __shared__ union {
        typename BlockLoad::TempStorage load;
        typename BlockScan::TempStorage scan;
        typename BlockStore::TempStorage store;
    } temp_storage;
    BlockPrefixCallbackOp prefix_op(0);
    for (int block_offset = 0; block_offset < num_items; block_offset += 128 * 4) {
        int thread_data[4];
        int valid = num_items - block_offset;
        BlockLoad(temp_storage.load).Load(d_data + block_offset, thread_data, valid, 0);
        __syncthreads();
        BlockScan(temp_storage.scan).ExclusiveSum(thread_data, thread_data, prefix_op);
        __syncthreads();
        BlockStore(temp_storage.store).Store(d_data + block_offset, thread_data, valid);
        __syncthreads();
    }
}

__global__ void Places(const int *d_flags, int *d_places, int *d_total) {
    typedef cub::BlockScan<int, 64> BlockScan;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int place, total;
    BlockScan(temp_storage).ExclusiveSum(d_flags[threadIdx.x], place, total);
    d_places[threadIdx.x] = place;
    if (threadIdx.x == 63) *d_total = total;
    __syncthreads();
    int largest;
    BlockScan(temp_storage).InclusiveScan(d_flags[threadIdx.x] * (int)threadIdx.x, largest, cuda::maximum<>());
    d_places[64 + threadIdx.x] = largest;
}

int main() {
    bool ok = true;
    for (int n : {1, 31, 512, 513, 1009, 5000}) {
        std::vector<int> in(n), out(n);
        for (int i = 0; i < n; ++i) in[i] = i % 17 - 3;
        int *d_data;
        cudaMalloc(&d_data, n * sizeof(int));
        for (int round = 0; round < 2; ++round) {
            cudaMemcpy(d_data, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
            if (round == 0) LongScan<cub::BLOCK_SCAN_RAKING><<<1, 128>>>(d_data, n);
            else LongScan<cub::BLOCK_SCAN_WARP_SCANS><<<1, 128>>>(d_data, n);
            cudaMemcpy(out.data(), d_data, n * sizeof(int), cudaMemcpyDeviceToHost);
            int sum = 0;
            for (int i = 0; i < n; ++i) {
                ok = ok && out[i] == sum;
                sum += in[i];
            }
        }
        cudaFree(d_data);
    }
    std::vector<int> flags(64), places(128);
    for (int i = 0; i < 64; ++i) flags[i] = i % 3 == 1;
    int *d_flags, *d_places, *d_total, total = 0;
    cudaMalloc(&d_flags, 64 * sizeof(int));
    cudaMalloc(&d_places, 128 * sizeof(int));
    cudaMalloc(&d_total, sizeof(int));
    cudaMemcpy(d_flags, flags.data(), 64 * sizeof(int), cudaMemcpyHostToDevice);
    Places<<<1, 64>>>(d_flags, d_places, d_total);
    cudaMemcpy(places.data(), d_places, 128 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
    int before = 0, largest = 0;
    for (int i = 0; i < 64; ++i) {
        if (flags[i] * i > largest) largest = flags[i] * i;
        ok = ok && places[i] == before && places[64 + i] == largest;
        before += flags[i];
    }
    ok = ok && total == before;
    cudaFree(d_flags);
    cudaFree(d_places);
    cudaFree(d_total);
    printf("block scan: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
