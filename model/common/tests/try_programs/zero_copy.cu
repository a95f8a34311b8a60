/* Zero copy: kernels work on host memory that is mapped into the device's address space.
 *
 *   zero_copy                page-locked memory from cudaHostAlloc
 *   zero_copy --registered   ordinary memory, page-locked afterwards with cudaHostRegister
 *   zero_copy --both         first the one, then the other (default)
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstdint>
#include <cmath>

typedef unsigned int uint;

#define MEMORY_ALIGNMENT 4096
#define ALIGN_UP(x, size) (((size_t)(x) + (size_t)(size) - 1) & ~((size_t)(size) - 1))

#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)

template <typename T>
static void check(T result, char const *const func, const char *const file, int const line)
{
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<unsigned int>(result),
                cudaGetErrorName(result), func);
        exit(EXIT_FAILURE);
    }
}

__global__ void vectorAddGPU(float *a, float *b, float *c, int N)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;

    if (idx < N) {
        c[idx] = a[idx] + b[idx];
    }
}

/* The device counts, the host reads without any copy. */
__global__ void histogram8(const float *values, int N, uint *bins)
{
    __shared__ uint counts[8];
    if (threadIdx.x < 8) counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += blockDim.x * gridDim.x)
        atomicAdd(&counts[(uint)values[i] & 7], 1u);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd_system(&bins[threadIdx.x], counts[threadIdx.x]);
}

struct Arrays
{
    float *a, *b, *c;
    uint *bins;
    void *unaligned[4];
};

static void allocateMapped(Arrays *arrays, size_t bytes)
{
    unsigned int flags = cudaHostAllocMapped;
    checkCudaErrors(cudaHostAlloc((void **)&arrays->a, bytes, flags | cudaHostAllocWriteCombined));
    checkCudaErrors(cudaHostAlloc((void **)&arrays->b, bytes, flags | cudaHostAllocWriteCombined));
    checkCudaErrors(cudaHostAlloc((void **)&arrays->c, bytes, flags));
    checkCudaErrors(cudaHostAlloc((void **)&arrays->bins, 8 * sizeof(uint), flags));
}

static void *allocateRegistered(void **unaligned, size_t bytes)
{
    *unaligned = malloc(bytes + MEMORY_ALIGNMENT);
    if (*unaligned == NULL) exit(EXIT_FAILURE);
    void *aligned = (void *)ALIGN_UP(*unaligned, MEMORY_ALIGNMENT);
    checkCudaErrors(cudaHostRegister(aligned, bytes, cudaHostRegisterMapped));
    return aligned;
}

static bool run(bool registered, int nelem)
{
    const size_t bytes = nelem * sizeof(float);
    Arrays h;
    float *d_a, *d_b, *d_c;
    uint *d_bins;

    if (registered) {
        h.a = (float *)allocateRegistered(&h.unaligned[0], bytes);
        h.b = (float *)allocateRegistered(&h.unaligned[1], bytes);
        h.c = (float *)allocateRegistered(&h.unaligned[2], bytes);
        h.bins = (uint *)allocateRegistered(&h.unaligned[3], 8 * sizeof(uint));
    } else {
        allocateMapped(&h, bytes);
    }
    for (int n = 0; n < nelem; n++) {
        h.a[n] = (float)(n % 1000);
        h.b[n] = (float)(n / 1000) + 0.25f;
    }
    memset(h.bins, 0, 8 * sizeof(uint));

    checkCudaErrors(cudaHostGetDevicePointer((void **)&d_a, (void *)h.a, 0));
    checkCudaErrors(cudaHostGetDevicePointer((void **)&d_b, (void *)h.b, 0));
    checkCudaErrors(cudaHostGetDevicePointer((void **)&d_c, (void *)h.c, 0));
    checkCudaErrors(cudaHostGetDevicePointer(&d_bins, h.bins, 0));

    cudaPointerAttributes attributes;
    checkCudaErrors(cudaPointerGetAttributes(&attributes, h.c));
    bool ok = attributes.type == cudaMemoryTypeHost && attributes.devicePointer == d_c;

    dim3 block(256);
    dim3 grid((unsigned int)ceil(nelem / (float)block.x));
    vectorAddGPU<<<grid, block>>>(d_a, d_b, d_c, nelem);
    checkCudaErrors(cudaGetLastError());
    histogram8<<<4, 128>>>(d_c, nelem, d_bins);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaDeviceSynchronize());

    uint expected[8] = {0};
    float errorNorm = 0.f, refNorm = 0.f;
    for (int n = 0; n < nelem; n++) {
        const float ref = h.a[n] + h.b[n];
        const float diff = h.c[n] - ref;
        errorNorm += diff * diff;
        refNorm += ref * ref;
        expected[(uint)ref & 7]++;
    }
    ok = ok && sqrtf(errorNorm) / sqrtf(refNorm) < 1.e-6f && memcmp(expected, h.bins, sizeof expected) == 0;
    printf("> %s: bins", registered ? "cudaHostRegister" : "cudaHostAlloc");
    for (int i = 0; i < 8; i++) printf(" %u", h.bins[i]);
    printf(", %s\n", ok ? "ok" : "WRONG");

    if (registered) {
        void *all[4] = {h.a, h.b, h.c, h.bins};
        for (int i = 0; i < 4; i++) {
            checkCudaErrors(cudaHostUnregister(all[i]));
            free(h.unaligned[i]);
        }
    } else {
        checkCudaErrors(cudaFreeHost(h.a));
        checkCudaErrors(cudaFreeHost(h.b));
        checkCudaErrors(cudaFreeHost(h.c));
        checkCudaErrors(cudaFreeHost(h.bins));
    }
    return ok;
}

int main(int argc, char **argv)
{
    bool pinned = true, registered = true;
    if (argc > 1 && strcmp(argv[1], "--registered") == 0) pinned = false;
    else if (argc > 1 && strcmp(argv[1], "--pinned") == 0) registered = false;
    else if (argc > 1 && strcmp(argv[1], "--both") != 0) {
        printf("Invalid option %s\n", argv[1]);
        return EXIT_FAILURE;
    }

    int idev = 0;
    checkCudaErrors(cudaSetDevice(idev));
    cudaDeviceProp deviceProp;
    checkCudaErrors(cudaGetDeviceProperties(&deviceProp, idev));
    if (!deviceProp.canMapHostMemory) {
        fprintf(stderr, "Device %d does not support mapping CPU host memory!\n", idev);
        return EXIT_SUCCESS;
    }
    checkCudaErrors(cudaSetDeviceFlags(cudaDeviceMapHost));

    bool ok = true;
    if (pinned) ok = run(false, 20000) && ok;
    if (registered) ok = run(true, 20000) && ok;
    printf("%s\n", ok ? "zero_copy completed, returned OK" : "zero_copy FAILED");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
