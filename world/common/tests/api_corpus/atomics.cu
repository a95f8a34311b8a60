// Atomic operations: what they return to one thread after the other, and what they leave behind.
#include "common/tests/api_corpus/evaluate.cuh"

namespace {

using namespace api_corpus;

/// One thread does them all in a row: of many threads only the sum of the effects would be certain.
template <class Call, class T>
__global__ void call_in_a_row(Call call, T* place, const T* values, int count, T* out) {
    for (int i = 0; i < count; ++i) out[i] = call(place, values[i]);
    out[count] = *place;
}

template <class T, class Call>
Results in_a_row(Call call, T start, const std::vector<T>& values) {
    const OnDevice<T> d_place(std::vector<T>{start}), d_values(values), d_out{std::vector<T>(values.size() + 1)};
    call_in_a_row<Call, T>
        <<<1, 1>>>(call, d_place.data(), d_values.data(), static_cast<int>(values.size()), d_out.data());
    return results_of(d_out.values());
}

#define ATOMIC(name, T, label, start, values)                                           \
    struct Call_##name##_##label {                                                      \
        __device__ T operator()(T* place, T value) const { return name(place, value); } \
    };                                                                                  \
    const Case case_##name##_##label(#name " of " #T,                                   \
                                     [] { return in_a_row<T>(Call_##name##_##label{}, start, values); });

using ull = unsigned long long;

std::vector<int> some_ints() { return {1, -5, 0x7fffffff, 3, -1, 0, 100}; }
std::vector<unsigned> some_uints() { return {1u, 5u, 0xffffffffu, 3u, 0u, 0x80000000u, 2u}; }
std::vector<ull> some_ulls() { return {1ull, 5ull, ~0ull, 3ull, 0ull, 1ull << 63}; }
std::vector<float> some_floats() { return {1.0f, 0.1f, -3.5f, 1e10f, -1e10f, 0.0f}; }
std::vector<double> some_doubles() { return {1.0, 0.1, -3.5, 1e20, -1e20, 0.0}; }

ATOMIC(atomicAdd, int, i, 7, some_ints())
ATOMIC(atomicAdd, unsigned, u, 7u, some_uints())
ATOMIC(atomicAdd, ull, ull, 7ull, some_ulls())
ATOMIC(atomicAdd, float, f, 0.5f, some_floats())
ATOMIC(atomicAdd, double, d, 0.5, some_doubles())
ATOMIC(atomicSub, int, i, 7, some_ints())
ATOMIC(atomicSub, unsigned, u, 7u, some_uints())
ATOMIC(atomicExch, int, i, 7, some_ints())
ATOMIC(atomicExch, unsigned, u, 7u, some_uints())
ATOMIC(atomicExch, ull, ull, 7ull, some_ulls())
ATOMIC(atomicExch, float, f, 0.5f, some_floats())
ATOMIC(atomicMin, int, i, 7, some_ints())
ATOMIC(atomicMin, unsigned, u, 7u, some_uints())
ATOMIC(atomicMin, ull, ull, 7ull, some_ulls())
ATOMIC(atomicMax, int, i, 7, some_ints())
ATOMIC(atomicMax, unsigned, u, 7u, some_uints())
ATOMIC(atomicMax, ull, ull, 7ull, some_ulls())
ATOMIC(atomicAnd, int, i, 7, some_ints())
ATOMIC(atomicAnd, unsigned, u, 7u, some_uints())
ATOMIC(atomicAnd, ull, ull, 7ull, some_ulls())
ATOMIC(atomicOr, int, i, 7, some_ints())
ATOMIC(atomicOr, unsigned, u, 7u, some_uints())
ATOMIC(atomicOr, ull, ull, 7ull, some_ulls())
ATOMIC(atomicXor, int, i, 7, some_ints())
ATOMIC(atomicXor, unsigned, u, 7u, some_uints())
ATOMIC(atomicXor, ull, ull, 7ull, some_ulls())
ATOMIC(atomicInc, unsigned, u, 2u, (std::vector<unsigned>{5u, 3u, 3u, 3u, 0u, 0u, 0xffffffffu}))
ATOMIC(atomicDec, unsigned, u, 2u, (std::vector<unsigned>{5u, 3u, 3u, 3u, 0u, 9u, 0xffffffffu}))
struct Call_atomicCAS_i {
    __device__ int operator()(int* place, int value) const { return atomicCAS(place, int(7), value); }
};
const Case case_atomicCAS_i("atomicCAS of int", [] {
    return in_a_row<int>(Call_atomicCAS_i{}, int(7), std::vector<int>{int(7), int(8), int(9), int(7)});
});
struct Call_atomicCAS_u {
    __device__ unsigned operator()(unsigned* place, unsigned value) const {
        return atomicCAS(place, unsigned(7), value);
    }
};
const Case case_atomicCAS_u("atomicCAS of unsigned", [] {
    return in_a_row<unsigned>(Call_atomicCAS_u{}, unsigned(7),
                              std::vector<unsigned>{unsigned(7), unsigned(8), unsigned(9), unsigned(7)});
});
struct Call_atomicCAS_ull {
    __device__ ull operator()(ull* place, ull value) const { return atomicCAS(place, ull(7), value); }
};
const Case case_atomicCAS_ull("atomicCAS of ull", [] {
    return in_a_row<ull>(Call_atomicCAS_ull{}, ull(7), std::vector<ull>{ull(7), ull(8), ull(9), ull(7)});
});
ATOMIC(atomicAdd_block, int, i, 7, some_ints())
ATOMIC(atomicAdd_block, unsigned, u, 7u, some_uints())
ATOMIC(atomicAdd_block, ull, ull, 7ull, some_ulls())
ATOMIC(atomicAdd_block, float, f, 0.5f, some_floats())
ATOMIC(atomicAdd_block, double, d, 0.5, some_doubles())
ATOMIC(atomicSub_block, int, i, 7, some_ints())
ATOMIC(atomicSub_block, unsigned, u, 7u, some_uints())
ATOMIC(atomicExch_block, int, i, 7, some_ints())
ATOMIC(atomicExch_block, unsigned, u, 7u, some_uints())
ATOMIC(atomicExch_block, ull, ull, 7ull, some_ulls())
ATOMIC(atomicExch_block, float, f, 0.5f, some_floats())
ATOMIC(atomicMin_block, int, i, 7, some_ints())
ATOMIC(atomicMin_block, unsigned, u, 7u, some_uints())
ATOMIC(atomicMin_block, ull, ull, 7ull, some_ulls())
ATOMIC(atomicMax_block, int, i, 7, some_ints())
ATOMIC(atomicMax_block, unsigned, u, 7u, some_uints())
ATOMIC(atomicMax_block, ull, ull, 7ull, some_ulls())
ATOMIC(atomicAnd_block, int, i, 7, some_ints())
ATOMIC(atomicAnd_block, unsigned, u, 7u, some_uints())
ATOMIC(atomicAnd_block, ull, ull, 7ull, some_ulls())
ATOMIC(atomicOr_block, int, i, 7, some_ints())
ATOMIC(atomicOr_block, unsigned, u, 7u, some_uints())
ATOMIC(atomicOr_block, ull, ull, 7ull, some_ulls())
ATOMIC(atomicXor_block, int, i, 7, some_ints())
ATOMIC(atomicXor_block, unsigned, u, 7u, some_uints())
ATOMIC(atomicXor_block, ull, ull, 7ull, some_ulls())
ATOMIC(atomicInc_block, unsigned, u, 2u, (std::vector<unsigned>{5u, 3u, 3u, 3u, 0u, 0u, 0xffffffffu}))
ATOMIC(atomicDec_block, unsigned, u, 2u, (std::vector<unsigned>{5u, 3u, 3u, 3u, 0u, 9u, 0xffffffffu}))
struct Call_atomicCAS_block_i {
    __device__ int operator()(int* place, int value) const { return atomicCAS_block(place, int(7), value); }
};
const Case case_atomicCAS_block_i("atomicCAS_block of int", [] {
    return in_a_row<int>(Call_atomicCAS_block_i{}, int(7), std::vector<int>{int(7), int(8), int(9), int(7)});
});
struct Call_atomicCAS_block_u {
    __device__ unsigned operator()(unsigned* place, unsigned value) const {
        return atomicCAS_block(place, unsigned(7), value);
    }
};
const Case case_atomicCAS_block_u("atomicCAS_block of unsigned", [] {
    return in_a_row<unsigned>(Call_atomicCAS_block_u{}, unsigned(7),
                              std::vector<unsigned>{unsigned(7), unsigned(8), unsigned(9), unsigned(7)});
});
struct Call_atomicCAS_block_ull {
    __device__ ull operator()(ull* place, ull value) const { return atomicCAS_block(place, ull(7), value); }
};
const Case case_atomicCAS_block_ull("atomicCAS_block of ull", [] {
    return in_a_row<ull>(Call_atomicCAS_block_ull{}, ull(7), std::vector<ull>{ull(7), ull(8), ull(9), ull(7)});
});
ATOMIC(atomicAdd_system, int, i, 7, some_ints())
ATOMIC(atomicAdd_system, unsigned, u, 7u, some_uints())
ATOMIC(atomicAdd_system, ull, ull, 7ull, some_ulls())
ATOMIC(atomicAdd_system, float, f, 0.5f, some_floats())
ATOMIC(atomicAdd_system, double, d, 0.5, some_doubles())
ATOMIC(atomicSub_system, int, i, 7, some_ints())
ATOMIC(atomicSub_system, unsigned, u, 7u, some_uints())
ATOMIC(atomicExch_system, int, i, 7, some_ints())
ATOMIC(atomicExch_system, unsigned, u, 7u, some_uints())
ATOMIC(atomicExch_system, ull, ull, 7ull, some_ulls())
ATOMIC(atomicExch_system, float, f, 0.5f, some_floats())
ATOMIC(atomicMin_system, int, i, 7, some_ints())
ATOMIC(atomicMin_system, unsigned, u, 7u, some_uints())
ATOMIC(atomicMin_system, ull, ull, 7ull, some_ulls())
ATOMIC(atomicMax_system, int, i, 7, some_ints())
ATOMIC(atomicMax_system, unsigned, u, 7u, some_uints())
ATOMIC(atomicMax_system, ull, ull, 7ull, some_ulls())
ATOMIC(atomicAnd_system, int, i, 7, some_ints())
ATOMIC(atomicAnd_system, unsigned, u, 7u, some_uints())
ATOMIC(atomicAnd_system, ull, ull, 7ull, some_ulls())
ATOMIC(atomicOr_system, int, i, 7, some_ints())
ATOMIC(atomicOr_system, unsigned, u, 7u, some_uints())
ATOMIC(atomicOr_system, ull, ull, 7ull, some_ulls())
ATOMIC(atomicXor_system, int, i, 7, some_ints())
ATOMIC(atomicXor_system, unsigned, u, 7u, some_uints())
ATOMIC(atomicXor_system, ull, ull, 7ull, some_ulls())
ATOMIC(atomicInc_system, unsigned, u, 2u, (std::vector<unsigned>{5u, 3u, 3u, 3u, 0u, 0u, 0xffffffffu}))
ATOMIC(atomicDec_system, unsigned, u, 2u, (std::vector<unsigned>{5u, 3u, 3u, 3u, 0u, 9u, 0xffffffffu}))
struct Call_atomicCAS_system_i {
    __device__ int operator()(int* place, int value) const { return atomicCAS_system(place, int(7), value); }
};
const Case case_atomicCAS_system_i("atomicCAS_system of int", [] {
    return in_a_row<int>(Call_atomicCAS_system_i{}, int(7), std::vector<int>{int(7), int(8), int(9), int(7)});
});
struct Call_atomicCAS_system_u {
    __device__ unsigned operator()(unsigned* place, unsigned value) const {
        return atomicCAS_system(place, unsigned(7), value);
    }
};
const Case case_atomicCAS_system_u("atomicCAS_system of unsigned", [] {
    return in_a_row<unsigned>(Call_atomicCAS_system_u{}, unsigned(7),
                              std::vector<unsigned>{unsigned(7), unsigned(8), unsigned(9), unsigned(7)});
});
struct Call_atomicCAS_system_ull {
    __device__ ull operator()(ull* place, ull value) const { return atomicCAS_system(place, ull(7), value); }
};
const Case case_atomicCAS_system_ull("atomicCAS_system of ull", [] {
    return in_a_row<ull>(Call_atomicCAS_system_ull{}, ull(7), std::vector<ull>{ull(7), ull(8), ull(9), ull(7)});
});

// Of a type that only some devices have in hardware.
ATOMIC(atomicAdd, __half, h, __float2half(0.5f),
       (std::vector<__half>{__float2half(1.0f), __float2half(0.1f), __float2half(-3.5f)}))
ATOMIC(atomicAdd, __nv_bfloat16, b, __float2bfloat16(0.5f),
       (std::vector<__nv_bfloat16>{__float2bfloat16(1.0f), __float2bfloat16(0.1f), __float2bfloat16(-3.5f)}))

}  // namespace
