/*
 * Overlapping transfers and kernels.
 *
 * An array is cut into chunks. Each of four streams copies its chunks to the device, works on them and copies them
 * back, so that on a GPU the copy engines and the multiprocessors have work at the same time. A fifth stream waits
 * for an event of every other one and adds everything up. Times go to stderr; the result does not depend on them.
 *
 * usage: streams_overlap [-n elements] [-c chunks] [-v]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include <cuda_runtime.h>

#define NSTREAMS 4
#define THREADS  256

#define cudaCheck(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        if (abort) exit(code);
    }
}

typedef struct {
    int    number;
    int    chunks_done;
    double host_sum;
} progress_t;

__global__ void transform(float *a, int offset, int n)
{
    int i = offset + threadIdx.x + blockIdx.x * blockDim.x;
    if (i < offset + n) {
        float x = (float)i;
        float s = sinf(x);
        float c = cosf(x);
        a[i] = a[i] + sqrtf(s * s + c * c);
    }
}

/* one block: shared memory is given with the launch */
__global__ void sum_all(const float *a, int n, double *result)
{
    extern __shared__ double cache[];
    int tid = threadIdx.x;
    double sum = 0.0;
    for (int i = tid; i < n; i += blockDim.x)
        sum += a[i];
    cache[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            cache[tid] += cache[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        *result = cache[0];
}

void CUDART_CB chunk_arrived(void *data)
{
    progress_t *progress = (progress_t *)data;
    progress->chunks_done++;
}

static float max_error(const float *a, int n)
{
    float worst = 0;
    for (int i = 0; i < n; i++) {
        float error = fabsf(a[i] - (float)(i % 7) - 1.0f);
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

int main(int argc, char **argv)
{
    int n = 1 << 14, chunks = 10, verbose = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-v")) verbose = 1;
        else if (!strcmp(argv[i], "-n") && i + 1 < argc) n = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-c") && i + 1 < argc) chunks = atoi(argv[++i]);
        else { fprintf(stderr, "usage: %s [-n elements] [-c chunks] [-v]\n", argv[0]); return 2; }
    }
    if (n < 1 || chunks < 1) { fprintf(stderr, "nothing to do\n"); return 2; }

    float *a, *d_a;          /* page-locked host memory and its copy on the device */
    double *sum, *d_sum;
    cudaCheck(cudaMallocHost((void **)&a, n * sizeof(float)));
    cudaCheck(cudaHostAlloc((void **)&sum, sizeof(double), cudaHostAllocPortable));
    cudaCheck(cudaMalloc((void **)&d_a, n * sizeof(float)));
    cudaCheck(cudaMalloc((void **)&d_sum, sizeof(double)));

    cudaStream_t stream[NSTREAMS], last;
    cudaEvent_t startEvent, stopEvent, done[NSTREAMS];
    progress_t progress[NSTREAMS];
    for (int i = 0; i < NSTREAMS; ++i) {
        cudaCheck(cudaStreamCreate(&stream[i]));
        cudaCheck(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
        progress[i] = (progress_t){i, 0, 0.0};
    }
    cudaCheck(cudaStreamCreateWithFlags(&last, cudaStreamNonBlocking));
    cudaCheck(cudaEventCreate(&startEvent));
    cudaCheck(cudaEventCreate(&stopEvent));

    for (int i = 0; i < n; i++) a[i] = (float)(i % 7);

    int chunk = (n + chunks - 1) / chunks;
    cudaCheck(cudaEventRecord(startEvent, 0));
    for (int k = 0; k < NSTREAMS; k++)  /* nothing starts before the start is recorded */
        cudaCheck(cudaStreamWaitEvent(stream[k], startEvent, 0));
    for (int k = 0; k < chunks; k++) {
        cudaStream_t s = stream[k % NSTREAMS];
        int offset = k * chunk;
        int count = n - offset < chunk ? n - offset : chunk;
        if (count <= 0) break;
        cudaCheck(cudaMemcpyAsync(&d_a[offset], &a[offset], count * sizeof(float), cudaMemcpyHostToDevice, s));
        transform<<<(count + THREADS - 1) / THREADS, THREADS, 0, s>>>(d_a, offset, count);
        cudaCheck(cudaGetLastError());
        cudaCheck(cudaMemcpyAsync(&a[offset], &d_a[offset], count * sizeof(float), cudaMemcpyDeviceToHost, s));
        cudaCheck(cudaLaunchHostFunc(s, chunk_arrived, &progress[k % NSTREAMS]));
    }
    for (int k = 0; k < NSTREAMS; k++) {
        cudaCheck(cudaEventRecord(done[k], stream[k]));
        cudaCheck(cudaStreamWaitEvent(last, done[k], 0));
    }
    sum_all<<<1, THREADS, THREADS * sizeof(double), last>>>(d_a, n, d_sum);
    cudaCheck(cudaPeekAtLastError());
    cudaCheck(cudaMemcpyAsync(sum, d_sum, sizeof(double), cudaMemcpyDeviceToHost, last));
    cudaCheck(cudaEventRecord(stopEvent, last));
    cudaCheck(cudaEventSynchronize(stopEvent));

    cudaError_t state = cudaStreamQuery(last);
    if (state != cudaSuccess && state != cudaErrorNotReady) cudaCheck(state);
    int arrived = 0;
    for (int k = 0; k < NSTREAMS; k++) {
        cudaCheck(cudaStreamSynchronize(stream[k]));
        arrived += progress[k].chunks_done;
    }
    float ms = 0;
    cudaCheck(cudaEventElapsedTime(&ms, startEvent, stopEvent));
    if (verbose) fprintf(stderr, "Time for asynchronous transfer and execute (ms): %f\n", ms);

    double expected = n;
    for (int i = 0; i < n; i++) expected += i % 7;
    float error = max_error(a, n);
    int ok = error < 1e-5f && fabs(*sum - expected) < 1e-6 * expected && ms >= 0;

    printf("%d elements in %d chunks on %d streams, %d chunks arrived\n", n, chunks, NSTREAMS, arrived);
    printf("  max error: %s\n", error < 1e-5f ? "below 1e-5" : "too large");
    printf("  sum: %.0f (expected %.0f)\n", *sum, expected);
    printf("%s\n", ok ? "Test passed" : "Test FAILED");

    for (int i = 0; i < NSTREAMS; ++i) {
        cudaCheck(cudaEventDestroy(done[i]));
        cudaCheck(cudaStreamDestroy(stream[i]));
    }
    cudaCheck(cudaStreamDestroy(last));
    cudaCheck(cudaEventDestroy(startEvent));
    cudaCheck(cudaEventDestroy(stopEvent));
    cudaCheck(cudaFree(d_a));
    cudaCheck(cudaFree(d_sum));
    cudaCheck(cudaFreeHost(a));
    cudaCheck(cudaFreeHost(sum));
    return ok ? 0 : 1;
}
