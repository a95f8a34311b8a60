// Vector types: how they are made, and where their components lie.
#include <cuComplex.h>

#include "common/tests/api_corpus/evaluate.cuh"

namespace {

using namespace api_corpus;

/// The bytes of a vector with the components 1, 2, 3 ...; made on the host and on the device.
template <class Vector, class Make>
__global__ void make_on_the_device(Make make, unsigned char* bytes) {
    const Vector vector = make();
    const auto* from = reinterpret_cast<const unsigned char*>(&vector);
    for (std::size_t i = 0; i < sizeof(Vector); ++i) bytes[i] = from[i];
}
template <class Vector, class Make>
Results bytes_of(Make make) {
    const OnDevice<unsigned char> d_bytes{std::vector<unsigned char>(sizeof(Vector))};
    make_on_the_device<Vector, Make><<<1, 1>>>(make, d_bytes.data());
    Results results = results_of(d_bytes.values());
    results.values.push_back(std::to_string(sizeof(Vector)));
    results.values.push_back(std::to_string(alignof(Vector)));
    return results;
}

#define VECTOR(make, type, ...)                                                   \
    struct Make_##type {                                                          \
        __host__ __device__ type operator()() const { return make(__VA_ARGS__); } \
    };                                                                            \
    const Case make_case_##type(#make, [] { return bytes_of<type>(Make_##type{}); });

VECTOR(make_char1, char1, 1)
VECTOR(make_char2, char2, 1, 2)
VECTOR(make_char3, char3, 1, 2, 3)
VECTOR(make_char4, char4, 1, 2, 3, 4)
VECTOR(make_uchar1, uchar1, 1)
VECTOR(make_uchar2, uchar2, 1, 2)
VECTOR(make_uchar3, uchar3, 1, 2, 3)
VECTOR(make_uchar4, uchar4, 1, 2, 3, 4)
VECTOR(make_short1, short1, 1)
VECTOR(make_short2, short2, 1, 2)
VECTOR(make_short3, short3, 1, 2, 3)
VECTOR(make_short4, short4, 1, 2, 3, 4)
VECTOR(make_ushort1, ushort1, 1)
VECTOR(make_ushort2, ushort2, 1, 2)
VECTOR(make_ushort3, ushort3, 1, 2, 3)
VECTOR(make_ushort4, ushort4, 1, 2, 3, 4)
VECTOR(make_int1, int1, 1)
VECTOR(make_int2, int2, 1, 2)
VECTOR(make_int3, int3, 1, 2, 3)
VECTOR(make_int4, int4, 1, 2, 3, 4)
VECTOR(make_uint1, uint1, 1)
VECTOR(make_uint2, uint2, 1, 2)
VECTOR(make_uint3, uint3, 1, 2, 3)
VECTOR(make_uint4, uint4, 1, 2, 3, 4)
VECTOR(make_long1, long1, 1)
VECTOR(make_long2, long2, 1, 2)
VECTOR(make_long3, long3, 1, 2, 3)
VECTOR(make_ulong1, ulong1, 1)
VECTOR(make_ulong2, ulong2, 1, 2)
VECTOR(make_ulong3, ulong3, 1, 2, 3)
VECTOR(make_longlong1, longlong1, 1)
VECTOR(make_longlong2, longlong2, 1, 2)
VECTOR(make_longlong3, longlong3, 1, 2, 3)
VECTOR(make_ulonglong1, ulonglong1, 1)
VECTOR(make_ulonglong2, ulonglong2, 1, 2)
VECTOR(make_ulonglong3, ulonglong3, 1, 2, 3)
VECTOR(make_float1, float1, 1)
VECTOR(make_float2, float2, 1, 2)
VECTOR(make_float3, float3, 1, 2, 3)
VECTOR(make_float4, float4, 1, 2, 3, 4)
VECTOR(make_double1, double1, 1)
VECTOR(make_double2, double2, 1, 2)
VECTOR(make_double3, double3, 1, 2, 3)
VECTOR(make_long4_16a, long4_16a, 1, 2, 3, 4)
VECTOR(make_long4_32a, long4_32a, 1, 2, 3, 4)
VECTOR(make_ulong4_16a, ulong4_16a, 1, 2, 3, 4)
VECTOR(make_ulong4_32a, ulong4_32a, 1, 2, 3, 4)
VECTOR(make_longlong4_16a, longlong4_16a, 1, 2, 3, 4)
VECTOR(make_longlong4_32a, longlong4_32a, 1, 2, 3, 4)
VECTOR(make_ulonglong4_16a, ulonglong4_16a, 1, 2, 3, 4)
VECTOR(make_ulonglong4_32a, ulonglong4_32a, 1, 2, 3, 4)
VECTOR(make_double4_16a, double4_16a, 1, 2, 3, 4)
VECTOR(make_double4_32a, double4_32a, 1, 2, 3, 4)

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
#ifdef __NVCC__
#pragma nv_diag_suppress 1215, 1444  // CUDA 13 calls the vectors of four 8-byte numbers old
#endif
VECTOR(make_long4, long4, 1, 2, 3, 4)
VECTOR(make_ulong4, ulong4, 1, 2, 3, 4)
VECTOR(make_longlong4, longlong4, 1, 2, 3, 4)
VECTOR(make_ulonglong4, ulonglong4, 1, 2, 3, 4)
VECTOR(make_double4, double4, 1, 2, 3, 4)
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

// ---- complex numbers ---------------------------------------------------------------------------------------------

struct Complex {
    __device__ double operator()(double x, double y) const {
        const cuDoubleComplex a = make_cuDoubleComplex(x, y), b = make_cuDoubleComplex(y, 2.0);
        const cuDoubleComplex all[] = {cuCadd(a, b), cuCsub(a, b), cuCmul(a, b),
                                       cuCdiv(a, b), cuConj(a),    cuCfma(a, b, a)};
        double sum = cuCabs(a);
        for (const cuDoubleComplex& one : all) sum = 3 * sum + cuCreal(one) - 2 * cuCimag(one);
        return sum;
    }
};
struct ComplexOfFloats {
    __device__ float operator()(float x, float y) const {
        const cuComplex a = make_cuComplex(x, y), b = make_cuFloatComplex(y, 2.0f);
        const cuComplex all[] = {cuCaddf(a, b),
                                 cuCsubf(a, b),
                                 cuCmulf(a, b),
                                 cuCdivf(a, b),
                                 cuConjf(a),
                                 cuCfmaf(a, b, a),
                                 cuComplexDoubleToFloat(cuComplexFloatToDouble(a))};
        float sum = cuCabsf(a);
        for (const cuComplex& one : all) sum = 3 * sum + cuCrealf(one) - 2 * cuCimagf(one);
        return sum;
    }
};
const Case complex_numbers("cuCadd, cuCsub, cuCmul, cuCdiv, cuConj, cuCfma, cuCabs ...", [] {
    return within_absolute(1e-9, map(Complex{}, doubles_near_one(), doubles_near_one()));
});
const Case complex_floats("cuCaddf, cuCsubf, cuCmulf, cuCdivf, cuConjf, cuCfmaf, cuCabsf ...",
                          [] { return within_absolute(0.1, map(ComplexOfFloats{}, near_one(), near_one())); });

}  // namespace
