/* What code looks like that has to compile as several files, with old and new compilers, for host and device: here
 * "config.h", "vec.cuh", "kernels.cu" and "main.cu" are glued together into one file. */

/* ------------------------------------------------------------------ config.h */
#ifndef CONFIG_H
#define CONFIG_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__CUDACC__)
#define HOST_DEVICE __host__ __device__
#define INLINE __forceinline__
#define ALIGN(n) __align__(n)
#else
#error "this file needs a CUDA compiler"
#endif

#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 9
#error "CUDA 9 or newer, please"
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 500
#error "too old a device"
#endif

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
#define MIN_BLOCKS_PER_SM 4
#define DIV_UP(a, b) (((a) + (b)-1) / (b))
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define KERNEL_LOOP(i, n) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

#define CUDA_SAFE_CALL_NO_SYNC(call)                                                                          \
    do {                                                                                                      \
        cudaError err = call;                                                                                 \
        if (cudaSuccess != err) {                                                                             \
            fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\n", __FILE__, __LINE__,                 \
                    cudaGetErrorString(err));                                                                 \
            exit(EXIT_FAILURE);                                                                               \
        }                                                                                                     \
    } while (0)
#define CUDA_SAFE_CALL(call)                              \
    do {                                                  \
        CUDA_SAFE_CALL_NO_SYNC(call);                     \
        CUDA_SAFE_CALL_NO_SYNC(cudaDeviceSynchronize());  \
    } while (0)
#define CUT_CHECK_ERROR(msg)                                                                                  \
    do {                                                                                                      \
        cudaError_t e = cudaGetLastError();                                                                   \
        if (e == cudaSuccess) e = cudaDeviceSynchronize();                                                    \
        if (e != cudaSuccess) fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(e)), exit(EXIT_FAILURE);    \
    } while (0)
#endif

/* ------------------------------------------------------------------ vec.cuh */
#ifndef VEC_CUH
#define VEC_CUH
namespace geometry {
namespace detail {

template <class T, int N>
struct ALIGN(16) Vec {
    T v[N];
    HOST_DEVICE INLINE T &operator[](int i) { return v[i]; }
    HOST_DEVICE INLINE const T &operator[](int i) const { return v[i]; }
    HOST_DEVICE friend INLINE Vec operator+(const Vec &a, const Vec &b)
    {
        Vec r;
#pragma unroll
        for (int i = 0; i < N; i++) r[i] = a[i] + b[i];
        return r;
    }
};

HOST_DEVICE INLINE int population(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __popc(bits);
#else
    int count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
#endif
}

}  // namespace detail
typedef detail::Vec<float, 4> vec4;
static __device__ const vec4 kOffset = {{1.f, 2.f, 3.f, 4.f}};
}  // namespace geometry

inline float4 operator*(float s, const float4 &a) { return make_float4(s * a.x, s * a.y, s * a.z, s * a.w); }
#endif

/* ------------------------------------------------------------------ kernels.cu */
static __device__ unsigned int d_launches = 0;
__device__ float d_table[8];
static __device__ __constant__ int c_sizes[] = {1, 2, 4, 8};
__device__ unsigned long long d_bits_seen = 0ull;

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE, MIN_BLOCKS_PER_SM)
add_offset(geometry::vec4 *__restrict__ out, const geometry::vec4 *__restrict__ in, const int n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicInc(&d_launches, 0xffffffffu);
    KERNEL_LOOP(i, n) out[i] = in[i] + geometry::kOffset;
}

extern "C" {
__global__ void count_bits(const uint32_t *in, int n)
{
    unsigned long long bits = 0;
    KERNEL_LOOP(i, n) bits += geometry::detail::population(__ldg(&in[i]));
    if (bits) atomicAdd(&d_bits_seen, bits);
}
}

typedef float (*unary_t)(float);
static __device__ float f_double(float x) { return 2.f * x; }
static __device__ float f_negate(float x) { return -x; }
__device__ unary_t d_double = f_double;
__device__ unary_t d_functions[2] = {f_double, f_negate};

__global__ void apply(unary_t f, float *x, int n)
{
    KERNEL_LOOP(i, n) x[i] = f(x[i]);
}

static __global__ void apply_by_number(int which, float *x, int n)
{
    KERNEL_LOOP(i, n) x[i] = (*d_functions[which])(x[i]);
}

#define DEFINE_SCALE(type)                                                                     \
    __global__ void CONCAT(scale_, type)(type * x, type s, int n) { KERNEL_LOOP(i, n) x[i] *= s; }
DEFINE_SCALE(float)
DEFINE_SCALE(int)
#undef DEFINE_SCALE

namespace geometry {
template <int SIZE, bool NEGATE = false>
static __global__ void repeat(float *x)
{
    if (threadIdx.x == 0) d_table[SIZE] = (NEGATE ? -1 : 1) * SIZE + c_sizes[blockIdx.x];
    _Pragma("unroll 4") for (int i = 0; i < SIZE; i++) x[i * blockDim.x + threadIdx.x] += 1.f;
}
void run_repeat(float *x);
}  // namespace geometry

void geometry::run_repeat(float *x)
{
    repeat<4><<<1, 32>>>(x);
    CUT_CHECK_ERROR("repeat<4> failed");
    geometry::repeat<2, true><<<dim3(1, 1, 1), 32, 0, cudaStreamPerThread>>>(x);
    CUT_CHECK_ERROR("repeat<2> failed");
}

__global__ void which_architecture(int *out)
{
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 700)
    *out = 7;
#elif defined(__CUDA_ARCH__)
    *out = 5;
#else
    *out = 7; /* one compilation for everything */
#endif
}

/* ------------------------------------------------------------------ main.cu */
typedef void (*scale_kernel_t)(float *, float, int);

static int expect(const char *name, double got, double expected)
{
    printf("%-18s %g%s\n", name, got, got == expected ? "" : "  WRONG");
    return got != expected;
}

int main()
{
    const int n = 1000;
    int failures = 0, count = n, *d_int = NULL;
    float *x = (float *)malloc(n * sizeof(float)), *d_x = NULL;
    geometry::vec4 *d_v = NULL, v[10];
    uint32_t bits[10], *d_in = NULL;
    dim3 grid(DIV_UP(n, BLOCK_SIZE)), block(BLOCK_SIZE);

    for (int i = 0; i < n; i++) x[i] = (float)i;
    for (int i = 0; i < 10; i++) v[i] = geometry::vec4{{float(i), float(i), float(i), float(i)}}, bits[i] = 1023u << i;
    CUDA_SAFE_CALL(cudaMalloc(reinterpret_cast<void **>(&d_x), n * sizeof *d_x));
    CUDA_SAFE_CALL(cudaMalloc(&d_v, sizeof v));
    CUDA_SAFE_CALL(cudaMalloc(&d_in, sizeof bits));
    CUDA_SAFE_CALL(cudaMalloc(&d_int, sizeof(int)));
    CUDA_SAFE_CALL(cudaMemcpy(d_x, x, n * sizeof *d_x, cudaMemcpyHostToDevice));
    CUDA_SAFE_CALL(cudaMemcpy(d_v, v, sizeof v, cudaMemcpyHostToDevice));
    CUDA_SAFE_CALL(cudaMemcpy(d_in, bits, sizeof bits, cudaMemcpyHostToDevice));

    /* launches by function, with an array of pointers to the arguments */
    int ten = 10;
    void *args[] = {&d_v, &d_v, &ten};
    CUDA_SAFE_CALL(cudaLaunchKernel((const void *)add_offset, dim3(1), block, args, 0, 0));
    CUDA_SAFE_CALL(cudaLaunchKernel(reinterpret_cast<void *>(&add_offset), dim3(1), block, args, 0, NULL));
    CUDA_SAFE_CALL(cudaMemcpy(v, d_v, sizeof v, cudaMemcpyDeviceToHost));
    failures += expect("add_offset", v[9][3], 17);

    float factor = 0.5f;
    void *scale_args[3] = {(void *)&d_x, (void *)&factor, (void *)&count};
    const void *kernel = (const void *)scale_float; /* its type is gone */
    CUDA_SAFE_CALL(cudaLaunchKernel(kernel, grid, block, scale_args, 0, 0));
    scale_kernel_t typed = &scale_float;
    typed<<<grid, block>>>(d_x, 4.f, n);
    (*typed)<<<grid, block>>>(d_x, 0.25f, n);
    CUT_CHECK_ERROR("scale failed");

    /* functions of the device by pointer */
    unary_t h_double = NULL;
    CUDA_SAFE_CALL(cudaMemcpyFromSymbol(&h_double, d_double, sizeof(unary_t)));
    apply<<<grid, block>>>(h_double, d_x, n);
    apply_by_number<<<grid, block>>>(1, d_x, n);
    CUT_CHECK_ERROR("apply failed");
    geometry::run_repeat(d_x);
    CUDA_SAFE_CALL(cudaMemcpy(x, d_x, n * sizeof *d_x, cudaMemcpyDeviceToHost));
    failures += expect("x[5]", x[5], -5 + 2);
    failures += expect("x[100]", x[100], -100 + 1);
    failures += expect("x[999]", x[999], -999);

    /* variables of the device */
    count_bits<<<2, 4>>>(d_in, 10);
    CUT_CHECK_ERROR("count_bits failed");
    unsigned long long seen = 0;
    unsigned int launches = 0, *p_launches = NULL;
    float table[8] = {0};
    size_t size = 0;
    CUDA_SAFE_CALL(cudaMemcpyFromSymbol(&seen, d_bits_seen, sizeof seen));
    CUDA_SAFE_CALL(cudaMemcpyFromSymbol(&launches, d_launches, sizeof launches, 0, cudaMemcpyDeviceToHost));
    CUDA_SAFE_CALL(cudaMemcpyFromSymbol(&table[2], d_table, 3 * sizeof(float), 2 * sizeof(float)));
    CUDA_SAFE_CALL(cudaGetSymbolAddress((void **)&p_launches, d_launches));
    CUDA_SAFE_CALL(cudaGetSymbolSize(&size, d_table));
    CUDA_SAFE_CALL(cudaMemset(p_launches, 0, sizeof *p_launches));
    CUDA_SAFE_CALL(cudaMemcpyFromSymbol(&ten, d_launches, sizeof ten));
    failures += expect("bits", (double)seen, 100);
    failures += expect("launches", launches, 2);
    failures += expect("table", table[4] * 10 + table[2], 50 - 1);
    failures += expect("bytes of table", (double)size, 32);
    failures += expect("after cudaMemset", ten, 0);

    const float4 f = 2.f * make_float4(1.f, 2.f, 3.f, 4.f);
    failures += expect("float4", f.x + f.w, 10);
    which_architecture<<<1, 1>>>(d_int);
    CUDA_SAFE_CALL(cudaMemcpy(&ten, d_int, sizeof ten, cudaMemcpyDeviceToHost));
    failures += expect("architecture", ten, 7);
#ifdef __CUDACC_VER_MAJOR__
    fprintf(stderr, "compiled with CUDA %d.%d\n", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
#endif

    CUDA_SAFE_CALL(cudaFree(d_x));
    CUDA_SAFE_CALL(cudaFree(d_v));
    CUDA_SAFE_CALL(cudaFree(d_in));
    CUDA_SAFE_CALL(cudaFree(d_int));
    free(x);
    printf("%s\n", failures ? "FAILED" : "PASSED");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
