// The mathematical functions: those that CUDA adds to the C library's, those of the C library that kernels call, and
// the fast approximations. Bounds are those of the appendix "Mathematical Functions" of the CUDA C++ Programming Guide,
// and one unit more for the C library.
#include "common/tests/api_corpus/evaluate.cuh"

namespace {

using namespace api_corpus;

// ---- fast approximations ---------------------------------------------------------------------------------------

TRY_ABSOLUTE(__sinf, 0x1p-20, near_one())
TRY_ABSOLUTE(__cosf, 0x1p-20, near_one())
TRY_ABSOLUTE(__tanf, 0x1p-16, std::vector<float>{-1.0f, -0.5f, 0.0f, 0.25f, 0.75f, 1.0f})
TRY_ABSOLUTE(__logf, 0x1p-19, positive())
TRY_ABSOLUTE(__log2f, 0x1p-19, positive())
TRY_ABSOLUTE(__log10f, 0x1p-19, positive())
TRY_ULP(__expf, 6, near_one())
TRY_ULP(__exp10f, 10, near_one())
TRY_ULP(__powf, 20, positive(), std::vector<float>{-1.0f, 0.0f, 0.5f, 1.0f, 2.0f})
TRY_ULP(__fdividef, 3, near_one(), std::vector<float>{0.5f, 1.0f, 3.0f, -7.0f, 1e10f})
TRY_ULP(fdividef, 1, near_one(), std::vector<float>{0.5f, 1.0f, 3.0f, -7.0f, 1e10f})
TRY_ABSOLUTE(__tanhf, 0x1p-10, near_one())

struct FastSine {
    __device__ float operator()(float x) const {
        float sine, cosine;
        __sincosf(x, &sine, &cosine);
        return sine + 2.0f * cosine;
    }
};
const Case fast_sine_and_cosine("__sincosf", [] { return within_absolute(0x1p-18, map(FastSine{}, near_one())); });

// ---- what CUDA adds --------------------------------------------------------------------------------------------

TRY_ULP(rsqrtf, 3, positive())
TRY_ULP(rcbrtf, 2, floats())
TRY_ULP(rcbrt, 2, doubles_near_one())
TRY_ULP(exp10, 3, doubles_near_one())
TRY_ULP(erfinvf, 3, near_one())
TRY_ULP(erfinv, 6, doubles_near_one())
TRY_ULP(erfcinvf, 5, near_one())
TRY_ULP(erfcinv, 7, doubles_near_one())
TRY_ULP(erfcxf, 5, near_one())
TRY_ULP(erfcx, 5, doubles_near_one())
TRY_ULP(normcdff, 6, near_one())
TRY_ULP(normcdf, 6, doubles_near_one())
TRY_ULP(normcdfinvf, 6, inside_unit())
TRY_ULP(normcdfinv, 8, inside_unit_doubles())
TRY_ULP(sinpif, 2, floats())
TRY_ULP(sinpi, 3, doubles())
TRY_ULP(cospif, 2, floats())
TRY_ULP(cospi, 3, doubles())
TRY_ULP(cyl_bessel_i0f, 7, near_one())
TRY_ULP(cyl_bessel_i0, 7, doubles_near_one())
TRY_ULP(cyl_bessel_i1f, 7, near_one())
TRY_ULP(cyl_bessel_i1, 7, doubles_near_one())
TRY_ULP(rhypotf, 3, near_one(), floats())
TRY_ULP(rhypot, 2, doubles_near_one(), doubles())
TRY_ULP(norm3df, 4, near_one(), few_floats(), positive())
TRY_ULP(norm3d, 3, doubles_near_one(), few_doubles(), positive_doubles())
TRY_ULP(rnorm3df, 3, near_one(), few_floats(), positive())
TRY_ULP(rnorm3d, 2, doubles_near_one(), few_doubles(), positive_doubles())

CALL_OF(rsqrt)
const Case rsqrt_of_double("rsqrt of double", [] { return within(2, map(Call_rsqrt{}, positive_doubles())); });
const Case rsqrt_of_float("rsqrt of float", [] { return within(3, map(Call_rsqrt{}, positive())); });

struct Norms {
    __device__ double operator()(double a) const {
        const double values[5] = {a, 2.0, -3.0, 0.5, 1e3};
        return norm(5, values) + rnorm(5, values) + norm4d(a, 1.0, 2.0, 3.0) + rnorm4d(a, 1.0, 2.0, 3.0);
    }
};
struct NormsOfFloats {
    __device__ float operator()(float a) const {
        const float values[5] = {a, 2.0f, -3.0f, 0.5f, 1e3f};
        return normf(5, values) + rnormf(5, values) + norm4df(a, 1.0f, 2.0f, 3.0f) + rnorm4df(a, 1.0f, 2.0f, 3.0f);
    }
};
const Case norms("norm, rnorm, norm4d, rnorm4d", [] { return within(8, map(Norms{}, doubles_near_one())); });
const Case norms_of_floats("normf, rnormf, norm4df, rnorm4df",
                           [] { return within(8, map(NormsOfFloats{}, near_one())); });

struct SineAndCosine {
    __device__ double operator()(double x) const {
        double sine, cosine, sine_pi, cosine_pi;
        sincos(x, &sine, &cosine);
        sincospi(x, &sine_pi, &cosine_pi);
        return sine + 2 * cosine + 4 * sine_pi + 8 * cosine_pi;
    }
    __device__ float operator()(float x) const {
        float sine, cosine, sine_pi, cosine_pi;
        sincosf(x, &sine, &cosine);
        sincospif(x, &sine_pi, &cosine_pi);
        return sine + 2 * cosine + 4 * sine_pi + 8 * cosine_pi;
    }
};
const Case sine_and_cosine("sincos, sincospi",
                           [] { return within_absolute(1e-14, map(SineAndCosine{}, doubles_near_one())); });
const Case sine_and_cosine_of_floats("sincosf, sincospif",
                                     [] { return within_absolute(1e-5, map(SineAndCosine{}, near_one())); });

// ---- the C library's ---------------------------------------------------------------------------------------------

TRY_ULP(sinf, 3, near_one())
TRY_ULP(cosf, 3, near_one())
TRY_ULP(tanf, 5, near_one())
TRY_ULP(asinf, 3, near_one())
TRY_ULP(acosf, 3, near_one())
TRY_ULP(atanf, 3, near_one())
TRY_ULP(sinhf, 4, near_one())
TRY_ULP(coshf, 3, near_one())
TRY_ULP(tanhf, 3, near_one())
TRY_ULP(asinhf, 4, near_one())
TRY_ULP(acoshf, 5, positive())
TRY_ULP(atanhf, 4, near_one())
TRY_ULP(expf, 3, near_one())
TRY_ULP(exp2f, 3, near_one())
TRY_ULP(exp10f, 3, near_one())
TRY_ULP(expm1f, 2, near_one())
TRY_ULP(logf, 2, positive())
TRY_ULP(log2f, 2, positive())
TRY_ULP(log10f, 3, positive())
TRY_ULP(log1pf, 2, near_one())
TRY_ULP(cbrtf, 2, near_one())
TRY_ULP(erff, 3, near_one())
TRY_ULP(erfcf, 5, near_one())
TRY_ULP(lgammaf, 7, positive())
TRY_ULP(tgammaf, 6, positive())
TRY(sqrtf, floats())
TRY(fabsf, floats())
TRY(floorf, floats())
TRY(ceilf, floats())
TRY(truncf, floats())
TRY(roundf, floats())
TRY(rintf, floats())
TRY(nearbyintf, floats())
TRY(logbf, floats())
TRY(fminf, floats(), floats())
TRY(fmaxf, floats(), floats())
TRY(fmodf, floats(), floats())
TRY(remainderf, floats(), floats())
TRY(copysignf, floats(), floats())
TRY(fdimf, floats(), floats())
TRY(nextafterf, floats(), floats())
TRY_ULP(powf, 5, positive(), near_one())
TRY_ULP(atan2f, 4, near_one(), near_one())
TRY_ULP(hypotf, 4, near_one(), floats())
TRY(fmaf, few_floats(), few_floats(), few_floats())
TRY_ULP(sin, 3, doubles_near_one())
TRY_ULP(cos, 3, doubles_near_one())
TRY_ULP(tan, 3, doubles_near_one())
TRY_ULP(asin, 3, doubles_near_one())
TRY_ULP(acos, 3, doubles_near_one())
TRY_ULP(atan, 3, doubles_near_one())
TRY_ULP(sinh, 3, doubles_near_one())
TRY_ULP(cosh, 2, doubles_near_one())
TRY_ULP(tanh, 2, doubles_near_one())
TRY_ULP(asinh, 4, doubles_near_one())
TRY_ULP(acosh, 4, positive_doubles())
TRY_ULP(atanh, 3, doubles_near_one())
TRY_ULP(exp, 2, doubles_near_one())
TRY_ULP(exp2, 2, doubles_near_one())
TRY_ULP(expm1, 2, doubles_near_one())
TRY_ULP(log, 2, positive_doubles())
TRY_ULP(log2, 2, positive_doubles())
TRY_ULP(log10, 2, positive_doubles())
TRY_ULP(log1p, 2, doubles_near_one())
TRY_ULP(cbrt, 2, doubles_near_one())
TRY_ULP(erf, 3, doubles_near_one())
TRY_ULP(erfc, 6, doubles_near_one())
TRY_ULP(lgamma, 5, positive_doubles())
TRY_ULP(tgamma, 11, positive_doubles())
TRY(sqrt, doubles())
TRY(fabs, doubles())
TRY(floor, doubles())
TRY(ceil, doubles())
TRY(trunc, doubles())
TRY(round, doubles())
TRY(rint, doubles())
TRY(nearbyint, doubles())
TRY(logb, doubles())
TRY(fmin, doubles(), doubles())
TRY(fmax, doubles(), doubles())
TRY(fmod, doubles(), doubles())
TRY(remainder, doubles(), doubles())
TRY(copysign, doubles(), doubles())
TRY(fdim, doubles(), doubles())
TRY(nextafter, doubles(), doubles())
TRY_ULP(pow, 3, positive_doubles(), doubles_near_one())
TRY_ULP(atan2, 3, doubles_near_one(), doubles_near_one())
TRY_ULP(hypot, 3, doubles_near_one(), doubles())
TRY(fma, few_doubles(), few_doubles(), few_doubles())

}  // namespace
