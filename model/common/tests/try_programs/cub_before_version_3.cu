// Names that CUB had until CUDA 13: programs from before use them.
#include <cub/cub.cuh>
#include <cub/util_allocator.cuh>

#include <cstdio>
#include <vector>

cub::CachingDeviceAllocator g_allocator(true);

struct Square {
    __host__ __device__ long long operator()(const int &x) const { return (long long)x * x; }
};

__global__ void LargestKernel(const int *d_in, int *d_out) {
    typedef cub::BlockReduce<int, 128> BlockReduceT;
    __shared__ typename BlockReduceT::TempStorage temp_storage;
    int largest = BlockReduceT(temp_storage).Reduce(d_in[threadIdx.x], cub::Max());
    if (threadIdx.x == 0) *d_out = largest;
}

int main() {
    const int n = 1009;
    std::vector<int> in(n);
    int sum = 0, largest = 0;
    for (int i = 0; i < n; ++i) {
        sum += in[i] = (i * 71) % 997;
        if (i < 128 && in[i] > largest) largest = in[i];
    }
    int *d_in = nullptr, *d_out = nullptr, got = 0;
    long long *d_squares = nullptr, squares = 0;
    CubDebugExit(g_allocator.DeviceAllocate((void **)&d_in, sizeof(int) * n));
    CubDebugExit(g_allocator.DeviceAllocate((void **)&d_out, sizeof(int)));
    CubDebugExit(g_allocator.DeviceAllocate((void **)&d_squares, sizeof(long long)));
    CubDebugExit(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    void *d_temp_storage = nullptr;
    size_t temp_storage_bytes = 0;
    CubDebugExit(cub::DeviceReduce::Reduce(d_temp_storage, temp_storage_bytes, d_in, d_out, n, cub::Sum(), 0));
    CubDebugExit(g_allocator.DeviceAllocate(&d_temp_storage, temp_storage_bytes));
    CubDebugExit(cub::DeviceReduce::Reduce(d_temp_storage, temp_storage_bytes, d_in, d_out, n, cub::Sum(), 0));
    CubDebugExit(cudaMemcpy(&got, d_out, sizeof(int), cudaMemcpyDeviceToHost));
    bool ok = got == sum;
    LargestKernel<<<1, 128>>>(d_in, d_out);
    CubDebugExit(cudaMemcpy(&got, d_out, sizeof(int), cudaMemcpyDeviceToHost));
    ok = ok && got == largest;
    cub::CountingInputIterator<int> numbers(1);
    cub::TransformInputIterator<long long, Square, cub::CountingInputIterator<int>> all_squares(numbers, Square());
    CubDebugExit(g_allocator.DeviceFree(d_temp_storage));
    d_temp_storage = nullptr;
    CubDebugExit(cub::DeviceReduce::Sum(d_temp_storage, temp_storage_bytes, all_squares, d_squares, 100));
    CubDebugExit(g_allocator.DeviceAllocate(&d_temp_storage, temp_storage_bytes));
    CubDebugExit(cub::DeviceReduce::Sum(d_temp_storage, temp_storage_bytes, all_squares, d_squares, 100));
    CubDebugExit(cudaMemcpy(&squares, d_squares, sizeof(squares), cudaMemcpyDeviceToHost));
    ok = ok && squares == 338350;
    CubDebugExit(g_allocator.DeviceFree(d_in));
    CubDebugExit(g_allocator.DeviceFree(d_out));
    CubDebugExit(g_allocator.DeviceFree(d_squares));
    CubDebugExit(g_allocator.DeviceFree(d_temp_storage));
    CubDebugExit(g_allocator.FreeAllCached());
    printf("sum of squares: %lld\n", squares);
    printf("old names: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
