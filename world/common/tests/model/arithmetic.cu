// Arithmetic without memory: dependent and independent chains of every kind of operation, and special functions.
#include <cuda_fp16.h>

#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace arithmetic_kernels {

constexpr unsigned kStarts = 61;  ///< threads start from so many different values

/// x -> f(x), `rounds` times, in `chains` independent chains per thread. The result is their sum.
template <class Operation, unsigned chains>
__global__ void run_chains(Operation operation, unsigned rounds, typename Operation::Value* out) {
    using Value = typename Operation::Value;
    Value x[chains];
#pragma unroll
    for (unsigned k = 0; k < chains; ++k) x[k] = Operation::start(thread_in_grid() % kStarts + k);
#pragma unroll 8
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned k = 0; k < chains; ++k) x[k] = operation.apply(x[k]);
    }
    Value sum = x[0];
#pragma unroll
    for (unsigned k = 1; k < chains; ++k) sum += x[k];
    out[thread_in_grid()] = sum;
}

template <class Operation, unsigned chains>
Prepared chained(unsigned blocks, unsigned threads, unsigned rounds, Operation operation = {}) {
    using Value = typename Operation::Value;
    std::vector<Value> results;
    for (unsigned start = 0; start < kStarts; ++start) {
        Value sum = 0;
        for (unsigned k = 0; k < chains; ++k) {
            auto x = operation.host_start(start + k);
            for (unsigned r = 0; r < rounds; ++r) x = operation.expected(x);
            sum += static_cast<Value>(x);
        }
        results.push_back(sum);
    }
    const Array<Value> out = output<Value>(std::size_t{blocks} * threads);
    const auto expected = [results](std::size_t i) { return results[i % kStarts]; };
    return prepared(run_chains<Operation, chains>, {blocks, threads}, out, expected, Operation::tolerance, operation,
                    rounds, out);
}

/// Operations on floating-point numbers. `expected` computes in double precision.
template <class T>
struct OnFloats {
    using Value = T;
    static constexpr double tolerance = sizeof(T) == 4 ? 2e-3 : 1e-9;
    static __device__ T start(unsigned k) { return static_cast<T>(k) / 64; }
    double host_start(unsigned k) const { return k / 64.0; }
};

/// Operations on unsigned integers, which are exact.
template <class T>
struct OnIntegers {
    using Value = T;
    static constexpr double tolerance = 0;
    static __device__ T start(unsigned k) { return k + 1; }
    T host_start(unsigned k) const { return k + 1; }
};

template <class T>
struct MultiplyAdd : OnFloats<T> {
    T factor = static_cast<T>(0.9995), summand = static_cast<T>(0.001);
    __device__ T apply(T x) const { return x * factor + summand; }
    double expected(double x) const { return x * static_cast<double>(factor) + static_cast<double>(summand); }
};

template <class T>
struct Add : OnFloats<T> {
    T summand = static_cast<T>(0.125);
    __device__ T apply(T x) const { return x + summand; }
    double expected(double x) const { return x + static_cast<double>(summand); }
};

struct Maximum : OnFloats<float> {
    float low = -0.25f, high = 0.5f;
    __device__ float apply(float x) const { return fminf(fmaxf(-x, low), high); }
    double expected(double x) const { return std::fmin(std::fmax(-x, low), high); }
};

template <class T>
struct IntegerMultiplyAdd : OnIntegers<T> {
    T factor = 1664525, summand = 1013904223;
    __host__ __device__ T apply(T x) const { return x * factor + summand; }
    T expected(T x) const { return apply(x); }
};

/// Xorshift (Marsaglia): shifts and exclusive ors only.
struct Xorshift : OnIntegers<unsigned> {
    __host__ __device__ unsigned apply(unsigned x) const {
        x ^= x << 13;
        x ^= x >> 17;
        return x ^ x << 5;
    }
    unsigned expected(unsigned x) const { return apply(x); }
};

struct Divide : OnIntegers<unsigned> {
    unsigned divisor = 7919;
    __host__ __device__ unsigned apply(unsigned x) const { return (x * 2654435761u + 12345u) / divisor; }
    unsigned expected(unsigned x) const { return apply(x); }
};

struct Remainder : OnIntegers<unsigned> {
    unsigned divisor = 1000003;
    __host__ __device__ unsigned apply(unsigned x) const { return (x * 2654435761u + 12345u) % divisor; }
    unsigned expected(unsigned x) const { return apply(x); }
};

struct CountBits : OnIntegers<unsigned> {
    unsigned factor = 2654435761u;
    __device__ unsigned apply(unsigned x) const { return x * factor + static_cast<unsigned>(__popc(x)); }
    unsigned expected(unsigned x) const { return x * factor + static_cast<unsigned>(__builtin_popcount(x)); }
};

struct HighProduct : OnIntegers<unsigned> {
    unsigned factor = 2654435761u;
    __device__ unsigned apply(unsigned x) const { return __umulhi(x, factor) + (x ^ factor); }
    unsigned expected(unsigned x) const {
        return static_cast<unsigned>(std::uint64_t{x} * factor >> 32) + (x ^ factor);
    }
};

/// Multiply-add on floats and on integers, which use different pipes.
struct FloatsAndIntegers : OnFloats<float> {
    float factor = 0.9995f;
    __device__ float apply(float x) const {
        const unsigned bits = __float_as_uint(x) ^ 1u;
        return __uint_as_float(bits) * factor + 0.001f;
    }
    double expected(double x) const {
        return x * static_cast<double>(factor) + 0.001;
    }  // the lowest bit is below tolerance
};

// ---- special functions: each has a fixed point that it converges to -----------------------------------------------

struct FastSine : OnFloats<float> {
    __device__ float apply(float x) const { return __sinf(x) + 1; }
    double expected(double x) const { return std::sin(x) + 1; }
};
struct FastExponential : OnFloats<float> {
    __device__ float apply(float x) const { return __expf(-x); }
    double expected(double x) const { return std::exp(-x); }
};
struct FastLogarithm : OnFloats<float> {
    __device__ float apply(float x) const { return __logf(x + 2) + 1; }
    double expected(double x) const { return std::log(x + 2) + 1; }
};
struct InverseRoot : OnFloats<float> {
    __device__ float apply(float x) const { return rsqrtf(x + 1); }
    double expected(double x) const { return 1 / std::sqrt(x + 1); }
};
struct Root : OnFloats<float> {
    __device__ float apply(float x) const { return sqrtf(x + 0.5f); }
    double expected(double x) const { return std::sqrt(x + 0.5); }
};
struct Quotient : OnFloats<float> {
    float dividend = 0.75f;
    __device__ float apply(float x) const { return dividend / (x + 0.5f); }
    double expected(double x) const { return static_cast<double>(dividend) / (x + 0.5); }
};
struct FastQuotient : OnFloats<float> {
    float dividend = 0.75f;
    __device__ float apply(float x) const { return __fdividef(dividend, x + 0.5f); }
    double expected(double x) const { return static_cast<double>(dividend) / (x + 0.5); }
};
struct Sine : OnFloats<float> {
    __device__ float apply(float x) const { return sinf(x) + 1; }
    double expected(double x) const { return std::sin(x) + 1; }
};
struct Exponential : OnFloats<float> {
    __device__ float apply(float x) const { return expf(-x); }
    double expected(double x) const { return std::exp(-x); }
};
struct Power : OnFloats<float> {
    float exponent = 0.3f;
    __device__ float apply(float x) const { return powf(x + 0.5f, exponent); }
    double expected(double x) const { return std::pow(x + 0.5, static_cast<double>(exponent)); }
};
struct Tangent : OnFloats<float> {
    __device__ float apply(float x) const { return tanhf(x) + 0.5f; }
    double expected(double x) const { return std::tanh(x) + 0.5; }
};
struct DoubleExponential : OnFloats<double> {
    __device__ double apply(double x) const { return exp(-x); }
    double expected(double x) const { return std::exp(-x); }
};
struct DoubleRoot : OnFloats<double> {
    __device__ double apply(double x) const { return sqrt(x + 0.5); }
    double expected(double x) const { return std::sqrt(x + 0.5); }
};
struct DoubleQuotient : OnFloats<double> {
    double dividend = 0.75;
    __device__ double apply(double x) const { return dividend / (x + 0.5); }
    double expected(double x) const { return dividend / (x + 0.5); }
};
/// To an integer and back.
struct Convert : OnFloats<float> {
    __device__ float apply(float x) const {
        return static_cast<float>(static_cast<int>(x * 1024)) * (0.5f / 1024) + 0.25f;
    }
    double expected(double x) const { return std::trunc(x * 1024) * (0.5 / 1024) + 0.25; }
};

/// Eight multiply-adds for each special function: both pipes have work.
struct SineAndMultiplyAdds : OnFloats<float> {
    float factor = 0.9f;
    __device__ float apply(float x) const {
        float sum = __sinf(x);
#pragma unroll
        for (int k = 0; k < 8; ++k) sum = sum * factor + 0.05f;
        return sum;
    }
    double expected(double x) const {
        double sum = std::sin(x);
        for (int k = 0; k < 8; ++k) sum = sum * static_cast<double>(factor) + 0.05;
        return sum;
    }
};

// ---- half precision: two numbers at a time ------------------------------------------------------------------------

template <unsigned chains>
__global__ void run_half2_chains(unsigned rounds, float* out) {
    __half2 x[chains];
    const __half2 factor = __float2half2_rn(0.5f), summand = __float2half2_rn(0.25f);
#pragma unroll
    for (unsigned k = 0; k < chains; ++k) x[k] = __float2half2_rn(static_cast<float>(threadIdx.x % 8 + k));
#pragma unroll 8
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned k = 0; k < chains; ++k) x[k] = __hfma2(x[k], factor, summand);
    }
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < chains; ++k) sum += __low2float(x[k]) + __high2float(x[k]);
    out[thread_in_grid()] = sum;
}

/// All chains converge to 0.5.
template <unsigned chains>
Prepared half2_chains(unsigned blocks, unsigned threads, unsigned rounds) {
    const Array<float> out = output<float>(std::size_t{blocks} * threads);
    return prepared(
        run_half2_chains<chains>, {blocks, threads}, out, [](std::size_t) { return static_cast<float>(chains); }, 1e-2,
        rounds, out);
}

std::vector<Case> chains() {
    using Fma = MultiplyAdd<float>;
    using DoubleFma = MultiplyAdd<double>;
    using IntegerFma = IntegerMultiplyAdd<unsigned>;
    return {
        {"chains_fma_1_of_1_warp", [] { return chained<Fma, 1>(kSms, 32, 4096); }},
        {"chains_fma_2_of_1_warp", [] { return chained<Fma, 2>(kSms, 32, 4096); }},
        {"chains_fma_4_of_1_warp", [] { return chained<Fma, 4>(kSms, 32, 4096); }},
        {"chains_fma_8_of_1_warp", [] { return chained<Fma, 8>(kSms, 32, 4096); }},
        {"chains_fma_1_of_4_warps", [] { return chained<Fma, 1>(kSms, 128, 4096); }},
        {"chains_fma_4_of_4_warps", [] { return chained<Fma, 4>(kSms, 128, 2048); }},
        {"chains_fma_1_of_8_warps", [] { return chained<Fma, 1>(kSms, 256, 2048); }},
        {"chains_fma_2_of_8_warps", [] { return chained<Fma, 2>(kSms, 256, 2048); }},
        {"chains_fma_1_of_16_warps", [] { return chained<Fma, 1>(kSms, 512, 1024); }},
        {"chains_fma_1_of_64_warps", [] { return chained<Fma, 1>(2 * kSms, 1024, 512); }},
        {"chains_fma_4_of_64_warps", [] { return chained<Fma, 4>(2 * kSms, 1024, 128); }},
        {"chains_fma_8_of_32_warps", [] { return chained<Fma, 8>(4 * kSms, 256, 128); }},
        {"chains_fma_1_of_1_block", [] { return chained<Fma, 1>(1, 32, 8192); }},
        {"chains_fma_4_of_1_block_of_1024", [] { return chained<Fma, 4>(1, 1024, 2048); }},
        {"chains_double_fma_1_of_1_warp", [] { return chained<DoubleFma, 1>(kSms, 32, 4096); }},
        {"chains_double_fma_4_of_1_warp", [] { return chained<DoubleFma, 4>(kSms, 32, 4096); }},
        {"chains_double_fma_1_of_8_warps", [] { return chained<DoubleFma, 1>(kSms, 256, 2048); }},
        {"chains_double_fma_1_of_64_warps", [] { return chained<DoubleFma, 1>(2 * kSms, 1024, 256); }},
        {"chains_double_fma_4_of_32_warps", [] { return chained<DoubleFma, 4>(4 * kSms, 256, 128); }},
        {"chains_double_add_2_of_16_warps", [] { return chained<Add<double>, 2>(kSms, 512, 512); }},
        {"chains_integer_fma_1_of_1_warp", [] { return chained<IntegerFma, 1>(kSms, 32, 4096); }},
        {"chains_integer_fma_1_of_64_warps", [] { return chained<IntegerFma, 1>(2 * kSms, 1024, 256); }},
        {"chains_integer_fma_4_of_8_warps", [] { return chained<IntegerFma, 4>(kSms, 256, 1024); }},
        {"chains_long_fma_1_of_64_warps",
         [] { return chained<IntegerMultiplyAdd<unsigned long long>, 1>(2 * kSms, 1024, 128); }},
        {"chains_xorshift_1_of_1_warp", [] { return chained<Xorshift, 1>(kSms, 32, 2048); }},
        {"chains_xorshift_1_of_64_warps", [] { return chained<Xorshift, 1>(2 * kSms, 1024, 128); }},
        {"chains_add_1_of_64_warps", [] { return chained<Add<float>, 1>(2 * kSms, 1024, 512); }},
        {"chains_add_4_of_1_warp", [] { return chained<Add<float>, 4>(kSms, 32, 4096); }},
        {"chains_maximum_1_of_64_warps", [] { return chained<Maximum, 1>(2 * kSms, 1024, 256); }},
        {"chains_high_product_1_of_64_warps", [] { return chained<HighProduct, 1>(2 * kSms, 1024, 128); }},
        {"chains_floats_and_integers_of_64_warps", [] { return chained<FloatsAndIntegers, 1>(2 * kSms, 1024, 256); }},
        {"chains_half2_1_of_64_warps", [] { return half2_chains<1>(2 * kSms, 1024, 128); }},
        {"chains_half2_4_of_4_warps", [] { return half2_chains<4>(kSms, 128, 256); }},
    };
}

std::vector<Case> special_functions() {
    return {
        {"special_fast_sine", [] { return chained<FastSine, 1>(2 * kSms, 1024, 128); }},
        {"special_fast_exponential", [] { return chained<FastExponential, 1>(2 * kSms, 1024, 128); }},
        {"special_fast_logarithm", [] { return chained<FastLogarithm, 1>(2 * kSms, 1024, 128); }},
        {"special_inverse_root", [] { return chained<InverseRoot, 1>(2 * kSms, 1024, 128); }},
        {"special_inverse_root_of_1_warp", [] { return chained<InverseRoot, 1>(kSms, 32, 2048); }},
        {"special_inverse_root_4_of_1_warp", [] { return chained<InverseRoot, 4>(kSms, 32, 1024); }},
        {"special_root", [] { return chained<Root, 1>(2 * kSms, 1024, 64); }},
        {"special_quotient", [] { return chained<Quotient, 1>(2 * kSms, 1024, 64); }},
        {"special_quotient_of_1_warp", [] { return chained<Quotient, 1>(kSms, 32, 512); }},
        {"special_fast_quotient", [] { return chained<FastQuotient, 1>(2 * kSms, 1024, 128); }},
        {"special_sine", [] { return chained<Sine, 1>(2 * kSms, 1024, 32); }},
        {"special_exponential", [] { return chained<Exponential, 1>(2 * kSms, 1024, 64); }},
        {"special_exponential_of_4_warps", [] { return chained<Exponential, 1>(kSms, 128, 512); }},
        {"special_power", [] { return chained<Power, 1>(2 * kSms, 1024, 16); }},
        {"special_tangent", [] { return chained<Tangent, 1>(2 * kSms, 1024, 32); }},
        {"special_double_exponential", [] { return chained<DoubleExponential, 1>(2 * kSms, 1024, 16); }},
        {"special_double_root", [] { return chained<DoubleRoot, 1>(2 * kSms, 1024, 16); }},
        {"special_double_quotient", [] { return chained<DoubleQuotient, 1>(2 * kSms, 1024, 16); }},
        {"special_double_quotient_of_1_warp", [] { return chained<DoubleQuotient, 1>(kSms, 32, 256); }},
        {"special_integer_quotient", [] { return chained<Divide, 1>(2 * kSms, 1024, 32); }},
        {"special_integer_remainder", [] { return chained<Remainder, 1>(2 * kSms, 1024, 32); }},
        {"special_count_bits", [] { return chained<CountBits, 1>(2 * kSms, 1024, 128); }},
        {"special_convert", [] { return chained<Convert, 1>(2 * kSms, 1024, 64); }},
        {"special_sine_and_8_fma", [] { return chained<SineAndMultiplyAdds, 1>(2 * kSms, 1024, 64); }},
    };
}

}  // namespace arithmetic_kernels

std::vector<Family> arithmetic_families() {
    return {{"chains", arithmetic_kernels::chains()}, {"special_functions", arithmetic_kernels::special_functions()}};
}

}  // namespace model_kernels
