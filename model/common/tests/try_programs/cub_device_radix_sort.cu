// Sorts arrays with cub::DeviceRadixSort: pairs, descending, two buffers, some of the bits, negative floats.
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <cstdint>
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
template <typename T>
T *on_device(const std::vector<T> &values) {
    T *d;
    cudaMalloc(&d, (values.size() + 1) * sizeof(T));
    cudaMemcpy(d, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}

template <typename Key>
bool test(int n) {
    std::vector<Key> keys(n);
    std::vector<int> places(n), order(n);
    for (int i = 0; i < n; ++i) {
        keys[i] = (Key)((int64_t)(i * 0x9E3779B97F4A7C15ull >> 40) % 3000 - 1500);
        places[i] = order[i] = i;
    }
    Key *d_keys = on_device(keys), *d_sorted = on_device(keys);
    int *d_places = on_device(places), *d_order = on_device(places);
    bool ok = true;
    run([&](void *t, size_t &b) { return cub::DeviceRadixSort::SortPairs(t, b, d_keys, d_sorted, d_places, d_order, n); });
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    ok = ok && values_at(d_order, n) == order;
    run([&](void *t, size_t &b) { return cub::DeviceRadixSort::SortKeysDescending(t, b, d_keys, d_sorted, n); });
    std::vector<Key> falling = keys;
    std::sort(falling.begin(), falling.end(), [](Key a, Key b) { return a > b; });
    ok = ok && values_at(d_sorted, n) == falling;
    cub::DoubleBuffer<Key> buffers(d_keys, d_sorted);
    run([&](void *t, size_t &b) { return cub::DeviceRadixSort::SortKeys(t, b, buffers, n); });
    std::reverse(falling.begin(), falling.end());
    ok = ok && values_at(buffers.Current(), n) == falling;
    cudaFree(d_keys);
    cudaFree(d_sorted);
    cudaFree(d_places);
    cudaFree(d_order);
    return ok;
}

int main() {
    bool ok = true;
    for (int n : {0, 1, 31, 257, 1009, 20011}) {
        ok = test<int>(n) && ok;
        ok = test<float>(n) && ok;
        ok = test<int64_t>(n) && ok;
        ok = test<double>(n) && ok;
        ok = test<short>(n) && ok;
    }
    std::vector<unsigned> keys = {0x105, 0x204, 0x303, 0x402, 0x501, 0x600};
    unsigned *d_in = on_device(keys), *d_out = on_device(keys);
    run([&](void *t, size_t &b) { return cub::DeviceRadixSort::SortKeys(t, b, d_in, d_out, 6, 0, 2); });
    const std::vector<unsigned> by_two_bits = {0x204, 0x600, 0x105, 0x501, 0x402, 0x303};
    ok = ok && values_at(d_out, 6) == by_two_bits;
    cudaFree(d_in);
    cudaFree(d_out);
    printf("device radix sort: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
