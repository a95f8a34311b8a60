// Run-length encoding and sums by key, with the places of the runs by a scan.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>

#include <cstdio>
#include <vector>

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
    for (int n : {0, 1, 2, 33, 1009, 20011}) {
        std::vector<int> in(n);
        std::vector<float> values(n);
        for (int i = 0; i < n; ++i) {
            in[i] = (int)((i / (1 + i % 3)) * 40503u >> 8) % 6;
            values[i] = (float)(i % 10);
        }
        std::vector<int> unique, lengths, begins;
        std::vector<float> sums;
        for (int i = 0; i < n; ++i) {
            if (i == 0 || in[i] != in[i - 1]) {
                unique.push_back(in[i]);
                lengths.push_back(0);
                begins.push_back(i);
                sums.push_back(0);
            }
            ++lengths.back();
            sums.back() += values[i];
        }
        const int runs = (int)unique.size();
        int *d_in, *d_unique, *d_lengths, *d_begins, *d_runs, got = -1;
        float *d_values, *d_sums;
        cudaMalloc(&d_in, (n + 1) * sizeof(int));
        cudaMalloc(&d_unique, (runs + 1) * sizeof(int));
        cudaMalloc(&d_lengths, (runs + 1) * sizeof(int));
        cudaMalloc(&d_begins, (runs + 1) * sizeof(int));
        cudaMalloc(&d_runs, sizeof(int));
        cudaMalloc(&d_values, (n + 1) * sizeof(float));
        cudaMalloc(&d_sums, (runs + 1) * sizeof(float));
        cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(d_values, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
        run([&](void *t, size_t &b) {
            return cub::DeviceRunLengthEncode::Encode(t, b, d_in, d_unique, d_lengths, d_runs, n);
        });
        cudaMemcpy(&got, d_runs, sizeof(int), cudaMemcpyDeviceToHost);
        ok = ok && got == runs && values_at(d_unique, runs) == unique && values_at(d_lengths, runs) == lengths;
        run([&](void *t, size_t &b) { return cub::DeviceScan::ExclusiveSum(t, b, d_lengths, d_begins, runs); });
        ok = ok && values_at(d_begins, runs) == begins;
        run([&](void *t, size_t &b) {
            return cub::DeviceReduce::ReduceByKey(t, b, d_in, d_unique, d_values, d_sums, d_runs, cuda::std::plus<>(), n);
        });
        ok = ok && values_at(d_sums, runs) == sums && values_at(d_unique, runs) == unique;
        cudaFree(d_in);
        cudaFree(d_unique);
        cudaFree(d_lengths);
        cudaFree(d_begins);
        cudaFree(d_runs);
        cudaFree(d_values);
        cudaFree(d_sums);
    }
    printf("run length: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
