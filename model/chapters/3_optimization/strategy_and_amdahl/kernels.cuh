// The kernels of strategy_and_amdahl, in the order of its steps: y = p(x) for each of
// `count` floats. The last kernel, of which only the time matters, is for Amdahl's law.
#pragma once

#include <cstddef>

namespace optimization {
namespace {

constexpr int kLargestDegree = 256;

// Passed to kernels as an argument: all threads read the same coefficient at the same time
// (lesson constant_memory).
struct Polynomial {
    int degree;
    float coefficient[kLargestDegree + 1];  // of x^0, x^1 ...
};

// Step 1: the formula as it stands, with each power computed anew. For degree 16 that is
// 136 multiplications for the powers, and 34 operations more.
// Slow because of the operations: there are 21 of them per byte.
__global__ void each_power_anew(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float value = x[i];
    float sum = 0;
    for (int k = 0; k <= p.degree; ++k) {
        float power = 1;
        for (int j = 0; j < k; ++j) power *= value;
        sum += p.coefficient[k] * power;
    }
    y[i] = sum;
}

// Step 2, one thing changed: x^k is x^(k-1) times x.
// Faster because there are three operations per coefficient, 6 per byte. Still slow because
// the powers need a multiplication each.
__global__ void power_by_power(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float value = x[i];
    float sum = 0, power = 1;
    for (int k = 0; k <= p.degree; ++k) {
        sum += p.coefficient[k] * power;
        power *= value;
    }
    y[i] = sum;
}

// Step 3, one thing changed: Horner's rule, p(x) = c0 + x (c1 + x (c2 ...)). It needs the
// coefficient of the highest power first, so the host has stored the coefficients in that
// order, and the kernel reads them at rising addresses, as in step 2.
// Faster because there is one fused multiply-add per coefficient, 4 operations per byte.
// Fewer are hardly possible. Still slow, probably because a thread has 4 bytes in flight.
__global__ void horner_highest_first(const float* x, float* y, std::size_t count,
                                     Polynomial p) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float value = x[i];
    float sum = p.coefficient[0];
    for (int k = 1; k <= p.degree; ++k) sum = sum * value + p.coefficient[k];
    y[i] = sum;
}

// Step 4, one thing changed: the coefficients are stored as in steps 1 and 2, that of the
// lowest power first, so Horner's rule reads them backwards. This is how most people would
// write it.
// On an H200 it takes half as long again as step 3, because for falling addresses nvcc
// fetches the coefficients one by one (LDC), and for rising ones two at a time for a whole
// warp (ULDC.64). The formula is that of step 3.
__global__ void horner(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float value = x[i];
    float sum = p.coefficient[p.degree];
    for (int k = p.degree - 1; k >= 0; --k) sum = sum * value + p.coefficient[k];
    y[i] = sum;
}

// Step 5, one thing changed: four values per thread. They are 256 values apart, so that a
// load of a warp still reads 32 neighbors, 4 bytes per lane.
// Faster because one turn of the loop and one fetch of a coefficient serve four values.
// Each thread also has four loads in flight: that comes with the four values. Still slow
// because a warp makes four requests where one would do.
constexpr unsigned kValues = 4;  // of a thread

__global__ void horner_four_values(const float* x, float* y, std::size_t count,
                                   Polynomial p) {
    const std::size_t first = std::size_t{kValues} * blockIdx.x * blockDim.x + threadIdx.x;
    float value[kValues], sum[kValues];
#pragma unroll
    for (unsigned j = 0; j < kValues; ++j) {
        const std::size_t i = first + j * blockDim.x;
        value[j] = i < count ? x[i] : 0;
        sum[j] = p.coefficient[p.degree];
    }
    for (int k = p.degree - 1; k >= 0; --k) {
        const float next = p.coefficient[k];
#pragma unroll
        for (unsigned j = 0; j < kValues; ++j) sum[j] = sum[j] * value[j] + next;
    }
#pragma unroll
    for (unsigned j = 0; j < kValues; ++j) {
        const std::size_t i = first + j * blockDim.x;
        if (i < count) y[i] = sum[j];
    }
}

// Step 6, one thing changed: the four values of a thread are neighbors, and it loads and
// stores them in one access of 16 bytes.
// Faster because a warp makes a quarter of the requests, for the same bytes. On an H200 it
// takes the time of a copy, so nothing is left to gain.
__global__ void horner_float4(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t first = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (first + 4 <= count) {
        const float4 value = *reinterpret_cast<const float4*>(x + first);
        const float c = p.coefficient[p.degree];
        float4 sum = {c, c, c, c};
        for (int k = p.degree - 1; k >= 0; --k) {
            const float next = p.coefficient[k];
            sum.x = sum.x * value.x + next;
            sum.y = sum.y * value.y + next;
            sum.z = sum.z * value.z + next;
            sum.w = sum.w * value.w + next;
        }
        *reinterpret_cast<float4*>(y + first) = sum;
    } else {
        for (std::size_t i = first; i < count; ++i) {
            float sum = p.coefficient[p.degree];
            for (int k = p.degree - 1; k >= 0; --k) sum = sum * x[i] + p.coefficient[k];
            y[i] = sum;
        }
    }
}

// Step 7, one thing changed: even and odd powers apart, p = even(x^2) + x odd(x^2). So
// there are two chains of half the length for each value, and the four values still share
// each fetch of a coefficient.
// This is a good move where a thread waits for its own last result. Here it gains nothing,
// and costs 8 % on an H200: each thread has four independent chains, and the bytes are the
// limit.
__global__ void even_and_odd_together(const float* x, float* y, std::size_t count,
                                      Polynomial p) {
    const std::size_t first = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (first + 4 <= count) {
        const float4 value = *reinterpret_cast<const float4*>(x + first);
        const float4 square = {value.x * value.x, value.y * value.y, value.z * value.z,
                               value.w * value.w};
        float4 even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
        for (int k = p.degree / 2; k >= 0; --k) {
            const float next = p.coefficient[2 * k];
            even.x = even.x * square.x + next;
            even.y = even.y * square.y + next;
            even.z = even.z * square.z + next;
            even.w = even.w * square.w + next;
            if (2 * k + 1 > p.degree) continue;
            const float next_odd = p.coefficient[2 * k + 1];
            odd.x = odd.x * square.x + next_odd;
            odd.y = odd.y * square.y + next_odd;
            odd.z = odd.z * square.z + next_odd;
            odd.w = odd.w * square.w + next_odd;
        }
        *reinterpret_cast<float4*>(y + first) =
            make_float4(odd.x * value.x + even.x, odd.y * value.y + even.y,
                        odd.z * value.z + even.z, odd.w * value.w + even.w);
    } else {
        for (std::size_t i = first; i < count; ++i) {
            const float square = x[i] * x[i];
            float even = 0, odd = 0;
            for (int k = p.degree / 2; k >= 0; --k) {
                even = even * square + p.coefficient[2 * k];
                if (2 * k + 1 <= p.degree) odd = odd * square + p.coefficient[2 * k + 1];
            }
            y[i] = odd * x[i] + even;
        }
    }
}

// Step 8, one thing changed: the formula is a function of one value, which is called four
// times. It is shorter to read, and slower: the compiler works out the four values one
// after the other and fetches each coefficient four times, once for each value.
__global__ void even_and_odd(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t first = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    const auto at = [&p](float value) {
        const float square = value * value;
        float even = 0, odd = 0;
        for (int k = p.degree / 2; k >= 0; --k) {
            even = even * square + p.coefficient[2 * k];
            if (2 * k + 1 <= p.degree) odd = odd * square + p.coefficient[2 * k + 1];
        }
        return odd * value + even;
    };
    if (first + 4 <= count) {
        float4 value = *reinterpret_cast<const float4*>(x + first);
        value = float4{at(value.x), at(value.y), at(value.z), at(value.w)};
        *reinterpret_cast<float4*>(y + first) = value;
    } else {
        for (std::size_t i = first; i < count; ++i) y[i] = at(x[i]);
    }
}

// For Amdahl's law: work that depends on nothing but its own last result. Each warp does
// `units` of it.
__global__ void work(unsigned units, unsigned rounds_per_unit, float* out) {
    float value = static_cast<float>(threadIdx.x);
    for (unsigned round = 0; round < units * rounds_per_unit; ++round)
        value = value * 0.5f + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

}  // namespace
}  // namespace optimization
