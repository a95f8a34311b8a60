// Many parts of an array at once: sums, largest elements, and sorts of segments, some of them empty.
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include <algorithm>
#include <climits>
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

int main() {
    bool ok = true;
    for (int segments : {1, 2, 33, 501}) {
        std::vector<int> offsets = {0};
        for (int s = 0; s < segments; ++s) offsets.push_back(offsets.back() + (s * 29) % 41);
        offsets.back() += 3;
        const int n = offsets.back();
        std::vector<int> in(n), out(n), got(segments);
        for (int i = 0; i < n; ++i) in[i] = (int)(i * 2654435761u >> 18) % 500 - 250;
        int *d_in, *d_out, *d_offsets, *d_results;
        cub::KeyValuePair<int, int> *d_pairs;
        cudaMalloc(&d_in, n * sizeof(int));
        cudaMalloc(&d_out, n * sizeof(int));
        cudaMalloc(&d_offsets, (segments + 1) * sizeof(int));
        cudaMalloc(&d_results, segments * sizeof(int));
        cudaMalloc(&d_pairs, segments * sizeof(*d_pairs));
        cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(d_offsets, offsets.data(), (segments + 1) * sizeof(int), cudaMemcpyHostToDevice);
        run([&](void *t, size_t &b) {
            return cub::DeviceSegmentedReduce::Sum(t, b, d_in, d_results, segments, d_offsets, d_offsets + 1);
        });
        cudaMemcpy(got.data(), d_results, segments * sizeof(int), cudaMemcpyDeviceToHost);
        for (int s = 0; s < segments; ++s) {
            int sum = 0;
            for (int i = offsets[s]; i < offsets[s + 1]; ++i) sum += in[i];
            ok = ok && got[s] == sum;
        }
        run([&](void *t, size_t &b) {
            return cub::DeviceSegmentedReduce::ArgMax(t, b, d_in, d_pairs, segments, d_offsets, d_offsets + 1);
        });
        std::vector<cub::KeyValuePair<int, int>> pairs(segments);
        cudaMemcpy(pairs.data(), d_pairs, segments * sizeof(pairs[0]), cudaMemcpyDeviceToHost);
        for (int s = 0; s < segments; ++s) {
            int key = 1, value = INT_MIN;
            for (int i = offsets[s]; i < offsets[s + 1]; ++i)
                if (i == offsets[s] || in[i] > value) { key = i - offsets[s]; value = in[i]; }
            ok = ok && pairs[s].key == key && pairs[s].value == value;
        }
        for (int kind = 0; kind < 2; ++kind) {
            run([&](void *t, size_t &b) {
                return kind == 0 ? cub::DeviceSegmentedSort::SortKeys(t, b, d_in, d_out, n, segments, d_offsets, d_offsets + 1)
                                 : cub::DeviceSegmentedRadixSort::SortKeys(t, b, d_in, d_out, n, segments, d_offsets, d_offsets + 1);
            });
            cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
            std::vector<int> sorted = in;
            for (int s = 0; s < segments; ++s) std::sort(sorted.begin() + offsets[s], sorted.begin() + offsets[s + 1]);
            ok = ok && out == sorted;
        }
        cudaFree(d_in);
        cudaFree(d_out);
        cudaFree(d_offsets);
        cudaFree(d_results);
        cudaFree(d_pairs);
    }
    printf("segments: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
