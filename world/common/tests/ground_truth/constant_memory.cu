// Constant memory: the lanes of a warp are served one address after the other.
#include "common/tests/ground_truth/cases.h"
#include "common/tests/ground_truth/launch_and_check.cuh"
#include "common/tests/ground_truth/places.cuh"

namespace ground_truth {

constexpr unsigned kConstants = 256;

__constant__ float constants[kConstants];
__constant__ double wide_constants[kConstants];

/// The same kernel without constants: what it needs itself, such as its parameters, comes from constant memory too.
__global__ void constant_baseline(float* out) { out[thread_in_grid()] = static_cast<float>(threadIdx.x); }

__global__ void constant_known_address(float* out) { out[thread_in_grid()] = constants[5]; }
__global__ void constant_by_block(float* out) { out[thread_in_grid()] = constants[blockIdx.x]; }

template <class Place>
__device__ void copy_constant(float* out) {
    out[thread_in_grid()] = constants[Place::of(threadIdx.x)];
}

__global__ void constant_by_warp(float* out) { copy_constant<Grouped<32>>(out); }
__global__ void constant_by_lane(float* out) { copy_constant<Repeated<32>>(out); }
__global__ void constant_by_thread(float* out) { copy_constant<Contiguous>(out); }
__global__ void constant_in_pairs(float* out) { copy_constant<Grouped<2>>(out); }
__global__ void constant_in_halves(float* out) { copy_constant<Grouped<16>>(out); }
__global__ void constant_four_in_turn(float* out) { copy_constant<Repeated<4>>(out); }
__global__ void constant_two_far_apart(float* out) { copy_constant<Repeated<2, 128>>(out); }

__global__ void constant_by_lane_of_half_warps(float* out) {
    if (lane_in_warp() < 16) copy_constant<Repeated<32>>(out);
}

__global__ void wide_constant_by_warp(double* out) { out[thread_in_grid()] = wide_constants[threadIdx.x / 32]; }
__global__ void wide_constant_by_lane(double* out) { out[thread_in_grid()] = wide_constants[threadIdx.x % 32]; }
__global__ void wide_constant_in_pairs(double* out) { out[thread_in_grid()] = wide_constants[threadIdx.x / 2]; }

/// A polynomial whose coefficients all lanes read together, in a loop.
__global__ void constant_coefficients(float* out) {
    const float x = static_cast<float>(threadIdx.x % 4);
    float value = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 8; ++k) value = value * x + constants[k];
    out[thread_in_grid()] = value;
}

// ---- what they have to compute --------------------------------------------------------------------------------------

namespace {

/// Whole numbers from 0 to 7 in an order of their own.
float constant(unsigned place) { return static_cast<float>(place * 5 % 8); }

/// `expected(block, thread)`: what the thread leaves in its output.
template <class T, class Expected>
void check_constants(void (*kernel)(T*), Expected expected) {
    std::vector<float> values(kConstants);
    for (unsigned place = 0; place < kConstants; ++place) values[place] = constant(place);
    const std::vector<double> wide_values(values.begin(), values.end());
    warpwise::check(cudaMemcpyToSymbol(constants, values.data(), sizeof constants));
    warpwise::check(cudaMemcpyToSymbol(wide_constants, wide_values.data(), sizeof wide_constants));
    std::vector<T> all(kCount);
    for (unsigned i = 0; i < kCount; ++i) all[i] = static_cast<T>(expected(i / kThreads, i % kThreads));
    run_and_compare(kernel, {}, all);
}

template <class Place, class T>
void check_place(void (*kernel)(T*)) {
    check_constants(kernel, [](unsigned, unsigned thread) { return constant(Place::of(thread)); });
}

void check_half_warps() {
    const float nothing = unwritten<float>(1)[0];
    check_constants(constant_by_lane_of_half_warps, [&](unsigned, unsigned thread) {
        const unsigned lane = thread % kWarpSize;
        return lane < 16 ? constant(lane) : nothing;
    });
}

void check_coefficients() {
    check_constants(constant_coefficients, [](unsigned, unsigned thread) {
        float value = 0;
        for (unsigned k = 0; k < 8; ++k) value = value * static_cast<float>(thread % 4) + constant(k);
        return value;
    });
}

}  // namespace

const std::vector<Case>& constant_memory_cases() {
    static const std::vector<Case> cases = {
        {"constant_baseline",
         [] { check_constants(constant_baseline, [](unsigned, unsigned thread) { return thread; }); }},
        {"constant_known_address",
         [] { check_constants(constant_known_address, [](unsigned, unsigned) { return constant(5); }); },
         "no load of its own: an operand of another instruction"},
        {"constant_by_block",
         [] { check_constants(constant_by_block, [](unsigned block, unsigned) { return constant(block); }); }},
        {"constant_by_warp", [] { check_place<Grouped<32>>(constant_by_warp); }},
        {"constant_by_lane", [] { check_place<Repeated<32>>(constant_by_lane); }},
        {"constant_by_thread", [] { check_place<Contiguous>(constant_by_thread); }},
        {"constant_in_pairs", [] { check_place<Grouped<2>>(constant_in_pairs); }},
        {"constant_in_halves", [] { check_place<Grouped<16>>(constant_in_halves); }},
        {"constant_four_in_turn", [] { check_place<Repeated<4>>(constant_four_in_turn); }},
        {"constant_two_far_apart", [] { check_place<Repeated<2, 128>>(constant_two_far_apart); }},
        {"constant_by_lane_of_half_warps", check_half_warps},
        {"wide_constant_by_warp", [] { check_place<Grouped<32>>(wide_constant_by_warp); }},
        {"wide_constant_by_lane", [] { check_place<Repeated<32>>(wide_constant_by_lane); }},
        {"wide_constant_in_pairs", [] { check_place<Grouped<2>>(wide_constant_in_pairs); }},
        {"constant_coefficients", check_coefficients},
    };
    return cases;
}

}  // namespace ground_truth
