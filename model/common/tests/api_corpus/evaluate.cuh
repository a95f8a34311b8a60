// For cases about functions that kernels call: the values to try, and one kernel that calls the function with all
// combinations of them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/tests/api_corpus/api_corpus.h"

namespace api_corpus {

/// Ends the program where the corpus itself cannot go on.
inline void require(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "api_corpus: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(2);
}

// ---- results as text -----------------------------------------------------------------------------------------

/// What the bits of a result stand for.
enum class Kind : int { bits, f32, f64, f16, bf16 };

template <class T>
constexpr Kind kind_of = std::is_same_v<T, float>           ? Kind::f32
                         : std::is_same_v<T, double>        ? Kind::f64
                         : std::is_same_v<T, __half>        ? Kind::f16
                         : std::is_same_v<T, __nv_bfloat16> ? Kind::bf16
                                                            : Kind::bits;

inline const char* name_of(Kind kind) {
    constexpr const char* names[] = {"bits", "f32", "f64", "f16", "bf16"};
    return names[static_cast<int>(kind)];
}

/// Whether the bits, lowest byte first, are those of a NaN.
inline bool is_nan_of(Kind kind, const unsigned char* bytes) {
    unsigned long long bits = 0;
    std::memcpy(&bits, bytes, kind == Kind::f64 ? 8 : kind == Kind::f32 ? 4 : 2);
    switch (kind) {
        case Kind::f32:
            return (bits & 0x7fffffffu) > 0x7f800000u;
        case Kind::f64:
            return (bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
        case Kind::f16:
            return (bits & 0x7fffu) > 0x7c00u;
        case Kind::bf16:
            return (bits & 0x7fffu) > 0x7f80u;
        case Kind::bits:
            break;
    }
    return false;
}

/// The value's bits, the highest first.
inline std::string text_of(Kind kind, const unsigned char* bytes, std::size_t size) {
    if (is_nan_of(kind, bytes)) return "nan";
    std::string text;
    for (std::size_t i = size; i-- > 0;) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
        text += digits;
    }
    return text;
}

template <class T>
Results results_of(const std::vector<T>& values) {
    Results results;
    results.type = name_of(kind_of<T>);
    for (const T& value : values) {
        unsigned char bytes[sizeof(T) < 8 ? 8 : sizeof(T)] = {};
        std::memcpy(bytes, &value, sizeof value);
        results.values.push_back(text_of(kind_of<T>, bytes, sizeof value));
    }
    return results;
}

// ---- memory --------------------------------------------------------------------------------------------------

/// Device memory with these values.
template <class T>
class OnDevice {
public:
    explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
        require(cudaMalloc(reinterpret_cast<void**>(&data_), count_ * sizeof(T)), "cudaMalloc");
        require(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    ~OnDevice() { (void)cudaFree(data_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    T* data() const { return data_; }
    std::vector<T> values() const {
        std::vector<T> result(count_);
        require(cudaMemcpy(result.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "a kernel");
        return result;
    }

private:
    std::size_t count_;
    T* data_ = nullptr;
};

// ---- all combinations ----------------------------------------------------------------------------------------

// Host code of nvcc knows neither device functions nor what they return: the kernel stores bytes, and what they are.

constexpr int kMostBytes = 32;

struct Shape {
    int kind;
    int bytes;
};

template <class R>
__device__ void store(const R& result, int i, unsigned char* out, Shape* shape) {
    unsigned char* const place = out + static_cast<std::size_t>(i) * kMostBytes;
    if constexpr (sizeof(R) == 2) {
        // ptxas 13.0 converts a half in a register to an integer where its low byte is stored alone.
        *reinterpret_cast<unsigned short*>(place) = *reinterpret_cast<const unsigned short*>(&result);
    } else {
        const auto* bytes = reinterpret_cast<const unsigned char*>(&result);
        for (std::size_t k = 0; k < sizeof(R); ++k) place[k] = bytes[k];
    }
    if (i == 0) *shape = {static_cast<int>(kind_of<R>), static_cast<int>(sizeof(R))};
}
__device__ inline void store(bool result, int i, unsigned char* out, Shape* shape) {
    store(result ? 1 : 0, i, out, shape);
}

template <class Call, class A>
__global__ void call_with_each(Call call, const A* a, int count, unsigned char* out, Shape* shape) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) store(call(a[i]), i, out, shape);
}
template <class Call, class A, class B>
__global__ void call_with_pairs(Call call, const A* a, const B* b, int b_count, int count, unsigned char* out,
                                Shape* shape) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) store(call(a[i / b_count], b[i % b_count]), i, out, shape);
}
template <class Call, class A, class B, class C>
__global__ void call_with_triples(Call call, const A* a, const B* b, int b_count, const C* c, int c_count, int count,
                                  unsigned char* out, Shape* shape) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        store(call(a[i / c_count / b_count], b[i / c_count % b_count], c[i % c_count]), i, out, shape);
    }
}

constexpr int kThreads = 128;

/// Room for the results of `count` calls.
class Stored {
public:
    explicit Stored(std::size_t count)
        : count_(count), d_bytes_(std::vector<unsigned char>(count * kMostBytes)), d_shape_(std::vector<Shape>(1)) {}

    int count() const { return static_cast<int>(count_); }
    int blocks() const { return (count() + kThreads - 1) / kThreads; }
    unsigned char* bytes() const { return d_bytes_.data(); }
    Shape* shape() const { return d_shape_.data(); }
    Results results() const {
        const std::vector<unsigned char> bytes = d_bytes_.values();
        const Shape shape = d_shape_.values()[0];
        Results results;
        results.type = name_of(static_cast<Kind>(shape.kind));
        for (std::size_t i = 0; i < count_; ++i) {
            results.values.push_back(
                text_of(static_cast<Kind>(shape.kind), &bytes[i * kMostBytes], static_cast<std::size_t>(shape.bytes)));
        }
        return results;
    }

private:
    std::size_t count_;
    OnDevice<unsigned char> d_bytes_;
    OnDevice<Shape> d_shape_;
};

/// What `call` returns for each value.
template <class Call, class A>
Results map(Call call, const std::vector<A>& a) {
    const OnDevice<A> d_a(a);
    const Stored out(a.size());
    call_with_each<Call, A><<<out.blocks(), kThreads>>>(call, d_a.data(), out.count(), out.bytes(), out.shape());
    return out.results();
}

template <class Call, class A, class B>
Results map(Call call, const std::vector<A>& a, const std::vector<B>& b) {
    const OnDevice<A> d_a(a);
    const OnDevice<B> d_b(b);
    const Stored out(a.size() * b.size());
    call_with_pairs<Call, A, B><<<out.blocks(), kThreads>>>(call, d_a.data(), d_b.data(), static_cast<int>(b.size()),
                                                            out.count(), out.bytes(), out.shape());
    return out.results();
}

template <class Call, class A, class B, class C>
Results map(Call call, const std::vector<A>& a, const std::vector<B>& b, const std::vector<C>& c) {
    const OnDevice<A> d_a(a);
    const OnDevice<B> d_b(b);
    const OnDevice<C> d_c(c);
    const Stored out(a.size() * b.size() * c.size());
    call_with_triples<Call, A, B, C>
        <<<out.blocks(), kThreads>>>(call, d_a.data(), d_b.data(), static_cast<int>(b.size()), d_c.data(),
                                     static_cast<int>(c.size()), out.count(), out.bytes(), out.shape());
    return out.results();
}

/// Defines `Call_name`, which calls the device function with whatever it gets.
#define CALL_OF(name)                              \
    struct Call_##name {                           \
        template <class... A>                      \
        __device__ auto operator()(A... a) const { \
            return name(a...);                     \
        }                                          \
    };
/// A case for a function: what it returns for all combinations of some values.
#define TRY(name, ...) \
    CALL_OF(name)      \
    const Case case_##name(#name, [] { return map(Call_##name{}, __VA_ARGS__); });
/// The same, where results may differ by so many units in the last place.
#define TRY_ULP(name, ulp, ...) \
    CALL_OF(name)               \
    const Case case_##name(#name, [] { return within(ulp, map(Call_##name{}, __VA_ARGS__)); });
#define TRY_ABSOLUTE(name, bound, ...) \
    CALL_OF(name)                      \
    const Case case_##name(#name, [] { return within_absolute(bound, map(Call_##name{}, __VA_ARGS__)); });

// ---- values to try -------------------------------------------------------------------------------------------

inline std::vector<int> ints() {
    return {0, 1, -1, 2, 31, 32, 33, 100, -100, 0x00ff00ff, 0x12345678, -0x12345678, 0x7fffffff, -0x7fffffff - 1};
}
inline std::vector<unsigned> uints() {
    return {0u,   1u,          2u,          31u,         32u,         33u,         63u,        64u,
            255u, 0x00ff00ffu, 0x12345678u, 0x80000000u, 0x80808080u, 0xfffffffeu, 0xffffffffu};
}
inline std::vector<long long> longs() {
    return {0,
            1,
            -1,
            1ll << 31,
            1ll << 32,
            -(1ll << 40),
            0x123456789abcdef0ll,
            std::numeric_limits<long long>::max(),
            std::numeric_limits<long long>::min()};
}
inline std::vector<unsigned long long> ulongs() {
    return {0ull, 1ull, 1ull << 31, 1ull << 32, 0x123456789abcdef0ull, 1ull << 63, ~0ull};
}
inline std::vector<float> floats() {
    constexpr float inf = std::numeric_limits<float>::infinity();
    return {0.0f,
            -0.0f,
            0.5f,
            -0.5f,
            1.0f,
            -1.0f,
            1.5f,
            2.5f,
            -2.5f,
            0.1f,
            3.14159f,
            -7.75f,
            100.25f,
            1e-3f,
            65504.0f,
            65520.0f,
            1e-8f,
            1e10f,
            -1e10f,
            1e-38f,
            1e-45f,
            3.4e38f,
            16777218.0f,
            2147483648.0f,
            4294967296.0f,
            -2147483904.0f,
            9.3e18f,
            1.9e19f,
            inf,
            -inf,
            std::numeric_limits<float>::quiet_NaN()};
}
inline std::vector<double> doubles() {
    constexpr double inf = std::numeric_limits<double>::infinity();
    return {0.0,
            -0.0,
            0.5,
            -0.5,
            1.0,
            -1.0,
            1.5,
            2.5,
            -2.5,
            0.1,
            3.141592653589793,
            -7.75,
            100.25,
            1e-3,
            65504.0,
            1e10,
            -1e10,
            1e-310,
            1e300,
            1e-300,
            1e-45,
            16777217.0,
            2147483647.5,
            4294967295.5,
            -2147483648.5,
            9.3e18,
            1.9e19,
            9007199254740993.0,
            inf,
            -inf,
            std::numeric_limits<double>::quiet_NaN()};
}
/// Where three of them are combined.
inline std::vector<int> few_ints() { return {0, 1, -1, 33, -100, 0x12345678, 0x7fffffff, -0x7fffffff - 1}; }
inline std::vector<unsigned> few_uints() {
    return {0u, 1u, 32u, 33u, 0x12345678u, 0x80808080u, 0xfffffffeu, 0xffffffffu};
}
inline std::vector<float> few_floats() {
    return {0.0f, -1.0f, 1.5f, 0.1f, 16777218.0f, 1e-38f, 3.4e38f, -std::numeric_limits<float>::infinity()};
}
inline std::vector<double> few_doubles() {
    return {0.0, -1.0, 1.5, 0.1, 9007199254740993.0, 1e-300, 1e300, -std::numeric_limits<double>::infinity()};
}
/// For functions of which only values near 1 say anything.
inline std::vector<float> near_one() {
    return {0.0f, 0.1f,  0.25f, 0.5f,  0.75f,  0.9f,  1.0f,  1.25f, 1.5f,
            2.0f, 2.75f, -0.1f, -0.5f, -0.75f, -1.0f, -1.5f, -2.5f};
}
inline std::vector<double> doubles_near_one() {
    return {0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.25, 1.5, 2.0, 2.75, -0.1, -0.5, -0.75, -1.0, -1.5, -2.5};
}
inline std::vector<float> positive() { return {0.001f, 0.1f, 0.5f, 0.9f, 1.0f, 1.1f, 2.0f, 10.0f, 1000.0f, 1e6f}; }
inline std::vector<double> positive_doubles() { return {0.001, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 10.0, 1000.0, 1e6}; }
inline std::vector<float> inside_unit() { return {0.01f, 0.1f, 0.3f, 0.5f, 0.7f, 0.9f, 0.99f}; }
inline std::vector<double> inside_unit_doubles() { return {0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99}; }

}  // namespace api_corpus
