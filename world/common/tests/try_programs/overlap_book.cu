// As books of CUDA's first years write it: it wants to overlap copies with kernels and asks the device for that, prints
// from its kernel, looks at no error, and frees nothing.
#include <stdio.h>
#include <stdlib.h>

#define N (1024 * 64)
#define FULL_DATA_SIZE (N * 4)

__global__ void average(int *a, int *b, int *c) {
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    if (idx < N) c[idx] = (a[idx] + b[idx]) / 2;
    if (idx < 3) printf("element %d is %d\n", idx, c[idx]);
}

int main(void) {
    cudaDeviceProp prop;
    int whichDevice;
    cudaGetDevice(&whichDevice);
    cudaGetDeviceProperties(&prop, whichDevice);
    if (!prop.deviceOverlap) {
        printf("Device will not handle overlaps, so no speed up from streams\n");
        return 0;
    }
    if (prop.clockRate == 0 || prop.asyncEngineCount == 0) return 1;

    cudaStream_t stream;
    int *host_a, *host_b, *host_c, *dev_a, *dev_b, *dev_c;
    cudaStreamCreate(&stream);
    cudaMalloc((void **)&dev_a, N * sizeof(int));
    cudaMalloc((void **)&dev_b, N * sizeof(int));
    cudaMalloc((void **)&dev_c, N * sizeof(int));
    cudaHostAlloc((void **)&host_a, FULL_DATA_SIZE * sizeof(int), cudaHostAllocDefault);
    cudaHostAlloc((void **)&host_b, FULL_DATA_SIZE * sizeof(int), cudaHostAllocDefault);
    cudaHostAlloc((void **)&host_c, FULL_DATA_SIZE * sizeof(int), cudaHostAllocDefault);
    for (int i = 0; i < FULL_DATA_SIZE; i++) {
        host_a[i] = i;
        host_b[i] = 3 * i;
    }
    for (int i = 0; i < FULL_DATA_SIZE; i += N) {
        cudaMemcpyAsync(dev_a, host_a + i, N * sizeof(int), cudaMemcpyHostToDevice, stream);
        cudaMemcpyAsync(dev_b, host_b + i, N * sizeof(int), cudaMemcpyHostToDevice, stream);
        average<<<N / 256, 256, 0, stream>>>(dev_a, dev_b, dev_c);
        cudaMemcpyAsync(host_c + i, dev_c, N * sizeof(int), cudaMemcpyDeviceToHost, stream);
    }
    printf("all chunks are in the stream\n");
    cudaStreamSynchronize(stream);
    for (int i = 0; i < FULL_DATA_SIZE; i++) {
        if (host_c[i] != 2 * i) {
            printf("element %d is wrong\n", i);
            return 1;
        }
    }
    printf("done\n");
    return 0;
}
