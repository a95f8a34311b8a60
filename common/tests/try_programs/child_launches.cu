// Quicksort by kernels that launch kernels, as books on dynamic parallelism show it.
#include <cstdio>
#include <cstdlib>

__device__ void sort_few(int* data, int left, int right) {
    for (int i = left; i <= right; ++i) {
        int smallest = i;
        for (int j = i + 1; j <= right; ++j)
            if (data[j] < data[smallest]) smallest = j;
        const int kept = data[i];
        data[i] = data[smallest];
        data[smallest] = kept;
    }
}

__global__ void quicksort(int* data, int left, int right, int depth) {
    if (depth >= 16 || right - left <= 16) {
        sort_few(data, left, right);
        return;
    }
    int* low = data + left;
    int* high = data + right;
    const int pivot = data[(left + right) / 2];
    while (low <= high) {
        while (*low < pivot) ++low;
        while (*high > pivot) --high;
        if (low <= high) {
            const int kept = *low;
            *low++ = *high;
            *high-- = kept;
        }
    }
    if (left < high - data) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, left, static_cast<int>(high - data), depth + 1);
        cudaStreamDestroy(stream);
    }
    if (low - data < right) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, static_cast<int>(low - data), right, depth + 1);
        cudaStreamDestroy(stream);
    }
}

__global__ void child(int parent) { printf("child %d of block %d\n", threadIdx.x, parent); }
__global__ void last() { printf("the tail\n"); }
__global__ void parent() {
    last<<<1, 1, 0, cudaStreamTailLaunch>>>();
    printf("parent %d\n", blockIdx.x);
    child<<<1, 2>>>(blockIdx.x);
}

__global__ void add_one(int* values) { values[threadIdx.x] += 1; }
__global__ void fill_and_add(int* values) {
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) add_one<<<1, blockDim.x>>>(values);
}

int main() {
    const int n = 2000;
    int* data;
    cudaMallocManaged(&data, n * sizeof(int));
    srand(7);
    for (int i = 0; i < n; ++i) data[i] = rand() % 1000;
    quicksort<<<1, 1>>>(data, 0, n - 1, 0);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 1; i < n; ++i) wrong += data[i - 1] > data[i];
    printf("%d of %d out of order\n", wrong, n);

    fill_and_add<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    printf("%d %d\n", data[0], data[63]);
    cudaFree(data);

    parent<<<2, 1>>>();
    cudaDeviceSynchronize();
    return wrong == 0 ? 0 : 1;
}
