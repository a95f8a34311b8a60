/*
 * Vector addition: C = A + B.
 *
 * The first program of most CUDA courses: allocate on both sides, copy in, launch one thread per element, copy out,
 * compare with the CPU.
 *
 *   vector_add [-n=ELEMENTS] [-device=N]
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>

// ---- utilities -----------------------------------------------------------------------------------------------

template <typename T>
void check(T result, char const* const func, const char* const file, int const line) {
    if (result) {
        fprintf(stderr, "%s:%d: error %d (%s) from %s\n", file, line, static_cast<unsigned int>(result),
                cudaGetErrorName(result), func);
        exit(EXIT_FAILURE);
    }
}

#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
#define getLastCudaError(msg) check_last_error(msg, __FILE__, __LINE__)

inline void check_last_error(const char* what, const char* file, const int line) {
    cudaError_t err = cudaGetLastError();

    if (cudaSuccess != err) {
        fprintf(stderr, "%s:%i: %s: error %d, %s\n", file, line, what, static_cast<int>(err), cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}

/// The number after `-name=` or `--name=`; `fallback` when it was not given.
inline int intOption(const int argc, const char** argv, const char* name, int fallback) {
    for (int i = 1; i < argc; i++) {
        const char* arg = argv[i];
        while (*arg == '-') arg++;
        const size_t length = strlen(name);
        if (!strncmp(arg, name, length) && arg[length] == '=') return atoi(arg + length + 1);
    }
    return fallback;
}

inline int pickDevice(int argc, const char** argv) {
    int device_count = 0;
    checkCudaErrors(cudaGetDeviceCount(&device_count));
    if (device_count == 0) {
        fprintf(stderr, "No device supports CUDA.\n");
        exit(EXIT_FAILURE);
    }

    int devID = intOption(argc, argv, "device", 0);
    if (devID < 0 || devID > device_count - 1) {
        fprintf(stderr, "-device=%d: the devices here are 0 to %d.\n", devID, device_count - 1);
        exit(EXIT_FAILURE);
    }

    cudaDeviceProp properties;
    checkCudaErrors(cudaGetDeviceProperties(&properties, devID));
    checkCudaErrors(cudaSetDevice(devID));
    fprintf(stderr, "GPU Device %d: \"%s\" with compute capability %d.%d, %d multiprocessors, %.0f MBytes\n", devID,
            properties.name, properties.major, properties.minor, properties.multiProcessorCount,
            properties.totalGlobalMem / 1048576.0);
    return devID;
}

// ---- the sample ----------------------------------------------------------------------------------------------

/**
 * One element of C per thread. The grid is rounded up to whole blocks, so the last threads may have none.
 */
__global__ void vectorAdd(const float* A, const float* B, float* C, int numElements) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < numElements) {
        C[i] = A[i] + B[i];
    }
}

int main(int argc, char** argv) {
    printf("%s Starting...\n", "vectorAdd");
    pickDevice(argc, (const char**)argv);

    int numElements = intOption(argc, (const char**)argv, "n", 50000);
    size_t size = numElements * sizeof(float);
    printf("[Adding two vectors of %d elements, %zu bytes each]\n", numElements, size);

    float* h_A = (float*)malloc(size);
    float* h_B = (float*)malloc(size);
    float* h_C = (float*)malloc(size);
    if (h_A == NULL || h_B == NULL || h_C == NULL) {
        fprintf(stderr, "No memory for the host vectors\n");
        exit(EXIT_FAILURE);
    }

    srand(2006);
    for (int i = 0; i < numElements; ++i) {
        h_A[i] = rand() / (float)RAND_MAX;
        h_B[i] = rand() / (float)RAND_MAX;
    }

    float *d_A = NULL, *d_B = NULL, *d_C = NULL;
    checkCudaErrors(cudaMalloc((void**)&d_A, size));
    checkCudaErrors(cudaMalloc((void**)&d_B, size));
    checkCudaErrors(cudaMalloc((void**)&d_C, size));

    printf("Copying A and B to the device\n");
    checkCudaErrors(cudaMemcpy(d_A, h_A, size, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d_B, h_B, size, cudaMemcpyHostToDevice));

    int threadsPerBlock = 256;
    int blocksPerGrid = (numElements + threadsPerBlock - 1) / threadsPerBlock;
    printf("Launch of %d blocks of %d threads\n", blocksPerGrid, threadsPerBlock);

    cudaEvent_t start, stop;
    checkCudaErrors(cudaEventCreate(&start));
    checkCudaErrors(cudaEventCreate(&stop));
    checkCudaErrors(cudaEventRecord(start, 0));
    vectorAdd<<<blocksPerGrid, threadsPerBlock>>>(d_A, d_B, d_C, numElements);
    getLastCudaError("vectorAdd launch failed");
    checkCudaErrors(cudaEventRecord(stop, 0));
    checkCudaErrors(cudaEventSynchronize(stop));

    float msecTotal = 0.0f;
    checkCudaErrors(cudaEventElapsedTime(&msecTotal, start, stop));
    fprintf(stderr, "Kernel time: %.3f msec\n", msecTotal);
    checkCudaErrors(cudaEventDestroy(start));
    checkCudaErrors(cudaEventDestroy(stop));

    printf("Copying C back\n");
    checkCudaErrors(cudaMemcpy(h_C, d_C, size, cudaMemcpyDeviceToHost));

    for (int i = 0; i < numElements; ++i) {
        if (!(fabs(h_A[i] + h_B[i] - h_C[i]) <= 1e-5)) {
            fprintf(stderr, "Element %d is %f, should be %f\n", i, h_C[i], h_A[i] + h_B[i]);
            exit(EXIT_FAILURE);
        }
    }
    printf("Test PASSED\n");

    checkCudaErrors(cudaFree(d_A));
    checkCudaErrors(cudaFree(d_B));
    checkCudaErrors(cudaFree(d_C));
    free(h_A);
    free(h_B);
    free(h_C);

    printf("Done\n");
    return 0;
}
