// Reductions of whole arrays with cub::DeviceReduce, in CUB's two phases.
#include <cub/device/device_reduce.cuh>

#include <climits>
#include <cmath>
#include <cstdio>
#include <vector>

struct CustomMin {
    template <typename T>
    __host__ __device__ __forceinline__ T operator()(const T &a, const T &b) const { return (b < a) ? b : a; }
};
struct Square {
    __host__ __device__ double operator()(float x) const { return (double)x * x; }
};

template <typename Call>
void run(Call call) {
    void *d_temp_storage = NULL;
    size_t temp_storage_bytes = 0;
    call(d_temp_storage, temp_storage_bytes);
    cudaMalloc(&d_temp_storage, temp_storage_bytes);
    cudaError_t error = call(d_temp_storage, temp_storage_bytes);
    if (error != cudaSuccess) printf("error: %s\n", cudaGetErrorString(error));
    cudaFree(d_temp_storage);
}
template <typename T>
T value_at(const T *d) {
    T value;
    cudaMemcpy(&value, d, sizeof(T), cudaMemcpyDeviceToHost);
    return value;
}

int main() {
    bool ok = true;
    for (int n : {0, 1, 31, 33, 257, 10007, 100003}) {
        std::vector<int> in(n);
        std::vector<float> f(n);
        for (int i = 0; i < n; ++i) {
            in[i] = (int)((i * 2654435761u) >> 12) % 1000 - 300;
            f[i] = in[i] * 0.001f;
        }
        int *d_in, *d_out;
        float *d_f, *d_fsum;
        double *d_squares;
        cub::KeyValuePair<int, int> *d_arg;
        cudaMalloc(&d_in, (n + 1) * sizeof(int));
        cudaMalloc(&d_out, sizeof(int));
        cudaMalloc(&d_f, (n + 1) * sizeof(float));
        cudaMalloc(&d_fsum, sizeof(float));
        cudaMalloc(&d_squares, sizeof(double));
        cudaMalloc(&d_arg, sizeof(*d_arg));
        cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(d_f, f.data(), n * sizeof(float), cudaMemcpyHostToDevice);
        int sum = 0, least = INT_MAX, most = INT_MIN, at = -1;
        double fsum = 0, squares = 0, sizes = 0;
        for (int i = 0; i < n; ++i) {
            sum += in[i];
            least = in[i] < least ? in[i] : least;
            if (in[i] > most) { most = in[i]; at = i; }
            fsum += f[i];
            sizes += std::fabs(f[i]);
            squares += (double)f[i] * f[i];
        }
        run([&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, d_in, d_out, n); });
        ok = ok && value_at(d_out) == sum;
        run([&](void *t, size_t &b) { return cub::DeviceReduce::Min(t, b, d_in, d_out, n); });
        ok = ok && value_at(d_out) == least;
        run([&](void *t, size_t &b) { return cub::DeviceReduce::Max(t, b, d_in, d_out, n); });
        ok = ok && value_at(d_out) == most;
        run([&](void *t, size_t &b) { return cub::DeviceReduce::Reduce(t, b, d_in, d_out, n, CustomMin(), 12); });
        ok = ok && value_at(d_out) == (least < 12 ? least : 12);
        run([&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, d_f, d_fsum, n); });
        ok = ok && std::fabs(value_at(d_fsum) - fsum) <= 1e-6 * sizes + 1e-6;
        run([&](void *t, size_t &b) {
            return cub::DeviceReduce::TransformReduce(t, b, d_f, d_squares, n, cuda::std::plus<>(), Square(), 0.0);
        });
        ok = ok && std::fabs(value_at(d_squares) - squares) <= 1e-9 * squares;
        if (n > 0) {
            int *d_index;
            cudaMalloc(&d_index, sizeof(int));
            run([&](void *t, size_t &b) { return cub::DeviceReduce::ArgMax(t, b, d_in, d_out, d_index, (long)n); });
            ok = ok && value_at(d_index) == at && value_at(d_out) == most;
            cudaFree(d_index);
        }
        cudaFree(d_in);
        cudaFree(d_out);
        cudaFree(d_f);
        cudaFree(d_fsum);
        cudaFree(d_squares);
        cudaFree(d_arg);
    }
    printf("device reduce: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
