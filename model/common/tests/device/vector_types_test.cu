// Sizes, alignments and construction of CUDA's vector types and of dim3; complex numbers, which are such vectors.
#include <cuComplex.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <complex>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "map_on_device.cuh"

namespace {

template <class T, std::size_t size, std::size_t alignment>
constexpr bool has_layout = sizeof(T) == size && alignof(T) == alignment&& std::is_trivial_v<T>;

static_assert(has_layout<char1, 1, 1> && has_layout<uchar1, 1, 1> && has_layout<short1, 2, 2>);
static_assert(has_layout<char2, 2, 2> && has_layout<uchar2, 2, 2> && has_layout<char3, 3, 1>);
static_assert(has_layout<char4, 4, 4> && has_layout<uchar4, 4, 4>);
static_assert(has_layout<short2, 4, 4> && has_layout<ushort3, 6, 2> && has_layout<ushort4, 8, 8>);
static_assert(has_layout<int1, 4, 4> && has_layout<int2, 8, 8> && has_layout<int3, 12, 4> && has_layout<int4, 16, 16>);
static_assert(has_layout<uint1, 4, 4> && has_layout<uint2, 8, 8> && has_layout<uint3, 12, 4>);
static_assert(has_layout<long1, 8, 8> && has_layout<long2, 16, 16> && has_layout<ulong3, 24, 8>);
static_assert(has_layout<longlong1, 8, 8> && has_layout<ulonglong2, 16, 16> && has_layout<longlong3, 24, 8>);
static_assert(has_layout<float1, 4, 4> && has_layout<float2, 8, 8> && has_layout<float3, 12, 4>);
static_assert(has_layout<float4, 16, 16> && has_layout<uint4, 16, 16>);
static_assert(has_layout<double1, 8, 8> && has_layout<double2, 16, 16> && has_layout<double3, 24, 8>);
#if defined(CUDART_VERSION) && CUDART_VERSION >= 13000
static_assert(has_layout<double4_16a, 32, 16> && has_layout<double4_32a, 32, 32>);
static_assert(has_layout<long4_16a, 32, 16> && has_layout<ulonglong4_32a, 32, 32>);
#endif
static_assert(std::is_same_v<decltype(char4::x), signed char> &&
              std::is_same_v<decltype(ulonglong2::y), unsigned long long>);
static_assert(offsetof(float4, w) == 12 && offsetof(short3, z) == 4);
static_assert(sizeof(dim3) == 12);

struct Reverse {
    __device__ float4 operator()(float4 v) const { return make_float4(v.w, v.z, v.y, v.x); }
};

struct Narrow {
    __device__ uchar4 operator()(uint4 v) const {
        return make_uchar4(static_cast<unsigned char>(v.x), static_cast<unsigned char>(v.y),
                           static_cast<unsigned char>(v.z), static_cast<unsigned char>(v.w));
    }
};

struct Widen {
    __device__ double3 operator()(short2 v) const { return make_double3(v.x, v.y, v.x + v.y); }
};

__global__ void record_shape(unsigned int* out) {
    const dim3 grid = gridDim;
    const uint3 block = blockDim;
    if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        out[0] = grid.x * 100 + grid.y * 10 + grid.z;
        out[1] = block.x * 100 + block.y * 10 + block.z;
    }
}

struct ComplexPair {
    cuDoubleComplex a, b;
};

struct ComplexResults {
    cuDoubleComplex sum, difference, product, quotient, conjugate, fused;
    double size;
    cuFloatComplex sum_f, difference_f, product_f, quotient_f, conjugate_f, fused_f;
    float size_f;
};

struct Compute {
    __device__ ComplexResults operator()(ComplexPair in) const {
        const cuDoubleComplex a = make_cuDoubleComplex(cuCreal(in.a), cuCimag(in.a)), b = in.b;
        const cuFloatComplex f = cuComplexDoubleToFloat(a);
        const cuComplex g = make_cuComplex(static_cast<float>(b.x), static_cast<float>(b.y));
        return {cuCadd(a, b),  cuCsub(a, b),  cuCmul(a, b),  cuCdiv(a, b),  cuConj(a),  cuCfma(a, b, a),  cuCabs(a),
                cuCaddf(f, g), cuCsubf(f, g), cuCmulf(f, g), cuCdivf(f, g), cuConjf(f), cuCfmaf(f, g, f), cuCabsf(f)};
    }
};

/// Whether a result is right but for `epsilon` of its size.
template <class Complex>
bool is_close(Complex value, std::complex<double> expected, double epsilon) {
    return std::abs(std::complex<double>(value.x, value.y) - expected) <= epsilon * std::abs(expected);
}

}  // namespace

TEST_CASE("vectors travel through device memory component by component") {
    const auto floats = map_on_device<Reverse>(std::vector<float4>{{1, 2, 3, 4}, {5, 6, 7, 8}});
    CHECK((floats[1].x == 8 && floats[1].y == 7 && floats[1].z == 6 && floats[1].w == 5));
    CHECK((floats[0].x == 4 && floats[0].w == 1));
    const auto bytes = map_on_device<Narrow>(std::vector<uint4>{make_uint4(1, 255, 256, 257)});
    CHECK((bytes[0].x == 1 && bytes[0].y == 255 && bytes[0].z == 0 && bytes[0].w == 1));
    const auto doubles = map_on_device<Widen>(std::vector<short2>(3, make_short2(-3, 5)));
    CHECK((doubles[2].x == -3.0 && doubles[2].y == 5.0 && doubles[2].z == 2.0));
}

TEST_CASE("dim3 fills in ones and converts from and to uint3") {
    constexpr dim3 none;
    constexpr dim3 one(7);
    constexpr dim3 two(7, 8);
    static_assert(none.x == 1 && none.y == 1 && none.z == 1);
    static_assert(one.x == 7 && one.y == 1 && two.y == 8 && two.z == 1);
    const dim3 from_number = 5;
    const dim3 from_vector = make_uint3(2, 3, 4);
    const uint3 back = from_vector;
    CHECK((from_number.x == 5 && from_number.y == 1));
    CHECK((back.x == 2 && back.y == 3 && back.z == 4));
}

TEST_CASE("kernels see their launch shape as dim3 and as uint3") {
    device_or_skip();
    unsigned int* d_shape = nullptr;
    unsigned int shape[2] = {};
    REQUIRE(cudaMalloc(&d_shape, sizeof(shape)) == cudaSuccess);
    record_shape<<<dim3(3, 2), dim3(4, 2, 5)>>>(d_shape);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaMemcpy(shape, d_shape, sizeof(shape), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(shape[0] == 321);
    CHECK(shape[1] == 425);
    cudaFree(d_shape);
}

TEST_CASE("complex numbers follow the rules of arithmetic") {
    using Number = std::complex<double>;
    const std::vector<ComplexPair> inputs = {
        {{1, 2}, {3, -4}}, {{-0.5, 0.25}, {1e-3, 7}}, {{5, 0}, {0, 2}}, {{1e18, -1e18}, {2e18, 1e18}}};
    const auto results = map_on_device<Compute>(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Number a(inputs[i].a.x, inputs[i].a.y), b(inputs[i].b.x, inputs[i].b.y);
        const ComplexResults& r = results[i];
        CAPTURE(i);
        CHECK(is_close(r.sum, a + b, 1e-15));
        CHECK(is_close(r.difference, a - b, 1e-15));
        CHECK(is_close(r.product, a * b, 1e-15));
        CHECK(is_close(r.quotient, a / b, 1e-15));
        CHECK(is_close(r.conjugate, std::conj(a), 0));
        CHECK(is_close(r.fused, a * b + a, 1e-15));
        CHECK(std::abs(r.size - std::abs(a)) <= 1e-15 * std::abs(a));
        CHECK(is_close(r.sum_f, a + b, 5e-7));
        CHECK(is_close(r.difference_f, a - b, 5e-7));
        CHECK(is_close(r.product_f, a * b, 5e-7));
        CHECK(is_close(r.quotient_f, a / b, 5e-7));
        CHECK(is_close(r.conjugate_f, std::conj(a), 5e-7));
        CHECK(is_close(r.fused_f, a * b + a, 5e-7));
        CHECK(std::abs(r.size_f - std::abs(a)) <= 5e-7 * std::abs(a));
    }
}

TEST_CASE("sizes and quotients of large and small complex numbers neither overflow nor vanish") {
    const auto results = map_on_device<Compute>(
        std::vector<ComplexPair>{{{3e30, 4e30}, {3e30, 4e30}}, {{3e-30, 4e-30}, {3e-30, 4e-30}}, {{0, 0}, {1, 0}}});
    CHECK(std::abs(results[0].size_f - 5e30) < 5e24);
    CHECK(is_close(results[0].quotient_f, 1.0, 5e-7));
    CHECK(std::abs(results[1].size_f - 5e-30) < 5e-36);
    CHECK(is_close(results[1].quotient_f, 1.0, 5e-7));
    CHECK(results[2].size == 0.0);
    CHECK(results[2].size_f == 0.0f);
    const cuDoubleComplex widened = cuComplexFloatToDouble(make_cuFloatComplex(0.5f, -2.0f));
    CHECK(cuCreal(widened) == 0.5);
    CHECK(cuCimag(widened) == -2.0);
    CHECK(cuCrealf(make_cuFloatComplex(0.5f, -2.0f)) + cuCimagf(make_cuFloatComplex(0.5f, -2.0f)) == -1.5f);
}
