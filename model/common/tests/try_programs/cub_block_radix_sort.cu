// Sorts the tiles of an array with cub::BlockRadixSort: keys of several types, ascending and descending, with values.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>

#include <algorithm>
#include <cstdio>
#include <vector>

template <typename Key, int BLOCK_THREADS, int ITEMS_PER_THREAD>
__global__ void SortTiles(Key *d_keys, int *d_values, bool descending) {
    typedef cub::BlockLoad<Key, BLOCK_THREADS, ITEMS_PER_THREAD, cub::BLOCK_LOAD_WARP_TRANSPOSE> LoadKeys;
    typedef cub::BlockStore<Key, BLOCK_THREADS, ITEMS_PER_THREAD, cub::BLOCK_STORE_WARP_TRANSPOSE> StoreKeys;
    typedef cub::BlockRadixSort<Key, BLOCK_THREADS, ITEMS_PER_THREAD, int> Sort;
    __shared__ union {
        typename LoadKeys::TempStorage load;
        typename Sort::TempStorage sort;
        typename StoreKeys::TempStorage store;
    } temp_storage;
    const int tile = blockIdx.x * BLOCK_THREADS * ITEMS_PER_THREAD;
    Key keys[ITEMS_PER_THREAD];
    int values[ITEMS_PER_THREAD];
    LoadKeys(temp_storage.load).Load(d_keys + tile, keys);
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) values[i] = tile + threadIdx.x * ITEMS_PER_THREAD + i;
    __syncthreads();
    if (descending) Sort(temp_storage.sort).SortDescending(keys, values);
    else Sort(temp_storage.sort).Sort(keys, values);
    __syncthreads();
    StoreKeys(temp_storage.store).Store(d_keys + tile, keys);
    cub::StoreDirectBlocked(threadIdx.x, d_values + tile, values);
}

template <typename Key>
Key key_of(unsigned x) { return (Key)((int)(x % 2001) - 1000); }

template <typename Key, int BLOCK_THREADS, int ITEMS_PER_THREAD>
bool test(bool descending) {
    const int tile = BLOCK_THREADS * ITEMS_PER_THREAD, n = 3 * tile;
    std::vector<Key> keys(n), sorted(n);
    std::vector<int> values(n);
    for (int i = 0; i < n; ++i) keys[i] = key_of<Key>(i * 2654435761u >> 7);
    Key *d_keys;
    int *d_values;
    cudaMalloc(&d_keys, n * sizeof(Key));
    cudaMalloc(&d_values, n * sizeof(int));
    cudaMemcpy(d_keys, keys.data(), n * sizeof(Key), cudaMemcpyHostToDevice);
    SortTiles<Key, BLOCK_THREADS, ITEMS_PER_THREAD><<<3, BLOCK_THREADS>>>(d_keys, d_values, descending);
    cudaMemcpy(sorted.data(), d_keys, n * sizeof(Key), cudaMemcpyDeviceToHost);
    cudaMemcpy(values.data(), d_values, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_keys);
    cudaFree(d_values);
    bool ok = true;
    for (int t = 0; t < 3; ++t) {
        std::vector<int> order(tile);
        for (int i = 0; i < tile; ++i) order[i] = t * tile + i;
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return descending ? keys[a] > keys[b] : keys[a] < keys[b];
        });
        for (int i = 0; i < tile; ++i)
            ok = ok && sorted[t * tile + i] == keys[order[i]] && values[t * tile + i] == order[i];
    }
    return ok;
}

int main() {
    bool ok = test<int, 128, 4>(false) && test<int, 128, 4>(true);
    ok = test<unsigned, 64, 7>(false) && ok;
    ok = test<float, 96, 8>(false) && test<float, 96, 8>(true) && ok;
    ok = test<short, 32, 3>(true) && ok;
    ok = test<double, 128, 1>(false) && ok;
    printf("block radix sort: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
