// Arithmetic with 16 bits: half, half2, __nv_bfloat16 and __nv_bfloat162, with intrinsics and with operators.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <type_traits>
#include <vector>

#define CUDA_CALL(x)                                                                                \
    do {                                                                                            \
        if (const auto err = (x); err != cudaSuccess) {                                             \
            std::fprintf(stderr, "%s(%d): %s\n", __FILE__, __LINE__, cudaGetErrorString(err));      \
            std::exit(1);                                                                           \
        }                                                                                           \
    } while (0)

// What kernels need to know about a type of 16 bits.
template <typename T>
struct Traits;
template <>
struct Traits<__half> {
    using pair = __half2;
    static constexpr const char *name = "half";
    static constexpr float epsilon = 1.f / 1024;
    static __host__ __device__ __half make(float f) { return __float2half(f); }
    static __host__ __device__ float value(__half h) { return __half2float(h); }
};
template <>
struct Traits<__nv_bfloat16> {
    using pair = __nv_bfloat162;
    static constexpr const char *name = "bfloat16";
    static constexpr float epsilon = 1.f / 128;
    static __host__ __device__ __nv_bfloat16 make(float f) { return __float2bfloat16(f); }
    static __host__ __device__ float value(__nv_bfloat16 h) { return __bfloat162float(h); }
};

template <typename T>
__global__ void convert(const float *in, T *out, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) out[i] = Traits<T>::make(in[i]);
}

// Two elements a thread; y = a * x + y.
template <typename T>
__global__ void axpy(T a, const typename Traits<T>::pair *x, typename Traits<T>::pair *y, int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) y[i] = __hfma2(typename Traits<T>::pair(a, a), x[i], y[i]);
}

__global__ void scalar_product(const half2 *a, const half2 *b, float *result, size_t size) {
    __shared__ half2 shArray[128];
    half2 value(0.f, 0.f);
    for (size_t i = threadIdx.x + size_t(blockDim.x) * blockIdx.x; i < size; i += blockDim.x * gridDim.x)
        value = a[i] * b[i] + value;
    shArray[threadIdx.x] = value;
    __syncthreads();
    for (int width = 64; width > 0; width /= 2) {
        if (int(threadIdx.x) < width)
            shArray[threadIdx.x] = __hadd2(shArray[threadIdx.x], shArray[threadIdx.x + width]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const half2 sum = shArray[0];
        atomicAdd(result, __low2float(sum) + __high2float(sum));
    }
}

// One result a line, as bits where they matter.
__global__ void intrinsics(unsigned short *bits, float *values) {
    const __half one = __float2half_rn(1.0f), third = __float2half(1.0f / 3), big = __float2half(65504.0f);
    bits[0] = __half_as_ushort(__hadd(one, third));
    bits[1] = __half_as_ushort(__hmul(big, __float2half(2.0f)));            // infinity
    bits[2] = __half_as_ushort(__hadd_sat(one, third));
    bits[3] = __half_as_ushort(__int2half_rn(2049));                        // a tie goes to even
    bits[4] = __half_as_ushort(__ushort_as_half(0x0001));                   // the least subnormal
    bits[5] = __half_as_ushort(hsqrt(__float2half(2.0f)));
    bits[6] = __half_as_ushort(__hneg(third));
    bits[7] = __bfloat16_as_ushort(__float2bfloat16(3.14159265f));
    bits[8] = __bfloat16_as_ushort(__float2bfloat16_rn(1.00390625f));       // a tie goes to even
    bits[9] = __half_as_ushort(__hmax(third, __float2half(NAN)));
    values[0] = __half2float(__ushort_as_half(0x0001)) * 16777216.f;
    values[1] = __hgt(one, third) + 2 * __hlt(one, third) + 4 * __heq(one, one) + 8 * __hisnan(__float2half(NAN)) +
                16 * (__hisinf(__ushort_as_half(0xFC00)) == -1);
    const __half2 v = __floats2half2_rn(1.5f, -2.5f);
    values[2] = __low2float(__lowhigh2highlow(v)) * 10 + __half2float(__high2half(v));
    const __nv_bfloat162 w = __float22bfloat162_rn(make_float2(256.f, 257.f));
    values[3] = __bfloat162float(w.x) + __high2float(w);
    values[4] = __hbgt2(__half2half2(one), v) ? 1.f : 0.f;
    values[5] = float(__half2int_rz(__float2half(-7.9f))) + __half2int_rd(__float2half(-7.9f));
    values[6] = static_cast<float>(half(0.1f) + half(0.2f) == half(0.3f));
}

template <typename T>
bool test_axpy(int n) {
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) x[i] = (i % 64) / 8.f, y[i] = 1.f + i % 5;
    float *d_f;
    T *d_x, *d_y;
    CUDA_CALL(cudaMalloc(&d_f, n * sizeof(float)));
    CUDA_CALL(cudaMalloc(&d_x, n * sizeof(T)));
    CUDA_CALL(cudaMalloc(&d_y, n * sizeof(T)));
    CUDA_CALL(cudaMemcpy(d_f, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    convert<<<4, 128>>>(d_f, d_x, n);
    CUDA_CALL(cudaMemcpy(d_f, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    convert<T><<<4, 128>>>(d_f, d_y, n);
    using Pair = typename Traits<T>::pair;
    axpy<<<(n / 2 + 127) / 128, 128>>>(T(0.75f), reinterpret_cast<Pair *>(d_x), reinterpret_cast<Pair *>(d_y), n / 2);
    CUDA_CALL(cudaGetLastError());
    std::vector<T> result(n);
    CUDA_CALL(cudaMemcpy(result.data(), d_y, n * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaFree(d_f));
    CUDA_CALL(cudaFree(d_x));
    CUDA_CALL(cudaFree(d_y));
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        const float expected = 0.75f * x[i] + y[i];
        if (!(std::fabs(Traits<T>::value(result[i]) - expected) <= expected * Traits<T>::epsilon)) ++wrong;
    }
    std::printf("axpy of %s: %d of %d wrong\n", Traits<T>::name, wrong, n);
    return wrong == 0;
}

bool test_scalar_product() {
    const size_t size = 4096;  // pairs; whole numbers below 2048 are exact
    half2 *vec[2];
    float *result;
    for (auto &v : vec) CUDA_CALL(cudaMallocManaged(&v, size * sizeof(half2)));
    CUDA_CALL(cudaMallocManaged(&result, sizeof(float)));
    *result = 0;
    double expected = 0;
    for (size_t i = 0; i < size; ++i) {
        vec[0][i] = half2(float(i % 4), 1.f);
        vec[1][i].x = __float2half(float(i % 3));
        vec[1][i].y = __int2half_rn(int(i % 2));
        expected += i % 4 * (i % 3) + i % 2;
    }
    scalar_product<<<16, 128>>>(vec[0], vec[1], result, size);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaDeviceSynchronize());
    std::printf("scalar product of half2: %.0f, expected %.0f\n", *result, expected);
    const bool ok = *result == expected;
    for (auto *v : vec) CUDA_CALL(cudaFree(v));
    CUDA_CALL(cudaFree(result));
    return ok;
}

bool test_intrinsics() {
    const unsigned short expected_bits[] = {0x3D55, 0x7C00, 0x3C00, 0x6800, 0x0001,
                                            0x3DA8, 0xB555, 0x4049, 0x3F80, 0x3555};
    const float expected_values[] = {1, 29, -27.5f, 512, 0, -15, 0};
    unsigned short *d_bits, bits[std::extent_v<decltype(expected_bits)>];
    float *d_values, values[sizeof expected_values / sizeof *expected_values];
    CUDA_CALL(cudaMalloc((void **)&d_bits, sizeof bits));
    CUDA_CALL(cudaMalloc((void **)&d_values, sizeof values));
    intrinsics<<<1, 1>>>(d_bits, d_values);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaMemcpy(bits, d_bits, sizeof bits, cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaMemcpy(values, d_values, sizeof values, cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaFree(d_bits));
    CUDA_CALL(cudaFree(d_values));
    int wrong = 0;
    for (size_t i = 0; i < std::size(bits); ++i)
        if (bits[i] != expected_bits[i]) {
            std::printf("bits %zu: 0x%04X, expected 0x%04X\n", i, bits[i], expected_bits[i]);
            ++wrong;
        }
    for (size_t i = 0; i < std::size(values); ++i)
        if (values[i] != expected_values[i]) {
            std::printf("value %zu: %g, expected %g\n", i, values[i], expected_values[i]);
            ++wrong;
        }
    std::printf("intrinsics: %d wrong\n", wrong);
    return wrong == 0;
}

int main() {
    static_assert(sizeof(half) == 2 && sizeof(half2) == 4 && sizeof(__nv_bfloat16) == 2, "16 bits each");
    bool ok = test_axpy<__half>(1000);
    ok = test_axpy<__nv_bfloat16>(1000) && ok;
    ok = test_scalar_product() && ok;
    ok = test_intrinsics() && ok;
    std::puts(ok ? "PASSED" : "FAILED");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
