// Host code in OpenMP beside a kernel: nvcc gets -Xcompiler -fopenmp for such a program.
#include <omp.h>
#include <stdio.h>

__global__ void square(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}

int main()
{
    const int n = 1000;
    int *x;
    cudaMallocManaged(&x, n * sizeof(int));
    omp_set_num_threads(3);
#pragma omp parallel for
    for (int i = 0; i < n; i++) x[i] = i;
    square<<<(n + 127) / 128, 128>>>(x, n);
    cudaDeviceSynchronize();
    long long sum = 0;
    int threads = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        if (i == 0) threads = omp_get_num_threads();
        sum += x[i];
    }
    printf("sum %lld by %d threads\n", sum, threads);
    cudaFree(x);
    return sum != 332833500;
}
