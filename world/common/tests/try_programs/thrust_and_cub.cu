// Thrust's vectors and iterators as arguments of CUB's algorithms, and both libraries in one program.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <cub/cub.cuh>
#include <cuda/std/span>

#include <cstdio>

struct Square {
    __host__ __device__ long long operator()(int x) const { return (long long)x * x; }
};

__global__ void add_index(cuda::std::span<int> values) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < values.size()) values[i] += (int)i;
}

int main() {
    const int n = 1009;
    thrust::device_vector<int> keys(n), sorted(n);
    for (int i = 0; i < n; ++i) keys[i] = (i * 7919) % n;
    size_t bytes = 0;
    cub::DeviceRadixSort::SortKeys(nullptr, bytes, thrust::raw_pointer_cast(keys.data()), thrust::raw_pointer_cast(sorted.data()), n);
    thrust::device_vector<unsigned char> storage(bytes);
    cub::DeviceRadixSort::SortKeys(thrust::raw_pointer_cast(storage.data()), bytes, thrust::raw_pointer_cast(keys.data()),
                                   thrust::raw_pointer_cast(sorted.data()), n);
    thrust::sort(keys.begin(), keys.end());
    printf("both sort alike: %s\n", keys == sorted ? "yes" : "no");

    thrust::device_vector<long long> sum(1);
    auto squares = thrust::make_transform_iterator(thrust::counting_iterator<int>(1), Square());
    cub::DeviceReduce::Sum(nullptr, bytes, squares, sum.begin(), 100);
    storage.resize(bytes);
    cub::DeviceReduce::Sum(thrust::raw_pointer_cast(storage.data()), bytes, squares, sum.begin(), 100);
    printf("sum of squares: %lld\n", (long long)sum[0]);

    add_index<<<(n + 255) / 256, 256>>>(cuda::std::span<int>(thrust::raw_pointer_cast(sorted.data()), n));
    cudaDeviceSynchronize();
    printf("sum: %d\n", thrust::reduce(sorted.begin(), sorted.end()));
}
