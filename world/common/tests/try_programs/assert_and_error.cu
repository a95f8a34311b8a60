// What the runtime says when it is used wrongly. Every mistake here is made on purpose and looked at; the program
// fails if an error code is not the one that the documentation promises. Launches with a wrong configuration are
// refused with one of two codes, depending on the version of the runtime.

#include <cuda_runtime.h>

#include <cassert>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int g_failures = 0;

#define EXPECT_ERROR(expected, call)                                                                          \
    do {                                                                                                      \
        const cudaError_t got_ = (call);                                                                      \
        const bool ok_ = got_ == (expected);                                                                  \
        printf("%-62s %3d %s%s\n", #call, static_cast<int>(got_), cudaGetErrorName(got_), ok_ ? "" : "  !!"); \
        if (!ok_) ++g_failures;                                                                               \
    } while (0)

#define EXPECT(condition)                                            \
    do {                                                             \
        if (!(condition)) {                                          \
            printf("line %d: not true: %s\n", __LINE__, #condition); \
            ++g_failures;                                            \
        }                                                            \
    } while (0)

static bool is_refusal(cudaError_t error) {
    switch (error) {
        case cudaErrorInvalidConfiguration:
        case cudaErrorInvalidValue:
            return true;
        default:
            fprintf(stderr, "expected a refusal, got %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
            return false;
    }
}

#define EXPECT_REFUSAL(call)                                              \
    do {                                                                  \
        const bool ok_ = is_refusal(call);                                \
        printf("%-62s %s\n", #call, ok_ ? "refused" : "not refused  !!"); \
        if (!ok_) ++g_failures;                                           \
    } while (0)

__global__ void nothing() {}

__global__ void fill(int *out, int n, int value) {
    extern __shared__ int scratch[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(blockDim.x <= 1024);
    if (i >= n) return;
    scratch[threadIdx.x] = value;
    out[i] = scratch[threadIdx.x] + i;
}

// As people write it: launch, ask what became of it, and ask again after the kernel has ended.
template <typename... Parameters, typename... Arguments>
static cudaError_t try_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
                              Arguments... arguments) {
    kernel<<<grid, block, shared>>>(arguments...);
    const cudaError_t launched = cudaGetLastError();
    return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

static void bad_launches(int *d, int n) {
    puts("-- launches");
    cudaDeviceProp prop;
    EXPECT_ERROR(cudaSuccess, cudaGetDeviceProperties(&prop, 0));
    const unsigned most = prop.maxThreadsPerBlock, z = prop.maxThreadsDim[2] + 1;

    EXPECT_ERROR(cudaSuccess, try_launch(nothing, 1, most, 0));
    EXPECT_REFUSAL(try_launch(nothing, 1, most + 1, 0));
    EXPECT_REFUSAL(try_launch(nothing, 1, 0, 0));
    EXPECT_REFUSAL(try_launch(nothing, 0, 32, 0));
    EXPECT_REFUSAL(try_launch(nothing, 1, dim3(1, 1, z), 0));
    EXPECT_REFUSAL(try_launch(nothing, dim3(1, 65536), 1, 0));
    EXPECT_REFUSAL(try_launch(nothing, dim3(1, 1, 65536), 1, 0));
    EXPECT_REFUSAL(try_launch(fill, 1, 32, prop.sharedMemPerBlock + 4, d, n, 1));

    // Once asked for, more shared memory is fine.
    const cudaFuncAttribute dynamic = cudaFuncAttributeMaxDynamicSharedMemorySize;
    const int optin = (int)prop.sharedMemPerBlockOptin;
    EXPECT_ERROR(cudaSuccess, cudaFuncSetAttribute(fill, dynamic, optin));
    EXPECT_ERROR(cudaSuccess, try_launch(fill, 1, 32, optin, d, n, 1));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFuncSetAttribute(fill, dynamic, optin + 1));
    (void)cudaGetLastError();
}

static void last_error() {
    puts("-- cudaGetLastError and cudaPeekAtLastError");
    nothing<<<1, 4096>>>();
    EXPECT_REFUSAL(cudaPeekAtLastError());  // looks, does not forget
    EXPECT_REFUSAL(cudaPeekAtLastError());
    EXPECT_REFUSAL(cudaGetLastError());  // looks and forgets
    EXPECT_ERROR(cudaSuccess, cudaGetLastError());

    // A call that succeeds leaves the last error alone.
    EXPECT(cudaMalloc((void **)nullptr, 4) == cudaErrorInvalidValue);
    int count = 0;
    EXPECT(cudaGetDeviceCount(&count) == cudaSuccess && count >= 1);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    EXPECT_ERROR(cudaSuccess, cudaDeviceSynchronize());
}

static void bad_calls(int *d) {
    puts("-- calls");
    int host[4] = {1, 2, 3, 4};
    int device = -1;
    void *p = nullptr;
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(1000));
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(-1));
    EXPECT_ERROR(cudaSuccess, cudaGetDevice(&device));
    EXPECT(device == 0);
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&device, cudaDevAttrWarpSize, 99));
    EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&p, SIZE_MAX / 4));
    EXPECT(p == nullptr);
    EXPECT_ERROR(cudaSuccess, cudaMalloc(&p, 0));
    EXPECT_ERROR(cudaSuccess, cudaFree(nullptr));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(nullptr, host, sizeof host, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidMemcpyDirection, cudaMemcpy(d, host, sizeof host, (cudaMemcpyKind)77));
    EXPECT_ERROR(cudaSuccess, cudaMemcpy(d, host, 0, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 16));
    cudaEvent_t event = nullptr;
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(event, 0));
    cudaEvent_t start, stop;
    EXPECT_ERROR(cudaSuccess, cudaEventCreateWithFlags(&start, cudaEventDisableTiming));
    EXPECT_ERROR(cudaSuccess, cudaEventCreate(&stop));
    EXPECT(cudaEventRecord(start) == cudaSuccess && cudaEventRecord(stop) == cudaSuccess);
    EXPECT_ERROR(cudaSuccess, cudaEventSynchronize(stop));
    float ms = 0;
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, stop));
    EXPECT(cudaEventDestroy(start) == cudaSuccess && cudaEventDestroy(stop) == cudaSuccess);
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

static void texts() {
    puts("-- texts");
    const cudaError_t some[] = {cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation,
                                cudaErrorInvalidConfiguration, cudaErrorInvalidDevice, cudaErrorNotReady};
    for (cudaError_t error : some) printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
    EXPECT(strcmp(cudaGetErrorString((cudaError_t)54321), "unrecognized error code") == 0);
}

int main() {
    const int n = 64;
    int *d = nullptr, h[n];
    EXPECT(cudaMalloc(&d, n * sizeof(int)) == cudaSuccess);
    bad_launches(d, n);
    last_error();
    bad_calls(d);
    texts();

    // After all that the device works as if nothing had happened.
    puts("-- afterwards");
    EXPECT_ERROR(cudaSuccess, try_launch(fill, 2, 32, 32 * sizeof(int), d, n, 1000));
    EXPECT_ERROR(cudaSuccess, cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) EXPECT(h[i] == 1000 + i);
    EXPECT_ERROR(cudaSuccess, cudaFree(d));
    printf("%s (%d unexpected)\n", g_failures == 0 ? "PASSED" : "FAILED", g_failures);
    return g_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
