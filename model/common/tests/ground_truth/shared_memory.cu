// Loads and stores of shared memory: every width, strides, broadcasts, random places, structures, and idle lanes.
//
// Every warp has a row of shared memory for itself, which begins at bank 0 (rows of 1-byte and 2-byte elements are
// shorter).
#include "common/tests/ground_truth/cases.h"
#include "common/tests/ground_truth/launch_and_check.cuh"
#include "common/tests/ground_truth/places.cuh"
#include "common/tests/ground_truth/structures.cuh"

namespace ground_truth {

// ---- neighbors exchange their elements: stores and loads of the same places ---------------------------------------

/// Pairs of lanes exchange their elements through the places Place::of(lane) of a row of `places`.
template <class Place, unsigned places, class Lanes = AllLanes, class T>
__device__ void exchange(const T* in, T* out) {
    __shared__ T rows[kWarps][places];
    const unsigned i = thread_in_grid();
    const unsigned lane = lane_in_warp();
    T* row = rows[warp_in_block()];
    if (Lanes::has(lane)) row[Place::of(lane)] = in[i];
    __syncthreads();
    if (Lanes::has(lane)) out[i] = row[Place::of(Lanes::partner(lane))];
}

__global__ void exchange_1_byte(const unsigned char* in, unsigned char* out) { exchange<Contiguous, 32>(in, out); }
__global__ void exchange_2_bytes(const short* in, short* out) { exchange<Contiguous, 32>(in, out); }
__global__ void exchange_4_bytes(const float* in, float* out) { exchange<Contiguous, 32>(in, out); }
__global__ void exchange_8_bytes(const double* in, double* out) { exchange<Contiguous, 32>(in, out); }
__global__ void exchange_16_bytes(const float4* in, float4* out) { exchange<Contiguous, 32>(in, out); }

__global__ void exchange_stride_2(const float* in, float* out) { exchange<Strided<2>, 64>(in, out); }
__global__ void exchange_stride_3(const float* in, float* out) { exchange<Strided<3>, 96>(in, out); }
__global__ void exchange_stride_4(const float* in, float* out) { exchange<Strided<4>, 128>(in, out); }
__global__ void exchange_stride_8(const float* in, float* out) { exchange<Strided<8>, 256>(in, out); }
__global__ void exchange_stride_16(const float* in, float* out) { exchange<Strided<16>, 512>(in, out); }
__global__ void exchange_stride_32(const float* in, float* out) { exchange<Strided<32>, 1024>(in, out); }
__global__ void exchange_stride_33(const float* in, float* out) { exchange<Strided<33>, 1056>(in, out); }

__global__ void exchange_bytes_stride_4(const unsigned char* in, unsigned char* out) {
    exchange<Strided<4>, 128>(in, out);
}
__global__ void exchange_bytes_stride_8(const unsigned char* in, unsigned char* out) {
    exchange<Strided<8>, 256>(in, out);
}
__global__ void exchange_float2_stride_2(const float2* in, float2* out) { exchange<Strided<2>, 64>(in, out); }
__global__ void exchange_double_stride_2(const double* in, double* out) { exchange<Strided<2>, 64>(in, out); }
__global__ void exchange_double_stride_3(const double* in, double* out) { exchange<Strided<3>, 96>(in, out); }
__global__ void exchange_double_stride_16(const double* in, double* out) { exchange<Strided<16>, 512>(in, out); }
__global__ void exchange_float4_stride_2(const float4* in, float4* out) { exchange<Strided<2>, 64>(in, out); }
__global__ void exchange_float4_stride_3(const float4* in, float4* out) { exchange<Strided<3>, 96>(in, out); }
__global__ void exchange_float4_stride_8(const float4* in, float4* out) { exchange<Strided<8>, 256>(in, out); }

__global__ void exchange_3_floats(const Floats3* in, Floats3* out) { exchange<Contiguous, 32>(in, out); }
__global__ void exchange_4_floats(const Floats4* in, Floats4* out) { exchange<Contiguous, 32>(in, out); }

__global__ void exchange_half_warps(const float* in, float* out) { exchange<Contiguous, 32, FirstHalf>(in, out); }
__global__ void exchange_half_warps_doubles(const double* in, double* out) {
    exchange<Contiguous, 32, FirstHalf>(in, out);
}
__global__ void exchange_half_warps_float4(const float4* in, float4* out) {
    exchange<Contiguous, 32, FirstHalf>(in, out);
}
__global__ void exchange_half_warps_stride_32(const float* in, float* out) {
    exchange<Strided<32>, 1024, FirstHalf>(in, out);
}
__global__ void exchange_even_lanes(const float* in, float* out) { exchange<Contiguous, 32, EvenLanes>(in, out); }
__global__ void exchange_even_lanes_doubles(const double* in, double* out) {
    exchange<Contiguous, 32, EvenLanes>(in, out);
}
__global__ void exchange_even_lanes_float4(const float4* in, float4* out) {
    exchange<Contiguous, 32, EvenLanes>(in, out);
}

/// The same with places from a list: 32 different ones for each warp.
template <unsigned places, class T>
__device__ void exchange_listed(const unsigned* place, const T* in, T* out) {
    __shared__ T rows[kWarps][places];
    const unsigned i = thread_in_grid();
    T* row = rows[warp_in_block()];
    row[place[i]] = in[i];
    __syncthreads();
    out[i] = row[place[i ^ 1]];
}

constexpr unsigned kListed4 = 1024;  // places in a row
constexpr unsigned kListed8 = 512;
constexpr unsigned kListed16 = 256;

__global__ void exchange_random_4_bytes(const unsigned* place, const float* in, float* out) {
    exchange_listed<kListed4>(place, in, out);
}
__global__ void exchange_random_8_bytes(const unsigned* place, const double* in, double* out) {
    exchange_listed<kListed8>(place, in, out);
}
__global__ void exchange_random_16_bytes(const unsigned* place, const float4* in, float4* out) {
    exchange_listed<kListed16>(place, in, out);
}

// ---- several lanes read the same place ----------------------------------------------------------------------------

/// A warp fills its row of `places` elements; then each lane reads place Place::of(lane).
template <class Place, unsigned places, class T>
__device__ void fill_and_read(const T* in, T* out) {
    __shared__ T rows[kWarps][places];
    const unsigned i = thread_in_grid();
    const unsigned lane = lane_in_warp();
    T* row = rows[warp_in_block()];
    const T* row_in = in + i / 32 * places;
#pragma unroll 1
    for (unsigned place = lane; place < places; place += 32) row[place] = row_in[place];
    __syncthreads();
    out[i] = row[Place::of(lane)];
}

__global__ void read_one_place(const float* in, float* out) { fill_and_read<Grouped<32>, 32>(in, out); }
__global__ void read_one_place_doubles(const double* in, double* out) { fill_and_read<Grouped<32>, 32>(in, out); }
__global__ void read_one_place_float4(const float4* in, float4* out) { fill_and_read<Grouped<32>, 32>(in, out); }
__global__ void read_two_places(const float* in, float* out) { fill_and_read<Repeated<2>, 32>(in, out); }
__global__ void read_two_places_of_one_bank(const float* in, float* out) {
    fill_and_read<Repeated<2, 32>, 64>(in, out);
}
__global__ void read_four_places_of_one_bank(const float* in, float* out) {
    fill_and_read<Repeated<4, 32>, 128>(in, out);
}
__global__ void read_in_pairs(const float* in, float* out) { fill_and_read<Grouped<2>, 32>(in, out); }
__global__ void read_in_pairs_doubles(const double* in, double* out) { fill_and_read<Grouped<2>, 32>(in, out); }
__global__ void read_in_pairs_float4(const float4* in, float4* out) { fill_and_read<Grouped<2>, 32>(in, out); }
__global__ void read_in_fours_doubles(const double* in, double* out) { fill_and_read<Grouped<4>, 32>(in, out); }
__global__ void read_in_fours_float4(const float4* in, float4* out) { fill_and_read<Grouped<4>, 32>(in, out); }
__global__ void read_in_eights_float4(const float4* in, float4* out) { fill_and_read<Grouped<8>, 32>(in, out); }
__global__ void read_halves_alike_doubles(const double* in, double* out) { fill_and_read<Repeated<16>, 32>(in, out); }
__global__ void read_quarters_alike_float4(const float4* in, float4* out) { fill_and_read<Repeated<8>, 32>(in, out); }
__global__ void read_two_places_doubles(const double* in, double* out) { fill_and_read<Repeated<2>, 32>(in, out); }
__global__ void read_two_places_float4(const float4* in, float4* out) { fill_and_read<Repeated<2>, 32>(in, out); }
__global__ void read_two_places_of_one_bank_doubles(const double* in, double* out) {
    fill_and_read<Repeated<2, 16>, 32>(in, out);
}
__global__ void read_two_places_of_one_bank_float4(const float4* in, float4* out) {
    fill_and_read<Repeated<2, 8>, 32>(in, out);
}

/// The same with places from a list, with repetitions.
template <unsigned places, class T>
__device__ void fill_and_read_listed(const unsigned* place, const T* in, T* out) {
    __shared__ T rows[kWarps][places];
    const unsigned i = thread_in_grid();
    T* row = rows[warp_in_block()];
    const T* row_in = in + i / 32 * places;
#pragma unroll 1
    for (unsigned k = lane_in_warp(); k < places; k += 32) row[k] = row_in[k];
    __syncthreads();
    out[i] = row[place[i]];
}

constexpr unsigned kRead = 64;  // places in a row

__global__ void read_random_4_bytes(const unsigned* place, const float* in, float* out) {
    fill_and_read_listed<kRead>(place, in, out);
}
__global__ void read_random_8_bytes(const unsigned* place, const double* in, double* out) {
    fill_and_read_listed<kRead>(place, in, out);
}
__global__ void read_random_16_bytes(const unsigned* place, const float4* in, float4* out) {
    fill_and_read_listed<kRead>(place, in, out);
}
__global__ void read_random_1_byte(const unsigned* place, const unsigned char* in, unsigned char* out) {
    fill_and_read_listed<kRead>(place, in, out);
}

/// All lanes of a warp store one value at one place; the next warp reads it.
__global__ void store_one_place(const float* in, float* out) {
    __shared__ float values[kWarps];
    const unsigned warp = warp_in_block();
    values[warp] = in[blockIdx.x * kWarps + warp];
    __syncthreads();
    out[thread_in_grid()] = values[warp ^ 1];
}

// ---- volatile --------------------------------------------------------------------------------

__global__ void exchange_volatile(const float* in, float* out) {
    __shared__ volatile float elements[kThreads];
    const unsigned i = thread_in_grid();
    elements[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = elements[threadIdx.x ^ 1];
}

// ---- what they have to compute --------------------------------------------------------------------------------------

namespace {

template <class Lanes = AllLanes, class T>
void check_exchange(void (*kernel)(const T*, T*)) {
    const std::vector<T> in = random_elements<T>(kCount);
    std::vector<T> expected = unwritten<T>(kCount);
    for (unsigned i = 0; i < kCount; ++i) {
        if (Lanes::has(i)) expected[i] = in[Lanes::partner(i)];
    }
    const DeviceBuffer<T> d_in(in);
    run_and_compare(kernel, {}, expected, d_in.data());
}

template <unsigned places, class T>
void check_exchange_listed(void (*kernel)(const unsigned*, const T*, T*)) {
    const std::vector<T> in = random_elements<T>(kCount);
    // A part of a random order has no repetitions.
    const std::vector<unsigned> order = random_order(places);
    std::vector<unsigned> place(kCount);
    std::vector<T> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) {
        place[i] = order[i % places];
        expected[i] = in[i ^ 1];
    }
    const DeviceBuffer<T> d_in(in);
    const DeviceBuffer<unsigned> d_place(place);
    run_and_compare(kernel, {}, expected, d_place.data(), d_in.data());
}

template <class Place, unsigned places, class T>
void check_read(void (*kernel)(const T*, T*)) {
    const std::vector<T> in = random_elements<T>(kCount / kWarpSize * places);
    std::vector<T> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = in[i / kWarpSize * places + Place::of(i % kWarpSize)];
    const DeviceBuffer<T> d_in(in);
    run_and_compare(kernel, {}, expected, d_in.data());
}

template <class T>
void check_read_listed(void (*kernel)(const unsigned*, const T*, T*)) {
    const std::vector<T> in = random_elements<T>(kCount / kWarpSize * kRead);
    const std::vector<unsigned> place = random_indices(kCount, kRead);
    std::vector<T> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = in[i / kWarpSize * kRead + place[i]];
    const DeviceBuffer<T> d_in(in);
    const DeviceBuffer<unsigned> d_place(place);
    run_and_compare(kernel, {}, expected, d_place.data(), d_in.data());
}

void check_store_one_place() {
    const std::vector<float> in = random_elements<float>(kCount / kWarpSize);
    std::vector<float> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = in[i / kWarpSize ^ 1];
    const DeviceBuffer<float> d_in(in);
    run_and_compare(store_one_place, {}, expected, d_in.data());
}

}  // namespace

const std::vector<Case>& shared_memory_cases() {
    static const std::vector<Case> cases = {
        {"exchange_1_byte", [] { check_exchange(exchange_1_byte); }},
        {"exchange_2_bytes", [] { check_exchange(exchange_2_bytes); }},
        {"exchange_4_bytes", [] { check_exchange(exchange_4_bytes); }},
        {"exchange_8_bytes", [] { check_exchange(exchange_8_bytes); }},
        {"exchange_16_bytes", [] { check_exchange(exchange_16_bytes); }},
        {"exchange_stride_2", [] { check_exchange(exchange_stride_2); }},
        {"exchange_stride_3", [] { check_exchange(exchange_stride_3); }},
        {"exchange_stride_4", [] { check_exchange(exchange_stride_4); }},
        {"exchange_stride_8", [] { check_exchange(exchange_stride_8); }},
        {"exchange_stride_16", [] { check_exchange(exchange_stride_16); }},
        {"exchange_stride_32", [] { check_exchange(exchange_stride_32); }},
        {"exchange_stride_33", [] { check_exchange(exchange_stride_33); }},
        {"exchange_bytes_stride_4", [] { check_exchange(exchange_bytes_stride_4); }},
        {"exchange_bytes_stride_8", [] { check_exchange(exchange_bytes_stride_8); }},
        {"exchange_float2_stride_2", [] { check_exchange(exchange_float2_stride_2); }},
        {"exchange_double_stride_2", [] { check_exchange(exchange_double_stride_2); }},
        {"exchange_double_stride_3", [] { check_exchange(exchange_double_stride_3); }},
        {"exchange_double_stride_16", [] { check_exchange(exchange_double_stride_16); }},
        {"exchange_float4_stride_2", [] { check_exchange(exchange_float4_stride_2); }},
        {"exchange_float4_stride_3", [] { check_exchange(exchange_float4_stride_3); }},
        {"exchange_float4_stride_8", [] { check_exchange(exchange_float4_stride_8); }},
        {"exchange_3_floats", [] { check_exchange(exchange_3_floats); }},
        {"exchange_4_floats", [] { check_exchange(exchange_4_floats); }},
        {"exchange_half_warps", [] { check_exchange<FirstHalf>(exchange_half_warps); }},
        {"exchange_half_warps_doubles", [] { check_exchange<FirstHalf>(exchange_half_warps_doubles); }},
        {"exchange_half_warps_float4", [] { check_exchange<FirstHalf>(exchange_half_warps_float4); }},
        {"exchange_half_warps_stride_32", [] { check_exchange<FirstHalf>(exchange_half_warps_stride_32); }},
        {"exchange_even_lanes", [] { check_exchange<EvenLanes>(exchange_even_lanes); }},
        {"exchange_even_lanes_doubles", [] { check_exchange<EvenLanes>(exchange_even_lanes_doubles); }},
        {"exchange_even_lanes_float4", [] { check_exchange<EvenLanes>(exchange_even_lanes_float4); }},
        {"exchange_random_4_bytes", [] { check_exchange_listed<kListed4>(exchange_random_4_bytes); }},
        {"exchange_random_8_bytes", [] { check_exchange_listed<kListed8>(exchange_random_8_bytes); }},
        {"exchange_random_16_bytes", [] { check_exchange_listed<kListed16>(exchange_random_16_bytes); }},
        {"exchange_volatile", [] { check_exchange(exchange_volatile); }},
        {"read_one_place", [] { check_read<Grouped<32>, 32>(read_one_place); }},
        {"read_one_place_doubles", [] { check_read<Grouped<32>, 32>(read_one_place_doubles); }},
        {"read_one_place_float4", [] { check_read<Grouped<32>, 32>(read_one_place_float4); }},
        {"read_two_places", [] { check_read<Repeated<2>, 32>(read_two_places); }},
        {"read_two_places_of_one_bank", [] { check_read<Repeated<2, 32>, 64>(read_two_places_of_one_bank); }},
        {"read_four_places_of_one_bank", [] { check_read<Repeated<4, 32>, 128>(read_four_places_of_one_bank); }},
        {"read_in_pairs", [] { check_read<Grouped<2>, 32>(read_in_pairs); }},
        {"read_in_pairs_doubles", [] { check_read<Grouped<2>, 32>(read_in_pairs_doubles); }},
        {"read_in_pairs_float4", [] { check_read<Grouped<2>, 32>(read_in_pairs_float4); }},
        {"read_in_fours_doubles", [] { check_read<Grouped<4>, 32>(read_in_fours_doubles); }},
        {"read_in_fours_float4", [] { check_read<Grouped<4>, 32>(read_in_fours_float4); }},
        {"read_in_eights_float4", [] { check_read<Grouped<8>, 32>(read_in_eights_float4); }},
        {"read_halves_alike_doubles", [] { check_read<Repeated<16>, 32>(read_halves_alike_doubles); }},
        {"read_quarters_alike_float4", [] { check_read<Repeated<8>, 32>(read_quarters_alike_float4); }},
        {"read_two_places_doubles", [] { check_read<Repeated<2>, 32>(read_two_places_doubles); }},
        {"read_two_places_float4", [] { check_read<Repeated<2>, 32>(read_two_places_float4); }},
        {"read_two_places_of_one_bank_doubles",
         [] { check_read<Repeated<2, 16>, 32>(read_two_places_of_one_bank_doubles); }},
        {"read_two_places_of_one_bank_float4",
         [] { check_read<Repeated<2, 8>, 32>(read_two_places_of_one_bank_float4); }},
        {"read_random_1_byte", [] { check_read_listed(read_random_1_byte); }},
        {"read_random_4_bytes", [] { check_read_listed(read_random_4_bytes); }},
        {"read_random_8_bytes", [] { check_read_listed(read_random_8_bytes); }},
        {"read_random_16_bytes", [] { check_read_listed(read_random_16_bytes); }},
        {"store_one_place", [] { check_store_one_place(); }},
    };
    return cases;
}

}  // namespace ground_truth
