// pi_precision.md: what do the division and the converted index of step 1 cost, each for itself?
// Two by two: (one division per slice | one for four slices) x (index of 64 bits converted | counter in float), in one
// and the same loop over four slices per round. Then the lesson's own loops, and the compensated sum.
#include "experiment.cuh"

#include <cstdint>

constexpr unsigned kThreads = 256;
constexpr uint64_t kSlices = uint64_t{1} << 30;

__device__ float sum_of_block(float value) {
    __shared__ float warp_sums[kThreads / 32];
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return value;
    value = threadIdx.x < kThreads / 32 ? warp_sums[threadIdx.x] : 0;
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    return value;
}

enum Index { index64, index32, counter };
enum Division { each, one_for_four, approximate };

template <Division division>
__device__ float quotient(float a) {
    if constexpr (division == approximate) return __fdividef(4.0f, a);
    return 4 / a;
}
template <bool compensated>
__device__ void add(float& sum, float& lost, float term) {
    if constexpr (compensated) {
        term -= lost;
        const float new_sum = sum + term;
        lost = (new_sum - sum) - term;
        sum = new_sum;
    } else {
        sum += term;
    }
}

// kSlices is a multiple of 4 * threads (checked by the host): no remainder.
template <Division division, Index index, bool compensated>
__device__ void sum_of_fours(double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const uint64_t rounds = kSlices / (4 * threads);
    const float h = static_cast<float>(width);
    const float stride = static_cast<float>(static_cast<double>(threads) * width);
    const float x0 = static_cast<float>((static_cast<double>(thread) + 0.5) * width);
    const float x1 = x0 + stride, x2 = x0 + 2 * stride, x3 = x0 + 3 * stride;
    float sum = 0, lost = 0, k = 0;
    uint64_t i = thread;
    uint32_t j = static_cast<uint32_t>(thread), threads32 = static_cast<uint32_t>(threads);
#pragma unroll 1
    for (uint64_t round = 0; round < rounds; ++round, k += 4, i += 4 * threads, j += 4 * threads32) {
        float xa, xb, xc, xd;
        if constexpr (index == counter) {
            xa = k * stride + x0, xb = k * stride + x1, xc = k * stride + x2, xd = k * stride + x3;
        } else if constexpr (index == index32) {
            xa = (static_cast<float>(j) + 0.5f) * h, xb = (static_cast<float>(j + threads32) + 0.5f) * h;
            xc = (static_cast<float>(j + 2 * threads32) + 0.5f) * h,
            xd = (static_cast<float>(j + 3 * threads32) + 0.5f) * h;
        } else {
            xa = (static_cast<float>(i) + 0.5f) * h, xb = (static_cast<float>(i + threads) + 0.5f) * h;
            xc = (static_cast<float>(i + 2 * threads) + 0.5f) * h,
            xd = (static_cast<float>(i + 3 * threads) + 0.5f) * h;
        }
        const float a = 1 + xa * xa, b = 1 + xb * xb, c = 1 + xc * xc, d = 1 + xd * xd;
        if constexpr (division == one_for_four) {
            const float ab = a * b, cd = c * d;
            add<compensated>(sum, lost, 4 * ((a + b) * cd + (c + d) * ab) / (ab * cd));
        } else {
            add<compensated>(sum, lost, quotient<division>(a));
            add<compensated>(sum, lost, quotient<division>(b));
            add<compensated>(sum, lost, quotient<division>(c));
            add<compensated>(sum, lost, quotient<division>(d));
        }
    }
    sum = sum_of_block(sum - lost);
    if (threadIdx.x == 0) atomicAdd(pi, width * sum);
}
#define KERNEL(NAME, DIVISION, INDEX, COMPENSATED) \
    __global__ void NAME(double width, double* pi) { sum_of_fours<DIVISION, INDEX, COMPENSATED>(width, pi); }
KERNEL(x_four_div_index64, each, index64, false)
KERNEL(x_four_div_index32, each, index32, false)
KERNEL(x_four_div_counter, each, counter, false)
KERNEL(x_one_div_index64, one_for_four, index64, false)
KERNEL(x_one_div_counter, one_for_four, counter, false)
KERNEL(x_approx_div_index64, approximate, index64, false)
KERNEL(x_approx_div_counter, approximate, counter, false)
KERNEL(x_four_div_index64_kahan, each, index64, true)
KERNEL(x_four_div_counter_kahan, each, counter, true)
KERNEL(x_one_div_index64_kahan, one_for_four, index64, true)
KERNEL(x_one_div_counter_kahan, one_for_four, counter, true)

// The lesson's step 1, except that its blocks add by shuffles here.
__global__ void x_lesson_step_1(double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const float float_width = static_cast<float>(width);
    float sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < kSlices; i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * float_width;
        sum += 4 / (1 + x * x);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(pi, width * sum);
}

int main(int argc, char** argv) {
    start(argc, argv, "pi_causes: 2^30 slices, float");
    const unsigned blocks = 1024;  // of 256 threads: 2^18 threads, 0.97 of what 132 SMs hold; divides 2^30 evenly
    if (kSlices % (uint64_t{4} * blocks * kThreads) != 0) return 1;
    double* pi = device_array<double>(1);
    const double width = 1.0 / static_cast<double>(kSlices);
    std::vector<Variant> variants;
    const auto add_variant = [&](const char* name, auto kernel) {
        variants.push_back({name,
                            [=] {
                                CHECK(cudaMemsetAsync(pi, 0, sizeof *pi));
                                kernel<<<blocks, kThreads>>>(width, pi);
                            },
                            1.0 * kSlices,
                            [=] {
                                double value = 0;
                                CHECK(cudaMemcpy(&value, pi, sizeof value, cudaMemcpyDeviceToHost));
                                const bool right = value > 3.14159 && value < 3.14160;
                                if (!right) std::printf("WRONG: pi = %.9f\n", value);
                                return right;
                            },
                            resources(kernel, kThreads)});
    };
    add_variant("lesson, step 1", x_lesson_step_1);
    add_variant("4 divisions, 64-bit index", x_four_div_index64);
    add_variant("4 divisions, 32-bit index", x_four_div_index32);
    add_variant("4 divisions, float counter", x_four_div_counter);
    add_variant("1 division, 64-bit index", x_one_div_index64);
    add_variant("1 division, float counter", x_one_div_counter);
    add_variant("4 approximate, 64-bit index", x_approx_div_index64);
    add_variant("4 approximate, float counter", x_approx_div_counter);
    measure("Division and index, four slices per round (rate: 1e9 slices/s)", variants, "Gslices/s", 25);
    variants.clear();
    add_variant("4 divisions, 64-bit index, plain", x_four_div_index64);
    add_variant("4 divisions, 64-bit index, compensated", x_four_div_index64_kahan);
    add_variant("4 divisions, float counter, plain", x_four_div_counter);
    add_variant("4 divisions, float counter, compensated", x_four_div_counter_kahan);
    add_variant("1 division, 64-bit index, plain", x_one_div_index64);
    add_variant("1 division, 64-bit index, compensated (1 per round)", x_one_div_index64_kahan);
    add_variant("1 division, float counter, plain", x_one_div_counter);
    add_variant("1 division, float counter, compensated (1 per round)", x_one_div_counter_kahan);
    if (!counters_only) measure("The compensated sum", variants, "Gslices/s", 25);
    return finish();
}
