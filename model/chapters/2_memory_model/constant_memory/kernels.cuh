// The kernels of the lesson constant_memory: six steps that evaluate a polynomial, and two
// that read a table of charges.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace memory_model {
namespace {

constexpr unsigned kThreads = 256;  // per block
constexpr unsigned kLanes = 32;

// ---- a polynomial -----------------------------------------------------------------------

// The Taylor polynomial of log(1 + x), as one coefficient after the other.
constexpr unsigned kCoefficients = 32;
__host__ __device__ constexpr float coefficient(unsigned k) {
    return k == 0 ? 0.0f : (k % 2 == 1 ? 1.0f : -1.0f) / static_cast<float>(k);
}

struct Coefficients {
    float of_power[kCoefficients];
};

// In constant memory. Kernels only read it. The host writes it with cudaMemcpyToSymbol,
// which takes the variable itself and not a pointer. It lives as long as the program.
__constant__ float constant_coefficients[kCoefficients];

// Step 1, coefficients in global memory like any other array. All lanes ask for the same
// one, so that a load touches one sector; after the first time it is in the L1 cache.
// Slow because a thread makes 32 loads for work of 32 multiply-adds. Each load needs an
// address, a place in the queue of the load/store units, and waits for the L1 cache.
__global__ void coefficients_in_global(const float* x, float* y, const float* coefficients,
                                       std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;) value = value * point + coefficients[k];
    y[i] = value;
}

// Step 2, coefficients in constant memory, and each lane begins with a different one, so
// that no two of them ask for the same. For the banks of shared memory that would be a good
// order. (Lane s takes the coefficients s - 1 to 0 first, then 31 to s, and puts the two
// parts of the polynomial together: low(x) + x^s high(x).)
// As slow as it can be because 32 lanes have 32 addresses: 32 wavefronts per coefficient.
// Nobody would write this for a polynomial, but it is what happens when the index comes
// from the data: a table by material, by color, by class.
__global__ void coefficients_by_lane(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const unsigned lane = threadIdx.x % kLanes;
    const float point = x[i];
    float value = 0, low = 0, power = 1;
    for (unsigned j = 1; j <= kCoefficients; ++j) {
        const unsigned k = (lane - j) % kCoefficients;
        power *= k < lane ? point : 1.0f;
        low = k == kCoefficients - 1 ? value : low;
        value = k == kCoefficients - 1 ? 0.0f : value;
        value = value * point + constant_coefficients[k];
    }
    y[i] = low + power * value;
}

// Step 3, all lanes ask for the same coefficient, one coefficient after the other: one
// wavefront each. Where the compiler knows the address, as in this unrolled loop, there
// need not even be a load: an instruction can name a place in constant memory as its
// operand, so the multiply-add can fetch its coefficient itself.
// Faster because 32 instructions can be enough for 32 coefficients. Still slow because each
// thread reads one float and writes one, so it has only 4 bytes in flight.
__global__ void coefficients_in_turn(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;)
        value = value * point + constant_coefficients[k];
    y[i] = value;
}

// Step 4, coefficients as an argument of the kernel, by value. Arguments travel with the
// launch and are read from constant memory as well, so the machine does the same as in step
// 3.
// Better because there is no variable that the whole program shares and no copy to forget,
// and because every launch may have coefficients of its own. There is room for 4096 bytes
// (32764 since CUDA 12.1, on sm_70 and later).
__global__ void coefficients_as_argument(const float* x, float* y,
                                         const Coefficients coefficients,
                                         std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;)
        value = value * point + coefficients.of_power[k];
    y[i] = value;
}

// Step 5, literals: the coefficients are part of the code, and with the code in the
// instruction cache. An instruction can hold a literal as well as a place in constant
// memory. Nothing is read, and the compiler may even use that one of them is 0. But they
// are fixed when the program is built.
__global__ void coefficients_as_literals(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;) value = value * point + coefficient(k);
    y[i] = value;
}

// Step 6, four points per thread with the coefficients of step 3. Each coefficient is asked
// for once and used four times, the four chains of multiply-adds need not wait for each
// other, and x and y move 16 bytes at a time. The points after the last multiple of four
// get one thread each.
// Faster because a thread has 16 bytes in flight, which is what step 3 lacked.
__global__ void coefficients_for_four(const float* x, float* y, std::size_t count) {
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::size_t fours = count / 4;
    if (thread < fours) {
        const float4 point = reinterpret_cast<const float4*>(x)[thread];
        float4 value = make_float4(0, 0, 0, 0);
#pragma unroll
        for (unsigned k = kCoefficients; k-- > 0;) {
            const float c = constant_coefficients[k];
            value = make_float4(value.x * point.x + c, value.y * point.y + c,
                                value.z * point.z + c, value.w * point.w + c);
        }
        reinterpret_cast<float4*>(y)[thread] = value;
        return;
    }
    const std::size_t i = 4 * fours + (thread - fours);
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;)
        value = value * point + constant_coefficients[k];
    y[i] = value;
}

// ---- more than 64 KiB -------------------------------------------------------------------

// The potential of m charges at n points on the line y = z = 0: the sum of q / distance.
// All points need all charges. A charge has 16 bytes: 4096 of them would fill the 64 KiB,
// which all constants that are compiled together share. 4000 leave room for the
// coefficients above.
constexpr std::size_t kBatch = 4000;
__constant__ float4 charges_in_batch[kBatch];  // x, y, z, q

// Points stand on a line, 1 / 1024 apart; after the thousandth they begin anew at its
// start.
constexpr std::size_t kPlaces = 1000;
constexpr float kLineStep = 1.0f / 1024;

__device__ float place_on_line(std::size_t point) {
    return static_cast<float>(point % kPlaces) * kLineStep;
}

__device__ float potential_of(float4 charge, float x) {
    const float dx = x - charge.x;
    return charge.w * rsqrtf(dx * dx + charge.y * charge.y + charge.z * charge.z);
}

// Step 1 of the potential, charges in global memory. All lanes read the same charge, one
// sector, from the cache. Any number of charges.
// Slow because each charge takes one load of 16 bytes through the load/store units.
__global__ void charges_in_global(const float4* charges, float* potential,
                                  std::size_t points, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= points) return;
    const float x = place_on_line(i);
    float sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += potential_of(charges[k], x);
    potential[i] = sum;
}

// Step 2 of the potential, charges in constant memory, one batch at a time: copy a batch
// there, let this kernel add its share to the sums, copy the next one.
// This could be faster because a warp has one address, and its reads leave the load/store
// units alone. Measured on an H200, step 1 is faster; the page of the lesson says why.
// Still slow because each batch reads and writes the sums once. That is little beside
// thousands of charges, and would be most of the time beside a few.
__global__ void add_charges_of_batch(float* potential, std::size_t points, unsigned count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= points) return;
    const float x = place_on_line(i);
    float sum = potential[i];
    for (unsigned k = 0; k < count; ++k) sum += potential_of(charges_in_batch[k], x);
    potential[i] = sum;
}

}  // namespace
}  // namespace memory_model
