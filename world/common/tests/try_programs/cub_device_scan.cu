// Scans of whole arrays with cub::DeviceScan: sums, other operators, in place, and by key.
#include <cub/device/device_scan.cuh>

#include <cstdio>
#include <vector>

struct Max {
    __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

// Functions x -> m * x + c modulo 2^32, one after the other: associative, and not commutative.
struct Affine {
    unsigned m, c;
};
struct Compose {
    __host__ __device__ Affine operator()(Affine f, Affine g) const { return {g.m * f.m, g.m * f.c + g.c}; }
};

template <typename Call>
void run(Call call) {
    void *d_temp_storage = nullptr;
    size_t temp_storage_bytes = 0;
    call(d_temp_storage, temp_storage_bytes);
    cudaMalloc(&d_temp_storage, temp_storage_bytes);
    call(d_temp_storage, temp_storage_bytes);
    cudaFree(d_temp_storage);
}
template <typename T>
std::vector<T> values_at(const T *d, int n) {
    std::vector<T> values(n);
    cudaMemcpy(values.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
}

int main() {
    bool ok = true;
    for (int n : {1, 2, 511, 512, 513, 1009, 20011}) {
        std::vector<int> in(n), keys(n);
        std::vector<Affine> f(n);
        for (int i = 0; i < n; ++i) {
            in[i] = (i * 37) % 100 - 40;
            keys[i] = i / 7;
            f[i] = {2u * i + 1, 3u * i};
        }
        int *d_in, *d_out, *d_keys;
        Affine *d_f, *d_g;
        cudaMalloc(&d_in, n * sizeof(int));
        cudaMalloc(&d_out, n * sizeof(int));
        cudaMalloc(&d_keys, n * sizeof(int));
        cudaMalloc(&d_f, n * sizeof(Affine));
        cudaMalloc(&d_g, n * sizeof(Affine));
        cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(d_keys, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(d_f, f.data(), n * sizeof(Affine), cudaMemcpyHostToDevice);

        run([&](void *t, size_t &b) { return cub::DeviceScan::ExclusiveSum(t, b, d_in, d_out, n); });
        std::vector<int> out = values_at(d_out, n);
        for (int i = 0, sum = 0; i < n; sum += in[i], ++i) ok = ok && out[i] == sum;
        run([&](void *t, size_t &b) { return cub::DeviceScan::InclusiveScan(t, b, d_in, d_out, Max(), n); });
        out = values_at(d_out, n);
        for (int i = 0, most = in[0]; i < n; ++i) {
            most = in[i] > most ? in[i] : most;
            ok = ok && out[i] == most;
        }
        run([&](void *t, size_t &b) { return cub::DeviceScan::ExclusiveScan(t, b, d_in, d_out, Max(), 5, n); });
        out = values_at(d_out, n);
        for (int i = 0, most = 5; i < n; ++i) {
            ok = ok && out[i] == most;
            most = in[i] > most ? in[i] : most;
        }
        run([&](void *t, size_t &b) { return cub::DeviceScan::ExclusiveSumByKey(t, b, d_keys, d_in, d_out, n); });
        out = values_at(d_out, n);
        for (int i = 0, sum = 0; i < n; ++i) {
            if (i % 7 == 0) sum = 0;
            ok = ok && out[i] == sum;
            sum += in[i];
        }
        run([&](void *t, size_t &b) { return cub::DeviceScan::InclusiveScan(t, b, d_f, d_g, Compose(), n); });
        std::vector<Affine> g = values_at(d_g, n);
        Affine all = f[0];
        for (int i = 0; i < n; ++i) {
            if (i > 0) all = Compose()(all, f[i]);
            ok = ok && g[i].m == all.m && g[i].c == all.c;
        }
        run([&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, d_in, d_in, n); });
        out = values_at(d_in, n);
        for (int i = 0, sum = 0; i < n; ++i) ok = ok && out[i] == (sum += in[i]);
        cudaFree(d_in);
        cudaFree(d_out);
        cudaFree(d_keys);
        cudaFree(d_f);
        cudaFree(d_g);
    }
    printf("device scan: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
