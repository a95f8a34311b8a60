// __CUDA_ARCH__ in device code and in host code: nvcc, which compiles each side by itself, and the CPU device, which
// compiles both together, have to agree.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <vector>

#include "common/tests/device/architecture_in_header.h"
#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

#ifdef __CUDA_ARCH__
#define SIDE 2
#define SIDE_NAME "device"
#else
#define SIDE 1
#define SIDE_NAME "host"
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 300
#error "no GPU is that old"
#endif

#define ON_DEVICE (__CUDA_ARCH__ >= 300)

// Conditions around the condition count as well.
#define CHOSEN
#ifdef CHOSEN
#ifdef __CUDA_ARCH__
#define SIDE_IN_CONDITION 2
#else
#define SIDE_IN_CONDITION 1
#endif
#else
#define SIDE_IN_CONDITION 3
#endif
#ifdef NOT_CHOSEN
#ifdef __CUDA_ARCH__
#define SAME_ON_BOTH 2
#else
#define SAME_ON_BOTH 1
#endif
#else
#define SAME_ON_BOTH 4
#endif

// A host part may include what it needs.
#ifdef __CUDA_ARCH__
#define SIDE_BESIDE_INCLUDE 2
#else
#include <cstdlib>
#define SIDE_BESIDE_INCLUDE 1
#endif

// One macro, defined twice.
#define SIDE_REDEFINED 1
#ifdef __CUDA_ARCH__
#undef SIDE_REDEFINED
#define SIDE_REDEFINED 2
#endif

// A qualifier that differs matters to nobody.
#ifdef __CUDA_ARCH__
#define DECORATION __forceinline__
#else
#define DECORATION inline
#endif

namespace {

__host__ __device__ DECORATION int side() {
#ifdef __CUDA_ARCH__
    return 2;
#else
    return 1;
#endif
}

__host__ __device__ int side_by_elif() {
#if !defined(__CUDA_ARCH__)
    return 1;
#elif __CUDA_ARCH__ >= 300
    return 2;
#else
    return 3;
#endif
}

__host__ __device__ int side_by_macro() { return SIDE; }
__host__ __device__ int side_by_condition_in_macro() {
#if ON_DEVICE
    return 2;
#else
    return 1;
#endif
}
TEST_BOTH int side_by_header() { return SIDE_TIMES(10) / 10; }
__host__ __device__ int sides_by_other_macros() {
    return SIDE_IN_CONDITION * 1000 + SAME_ON_BOTH * 100 + SIDE_BESIDE_INCLUDE * 10 + SIDE_REDEFINED;
}
__host__ __device__ int through_others() { return side() * 10 + side_by_macro(); }

// A declaration has the qualifiers, the definition has not.
__host__ __device__ int declared_before();
int declared_before() {
#ifdef __CUDA_ARCH__
    return 2;
#else
    return 1;
#endif
}

// Called on one side each.
__device__ int architecture() {
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return -1;
#endif
}
int host_only() {
#ifdef __CUDA_ARCH__
    return 2;
#else
    return 1;
#endif
}

struct Sided {
    int made_by;
    __host__ __device__ Sided() : made_by(0) {
#ifndef __CUDA_ARCH__
        made_by = 1;
#else
        made_by = 2;
#endif
    }
    __host__ __device__ int member() const {
#ifdef __CUDA_ARCH__
        return 2;
#else
        return 1;
#endif
    }
    template <class T>
    __host__ __device__ T scaled(T value) const {
        return value * SIDE;
    }
};

template <class T>
__host__ __device__ constexpr T sided(T value) {
#ifdef __CUDA_ARCH__
    return value + 2;
#else
    return value + 1;
#endif
}

/// What the functions above return, side by side.
struct Sides {
    int plain, by_elif, by_macro, by_condition, by_header, in_header, declared, through_others, constructor, member,
        scaled, constant, by_other_macros;

    bool operator==(const Sides&) const = default;
};

__host__ __device__ Sides all_sides() {
    const Sided object;
    return {side(),
            side_by_elif(),
            side_by_macro(),
            side_by_condition_in_macro(),
            side_by_header(),
            architecture::side_of_header(),
            declared_before(),
            through_others(),
            object.made_by,
            object.member(),
            object.scaled(1),
            sided(0),
            sides_by_other_macros()};
}

__global__ void ask_all_sides(Sides* sides) { *sides = all_sides(); }

__global__ void ask_architecture(int* values) {
#if __CUDA_ARCH__ >= 300
    values[0] = 1;
#endif
#ifdef __CUDA_ARCH__
    values[1] = __CUDA_ARCH__;
#endif
#if __CUDA_ARCH__ < 300
    values[2] = 1;
#endif
    values[3] = architecture();
    const char* name = SIDE_NAME;
    values[4] = name[0];
#if defined(__CUDA_ARCH__) && defined(__CPU_DEVICE__)
    values[5] = __CUDA_ARCH__;
#else
    values[5] = 900;
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && defined(__CPU_DEVICE__)
    values[6] = 1;
#endif
#ifdef __CUDA_ARCH_LIST__
    values[7] = 1;
#endif
    values[8] = __LINE__;
}
constexpr int line_behind = __LINE__;

template <class F>
__global__ void ask_lambda(F f, int* value) {
    *value = f(10);
}

template <int n>
__global__ void __launch_bounds__(SIDE * 32) ask_template(int* value) {
#if __CUDA_ARCH__ >= 300
    __shared__ int shared[n];
    shared[threadIdx.x] = n;
    *value = shared[threadIdx.x] * SIDE;
#endif
}

}  // namespace

TEST_CASE("a function for both sides has the code of the side that calls it") {
    device_or_skip();
    const Sides on_host = all_sides();
    CHECK(on_host == Sides{1, 1, 1, 1, 1, 1, 1, 11, 1, 1, 1, 1, 1411});
    const Sides on_device = results_of<Sides>(1, [](Sides* sides) { ask_all_sides<<<1, 1>>>(sides); })[0];
    CHECK(on_device == Sides{2, 2, 2, 2, 2, 2, 2, 22, 2, 2, 2, 2, 2422});
    CHECK(all_sides() == on_host);  // after a kernel, too
}

TEST_CASE("host code does not see __CUDA_ARCH__") {
    CHECK(host_only() == 1);
    CHECK(std::strcmp(SIDE_NAME, "host") == 0);
#ifdef __CUDA_ARCH__
    FAIL("the macro is defined");
#endif
    const auto in_lambda = [] {
#ifdef __CUDA_ARCH__
        return 2;
#else
        return 1;
#endif
    };
    CHECK(in_lambda() == 1);
}

TEST_CASE("device code sees the architecture, in code and in conditions") {
    device_or_skip();
    const std::vector<int> values = results_of<int>(9, [](int* all) { ask_architecture<<<1, 1>>>(all); });
    CHECK(values[0] == 1);
    CHECK(values[1] >= 300);
    CHECK(values[2] != 1);
    CHECK(values[3] == values[1]);
    CHECK(values[4] == 'd');
    CHECK(values[5] == 900);
    CHECK(values[6] != 1);
    CHECK(values[7] == 1);
    CHECK(values[8] == line_behind - 2);
}

TEST_CASE("kernel templates see the architecture") {
    device_or_skip();
    CHECK(results_of<int>(1, [](int* value) { ask_template<7><<<1, 1>>>(value); })[0] == 14);
}

#ifdef __CPU_DEVICE__  // nvcc needs an option for these
TEST_CASE("lambdas for the device, and for both sides, have the code of their side") {
    device_or_skip();
    const int captured = 5;
    const auto both = [=] __host__ __device__(int x) {
#ifdef __CUDA_ARCH__
        return x + captured + 200;
#else
        return x + captured + 100;
#endif
    };
    CHECK(both(1) == 106);
    CHECK(results_of<int>(1, [&](int* value) { ask_lambda<<<1, 1>>>(both, value); })[0] == 215);
    const auto device = [=] __device__(int x) { return x + captured + SIDE; };
    CHECK(results_of<int>(1, [&](int* value) { ask_lambda<<<1, 1>>>(device, value); })[0] == 17);
}

// Missing in host code, so that nvcc's own pass over the host could not compile a kernel that calls them.
#if __CUDA_ARCH__ >= 300
__device__ int of_newer_chips() { return 3; }
#endif
#if ON_DEVICE
__device__ int of_either() { return 4; }
#else
__device__ int of_either() { return 5; }
#endif
#if __CUDA_ARCH__ >= 300
__device__ int of_both() { return 6; }
#else
int of_host() { return 7; }
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
__device__ double atomicAdd(double*, double) { return 0; }
#endif

__global__ void ask_declarations(int* values) {
    values[0] = of_newer_chips();
    values[1] = of_either();
    values[2] = of_both();
}

TEST_CASE("functions that only the device has are there") {
    device_or_skip();
    CHECK(results_of<int>(3, [](int* values) { ask_declarations<<<1, 1>>>(values); }) == std::vector<int>{3, 4, 6});
    CHECK(of_host() == 7);
}
#endif
