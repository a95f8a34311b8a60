// Random numbers in kernels: the counterpart of cuRAND's device interface. XORWOW and Philox4_32_10 give the sequences
// that they give on a GPU. Normal values come from the same pairs of integers; their last bits may differ, because a
// GPU takes fast approximations of sine and cosine.
//
// Other generators (MRG32k3a, MTGP32, Sobol), Poisson and discrete distributions are not declared.
#pragma once

#include "cpu_device/instrumented.h"

#include <cuda_runtime.h>

#include "curand.h"

#define CURAND_KERNEL_H_

// ---- states ------------------------------------------------------------------------------------------------------

struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag;         ///< which kind of value waits in boxmuller_extra: 0, normal, or log-normal
    int boxmuller_flag_double;  ///< the same for boxmuller_extra_double
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;

struct curandStatePhilox4_32_10 {
    uint4 ctr;     ///< the block of four numbers that comes
    uint4 output;  ///< that block
    uint2 key;
    unsigned int STATE;  ///< how many numbers of the block have been taken
    int boxmuller_flag;
    int boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace cpu_device::curand {

/// Moves the five words of an XORWOW state on: `count` numbers, or `count` sequences of 2^67 numbers.
void skip_xorwow(unsigned int (&words)[5], unsigned long long count, bool sequences);

inline constexpr int normal_waits = 1;
inline constexpr int log_normal_waits = 2;

inline constexpr float two_to_minus_32 = 2.3283064e-10f;
inline constexpr float turn_to_minus_32 = 2.3283064e-10f * 6.2831855f;  ///< 2 pi / 2^32
inline constexpr double two_to_minus_53 = 1.1102230246251565e-16;

/// In (0, 1].
CPU_DEVICE_INLINE float uniform(unsigned int x) { return x * two_to_minus_32 + two_to_minus_32 / 2.0f; }
CPU_DEVICE_INLINE double uniform(unsigned int x, unsigned int y) {
    const unsigned long long bits = x ^ static_cast<unsigned long long>(y) << 21;
    return bits * two_to_minus_53 + two_to_minus_53 / 2.0;
}

/// Two normal values of two uniform ones (Box and Muller).
CPU_DEVICE_INLINE float2 normal_pair(unsigned int x, unsigned int y) {
    const float length = ::sqrtf(-2.0f * ::logf(uniform(x)));
    const float angle = y * turn_to_minus_32 + turn_to_minus_32 / 2;
    return {::sinf(angle) * length, ::cosf(angle) * length};
}
CPU_DEVICE_INLINE double2 normal_pair(unsigned int x0, unsigned int x1, unsigned int y0, unsigned int y1) {
    const unsigned long long bits = y0 ^ static_cast<unsigned long long>(y1) << 21;
    const double half_turns = bits * (two_to_minus_53 * 2.0) + two_to_minus_53;
    const double length = ::sqrt(-2.0 * ::log(uniform(x0, x1)));
    double sine, cosine;
    ::sincospi(half_turns, &sine, &cosine);
    return {sine * length, cosine * length};
}

/// One round of Philox: two products of 32 bits each, whose halves change places.
CPU_DEVICE_INLINE uint4 philox_round(uint4 counter, uint2 key) {
    const unsigned long long first = 0xD2511F53ull * counter.x;
    const unsigned long long second = 0xCD9E8D57ull * counter.z;
    return {static_cast<unsigned int>(second >> 32) ^ counter.y ^ key.x, static_cast<unsigned int>(second),
            static_cast<unsigned int>(first >> 32) ^ counter.w ^ key.y, static_cast<unsigned int>(first)};
}

/// The block of four numbers that belongs to a counter.
CPU_DEVICE_INLINE uint4 philox_block(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        counter = philox_round(counter, key);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}

/// Adds to the counter, a number of 128 bits. As cuRAND does it, a carry out of the second word is seen only where that
/// word has become smaller than what was added to it.
CPU_DEVICE_INLINE void advance(curandStatePhilox4_32_10* state, unsigned long long blocks) {
    const unsigned int low = static_cast<unsigned int>(blocks);
    unsigned int high = static_cast<unsigned int>(blocks >> 32);
    uint4 counter = state->ctr;
    counter.x += low;
    if (counter.x < low) ++high;
    counter.y += high;
    if (high > counter.y && ++counter.z == 0) ++counter.w;
    state->ctr = counter;
}

}  // namespace cpu_device::curand

// ---- XORWOW --------------------------------------------------------------------------------------------------------

CPU_DEVICE_INLINE unsigned int curand(curandStateXORWOW_t* state) {
    const unsigned int first = state->v[0] ^ state->v[0] >> 2;
    const unsigned int last = state->v[4];
    state->v[0] = state->v[1];
    state->v[1] = state->v[2];
    state->v[2] = state->v[3];
    state->v[3] = last;
    const unsigned int next = (last ^ last << 4) ^ (first ^ first << 1);
    state->v[4] = next;
    return next + (state->d += 362437u);
}

inline void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
    unsigned int words[5];
    for (int i = 0; i < 5; ++i) words[i] = state->v[i];
    cpu_device::curand::skip_xorwow(words, n, false);
    for (int i = 0; i < 5; ++i) state->v[i] = words[i];
    state->d += 362437u * static_cast<unsigned int>(n);
}

/// Sequences are 2^67 numbers apart, a multiple of the period of `d`.
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
    unsigned int words[5];
    for (int i = 0; i < 5; ++i) words[i] = state->v[i];
    cpu_device::curand::skip_xorwow(words, n, true);
    for (int i = 0; i < 5; ++i) state->v[i] = words[i];
}

inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateXORWOW_t* state) {
    const unsigned int low = 1099087573u * (static_cast<unsigned int>(seed) ^ 0xaad26b49u);
    const unsigned int high = 2591861531u * (static_cast<unsigned int>(seed >> 32) ^ 0xf7dcefddu);
    unsigned int words[5] = {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low};
    cpu_device::curand::skip_xorwow(words, subsequence, true);
    cpu_device::curand::skip_xorwow(words, offset, false);
    for (int i = 0; i < 5; ++i) state->v[i] = words[i];
    state->d = 6615241u + high + low + 362437u * static_cast<unsigned int>(offset);
    state->boxmuller_flag = 0;
    state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

// ---- Philox ---------------------------------------------------------------------------------------------------------

CPU_DEVICE_INLINE unsigned int curand(curandStatePhilox4_32_10_t* state) {
    const uint4 block = state->output;
    const unsigned int taken = state->STATE;
    const unsigned int number = taken == 1 ? block.y : taken == 2 ? block.z : taken == 3 ? block.w : block.x;
    if (taken == 3) {
        cpu_device::curand::advance(state, 1);
        state->output = cpu_device::curand::philox_block(state->ctr, state->key);
    }
    state->STATE = (taken + 1) % 4;
    return number;
}

/// The next four numbers.
CPU_DEVICE_INLINE uint4 curand4(curandStatePhilox4_32_10_t* state) {
    const uint4 a = state->output;
    cpu_device::curand::advance(state, 1);
    const uint4 b = cpu_device::curand::philox_block(state->ctr, state->key);
    state->output = b;
    switch (state->STATE) {
        case 1:
            return {a.y, a.z, a.w, b.x};
        case 2:
            return {a.z, a.w, b.x, b.y};
        case 3:
            return {a.w, b.x, b.y, b.z};
        default:
            return a;
    }
}

inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    const unsigned int taken = state->STATE + static_cast<unsigned int>(n % 4);
    state->STATE = taken % 4;
    cpu_device::curand::advance(state, n / 4 + taken / 4);
    state->output = cpu_device::curand::philox_block(state->ctr, state->key);
}

/// Sequences differ in the upper half of the counter.
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    const unsigned int low = static_cast<unsigned int>(n);
    state->ctr.z += low;
    state->ctr.w += static_cast<unsigned int>(n >> 32) + (state->ctr.z < low ? 1u : 0u);
    state->output = cpu_device::curand::philox_block(state->ctr, state->key);
}

inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStatePhilox4_32_10_t* state) {
    state->ctr = make_uint4(0, 0, 0, 0);
    state->key = make_uint2(static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32));
    state->STATE = 0;
    state->boxmuller_flag = 0;
    state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}

// ---- uniform values in (0, 1] -------------------------------------------------------------------------------------

CPU_DEVICE_INLINE float curand_uniform(curandStateXORWOW_t* state) {
    return cpu_device::curand::uniform(curand(state));
}
CPU_DEVICE_INLINE float curand_uniform(curandStatePhilox4_32_10_t* state) {
    return cpu_device::curand::uniform(curand(state));
}
CPU_DEVICE_INLINE float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    return {cpu_device::curand::uniform(x.x), cpu_device::curand::uniform(x.y), cpu_device::curand::uniform(x.z),
            cpu_device::curand::uniform(x.w)};
}
CPU_DEVICE_INLINE double curand_uniform_double(curandStateXORWOW_t* state) {
    const unsigned int x = curand(state);
    return cpu_device::curand::uniform(x, curand(state));
}
/// Of 32 bits alone, unlike curand_uniform2_double.
CPU_DEVICE_INLINE double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
    return curand(state) * 2.3283064365386963e-10 + 2.3283064365386963e-10;
}
CPU_DEVICE_INLINE double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    return {cpu_device::curand::uniform(x.x, x.y), cpu_device::curand::uniform(x.z, x.w)};
}

// ---- normal values ------------------------------------------------------------------------------------------------

template <class State>
CPU_DEVICE_INLINE float2 curand_normal2(State* state) {
    const unsigned int x = curand(state);
    return cpu_device::curand::normal_pair(x, curand(state));
}
CPU_DEVICE_INLINE float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    const float2 a = cpu_device::curand::normal_pair(x.x, x.y);
    const float2 b = cpu_device::curand::normal_pair(x.z, x.w);
    return {a.x, a.y, b.x, b.y};
}
CPU_DEVICE_INLINE double2 curand_normal2_double(curandStateXORWOW_t* state) {
    const unsigned int x0 = curand(state), x1 = curand(state), y0 = curand(state);
    return cpu_device::curand::normal_pair(x0, x1, y0, curand(state));
}
CPU_DEVICE_INLINE double2 curand_normal2_double(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    return cpu_device::curand::normal_pair(x.x, x.y, x.z, x.w);
}

/// Every second call returns what the call before left.
template <class State>
CPU_DEVICE_INLINE float curand_normal(State* state) {
    if (state->boxmuller_flag == cpu_device::curand::normal_waits) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    const float2 pair = curand_normal2(state);
    state->boxmuller_extra = pair.y;
    state->boxmuller_flag = cpu_device::curand::normal_waits;
    return pair.x;
}
template <class State>
CPU_DEVICE_INLINE double curand_normal_double(State* state) {
    if (state->boxmuller_flag_double == cpu_device::curand::normal_waits) {
        state->boxmuller_flag_double = 0;
        return state->boxmuller_extra_double;
    }
    const double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = pair.y;
    state->boxmuller_flag_double = cpu_device::curand::normal_waits;
    return pair.x;
}

// ---- log-normal values: exp(mean + stddev * a normal value) -------------------------------------------------------

template <class State>
CPU_DEVICE_INLINE float2 curand_log_normal2(State* state, float mean, float stddev) {
    const float2 pair = curand_normal2(state);
    return {::expf(mean + stddev * pair.x), ::expf(mean + stddev * pair.y)};
}
CPU_DEVICE_INLINE float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float stddev) {
    const float4 x = curand_normal4(state);
    return {::expf(mean + stddev * x.x), ::expf(mean + stddev * x.y), ::expf(mean + stddev * x.z),
            ::expf(mean + stddev * x.w)};
}
template <class State>
CPU_DEVICE_INLINE double2 curand_log_normal2_double(State* state, double mean, double stddev) {
    const double2 pair = curand_normal2_double(state);
    return {::exp(mean + stddev * pair.x), ::exp(mean + stddev * pair.y)};
}
template <class State>
CPU_DEVICE_INLINE float curand_log_normal(State* state, float mean, float stddev) {
    if (state->boxmuller_flag == cpu_device::curand::log_normal_waits) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    const float2 pair = curand_log_normal2(state, mean, stddev);
    state->boxmuller_extra = pair.y;
    state->boxmuller_flag = cpu_device::curand::log_normal_waits;
    return pair.x;
}
template <class State>
CPU_DEVICE_INLINE double curand_log_normal_double(State* state, double mean, double stddev) {
    if (state->boxmuller_flag_double == cpu_device::curand::log_normal_waits) {
        state->boxmuller_flag_double = 0;
        return state->boxmuller_extra_double;
    }
    const double2 pair = curand_log_normal2_double(state, mean, stddev);
    state->boxmuller_extra_double = pair.y;
    state->boxmuller_flag_double = cpu_device::curand::log_normal_waits;
    return pair.x;
}
