// cub::WarpReduce and cub::WarpScan over whole warps and parts of them, and segments inside of a warp.
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include <cstdio>
#include <vector>

template <int LOGICAL>
__global__ void Reduce(const int *in, int *sums, int *prefixes, int n) {
    typedef cub::WarpReduce<int, LOGICAL> WarpReduce;
    typedef cub::WarpScan<int, LOGICAL> WarpScan;
    __shared__ typename WarpReduce::TempStorage reduce_storage[128 / LOGICAL];
    __shared__ typename WarpScan::TempStorage scan_storage[128 / LOGICAL];
    int i = blockIdx.x * 128 + threadIdx.x, group = threadIdx.x / LOGICAL;
    int value = i < n ? in[i] : 0;
    int sum = WarpReduce(reduce_storage[group]).Sum(value);
    int prefix;
    WarpScan(scan_storage[group]).ExclusiveSum(value, prefix);
    if (i < n) prefixes[i] = prefix;
    if (i < n && threadIdx.x % LOGICAL == 0) sums[i / LOGICAL] = sum;
}

__global__ void Segments(const int *in, const int *heads, int *out) {
    typedef cub::WarpReduce<int> WarpReduce;
    __shared__ typename WarpReduce::TempStorage storage;
    int sum = WarpReduce(storage).HeadSegmentedSum(in[threadIdx.x], heads[threadIdx.x]);
    int largest = WarpReduce(storage).Reduce(in[threadIdx.x], cuda::maximum<>(), 21);
    out[threadIdx.x] = threadIdx.x == 0 || heads[threadIdx.x] ? sum : -1;
    if (threadIdx.x == 0) out[32] = largest;
}

template <int LOGICAL>
bool test(int n) {
    std::vector<int> in(n), sums((n + LOGICAL - 1) / LOGICAL), prefixes(n);
    for (int i = 0; i < n; ++i) in[i] = (i * 31) % 101 - 50;
    int *d_in, *d_sums, *d_prefixes;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMalloc(&d_sums, sums.size() * sizeof(int));
    cudaMalloc(&d_prefixes, n * sizeof(int));
    cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    Reduce<LOGICAL><<<(n + 127) / 128, 128>>>(d_in, d_sums, d_prefixes, n);
    cudaMemcpy(sums.data(), d_sums, sums.size() * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(prefixes.data(), d_prefixes, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_sums);
    cudaFree(d_prefixes);
    bool ok = true;
    for (int begin = 0; begin < n; begin += LOGICAL) {
        int sum = 0;
        for (int i = begin; i < n && i < begin + LOGICAL; ++i) {
            ok = ok && prefixes[i] == sum;
            sum += in[i];
        }
        ok = ok && sums[begin / LOGICAL] == sum;
    }
    return ok;
}

int main() {
    bool ok = true;
    for (int n : {1, 15, 31, 32, 33, 128, 1009}) ok = test<32>(n) && test<16>(n) && test<4>(n) && ok;
    std::vector<int> in(32), heads(32), out(33);
    for (int i = 0; i < 32; ++i) {
        in[i] = i + 1;
        heads[i] = i % 7 == 3;
    }
    int *d_in, *d_heads, *d_out;
    cudaMalloc(&d_in, 32 * sizeof(int));
    cudaMalloc(&d_heads, 32 * sizeof(int));
    cudaMalloc(&d_out, 33 * sizeof(int));
    cudaMemcpy(d_in, in.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_heads, heads.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
    Segments<<<1, 32>>>(d_in, d_heads, d_out);
    cudaMemcpy(out.data(), d_out, 33 * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i) {
        if (i > 0 && !heads[i]) {
            ok = ok && out[i] == -1;
            continue;
        }
        int sum = in[i];
        for (int k = i + 1; k < 32 && !heads[k]; ++k) sum += in[k];
        ok = ok && out[i] == sum;
    }
    ok = ok && out[32] == 21;
    cudaFree(d_in);
    cudaFree(d_heads);
    cudaFree(d_out);
    printf("warp primitives: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
