// Keeps some elements of an array with cub::DeviceSelect, and separates them with cub::DevicePartition.
#include <cub/device/device_partition.cuh>
#include <cub/device/device_select.cuh>

#include <cstdio>
#include <vector>

struct LessThan {
    int compare;
    __host__ __device__ __forceinline__ LessThan(int compare) : compare(compare) {}
    __host__ __device__ __forceinline__ bool operator()(const int &a) const { return a < compare; }
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

int main() {
    bool ok = true;
    for (int n : {1, 32, 33, 1009, 30011}) {
        std::vector<int> in(n), out(n);
        std::vector<char> flags(n);
        for (int i = 0; i < n; ++i) {
            in[i] = (i / 3 * 2654435761u >> 20) % 100;
            flags[i] = i % 5 == 2;
        }
        int *d_in, *d_out, *d_num, num = -1;
        char *d_flags;
        cudaMalloc(&d_in, n * sizeof(int));
        cudaMalloc(&d_out, n * sizeof(int));
        cudaMalloc(&d_flags, n);
        cudaMalloc(&d_num, sizeof(int));
        cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(d_flags, flags.data(), n, cudaMemcpyHostToDevice);
        auto expect = [&](const std::vector<int> &wanted, int kept) {
            cudaMemcpy(out.data(), d_out, wanted.size() * sizeof(int), cudaMemcpyDeviceToHost);
            cudaMemcpy(&num, d_num, sizeof(int), cudaMemcpyDeviceToHost);
            ok = ok && num == kept;
            for (size_t i = 0; i < wanted.size(); ++i) ok = ok && out[i] == wanted[i];
        };
        std::vector<int> small, flagged, unique, separated;
        for (int i = 0; i < n; ++i) {
            if (in[i] < 30) small.push_back(in[i]);
            if (flags[i]) flagged.push_back(in[i]);
            if (i == 0 || in[i] != in[i - 1]) unique.push_back(in[i]);
        }
        separated = small;
        for (int i = n - 1; i >= 0; --i)
            if (in[i] >= 30) separated.push_back(in[i]);
        run([&](void *t, size_t &b) { return cub::DeviceSelect::If(t, b, d_in, d_out, d_num, n, LessThan(30)); });
        expect(small, (int)small.size());
        run([&](void *t, size_t &b) { return cub::DeviceSelect::Flagged(t, b, d_in, d_flags, d_out, d_num, n); });
        expect(flagged, (int)flagged.size());
        run([&](void *t, size_t &b) { return cub::DeviceSelect::Unique(t, b, d_in, d_out, d_num, n); });
        expect(unique, (int)unique.size());
        run([&](void *t, size_t &b) { return cub::DevicePartition::If(t, b, d_in, d_out, d_num, n, LessThan(30)); });
        expect(separated, (int)small.size());
        cudaFree(d_in);
        cudaFree(d_out);
        cudaFree(d_flags);
        cudaFree(d_num);
    }
    printf("device select: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
