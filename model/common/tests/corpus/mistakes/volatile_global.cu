// Code for a warp in lockstep, on global memory through volatile pointers: lanes have not run in lockstep since compute
// capability 7.0, and volatile orders nothing.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 64;

template <class T>
std::vector<T> count_from_one(int count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i + 1);
    return values;
}

__global__ void sum_with_last_warp(float* data, float* out) {
    float* block = data + blockIdx.x * blockDim.x;
    const unsigned t = threadIdx.x;
    if (t < 32) {
        volatile float* s = block;
        s[t] = s[t] + s[t + 32];  // OTHER: no __syncwarp() behind it
        s[t] = s[t] + s[t + 16];  // MISTAKE(data_race): volatile orders nothing
        s[t] = s[t] + s[t + 8];   // OTHER: as little
        s[t] = s[t] + s[t + 4];   // OTHER: as little
        s[t] = s[t] + s[t + 2];   // OTHER: as little
        s[t] = s[t] + s[t + 1];   // OTHER: as little
        if (t == 0) out[blockIdx.x] = s[0];
    }
}

void volatile_tail_of_compound_updates() {
    DeviceBuffer<float> d_data(count_from_one<float>(2 * threads)), d_out(2);
    sum_with_last_warp<<<2, threads>>>(d_data.data(), d_out.data());
    check_finished();
}

__global__ void scan_of_a_warp(volatile int* s) {
    const unsigned t = threadIdx.x;
    for (unsigned step = 1; step < 32; step *= 2) {
        if (t >= step) s[t] = s[t] + s[t - step];  // MISTAKE(data_race): the neighbor may have gone on
    }
}

void volatile_scan_in_global_memory() {
    DeviceBuffer<int> d_values(count_from_one<int>(32));
    scan_of_a_warp<<<1, 32>>>(d_values.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList volatile_global() {
    return {__FILE__,
            {{"volatile_tail_of_compound_updates", "last warp of a reduction in global memory, with volatile only",
              volatile_tail_of_compound_updates},
             {"volatile_scan_in_global_memory", "scan of a warp in global memory, with volatile only",
              volatile_scan_in_global_memory}}};
}

}  // namespace corpus
