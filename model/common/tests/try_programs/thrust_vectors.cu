// Thrust: device vectors, algorithms with functors and lambdas, raw pointers in both directions.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

#include <cstdio>

struct saxpy {
    float a;
    __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};

struct square {
    __device__ float operator()(float x) const { return x * x; }
};

__global__ void add_one(float* values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += 1.0f;
}

int main() {
    const int n = 1000;
    thrust::host_vector<int> keys(n);
    unsigned int state = 7;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        keys[i] = (int)(state >> 16);
    }
    thrust::device_vector<int> d_keys = keys;
    thrust::sort(d_keys.begin(), d_keys.end());
    thrust::copy(d_keys.begin(), d_keys.end(), keys.begin());
    int unsorted = 0;
    for (int i = 1; i < n; ++i) unsorted += keys[i - 1] > keys[i];
    printf("sorted: %d out of order\n", unsorted);

    // A kernel on the memory of a vector.
    thrust::device_vector<float> x(n), y(n, 2.0f);
    thrust::sequence(x.begin(), x.end());
    add_one<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(x.data()), n);
    cudaDeviceSynchronize();
    printf("sum of 1 to %d: %.0f\n", n, thrust::reduce(x.begin(), x.end(), 0.0));
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy{3.0f});
    printf("last of saxpy: %.0f\n", (float)y.back());
    printf("sum of squares: %.0f\n",
           thrust::transform_reduce(x.begin(), x.begin() + 10, square(), 0.0f, thrust::plus<float>()));

    // An algorithm on memory of cudaMalloc, and a kernel after it.
    float* d_raw;
    cudaMalloc(&d_raw, n * sizeof(float));
    thrust::device_ptr<float> raw(d_raw);
    thrust::fill(raw, raw + n, 1.5f);
    add_one<<<(n + 255) / 256, 256>>>(d_raw, n);
    thrust::inclusive_scan(thrust::device, d_raw, d_raw + n, d_raw);
    float last;
    cudaMemcpy(&last, d_raw + n - 1, sizeof last, cudaMemcpyDeviceToHost);
    printf("last of the scan: %.1f\n", last);

    // A lambda for the device that uses a raw pointer.
    thrust::for_each(thrust::device, thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n),
                     [=] __device__(int i) { d_raw[i] = (float)(i % 10); });
    printf("nines: %d\n", (int)thrust::count(raw, raw + n, 9.0f));
    printf("largest at: %d\n", (int)(thrust::max_element(raw, raw + n) - raw));
    auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
    thrust::sort_by_key(y.begin(), y.end(), x.begin(), thrust::greater<float>());
    printf("first pair: %.0f %.0f\n", (float)thrust::get<0>(pairs[0]), (float)thrust::get<1>(pairs[0]));
    cudaFree(d_raw);
}
